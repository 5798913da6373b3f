//! Making sockets and connections.

use super::Answer;
use crate::clock::{Host, Step};
use crate::device;
use crate::fast_open;
use crate::flow::Flow;
use crate::socket::{Listener, Role, Settings, Socket, SocketId};
use crate::sysctl;
use crate::world::{Descriptor, World};
use core::ffi::c_int;
use core::mem;
use earlybird_tcp::{Config, Connection, EcnMode, IpVersion, KeepAlive, Lifetimes, RackConfig, ReceiveBuffer};
use earlybird_units::Duration;
use libc::{sockaddr, socklen_t};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// With what of it is never offered, Linux's first window: 64 KiB (`tcp_select_initial_window`).
const FIRST_BUFFER: u64 = 67_651;

/// An address for C.
pub(crate) struct Peer(SocketAddr);

pub(crate) fn socket(host: &Host, domain: c_int, kind: c_int, protocol: c_int) -> Answer<c_int> {
    // A real descriptor, of a real socket that nothing is ever sent through: its number is nobody else's.
    let fd = unsafe { libc::socket(domain, kind, protocol) };
    if fd < 0 {
        return Err(libc::EINVAL);
    }
    host.call(|world| {
        let id = world.add_socket(Socket::new(domain, kind & libc::SOCK_NONBLOCK != 0));
        world.add_descriptor(fd, Descriptor::Socket(id));
        Ok(fd)
    })
}

/// Reads an address as C lays it out.
pub(crate) fn parse_address(bytes: &[u8]) -> Answer<SocketAddr> {
    let family = bytes.get(..2).map_or(0, |family| u16::from_ne_bytes([family[0], family[1]]));
    let port = || bytes.get(2..4).map(|port| u16::from_be_bytes([port[0], port[1]])).ok_or(libc::EINVAL);
    match i32::from(family) {
        libc::AF_INET => {
            let octets: [u8; 4] = bytes.get(4..8).and_then(|octets| octets.try_into().ok()).ok_or(libc::EINVAL)?;
            Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(octets)), port()?))
        }
        libc::AF_INET6 => {
            let octets: [u8; 16] = bytes.get(8..24).and_then(|octets| octets.try_into().ok()).ok_or(libc::EINVAL)?;
            Ok(SocketAddr::new(Ipv6Addr::from(octets).to_canonical(), port()?))
        }
        _ => Err(libc::EAFNOSUPPORT),
    }
}

/// Returns whether an address names no family.
pub(crate) fn is_unspecified(bytes: &[u8]) -> bool {
    bytes.get(..2) == Some(&[0, 0])
}

/// Writes an address as C lays it out.
fn address_bytes(address: SocketAddr) -> Vec<u8> {
    let (family, octets) = match address.ip() {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec()),
        // The flow label stands before the address.
        IpAddr::V6(ip) => (libc::AF_INET6, [&[0; 4], ip.octets().as_slice()].concat()),
    };
    let mut bytes = (family as u16).to_ne_bytes().to_vec();
    bytes.extend(address.port().to_be_bytes());
    bytes.extend(octets);
    bytes.resize(
        if address.is_ipv4() { mem::size_of::<libc::sockaddr_in>() } else { mem::size_of::<libc::sockaddr_in6>() },
        0,
    );
    bytes
}

impl Peer {
    /// Stores the address where C wants it.
    pub(crate) unsafe fn store(&self, into: *mut sockaddr, length: *mut socklen_t) {
        if into.is_null() || length.is_null() {
            return;
        }
        let bytes = address_bytes(self.0);
        unsafe {
            let room = *length as usize;
            core::ptr::copy_nonoverlapping(bytes.as_ptr(), into.cast(), bytes.len().min(room));
            *length = bytes.len() as socklen_t;
        }
    }
}

pub(crate) fn bind(host: &Host, fd: c_int, to: &[u8]) -> Answer<c_int> {
    let address = parse_address(to)?;
    // The real socket is bound too, so that the system's tables show it.
    let one: c_int = 1;
    unsafe {
        for (level, name) in [(libc::SOL_SOCKET, libc::SO_REUSEADDR), (libc::SOL_IP, libc::IP_FREEBIND)] {
            libc::setsockopt(fd, level, name, (&raw const one).cast(), 4);
        }
        libc::bind(fd, to.as_ptr().cast(), to.len() as socklen_t);
    }
    host.call(|world| {
        world.socket(fd)?.local = address;
        Ok(0)
    })
}

pub(crate) fn listen(host: &Host, fd: c_int, backlog: c_int) -> Answer<c_int> {
    unsafe { libc::listen(fd, backlog) };
    host.call(|world| {
        let socket = world.socket(fd)?;
        match socket.role {
            Role::Fresh => socket.role = Role::Listener(Listener::default()),
            Role::Listener(_) => {}
            _ => return Err(libc::EINVAL),
        }
        Ok(0)
    })
}

pub(crate) fn accept(host: &Host, fd: c_int) -> Answer<(c_int, Peer)> {
    let (id, remote, domain) = host.wait(|world| match try_accept(world, fd) {
        Err(libc::EAGAIN) if world.socket(fd).is_ok_and(|socket| !socket.settings.is_nonblocking) => Step::Block(None),
        answer => Step::Done(answer),
    })?;
    let accepted = unsafe { libc::socket(domain, libc::SOCK_STREAM, 0) };
    host.call(|world| {
        world.add_descriptor(accepted, Descriptor::Socket(id));
        Ok((accepted, Peer(remote)))
    })
}

fn try_accept(world: &mut World, fd: c_int) -> Answer<(SocketId, SocketAddr, c_int)> {
    let Role::Listener(listener) = &mut world.socket(fd)?.role else { return Err(libc::EINVAL) };
    let id = listener.waiting.pop_front().ok_or(libc::EAGAIN)?;
    let remote = world.sockets.get(&id).and_then(Socket::flow).ok_or(libc::ECONNABORTED)?.remote;
    Ok((id, remote, if remote.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }))
}

pub(crate) fn connect(host: &Host, fd: c_int, to: &[u8]) -> Answer<c_int> {
    let remote = parse_address(to)?;
    let is_new = host.call(|world| begin_connect(world, fd, remote))?;
    host.wait(|world| match world.socket(fd) {
        Err(error) => Step::Done(Err(error)),
        Ok(socket) => connected(socket, is_new),
    })
}

/// Begins to connect; says whether it has only begun now.
fn begin_connect(world: &mut World, fd: c_int, remote: SocketAddr) -> Answer<bool> {
    let socket = world.socket(fd)?;
    match &socket.role {
        Role::Fresh if socket.settings.fast_open_connect => {
            let settings = socket.settings.clone();
            if fast_open::can_defer(&settings, world.cookies.of(remote.ip())) {
                world.socket(fd)?.role = Role::Deferred(remote);
                return Ok(false);
            }
            start(world, fd, remote, true)?;
            Ok(true)
        }
        Role::Fresh => {
            start(world, fd, remote, false)?;
            Ok(true)
        }
        Role::Deferred(_) | Role::Listener(_) => Err(libc::EISCONN),
        Role::Flow(flow) if flow.is_connected() => Err(libc::EISCONN),
        Role::Flow(_) if socket.settings.is_nonblocking => Err(libc::EALREADY),
        Role::Flow(_) => Ok(false),
        Role::Dead => Err(libc::ECONNABORTED),
    }
}

/// Returns whether a connection is there.
fn connected(socket: &mut Socket, is_new: bool) -> Step<c_int> {
    if let Err(error) = socket.take_error() {
        return Step::Done(Err(error));
    }
    match socket.flow() {
        Some(flow) if !flow.is_connected() && !flow.is_closed() => {
            if is_new && socket.settings.is_nonblocking {
                Step::Done(Err(libc::EINPROGRESS))
            } else {
                Step::Block(None)
            }
        }
        _ => Step::Done(Ok(0)),
    }
}

/// Begins a connection, with Fast Open if wanted; gives the bytes that the SYN may carry.
pub(crate) fn start(world: &mut World, fd: c_int, remote: SocketAddr, is_fast: bool) -> Answer<u64> {
    let bound = world.socket(fd)?.local;
    let remembered = world.cookies.of(remote.ip()).clone();
    let (local, seeds, now) = (world.local_for(bound, remote), world.seeds().child("client"), world.now());
    let socket = world.socket(fd)?;
    socket.local = local;
    let config = config(&socket.settings, local.ip(), true);
    let mut flow = Flow::new(Connection::connect(&config, seeds), local, remote, now);
    let offer = is_fast.then(|| fast_open::offer(&socket.settings, &remembered));
    if let Some(offer) = offer {
        flow.connection.open_fast(offer);
        flow.asked = Some(offer);
    }
    flow.feeding.cork = socket.settings.cork;
    let room = flow.connection.room_on_syn();
    socket.role = Role::Flow(Box::new(flow));
    Ok(room)
}

/// Returns the largest segment that this side tells the peer it takes.
pub(crate) fn largest_segment(settings: &Settings, address: IpAddr) -> u16 {
    let fits = (device::mtu() - device::headers(address)) as u16;
    settings.largest_segment.map_or(fits, |wanted| wanted.min(fits))
}

/// Returns the endpoint's parameters for a socket: Linux's, as far as the script has not set them.
pub(crate) fn config(settings: &Settings, address: IpAddr, is_client: bool) -> Config {
    let mss = largest_segment(settings, address);
    let linux = Config::linux();
    let largest = sysctl::numbers("tcp_rmem").get(2).copied().unwrap_or(6_291_456);
    Config {
        mss,
        window: (largest / u64::from(mss)) as u32,
        timestamps: sysctl::is_on("tcp_timestamps"),
        ip: if address.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 },
        nagle: !settings.no_delay,
        sack_blocks: if sysctl::is_on("tcp_sack") { 4 } else { 0 },
        duplicate_sack: sysctl::is_on("tcp_dsack"),
        ecn: match sysctl::number("tcp_ecn", 2) {
            1 => EcnMode::Classic,
            2 if !is_client => EcnMode::Classic,
            _ => EcnMode::Off,
        },
        rack: RackConfig { probes_tail: sysctl::number("tcp_early_retrans", 3) >= 3, ..linux.rack },
        receive_buffer: ReceiveBuffer::Tuned { initial: FIRST_BUFFER, largest },
        restarts_after_idle: sysctl::is_on("tcp_slow_start_after_idle"),
        lifetimes: Lifetimes {
            opening: Some(opening_limit(settings)),
            user_timeout: user_timeout(settings),
            keep_alive: keep_alive(settings),
            ..linux.lifetimes
        },
        ..linux
    }
}

/// Returns how long an answer to a SYN may take: so many tries, each twice as long as the one before.
pub(crate) fn opening_limit(settings: &Settings) -> Duration {
    let tries = settings.opening_tries.map_or_else(|| sysctl::number("tcp_syn_retries", 6), u64::from);
    Duration::from_secs((2 << tries.min(16)) - 1)
}

/// Returns the user timeout, if there is one.
pub(crate) fn user_timeout(settings: &Settings) -> Option<Duration> {
    (settings.user_timeout > 0).then(|| Duration::from_millis(u64::from(settings.user_timeout)))
}

/// Returns when to ask a silent peer, if it is to be asked.
pub(crate) fn keep_alive(settings: &Settings) -> Option<KeepAlive> {
    let time = |seconds: Option<u32>, name, otherwise| {
        Duration::from_secs(seconds.map_or_else(|| sysctl::number(name, otherwise), u64::from))
    };
    settings.keep_alive.then(|| KeepAlive {
        idle: time(settings.keep_idle, "tcp_keepalive_time", 7200),
        interval: time(settings.keep_interval, "tcp_keepalive_intvl", 75),
        probes: settings.keep_count.unwrap_or_else(|| sysctl::number("tcp_keepalive_probes", 9) as u32),
    })
}
