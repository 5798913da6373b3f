//! A relay: one end is another relay, or both are not.

use crate::address::{Address, RelayAddress, Via};
use crate::link::{Carrier, Link, RelayStack};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::sink::{Left, Sink};
use crate::source::Source;
use crate::statistics::{Report, Way};
use crate::transport::config_of;
use earlybird_live::device::{Tun, Udp};
use earlybird_live::{Application, Clock, Driver, Event, Id, MonotonicClock, Settings, Stack};
use earlybird_scenario::ScenarioError;
use earlybird_scheduling::RealtimePriority;
use earlybird_units::{Duration, Instant};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::ControlFlow;

/// Why a relay does not run, or did not go on.
#[derive(Debug)]
pub enum RelayError {
    /// There is no such transport.
    Transport(ScenarioError),
    /// The two ends do not go together.
    Ends(&'static str),
    /// An end cannot be opened, or broke.
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

/// What a relay is asked for while it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// To go on.
    GoOn,
    /// To send or play what it has, and then to end.
    Drain,
    /// To end now.
    Stop,
}

/// Time between two reports.
const SECOND: Duration = Duration::from_secs(1);
/// Time between two questions what is wished for.
const LOOK: Duration = Duration::from_millis(50);
/// How long a destination may take, once the relay is to end, for what was played and waits for it: a player that goes on takes it at
/// once, and one that stands still would hold the end for ever.
const LAST: Duration = Duration::from_secs(2);
/// Time between two looks whether it has.
const GLANCE: std::time::Duration = std::time::Duration::from_millis(10);

/// Carries media from one address to the other until the source ends, or something else is wished for.
///
/// `watch` is asked many times a second, and has a report once a second; the last one is given back.
///
/// # Errors
///
/// See [`RelayError`].
pub fn transmit(
    source: (&str, &Address),
    destination: (&str, &Address),
    watch: &mut dyn FnMut(Option<&Report>) -> Wish,
) -> Result<Report, RelayError> {
    match (source.1, destination.1) {
        (Address::Relay(_), Address::Relay(_)) => Err(RelayError::Ends("one of the two ends must not be eb://.")),
        (_, Address::Relay(relay)) => Relay::sending(source, (destination.0, relay), watch)?.run(),
        (Address::Relay(relay), _) => Relay::receiving((source.0, relay), destination, watch)?.run(),
        _ => Err(RelayError::Ends("one of the two ends must be eb://, such as eb://host:4201.")),
    }
}

struct Relay<'a> {
    driver: Driver<Carrier, MonotonicClock>,
    work: Work<'a>,
}

/// What is done in each turn of the stack.
struct Work<'a> {
    link: Link,
    end: End,
    watch: &'a mut dyn FnMut(Option<&Report>) -> Wish,
    next_report: Instant,
    next_look: Instant,
    is_draining: bool,
    /// Why it does not go on.
    failure: Option<RelayError>,
    name: String,
}

/// The end that is no relay.
enum End {
    Sending { sender: Sender, source: Source },
    Receiving { receiver: Receiver, sink: Sink },
}

impl<'a> Relay<'a> {
    fn sending(
        (name, source): (&str, &Address),
        (relay_name, relay): (&str, &RelayAddress),
        watch: &'a mut dyn FnMut(Option<&Report>) -> Wish,
    ) -> Result<Self, RelayError> {
        let (clock, mut driver) = driver(relay_name, relay)?;
        let link = link(relay_name, relay, true, &mut driver.stack)?;
        let handle = driver.handle();
        // What has too much work to do will come to it.
        let ring = Box::new(move || {
            let _ = handle.submit(|_| {});
        });
        let source = Source::open(source, clock, ring).map_err(|error| RelayError::End(name.to_owned(), error))?;
        let end = End::Sending { sender: Sender::default(), source };
        Ok(Self { driver, work: Work::new(link, end, watch, name) })
    }

    fn receiving(
        (relay_name, relay): (&str, &RelayAddress),
        (name, sink): (&str, &Address),
        watch: &'a mut dyn FnMut(Option<&Report>) -> Wish,
    ) -> Result<Self, RelayError> {
        let (_, mut driver) = driver(relay_name, relay)?;
        let link = link(relay_name, relay, false, &mut driver.stack)?;
        let sink = Sink::open(sink).map_err(|error| RelayError::End(name.to_owned(), error))?;
        let end = End::Receiving { receiver: Receiver::new(), sink };
        Ok(Self { driver, work: Work::new(link, end, watch, name) })
    }

    fn run(mut self) -> Result<Report, RelayError> {
        let name = self.work.name.clone();
        let _priority = RealtimePriority::request();
        let run = self.driver.run(&mut self.work);
        let report = self.work.report(&self.driver.stack);
        run.map_err(|error| RelayError::End(name.clone(), error))?;
        let left = self.work.finish(&name, self.driver.stack.clock())?;
        Ok(Report { left, ..report })
    }
}

/// Makes the stack of a relay.
fn driver(name: &str, relay: &RelayAddress) -> Result<(MonotonicClock, Driver<Carrier, MonotonicClock>), RelayError> {
    let failed = |error| RelayError::End(name.to_owned(), error);
    let clock = MonotonicClock::default();
    let (device, addresses) = match &relay.via {
        Via::Udp => (udp(relay), Vec::new()),
        Via::Tun { device, local } => (tun(device, *local), vec![*local]),
    };
    let settings = Settings::random(&addresses).map_err(failed)?;
    let device = device.map_err(failed)?;
    let stack = Stack::new(device, clock, settings).map_err(|error| failed(io::Error::other(error.to_string())))?;
    Ok((clock, Driver::new(stack).map_err(failed)?))
}

/// Opens a socket: the relay's own if it waits, else any.
fn udp(relay: &RelayAddress) -> io::Result<Carrier> {
    let any: IpAddr = if relay.socket.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let local = if relay.waits { relay.socket } else { SocketAddr::new(any, 0) };
    Ok(Box::new(Udp::bind(local)?))
}

/// Makes a TUN device behind which the stack has this address.
fn tun(name: &str, local: IpAddr) -> io::Result<Carrier> {
    let told = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => io::Error::new(error.kind(), NO_RIGHT),
        kind => io::Error::new(kind, format!("the TUN device `{name}`: {error}")),
    };
    let device = Tun::new(name, MTU).map_err(told)?;
    Tun::add_route(name, local).map_err(told)?;
    Ok(Box::new(device))
}

/// Ethernet's; what smaller paths carry their routers tell.
const MTU: u16 = 1500;
/// What to do without the right to make a device.
const NO_RIGHT: &str = "via=tun needs root (CAP_NET_ADMIN), as it makes a TUN device; via=udp needs no right";

fn link(name: &str, relay: &RelayAddress, sends: bool, stack: &mut RelayStack) -> Result<Link, RelayError> {
    let unknown = |error| RelayError::Transport(ScenarioError { path: format!("{name}: transport"), ..error });
    let config = config_of(&relay.transport, relay.latency).map_err(unknown)?;
    Link::new(relay.clone(), config, sends, stack)
        .map_err(|error| RelayError::End(name.to_owned(), io::Error::other(error.to_string())))
}

impl<'a> Work<'a> {
    fn new(link: Link, end: End, watch: &'a mut dyn FnMut(Option<&Report>) -> Wish, name: &str) -> Self {
        Self {
            link,
            end,
            watch,
            next_report: Instant::ZERO + SECOND,
            next_look: Instant::ZERO,
            is_draining: false,
            failure: None,
            name: name.to_owned(),
        }
    }

    fn report(&self, stack: &RelayStack) -> Report {
        let ready = || self.link.peers.iter().filter(|peer| peer.is_ready && !peer.is_gone);
        let mut connections = ready().filter_map(|peer| stack.connection(peer.session.id).ok());
        let (mut counts, buffer) = match &self.end {
            End::Sending { sender, .. } => (sender.counts, Duration::ZERO),
            End::Receiving { receiver, .. } => receiver.state(),
        };
        counts.repeated = self.link.repeated();
        Report {
            at: stack.now(),
            peers: ready().count(),
            reconnects: self.link.connected.saturating_sub(1),
            refusal: self.link.refusal.map(|refusal| refusal.to_string()),
            counts,
            way: connections.next().map(Way::of),
            buffer,
            left: Left::default(),
        }
    }

    /// Asks what is wished for, and reports.
    fn ask(&mut self, stack: &RelayStack) -> Wish {
        let now = stack.now();
        if now < self.next_look {
            return if self.is_draining { Wish::Drain } else { Wish::GoOn };
        }
        self.next_look = now + LOOK;
        if now < self.next_report {
            return (self.watch)(None);
        }
        self.next_report = self.next_report.max(now.min(self.next_report + SECOND)) + SECOND;
        let report = self.report(stack);
        (self.watch)(Some(&report))
    }

    /// Does the work of one turn; says whether there is more to do, and when.
    fn turn(&mut self, stack: &mut RelayStack) -> Result<Option<Instant>, RelayError> {
        let next = self.link.turn(stack);
        let (next, is_done) = match &mut self.end {
            End::Sending { sender, source } => {
                if self.link.connected > 0 {
                    source.begin();
                }
                let has_ended = sender.turn(stack, &mut self.link, &source.chunks);
                if has_ended || self.is_draining {
                    self.link.is_closing = true;
                    sender.end(stack, &mut self.link);
                }
                (next, sender.is_done(stack, &self.link))
            }
            End::Receiving { receiver, sink } => {
                if self.is_draining {
                    self.link.close(stack);
                }
                let due = receiver
                    .turn(stack, &mut self.link, sink)
                    .map_err(|error| RelayError::End(self.name.clone(), error))?;
                let is_over = self.is_draining || (receiver.has_ended && !self.link.address.waits);
                (next.min(due), is_over && receiver.is_done())
            }
        };
        Ok((!is_done).then(|| next.min(self.next_look)))
    }

    /// Ends source or sink, and tells what went wrong with it; gives what the sink did not take.
    fn finish(self, name: &str, clock: &MonotonicClock) -> Result<Left, RelayError> {
        let Self { end, watch, is_draining, failure, .. } = self;
        if let Some(failure) = failure {
            return Err(failure);
        }
        let closed = match end {
            End::Sending { source, .. } => source.close().map(|()| Left::default()),
            End::Receiving { mut sink, .. } => {
                write_out(&mut sink, watch, clock, is_draining);
                let left = sink.left();
                sink.close().map(|()| left)
            }
        };
        closed.map_err(|error| RelayError::End(name.to_owned(), error))
    }
}

/// Lets a sink write what waits there: for as long as that takes, or for a last while if it is to end.
fn write_out(
    sink: &mut Sink,
    watch: &mut dyn FnMut(Option<&Report>) -> Wish,
    clock: &MonotonicClock,
    mut is_draining: bool,
) {
    sink.end();
    let mut until = clock.now() + LAST;
    while !sink.is_over() && (!is_draining || clock.now() < until) {
        match watch(None) {
            Wish::Stop => return,
            Wish::Drain if !is_draining => (is_draining, until) = (true, clock.now() + LAST),
            Wish::Drain | Wish::GoOn => {}
        }
        std::thread::sleep(GLANCE);
    }
}

impl Application<Carrier, MonotonicClock> for Work<'_> {
    fn on_event(&mut self, stack: &mut RelayStack, id: Id, event: Event) {
        self.link.on_event(stack, id, event);
    }

    fn on_turn(&mut self, stack: &mut RelayStack) -> ControlFlow<(), Option<Instant>> {
        match self.ask(stack) {
            Wish::GoOn => {}
            Wish::Drain => self.is_draining = true,
            Wish::Stop => return ControlFlow::Break(()),
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
        Sink::open(&Address::read(address).expect("an address")).expect("a sink")
    }

    /// Hands over more than any kernel keeps for a player.
    fn fill(sink: &mut Sink) {
        for _ in 0..UNITS {
            assert!(sink.put(0, &UNIT).expect("a player"));
        }
    }

    /// A sink that connects to a player, and the player.
    fn tcp() -> (Sink, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let sink = sink(&format!("tcp://{}", listener.local_addr().expect("it is bound")));
        (sink, listener.accept().expect("a sink").0)
    }

    /// A sink to which a player has come, and the player, who has read the head of the answer.
    fn http() -> (Sink, TcpStream) {
        let at = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port");
        let mut sink = sink(&format!("http://{at}"));
        let mut player = TcpStream::connect(at).expect("it waits");
        player.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("it hears");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            player.read_exact(&mut byte).expect("it answers");
            head.extend(byte);
        }
        // From here on he is served: the first unit that is taken is thrown away.
        while !sink.put(0, &UNIT).expect("it is never broken") {
            thread::sleep(GLANCE);
        }
        player.read_exact(&mut [0; UNIT.len()]).expect("it is served");
        (sink, player)
    }

    fn end(sink: &mut Sink, wish: Wish) -> (std::time::Duration, Left) {
        let began = std::time::Instant::now();
        write_out(sink, &mut |_| wish, &MonotonicClock::default(), wish == Wish::Drain);
        (began.elapsed(), sink.left())
    }

    #[test]
    fn a_player_that_takes_nothing_has_two_seconds_and_what_he_leaves_is_counted() {
        for (mut sink, player) in [tcp(), http()] {
            fill(&mut sink);
            let (time, left) = end(&mut sink, Wish::Drain);
            assert!((2.0..20.0).contains(&time.as_secs_f64()), "{time:?}");
            assert!(left.units > 100 && left.bytes == left.units * UNIT.len() as u64, "{left:?}");
            assert!(sink.close().is_ok());
            drop(player);
        }
    }

    #[test]
    fn a_second_wish_to_end_is_heard_while_a_player_takes_nothing() {
        let (mut sink, _player) = tcp();
        fill(&mut sink);
        let (time, left) = end(&mut sink, Wish::Stop);
        assert!(time.as_secs_f64() < 2.0 && left.units > 100, "{time:?} {left:?}");
    }

    #[test]
    fn a_player_that_goes_on_gets_all_however_long_it_takes() {
        for (mut sink, mut player) in [tcp(), http()] {
            fill(&mut sink);
            let reader = thread::spawn(move || {
                thread::sleep(std::time::Duration::from_millis(2_500));
                let mut all = Vec::new();
                player.read_to_end(&mut all).map(|_| all.len() as u64)
            });
            let (time, left) = end(&mut sink, Wish::GoOn);
            assert!(time.as_secs_f64() > 2.4 && left == Left::default(), "{time:?} {left:?}");
            assert!(sink.close().is_ok());
            assert_eq!(reader.join().expect("no panic").expect("he reads"), UNITS * UNIT.len() as u64);
        }
    }
}
