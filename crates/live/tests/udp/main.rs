//! Stacks over UDP sockets on this host, each on a thread, without privileges.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod applications;
mod frames;

use applications::{Client, Echo, Host, pattern};
use earlybird_live::device::{Path, Udp};
use earlybird_live::{Driver, Error, Event, Handle, Limits, MonotonicClock, Settings, Stack, spawn};
use earlybird_tcp::{Config, Ending, Lifetimes, ListenConfig};
use earlybird_units::Duration;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

const PORT: u16 = 4201;
const LOOPBACK: [&str; 2] = ["127.0.0.1:0", "[::1]:0"];

fn loopback() -> SocketAddr {
    LOOPBACK[0].parse().unwrap()
}

/// An echo server on a thread.
struct Server {
    address: SocketAddr,
    handle: Handle<Udp, MonotonicClock>,
    thread: JoinHandle<io::Result<Echo>>,
}

impl Server {
    /// Starts the server, which stops after `connections` connections.
    fn new(at: SocketAddr, connections: usize) -> Self {
        let device = Udp::bind(at).unwrap();
        let address = device.address();
        let make = move || {
            let mut stack =
                Stack::new(device, MonotonicClock::default(), Settings::random(&[])?).map_err(io::Error::other)?;
            let settings = ListenConfig { backlog: 2000, half_open: 2000, ..ListenConfig::default() };
            stack.listen(PORT, &Config::linux(), settings).map_err(io::Error::other)?;
            Ok((stack, Echo::new(connections)))
        };
        let (thread, handle) = spawn(make).unwrap();
        Self { address, handle, thread }
    }

    fn join(self) -> Echo {
        self.thread.join().unwrap().unwrap()
    }
}

fn client(at: SocketAddr, clock: MonotonicClock) -> Host {
    Stack::new(Udp::bind(at).unwrap(), clock, Settings::random(&[]).unwrap()).unwrap()
}

/// Sends a text over `connections` connections at once and checks the echoes.
fn echo(at: SocketAddr, connections: usize, text: Vec<u8>) {
    let server = Server::new(at, connections);
    let there = server.address;
    echo_from(at, server, there, connections, text);
}

/// The same, from one local address to another at which a server is reachable.
fn echo_from(at: SocketAddr, server: Server, there: SocketAddr, connections: usize, text: Vec<u8>) {
    let mut stack = client(at, MonotonicClock::default());
    for _ in 0..connections {
        stack.connect(&Config::linux(), Path::over_udp(there), PORT).unwrap();
    }
    let mut client = Client::new(text, connections);
    let mut driver = Driver::new(stack).unwrap();
    driver.run(&mut client).unwrap();
    assert_eq!(client.endings, vec![Ending::InOrder; connections]);
    // The last ACK may be lost: the client must exist while the server retransmits its FIN.
    while !server.thread.is_finished() {
        let _ = driver.turn(&mut client).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(server.join().endings, vec![Ending::InOrder; connections]);
}

#[test]
fn echoes_are_complete_over_both_ip_versions() {
    for at in LOOPBACK {
        echo(at.parse().unwrap(), 1, pattern(20_000_000));
    }
}

#[test]
fn a_thousand_connections_at_once() {
    echo(loopback(), 1000, pattern(20_000));
}

/// A socket that is bound to all addresses replies from the address that the peer sent to, in both IP versions.
#[test]
fn wildcard_sockets_reply_from_the_right_address() {
    for (bound, reached) in [("0.0.0.0:0", "127.0.0.5"), ("[::]:0", "::1"), ("[::]:0", "127.0.0.1")] {
        let server = Server::new(bound.parse().unwrap(), 3);
        let there = SocketAddr::new(reached.parse().unwrap(), server.address.port());
        let from = if there.is_ipv4() { LOOPBACK[0] } else { LOOPBACK[1] };
        echo_from(from.parse().unwrap(), server, there, 3, pattern(100_000));
    }
}

#[test]
fn a_port_in_use_cannot_be_bound() {
    let first = Udp::bind(loopback()).unwrap();
    let second = Udp::bind(first.address()).unwrap_err();
    assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
    let mut stack = Stack::new(first, MonotonicClock::default(), Settings::random(&[]).unwrap()).unwrap();
    stack.listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
    let taken = stack.listen(PORT, &Config::linux(), ListenConfig::default());
    assert_eq!(taken, Err(Error::PortInUse(PORT)));
}

/// Tasks from another thread run on the thread of the stack.
#[test]
fn other_threads_submit_tasks() {
    let server = Server::new(loopback(), 1);
    let (address, (sender, receiver)) = (server.address, channel());
    let is_taken = server.handle.submit(move |stack| {
        sender.send((stack.connections(), stack.device().address())).unwrap();
    });
    assert!(is_taken);
    assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(10)), Ok((0, address)));
    let mut driver = Driver::new(client(loopback(), MonotonicClock::default())).unwrap();
    driver.stack.connect(&Config::linux(), Path::over_udp(address), PORT).unwrap();
    driver.run(&mut Client::new(pattern(1000), 1)).unwrap();
    let handle = server.handle.clone();
    server.join();
    assert!(!handle.submit(|_| ()), "the stack has ended");
}

/// Datagrams that are sent before the transfer starts; more follow during it.
const FLOOD: u64 = 1000;

/// A flood of unrelated datagrams neither stops a transfer nor leaks memory.
#[test]
fn a_flood_of_datagrams_is_tolerated() {
    let server = Server::new(loopback(), 1);
    let (address, (stop, stopped), (flooding, is_flooded)) = (server.address, channel::<()>(), channel::<()>());
    let flood = std::thread::spawn(move || {
        let socket = UdpSocket::bind(loopback()).unwrap();
        let rubbish = pattern(1400);
        let mut sent = 0_u64;
        while stopped.try_recv().is_err() {
            // The socket buffer may be full, which does not matter here.
            sent += u64::from(socket.send_to(&rubbish[(sent % 700) as usize..], address).is_ok());
            if sent == FLOOD {
                flooding.send(()).ok();
            }
        }
        socket.set_nonblocking(true).unwrap();
        let mut answer = [0; 2000];
        (sent, std::iter::from_fn(|| socket.recv(&mut answer).ok()).count())
    });
    is_flooded.recv().unwrap();
    let mut driver = Driver::new(client(loopback(), MonotonicClock::default())).unwrap();
    driver.stack.connect(&Config::linux(), Path::over_udp(address), PORT).unwrap();
    let mut client = Client::new(pattern(2_000_000), 1);
    driver.run(&mut client).unwrap();
    assert_eq!(client.endings, [Ending::InOrder]);
    stop.send(()).unwrap();
    let (sent, answers) = flood.join().unwrap();
    let limit = Limits::default().resets as usize;
    assert!(sent > FLOOD && answers <= 60 * limit, "{answers} answers to {sent} datagrams");
    let echo = server.join();
    assert_eq!(echo.endings, [Ending::InOrder]);
}

/// The peer's process and socket are gone: nothing replies.
#[test]
fn a_killed_peer_times_out() {
    let server = Server::new(loopback(), usize::MAX);
    let mut driver = Driver::new(client(loopback(), MonotonicClock::default())).unwrap();
    let patience = Some(Duration::from_millis(700));
    let config = Config::linux().with_lifetimes(Lifetimes { user_timeout: patience, ..Lifetimes::LINUX });
    let id = driver.stack.connect(&config, Path::over_udp(server.address), PORT).unwrap();
    let mut application = Client::new(pattern(50_000_000), 1);
    application.on_progress = Some(Box::new(move || {
        server.handle.submit(|_| panic!("killed, as it should be"));
    }));
    driver.run(&mut application).unwrap();
    assert_eq!(application.endings, [Ending::TimedOut]);
    let events: Vec<Event> = std::iter::from_fn(|| driver.stack.poll_event()).map(|(_, event)| event).collect();
    assert_eq!((driver.stack.write(id, b"x"), events), (Err(Error::UnknownConnection), vec![]));
}
