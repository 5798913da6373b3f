//! Relays media between a local source or sink and a remote relay.

use crate::address::{Address, RelayAddress, Via};
use crate::foreign::{self, Foreign, Watched};
use crate::identities::Callers;
use crate::message::Refusal;
use crate::peers::{BoxedDevice, Peers, RelayStack};
use crate::receiver::Receiver;
use crate::secret::redacted;
use crate::sender::Sender;
use crate::sink::{Sink, Unsent};
use crate::source::Source;
use crate::statistics::Report;
use crate::transport::config_of;
use earlybird_live::device::{Tun, Udp};
use earlybird_live::{Application, Clock, Driver, Event, Id, MonotonicClock, Settings, Stack, unix_time};
use earlybird_scheduling::RealtimePriority;
use earlybird_seal::{Drops, RandomSource, Role, Sealed};
use earlybird_transport::ScenarioError;
use earlybird_units::{Duration, Instant};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// Errors of a relay.
#[derive(Debug)]
pub enum RelayError {
    /// There is no such transport.
    Transport(ScenarioError),
    /// The two ends cannot be combined.
    Ends(&'static str),
    /// An end cannot be opened, or failed.
    End(String, io::Error),
}

impl fmt::Display for RelayError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transport(error) => error.fmt(formatter),
            Self::Ends(problem) => formatter.write_str(problem),
            Self::End(address, error) => write!(formatter, "{address}: {error}"),
        }
    }
}

impl std::error::Error for RelayError {}

/// A command to a running relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Keep running.
    Continue,
    /// Send or play buffered units, then stop.
    Drain,
    /// Stop now.
    Stop,
}

/// The interval of reports to `watch`.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// The interval at which the `watch` callback is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The time that the sink may take for buffered units when the relay drains. A player that reads takes them at once; one that has
/// stopped must not block the end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// The interval at which a draining sink is polled.
const DRAIN_POLL: std::time::Duration = std::time::Duration::from_millis(10);

/// Relays media from one address to the other until the source ends or `watch` returns a command to end.
///
/// `watch` is called every 50 ms, with a report once a second. Returns the last report.
///
/// # Errors
///
/// See [`RelayError`].
pub fn transmit(
    source: (&str, &Address),
    destination: (&str, &Address),
    watch: &mut dyn FnMut(Option<&Report>) -> Command,
) -> Result<Report, RelayError> {
    let names = [source.0, destination.0].map(redacted);
    let (source, destination) = ((names[0].as_str(), source.1), (names[1].as_str(), destination.1));
    match (source.1, destination.1) {
        (Address::Relay(_), Address::Relay(_)) => Err(RelayError::Ends("one of the two ends must not be eb://.")),
        (_, Address::Relay(relay)) => Relay::sending(source, (destination.0, relay), watch)?.run(),
        (Address::Relay(relay), _) => Relay::receiving((source.0, relay), destination, watch)?.run(),
        _ => Err(RelayError::Ends("one of the two ends must be eb://, such as eb://host:4201.")),
    }
}

struct Relay<'a> {
    driver: Driver<BoxedDevice, MonotonicClock>,
    work: RelayApp<'a>,
}

/// The application of the relay's stack.
struct RelayApp<'a> {
    peers: Peers,
    end: LocalEnd,
    watch: &'a mut dyn FnMut(Option<&Report>) -> Command,
    next_report: Instant,
    next_poll: Instant,
    is_draining: bool,
    /// The counters of encryption.
    drops: Option<Arc<Drops>>,
    foreign: Foreign,
    /// The error that ended the relay.
    failure: Option<RelayError>,
    name: String,
}

/// The local end.
enum LocalEnd {
    Sending { sender: Sender, source: Source },
    Receiving { receiver: Receiver, sink: Sink },
}

impl<'a> Relay<'a> {
    fn sending(
        (name, source): (&str, &Address),
        (relay_name, relay): (&str, &RelayAddress),
        watch: &'a mut dyn FnMut(Option<&Report>) -> Command,
    ) -> Result<Self, RelayError> {
        let foreign = Foreign::default();
        let (clock, mut driver, secrecy) = driver(relay_name, relay, &foreign)?;
        let (drops, callers) = secrecy.map_or_else(Default::default, Secrecy::parts);
        let peers = peers(relay_name, relay, true, &mut driver.stack)?.with_callers(callers);
        // Of a source with a thread; an empty task wakes the stack's thread.
        let handle = driver.handle();
        // If the task queue is full, the stack is awake anyway.
        let waker = Box::new(move || {
            let _ = handle.submit(|_| {});
        });
        let source = Source::open(source, clock, waker).map_err(|error| RelayError::End(name.to_owned(), error))?;
        let end = LocalEnd::Sending { sender: Sender::default(), source };
        Ok(Self { driver, work: RelayApp { drops, foreign, ..RelayApp::new(peers, end, watch, name) } })
    }

    fn receiving(
        (relay_name, relay): (&str, &RelayAddress),
        (name, sink): (&str, &Address),
        watch: &'a mut dyn FnMut(Option<&Report>) -> Command,
    ) -> Result<Self, RelayError> {
        let foreign = Foreign::default();
        let (_, mut driver, secrecy) = driver(relay_name, relay, &foreign)?;
        let (drops, callers) = secrecy.map_or_else(Default::default, Secrecy::parts);
        let peers = peers(relay_name, relay, false, &mut driver.stack)?.with_callers(callers);
        let sink = Sink::open(sink).map_err(|error| RelayError::End(name.to_owned(), error))?;
        let end = LocalEnd::Receiving { receiver: Receiver::new(), sink };
        Ok(Self { driver, work: RelayApp { drops, foreign, ..RelayApp::new(peers, end, watch, name) } })
    }

    fn run(mut self) -> Result<Report, RelayError> {
        let name = self.work.name.clone();
        let address = &self.work.peers.address;
        if address.is_listener && address.via == Via::Udp {
            // After the local end is open, which may be a server at the same port.
            foreign::watch_tcp(address.socket, &self.work.foreign);
        }
        // Units must leave on time even on a busy machine.
        let _priority = RealtimePriority::request();
        let run = self.driver.run(&mut self.work);
        let report = self.work.report(&self.driver.stack);
        run.map_err(|error| RelayError::End(name.clone(), error))?;
        let unsent = self.work.finish(&name, self.driver.stack.clock())?;
        Ok(Report { unsent, ..report })
    }
}

/// Returns a refusal as text, with the protocol that the peer speaks if that is known.
fn explain(refusal: Refusal, foreign: Option<&(&str, SocketAddr)>) -> String {
    match (refusal, foreign) {
        (Refusal::NotARelay | Refusal::NoAnswer | Refusal::NoAnswerInsecure, Some((name, _))) => {
            format!("{}: this is {name}", Refusal::NotARelay)
        }
        _ => refusal.to_string(),
    }
}

/// The counters of encryption, and the callers of a listener.
struct Secrecy {
    drops: Arc<Drops>,
    callers: Callers,
}

impl Secrecy {
    fn parts(self) -> (Option<Arc<Drops>>, Callers) {
        (Some(self.drops), self.callers)
    }
}

/// The clock of a relay, its event loop, and its encryption.
type RelayDriver = (MonotonicClock, Driver<BoxedDevice, MonotonicClock>, Option<Secrecy>);

/// Creates the stack of a relay and its event loop.
fn driver(name: &str, relay: &RelayAddress, foreign: &Foreign) -> Result<RelayDriver, RelayError> {
    let failed = |error| RelayError::End(name.to_owned(), error);
    let clock = MonotonicClock::default();
    let (device, addresses) = match &relay.via {
        Via::Udp => (udp(relay, clock, foreign), Vec::new()),
        Via::Tun { device, local } => (tun(device, *local).map(|device| (device, None)), vec![*local]),
    };
    let settings = Settings::random(&addresses).map_err(failed)?;
    let (device, secrecy) = device.map_err(failed)?;
    let stack = Stack::new(device, clock, settings).map_err(|error| failed(io::Error::other(error.to_string())))?;
    Ok((clock, Driver::new(stack).map_err(failed)?, secrecy))
}

/// Opens a UDP socket: at the address of a listener, or at any port.
fn udp(relay: &RelayAddress, clock: MonotonicClock, foreign: &Foreign) -> io::Result<(BoxedDevice, Option<Secrecy>)> {
    let any: IpAddr = if relay.socket.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // A caller may use any port: the listener replies to the one that it sees.
    let local = if relay.is_listener { relay.socket } else { SocketAddr::new(any, 0) };
    let socket = Udp::bind(local)?;
    if !relay.is_listener {
        // A host without a route is reported before anything is sent; the socket of the device serves all peers, and stays unconnected.
        UdpSocket::bind((any, 0))?.connect(relay.socket)?;
    }
    let socket = Watched::new(socket, relay.secret.is_some(), foreign.clone());
    let Some(secret) = &relay.secret else { return Ok((Box::new(socket), None)) };
    let role = if relay.is_listener { Role::Listener } else { Role::Caller };
    let (keys, callers) = secret.keys()?;
    let device = Sealed::with_keys(socket, clock, role, keys, RandomSource::of_system(), unix_time())?;
    let callers = Callers::new(callers, device.identities());
    let secrecy = Secrecy { drops: device.drops(), callers };
    Ok((Box::new(device), Some(secrecy)))
}

/// Creates a TUN device and routes `local` to it.
fn tun(name: &str, local: IpAddr) -> io::Result<BoxedDevice> {
    let explain = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), PERMISSION_HINT),
        kind => io::Error::new(kind, format!("the TUN device `{name}`: {error}")),
    };
    let device = Tun::new(name, MTU).map_err(explain)?;
    // The kernel must route the stack's address to the device before the first SYN-ACK.
    Tun::add_route(name, local).map_err(explain)?;
    Ok(Box::new(device))
}

/// The MTU of Ethernet; routers report smaller ones by ICMP.
const MTU: u16 = 1500;
/// Advice if the privilege is missing.
const PERMISSION_HINT: &str =
    "via=tun needs root (CAP_NET_ADMIN), as it creates a TUN device; via=udp needs no privilege";

fn peers(name: &str, relay: &RelayAddress, sends: bool, stack: &mut RelayStack) -> Result<Peers, RelayError> {
    let unknown = |error| RelayError::Transport(ScenarioError { path: format!("{name}: transport"), ..error });
    let config = config_of(&relay.transport, relay.latency).map_err(unknown)?;
    Peers::new(relay.clone(), config, sends, stack)
        .map_err(|error| RelayError::End(name.to_owned(), io::Error::other(error.to_string())))
}

impl<'a> RelayApp<'a> {
    fn new(peers: Peers, end: LocalEnd, watch: &'a mut dyn FnMut(Option<&Report>) -> Command, name: &str) -> Self {
        Self {
            peers,
            end,
            watch,
            next_report: Instant::ZERO + REPORT_INTERVAL,
            next_poll: Instant::ZERO,
            is_draining: false,
            drops: None,
            foreign: Foreign::default(),
            failure: None,
            name: name.to_owned(),
        }
    }

    fn report(&self, stack: &RelayStack) -> Report {
        let ready = || self.peers.all.iter().filter(|peer| peer.is_ready && !peer.is_gone);
        let connections = self.peers.statistics(stack);
        let (mut counters, buffer) = match &self.end {
            LocalEnd::Sending { sender, .. } => (sender.counters, Duration::ZERO),
            LocalEnd::Receiving { receiver, .. } => receiver.snapshot(),
        };
        counters.retransmissions = self.peers.retransmissions();
        counters.dropped += self.peers.abandoned();
        counters.refused_connections = self.peers.refused;
        counters.undecrypted = self.drops.as_ref().map_or(0, |drops| drops.undecrypted());
        let is_undecrypted = counters.undecrypted > 0 && ready().count() == 0;
        let refusal = self.peers.refusal.or(is_undecrypted.then_some(Refusal::Undecrypted));
        let foreign = self.foreign.get();
        Report {
            at: stack.now(),
            peers: ready().count(),
            reconnects: self.peers.connected.saturating_sub(1),
            refusal: refusal.map(|refusal| explain(refusal, foreign.last())),
            foreign: (!foreign.is_empty()).then(|| {
                let each: Vec<_> = foreign.iter().map(|(name, from)| format!("{name} from {from}")).collect();
                each.join(", ")
            }),
            notice: match &self.end {
                LocalEnd::Sending { source, .. } => source.notice.get(),
                LocalEnd::Receiving { sink, .. } => sink.notice(),
            },
            counters,
            // The first connection represents all: a receiver has only one.
            path: connections.first().map(|connection| connection.path),
            connections,
            buffer,
            unsent: Unsent::default(),
        }
    }

    /// Calls `watch` when it is due, with a report once a second. Returns the current command.
    fn poll_command(&mut self, stack: &RelayStack) -> Command {
        let now = stack.now();
        if now < self.next_poll {
            return if self.is_draining { Command::Drain } else { Command::Continue };
        }
        self.next_poll = now + POLL_INTERVAL;
        if now < self.next_report {
            return (self.watch)(None);
        }
        // Skip reports that were missed, for example while the process was suspended.
        self.next_report = self.next_report.max(now.min(self.next_report + REPORT_INTERVAL)) + REPORT_INTERVAL;
        let report = self.report(stack);
        (self.watch)(Some(&report))
    }

    /// Runs one iteration. Returns the time of the next one, or `None` at the end of the relay.
    fn turn(&mut self, stack: &mut RelayStack) -> Result<Option<Instant>, RelayError> {
        let next = self.peers.turn(stack);
        let (next, is_done) = match &mut self.end {
            LocalEnd::Sending { sender, source } => {
                // A recorded stream starts with the first peer, so that it gets the beginning.
                if self.peers.connected > 0 {
                    source.start();
                }
                let has_ended = sender.turn(stack, &mut self.peers, source);
                // Peers that are still connecting would get nothing.
                if has_ended || self.is_draining {
                    self.peers.is_closing = true;
                    sender.end(stack, &mut self.peers);
                }
                (next, sender.is_done(stack, &self.peers))
            }
            LocalEnd::Receiving { receiver, sink } => {
                if self.is_draining {
                    self.peers.close(stack);
                }
                let due = receiver
                    .turn(stack, &mut self.peers, sink)
                    .map_err(|error| RelayError::End(self.name.clone(), error))?;
                // A listener serves the next sender; a caller ends with its stream.
                let is_finished = self.is_draining || (receiver.has_ended && !self.peers.address.is_listener);
                (next.min(due), is_finished && receiver.is_done())
            }
        };
        Ok((!is_done).then(|| next.min(self.next_poll)))
    }

    /// Closes the source or sink. Returns the data that the sink did not accept.
    fn finish(self, name: &str, clock: &MonotonicClock) -> Result<Unsent, RelayError> {
        let Self { end, watch, is_draining, failure, .. } = self;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let closed = match end {
            LocalEnd::Sending { source, .. } => source.close().map(|()| Unsent::default()),
            LocalEnd::Receiving { mut sink, .. } => {
                drain_sink(&mut sink, watch, clock, is_draining);
                let unsent = sink.unsent();
                sink.close().map(|()| unsent)
            }
        };
        closed.map_err(|error| RelayError::End(name.to_owned(), error))
    }
}

/// Waits until a sink has written its units: without limit by default, up to [`DRAIN_TIMEOUT`] after a `Drain` command.
fn drain_sink(
    sink: &mut Sink,
    watch: &mut dyn FnMut(Option<&Report>) -> Command,
    clock: &MonotonicClock,
    mut is_draining: bool,
) {
    // Lets the writer's thread end after the last unit.
    sink.end();
    let mut until = clock.now() + DRAIN_TIMEOUT;
    while !sink.is_finished() && (!is_draining || clock.now() < until) {
        match watch(None) {
            Command::Stop => return,
            Command::Drain if !is_draining => (is_draining, until) = (true, clock.now() + DRAIN_TIMEOUT),
            Command::Drain | Command::Continue => {}
        }
        std::thread::sleep(DRAIN_POLL);
    }
}

impl Application<BoxedDevice, MonotonicClock> for RelayApp<'_> {
    fn on_event(&mut self, stack: &mut RelayStack, id: Id, event: Event) {
        self.peers.on_event(stack, id, event);
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if let LocalEnd::Sending { source, .. } = &self.end { source.descriptor() } else { None }
    }

    fn on_turn(&mut self, stack: &mut RelayStack) -> ControlFlow<(), Option<Instant>> {
        match self.poll_command(stack) {
            Command::Continue => {}
            Command::Drain => self.is_draining = true,
            Command::Stop => return ControlFlow::Break(()),
        }
        match self.turn(stack) {
            Ok(Some(next)) => ControlFlow::Continue(Some(next)),
            Ok(None) => ControlFlow::Break(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "players are slow in real time")]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    const UNITS: u64 = 3_000;
    const UNIT: [u8; 5_000] = [7; 5_000];

    fn sink(address: &str) -> Sink {
        Sink::open(&Address::parse(address).expect("an address")).expect("a sink")
    }

    /// Queues more than the kernel buffers for a player.
    fn fill(sink: &mut Sink) {
        for _ in 0..UNITS {
            assert!(sink.put(0, &UNIT).expect("a player"));
        }
    }

    /// A sink that is connected to a player, and the player.
    fn tcp() -> (Sink, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let sink = sink(&format!("tcp://{}", listener.local_addr().expect("it is bound")));
        (sink, listener.accept().expect("a sink").0)
    }

    /// A sink with a connected player that has read the response header.
    fn http() -> (Sink, TcpStream) {
        let at = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let mut sink = sink(&format!("http://{at}"));
        let mut player = TcpStream::connect(at).expect("it listens");
        player.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("it reads");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            player.read_exact(&mut byte).expect("it answers");
            head.extend(byte);
        }
        // Now the player is connected; the first unit is read here, so that the test counts from 0.
        while !sink.put(0, &UNIT).expect("it is never broken") {
            thread::sleep(DRAIN_POLL);
        }
        player.read_exact(&mut [0; UNIT.len()]).expect("it is served");
        (sink, player)
    }

    fn end(sink: &mut Sink, command: Command) -> (std::time::Duration, Unsent) {
        let started = std::time::Instant::now();
        drain_sink(sink, &mut |_| command, &MonotonicClock::default(), command == Command::Drain);
        (started.elapsed(), sink.unsent())
    }

    #[test]
    fn drain_gives_a_stalled_player_two_seconds() {
        for (mut sink, player) in [tcp(), http()] {
            fill(&mut sink);
            let (time, left) = end(&mut sink, Command::Drain);
            assert!((2.0..20.0).contains(&time.as_secs_f64()), "{time:?}");
            assert!(left.units > 100 && left.bytes == left.units * UNIT.len() as u64, "{left:?}");
            assert!(sink.close().is_ok());
            drop(player);
        }
    }

    #[test]
    fn stop_ends_a_drain() {
        let (mut sink, _player) = tcp();
        fill(&mut sink);
        let (time, left) = end(&mut sink, Command::Stop);
        assert!(time.as_secs_f64() < 2.0 && left.units > 100, "{time:?} {left:?}");
    }

    #[test]
    fn a_slow_player_gets_everything() {
        for (mut sink, mut player) in [tcp(), http()] {
            fill(&mut sink);
            let reader = thread::spawn(move || {
                thread::sleep(std::time::Duration::from_millis(2_500));
                let mut all = Vec::new();
                player.read_to_end(&mut all).map(|_| all.len() as u64)
            });
            let (time, left) = end(&mut sink, Command::Continue);
            assert!(time.as_secs_f64() > 2.4 && left == Unsent::default(), "{time:?} {left:?}");
            assert!(sink.close().is_ok());
            assert_eq!(reader.join().expect("no panic").expect("it reads"), UNITS * UNIT.len() as u64);
        }
    }
}
