//! The sockets of both namespaces.

use super::capabilities::{Options, options_of};
use super::{TIMESTAMPS, socket, tcp_info};
use crate::error::machine_error;
use crate::hosts::{Hosts, Readiness};
use crate::namespaces::{NamespacePair, port_of};
use earlybird_emulator::shell::host_config;
use earlybird_emulator::{Namespace, Side};
use earlybird_experiment::{FlowSpec, RunError};
use earlybird_scenario::Scenario;
use earlybird_sim::{Carrier, FlowEnd, FlowGauges, FlowId};
use earlybird_tcp::EcnMode;
use earlybird_traffic::ConnectionId;
use earlybird_units::{Duration, Instant};
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrV4, SocketFlags, SocketType};
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// The hosts of both namespaces.
#[derive(Debug)]
pub(super) struct KernelHosts {
    namespaces: NamespacePair,
    /// Sockets that their flow has not connected yet.
    prepared: Vec<Option<Ends>>,
    /// By number of the connection.
    opened: Vec<Ends>,
    poll: OwnedFd,
    /// Buffer for discarded data.
    room: Vec<u8>,
}

/// The sockets of one connection.
#[derive(Debug)]
struct Ends {
    opener: OwnedFd,
    /// It listens, and from the end of the handshake on is the connection.
    listener: OwnedFd,
    is_accepted: bool,
    address: SocketAddrV4,
    since: Instant,
    read: u64,
}

/// Events taken at once, and bytes read at once.
const EVENTS: usize = 64;
const ROOM: usize = 1 << 18;
/// Bytes of IPv4 and TCP headers, and of the timestamps that Linux sends with every segment.
const HEADERS: u64 = 40 + TIMESTAMPS;

/// Settings of both namespaces: buffers beyond any BDP, as the simulator's are unlimited,
/// and no metrics that one connection saves for the next.
const SETTINGS: [(&CStr, &str); 3] = [
    (c"/proc/sys/net/ipv4/tcp_wmem", "4096 65536 67108864"),
    (c"/proc/sys/net/ipv4/tcp_rmem", "4096 131072 67108864"),
    (c"/proc/sys/net/ipv4/tcp_no_metrics_save", "1"),
];

impl KernelHosts {
    /// Makes both namespaces, with the sockets of these flows.
    pub(super) fn new(scenario: &Scenario, flows: &[FlowSpec]) -> Result<Self, RunError> {
        let namespaces =
            NamespacePair::new(flows.iter().map(|spec| u64::from(spec.carrier.mss()) + HEADERS).max().unwrap_or(0))?;
        // ECN is a setting of the namespace, not of a socket (`ip-sysctl.rst`).
        let marks = if flows.iter().any(|spec| asks_for_marks(&spec.carrier)) { "1" } else { "0" };
        for (setting, value) in SETTINGS.into_iter().chain([(c"/proc/sys/net/ipv4/tcp_ecn", marks)]) {
            for side in [&namespaces.near, &namespaces.far] {
                side.set(setting, value)
                    .map_err(|error| machine_error(&format!("this system does not take {setting:?}"), error))?;
            }
        }
        let no_socket = |error| machine_error("this system gives no sockets", error);
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| no_socket(error.into()))?;
        let mut prepared = Vec::new();
        for (number, spec) in flows.iter().enumerate() {
            let ends = Ends::new(&namespaces, port_of(number), &options_of(scenario, spec)?).map_err(no_socket)?;
            prepared.push(Some(ends));
        }
        Ok(Self { namespaces, prepared, opened: Vec::new(), poll, room: vec![0; ROOM] })
    }

    /// Returns the devices of both namespaces.
    pub(super) fn devices(&self) -> Result<[OwnedFd; 2], RunError> {
        self.namespaces.devices()
    }

    fn ends(&self, id: ConnectionId) -> &Ends {
        &self.opened[id.0 as usize]
    }

    fn watch(&self, socket: &OwnedFd, token: u64, flags: epoll::EventFlags) -> io::Result<()> {
        let data = epoll::EventData::new_u64(token);
        // Edge triggered: an opener is writable most of the time, which would wake the loop without end.
        Ok(epoll::add(&self.poll, socket, data, flags | epoll::EventFlags::ET)?)
    }

    /// Accepts the connection on a listening socket.
    fn accept(&mut self, number: u64) -> io::Result<()> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let accepted = rustix::net::accept_with(&self.opened[number as usize].listener, flags)?;
        self.watch(&accepted, number << 1 | LISTENER, epoll::EventFlags::IN)?;
        let ends = &mut self.opened[number as usize];
        (ends.listener, ends.is_accepted) = (accepted, true);
        Ok(())
    }
}

/// The last bit of a token identifies the end; the rest is the connection's number.
const LISTENER: u64 = 1;

fn asks_for_marks(carrier: &Carrier) -> bool {
    matches!(carrier, Carrier::Tcp(settings) if settings.opener.ecn != EcnMode::Off)
}

impl Ends {
    fn new(namespaces: &NamespacePair, port: u16, options: &Options) -> io::Result<Self> {
        let socket = |side: &Namespace| {
            let socket = side.socket(AddressFamily::INET, SocketType::STREAM)?;
            options.apply(&socket)?;
            Ok::<_, io::Error>(socket)
        };
        let address = SocketAddrV4::new(host_config(Side::Far, 0).v4, port);
        let (opener, listener) = (socket(&namespaces.near)?, socket(&namespaces.far)?);
        rustix::net::bind(&listener, &address)?;
        // Every flow has a socket of its own, so that socket options can differ by flow.
        rustix::net::listen(&listener, 1)?;
        Ok(Self { opener, listener, is_accepted: false, address, since: Instant::ZERO, read: 0 })
    }

    fn info(&self) -> socket::TcpInfo {
        // `TCP_INFO` cannot fail on a TCP socket.
        socket::info(&self.opener).unwrap_or_default()
    }
}

/// The payload that is written: content does not matter.
static ZEROS: [u8; 1 << 17] = [0; 1 << 17];

impl Hosts for KernelHosts {
    fn open(&mut self, now: Instant, flow: FlowId) -> io::Result<ConnectionId> {
        let missing = || io::Error::other("a flow opened a second connection");
        let mut ends = self.prepared[flow.0 as usize].take().ok_or_else(missing)?;
        let number = self.opened.len() as u64;
        self.watch(&ends.opener, number << 1, epoll::EventFlags::OUT | epoll::EventFlags::IN)?;
        self.watch(&ends.listener, number << 1 | LISTENER, epoll::EventFlags::IN)?;
        ends.since = now;
        // Non-blocking: the handshake continues while the loop runs.
        match rustix::net::connect(&ends.opener, &ends.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        self.opened.push(ends);
        Ok(ConnectionId(number as u32))
    }

    fn write(&mut self, id: ConnectionId, bytes: u64) -> u64 {
        let part = &ZEROS[..bytes.min(ZEROS.len() as u64) as usize];
        rustix::net::send(&self.ends(id).opener, part, SendFlags::NOSIGNAL).unwrap_or(0) as u64
    }

    fn is_drained(&self, id: ConnectionId) -> bool {
        socket::unacknowledged(&self.ends(id).opener).unwrap_or(0) == 0
    }

    fn close(&mut self, id: ConnectionId) {
        // The socket may be closed already: ignore the error.
        let _ = rustix::net::shutdown(&self.ends(id).opener, Shutdown::Write);
    }

    fn received(&self, id: ConnectionId) -> u64 {
        let ends = self.ends(id);
        // A listening socket has no receive queue: `FIONREAD` would fail.
        let unread = if ends.is_accepted { rustix::io::ioctl_fionread(&ends.listener).unwrap_or(0) } else { 0 };
        ends.read + unread
    }

    fn read(&mut self, id: ConnectionId, max: u64) -> u64 {
        let ends = &mut self.opened[id.0 as usize];
        if !ends.is_accepted {
            return 0;
        }
        let read = discard(&ends.listener, &mut self.room, max);
        ends.read += read;
        read
    }

    fn reply(&mut self, id: ConnectionId, bytes: u64) {
        let part = &ZEROS[..bytes.min(ZEROS.len() as u64) as usize];
        // A message without room in the buffer is dropped: the opener discards replies.
        let _ = rustix::net::send(&self.ends(id).listener, part, SendFlags::NOSIGNAL);
    }

    fn undelivered(&self) -> io::Result<u64> {
        self.namespaces.dropped()
    }

    fn gauges(&self, id: ConnectionId) -> FlowGauges {
        tcp_info::gauges(&self.ends(id).info())
    }

    fn end(&self, now: Instant, id: ConnectionId) -> FlowEnd {
        let ends = self.ends(id);
        tcp_info::end(&ends.info(), now.since(ends.since), self.received(id))
    }

    fn wait(&mut self, span: Duration, ready: &mut Vec<Readiness>) -> io::Result<()> {
        let timeout = Timespec::try_from(std::time::Duration::from_nanos(span.as_nanos()));
        let timeout = timeout.map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut room = [MaybeUninit::uninit(); EVENTS];
        let events = match epoll::wait(&self.poll, &mut room, Some(&timeout)) {
            Ok((events, _)) => events,
            // A signal is no error: the loop checks `stop` and waits again.
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            self.on_event(event.data.u64(), event.flags, ready)?;
        }
        Ok(())
    }
}

impl KernelHosts {
    fn on_event(&mut self, token: u64, flags: epoll::EventFlags, ready: &mut Vec<Readiness>) -> io::Result<()> {
        let (number, id) = (token >> 1, ConnectionId((token >> 1) as u32));
        if token & LISTENER == 0 {
            // Replies of viewers must be read, or the receive window would close.
            if flags.contains(epoll::EventFlags::IN) {
                while discard(&self.opened[number as usize].opener, &mut self.room, u64::MAX) > 0 {}
            }
            // With edge triggering, any event of the opener may mean new room.
            ready.push(Readiness::Writable(id));
        } else if self.ends(id).is_accepted {
            ready.push(Readiness::Readable(id));
        } else {
            self.accept(number)?;
        }
        Ok(())
    }
}

/// Discards received bytes without a copy (`MSG_TRUNC` of `tcp(7)`). Returns their number.
fn discard(socket: &OwnedFd, room: &mut [u8], max: u64) -> u64 {
    // The length limits how much `MSG_TRUNC` discards, although nothing is copied.
    let len = max.min(room.len() as u64) as usize;
    rustix::net::recv(socket, &mut room[..len], RecvFlags::TRUNC).map_or(0, |(_, bytes)| bytes as u64)
}
