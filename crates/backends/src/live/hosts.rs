//! The stacks of both namespaces, and the connections between them.

use super::address;
use super::frame_headers::FrameHeaders;
use super::observers::{OpenerLog, TraceAdapter};
use super::socket;
use crate::clock::Clock;
use crate::event_log::SharedEventLog;
use crate::hosts::{Decision, Hosts, Readiness};
use crate::namespaces::{NamespacePair, port_of};
use earlybird_emulator::Side;
use earlybird_experiment::FlowSpec;
use earlybird_live::device::{Device, Encapsulation, Path, Udp};
use earlybird_live::{Error, Event, Id, Limits, Settings, Stack};
use earlybird_sim::{Carrier, EndpointSettings, FlowEnd, FlowGauges, FlowId};
use earlybird_tcp::{Config, Connection, Delivery, ListenConfig, Segmentation, TraceEvent};
use earlybird_traffic::{ConnectionId, Part};
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The hosts of both namespaces, on one thread.
#[derive(Debug)]
pub(super) struct LiveHosts {
    namespaces: NamespacePair,
    near: HostStack,
    far: HostStack,
    clock: Clock,
    /// The configuration of each flow's opener.
    openers: Vec<Config>,
    /// By number of the connection.
    opened: Vec<Ends>,
    /// The log of opened connections, if there is an event log.
    opened_log: Option<OpenedLog>,
    /// Buffer for reads.
    room: Vec<u8>,
    /// Buffer for frames that are written.
    frame: Vec<u8>,
}

/// A stack with its connections.
#[derive(Debug)]
struct HostStack {
    stack: Stack<Udp, Clock>,
    decisions: Receiver<(Instant, Id, TraceEvent)>,
    numbers: HashMap<Id, ConnectionId>,
}

/// The run's event log, and the channel to the openers' observer.
#[derive(Debug)]
struct OpenedLog {
    event_log: SharedEventLog,
    opened: Sender<(Id, FlowId)>,
}

/// One connection.
#[derive(Debug)]
struct Ends {
    flow: usize,
    opener: Id,
    /// Present from the end of the handshake on.
    listener: Option<Id>,
    frame_headers: FrameHeaders,
    replies: u64,
}

/// Bytes that a connection holds at most on either side, beyond what links of today hold: the simulator's are without limit.
const BUFFER: u64 = 64 << 20;
/// Unsent bytes above which nothing is written: 40 ms of 50 Mbit/s.
const UNSENT: u64 = 1 << 18;
/// The payload of streams: content does not matter.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
const ROOM: usize = 1 << 18;
/// Bytes of the headers of IPv4 and TCP.
const HEADERS: u64 = 40;

fn settings_of(spec: &FlowSpec) -> &EndpointSettings {
    let Carrier::Tcp(settings) = &spec.carrier else { unreachable!("datagrams were refused") };
    settings
}

/// Returns the parameters of an endpoint as a wire asks for them. The scenario's segment is payload; here its size takes in the
/// options that every segment has, so that the payload is the same. Its paths carry packets of every size: a lost packet was not too large.
fn wire_config(config: &Config) -> Config {
    let real = config
        .with_segmentation(Segmentation::Real)
        .with_unsent_limit(Some(UNSENT))
        .with_pmtu_black_hole_detection(false);
    real.with_mss(real.segments.mss + (real.segments.mss - real.payload()))
}

/// Returns the bytes of a flow's largest packet.
pub(super) fn packet_of(spec: &FlowSpec) -> u64 {
    u64::from(wire_config(&settings_of(spec).opener).segments.mss) + HEADERS + u64::from(Encapsulation::Udp.overhead())
}

impl HostStack {
    fn new(device: Udp, clock: Clock, seed: u64, openers: Option<OpenerLog>) -> Result<Self, Error> {
        let limits = Limits { send_buffer: BUFFER, receive_buffer: BUFFER, ..Limits::default() };
        let mut stack = Stack::new(device, clock, Settings { limits, ..Settings::deterministic(seed, &[]) })?;
        let (sender, decisions) = channel();
        stack.set_observer(Some(Box::new(TraceAdapter { decisions: sender, openers })));
        Ok(Self { stack, decisions, numbers: HashMap::new() })
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        // Wait for room in the socket only if something was refused, else `poll` would return at once.
        let flags = if self.stack.is_congested() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        self.stack.device().descriptor().map(|descriptor| PollFd::from_borrowed_fd(descriptor, flags))
    }
}

impl OpenedLog {
    /// Also returns the observer of the openers.
    fn new(event_log: &SharedEventLog) -> (Self, OpenerLog) {
        let (sender, opened) = channel();
        (Self { event_log: event_log.clone(), opened: sender }, OpenerLog::new(event_log.clone(), opened))
    }

    /// Records the initial state of a connection, which the stack made before it returned the id.
    fn on_opened(&self, id: Id, flow: FlowId, stack: &Stack<Udp, Clock>) {
        // The receiver lives as long as the stack: ignore the error.
        let _ = self.opened.send((id, flow));
        if let Ok(connection) = stack.connection(id) {
            self.event_log.lock().on_state(stack.now(), flow, None, connection);
        }
    }
}

impl LiveHosts {
    /// Makes both namespaces, and has the far one wait for these flows.
    pub(super) fn new(
        namespaces: NamespacePair,
        [near, far]: [Udp; 2],
        clock: Clock,
        seed: u64,
        flows: &[FlowSpec],
        event_log: Option<&SharedEventLog>,
    ) -> Result<Self, Error> {
        let (opened_log, observer) = event_log.map(OpenedLog::new).unzip();
        let (near, mut far) = (HostStack::new(near, clock, seed, observer)?, HostStack::new(far, clock, seed, None)?);
        for (number, spec) in flows.iter().enumerate() {
            far.stack.listen(port_of(number), &wire_config(&settings_of(spec).listener), ListenConfig::default())?;
        }
        let openers = flows.iter().map(|spec| wire_config(&settings_of(spec).opener)).collect();
        let (opened, room, frame) = (Vec::new(), vec![0; ROOM], Vec::new());
        Ok(Self { namespaces, near, far, clock, openers, opened, opened_log, room, frame })
    }

    fn ends(&self, id: ConnectionId) -> &Ends {
        &self.opened[id.0 as usize]
    }

    fn has_frames(&self, id: ConnectionId) -> bool {
        self.openers[self.ends(id).flow].real_time.framing
    }

    fn opener(&self, id: ConnectionId) -> Option<&Connection> {
        self.near.stack.connection(self.ends(id).opener).ok()
    }

    fn listener(&self, id: ConnectionId) -> Option<&Connection> {
        self.far.stack.connection(self.ends(id).listener?).ok()
    }

    /// Sleeps until something arrives or is due, so long at max.
    fn sleep(&mut self, span: Duration) -> io::Result<()> {
        // Timers of both stacks run on this thread.
        let due = [self.near.stack.deadline(), self.far.stack.deadline()].into_iter().flatten().min();
        let span = due.map_or(span, |due| due.since(self.clock.now()).min(span));
        let timeout = Timespec::try_from(std::time::Duration::from_nanos(span.as_nanos()));
        let timeout = timeout.map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut descriptors: Vec<_> = [&self.near, &self.far].into_iter().filter_map(HostStack::poll_fd).collect();
        match poll(&mut descriptors, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Handles the events of both stacks.
    fn listen(&mut self, ready: &mut Vec<Readiness>) {
        while let Some((id, event)) = self.near.stack.poll_event() {
            if let Some(number) = self.near.numbers.get(&id).copied() {
                self.on_opener(number, id, event, ready);
            }
        }
        while let Some((id, event)) = self.far.stack.poll_event() {
            if let Event::Incoming(port) = event {
                self.accept(port);
            }
            if let Some(number) = self.far.numbers.get(&id).copied() {
                self.on_listener(number, id, event, ready);
            }
        }
    }

    fn on_opener(&mut self, number: ConnectionId, id: Id, event: Event, ready: &mut Vec<Readiness>) {
        match event {
            Event::Writable => ready.push(Readiness::Writable(number)),
            Event::Established | Event::Readable => self.discard_replies(number, id),
            // The connection may be closed already: ignore the error.
            Event::PeerClosed => drop(self.near.stack.shutdown(id)),
            _ => {}
        }
    }

    fn on_listener(&mut self, number: ConnectionId, id: Id, event: Event, ready: &mut Vec<Readiness>) {
        match event {
            Event::Incoming(_) | Event::Readable => ready.push(Readiness::Readable(number)),
            Event::PeerClosed => drop(self.far.stack.shutdown(id)),
            _ => {}
        }
    }

    /// Accepts the connections on a flow's port.
    fn accept(&mut self, port: u16) {
        while let Some(id) = self.far.stack.accept(port) {
            // Each flow has its own port and opens one connection at a time.
            let is_this = |ends: &Ends| port_of(ends.flow) == port && ends.listener.is_none();
            let Some(number) = self.opened.iter().position(is_this) else { continue };
            self.opened[number].listener = Some(id);
            self.far.numbers.insert(id, ConnectionId(number as u32));
        }
    }

    /// Reads and discards the listener's messages. Reading a frame skips the hole before it.
    fn discard_replies(&mut self, number: ConnectionId, id: Id) {
        if self.has_frames(number) {
            while matches!(self.near.stack.read_frame(id, &mut self.room), Ok(Some(_))) {}
        } else {
            while self.near.stack.read(id, &mut self.room).is_ok_and(|count| count > 0) {}
        }
    }
}

impl Hosts for LiveHosts {
    fn open(&mut self, _: Instant, id: FlowId) -> io::Result<ConnectionId> {
        let (flow, number) = (id.0 as usize, ConnectionId(self.opened.len() as u32));
        let path = Path::over_udp(SocketAddr::V4(address(Side::Far)));
        let opener = self.near.stack.connect(&self.openers[flow], path, port_of(flow)).map_err(io::Error::other)?;
        self.near.numbers.insert(opener, number);
        if let Some(opened_log) = &self.opened_log {
            opened_log.on_opened(opener, id, &self.near.stack);
        }
        let frame_headers = FrameHeaders::new(self.openers[flow].real_time.delivery == Delivery::Unordered);
        self.opened.push(Ends { flow, opener, listener: None, frame_headers, replies: 0 });
        Ok(number)
    }

    fn write(&mut self, id: ConnectionId, bytes: u64) -> u64 {
        let part = &ZEROS[..bytes.min(ZEROS.len() as u64) as usize];
        self.near.stack.write(self.ends(id).opener, part).unwrap_or(0) as u64
    }

    fn is_drained(&self, id: ConnectionId) -> bool {
        self.opener(id).is_none_or(|connection| !connection.has_data())
    }

    fn close(&mut self, id: ConnectionId) {
        // The connection may be closed already: ignore the error.
        let _ = self.near.stack.shutdown(self.ends(id).opener);
    }

    fn received(&self, id: ConnectionId) -> u64 {
        self.listener(id).map_or(0, Connection::received)
    }

    fn read(&mut self, id: ConnectionId, max: u64) -> u64 {
        let Some(listener) = self.ends(id).listener else { return 0 };
        let len = max.min(self.room.len() as u64) as usize;
        self.far.stack.read(listener, &mut self.room[..len]).unwrap_or(0) as u64
    }

    fn write_frame(&mut self, id: ConnectionId, part: Part, bytes: u64) -> bool {
        let ends = &mut self.opened[id.0 as usize];
        self.frame.resize(bytes as usize, 0);
        ends.frame_headers.write(&mut self.frame);
        let is_taken = self.near.stack.write_frame(ends.opener, &self.frame, part.unit).is_ok();
        if is_taken {
            ends.frame_headers.push(part);
        }
        is_taken
    }

    fn read_frame(&mut self, id: ConnectionId, may_wait: bool) -> Option<Part> {
        // Reading a frame would make the stack skip a hole: not allowed for a reader that does not wait.
        if !may_wait && self.listener(id)?.readable() == 0 {
            return None;
        }
        let ends = &mut self.opened[id.0 as usize];
        let len = self.far.stack.read_frame(ends.listener?, &mut self.room).ok()??;
        ends.frame_headers.take(&self.room[..len])
    }

    fn peek_frame(&self, id: ConnectionId) -> Option<Part> {
        let (ends, mut label) = (self.ends(id), [0; FrameHeaders::LEN]);
        let len = self.far.stack.peek_frame(ends.listener?, &mut label).ok()??;
        ends.frame_headers.find(&label[..len])
    }

    fn reply(&mut self, id: ConnectionId, bytes: u64) {
        let (has_frames, part) = (self.has_frames(id), &ZEROS[..bytes as usize]);
        let ends = &mut self.opened[id.0 as usize];
        let Some(listener) = ends.listener else { return };
        ends.replies += 1;
        // The connection may be closed: the opener discards replies, so ignore the error.
        let _ = if has_frames {
            self.far.stack.write_frame(listener, part, ends.replies)
        } else {
            self.far.stack.write(listener, part).map(|taken| taken as u64)
        };
    }

    fn gauges(&self, id: ConnectionId) -> FlowGauges {
        self.opener(id).map(FlowGauges::from).unwrap_or_default()
    }

    fn end(&self, now: Instant, id: ConnectionId) -> FlowEnd {
        self.opener(id).map(|opener| FlowEnd::of(now, opener, self.listener(id))).unwrap_or_default()
    }

    fn decisions(&mut self) -> Vec<Decision> {
        let of_host = |host: &HostStack| -> Vec<Decision> {
            let known = |(at, id, event)| Some((at, *host.numbers.get(&id)?, event));
            host.decisions.try_iter().filter_map(known).collect()
        };
        [of_host(&self.near), of_host(&self.far)].concat()
    }

    fn undelivered(&self) -> io::Result<u64> {
        let mut undelivered = self.namespaces.dropped()?;
        // Packets can be lost in the device's queue and in the socket's receive buffer.
        for socket in [&self.near, &self.far].into_iter().filter_map(|host| host.stack.device().descriptor()) {
            undelivered += u64::from(socket::dropped(socket)?);
        }
        Ok(undelivered)
    }

    fn wait(&mut self, span: Duration, ready: &mut Vec<Readiness>) -> io::Result<()> {
        // Calls of applications may have caused events: handle them before sleeping.
        self.listen(ready);
        // With events to handle, only collect packets that have already arrived.
        self.sleep(if ready.is_empty() { span } else { Duration::ZERO })?;
        for host in [&mut self.near, &mut self.far] {
            host.stack.turn()?;
        }
        self.listen(ready);
        Ok(())
    }
}
