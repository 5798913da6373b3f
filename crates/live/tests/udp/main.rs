//! Stacks over sockets of UDP on this host, as any user may run them, each on a thread of its own.

#![expect(clippy::unwrap_used, reason = "what cannot go on has failed")]

mod applications;
mod frames;

use applications::{Client, Echo, Host, pattern};
use earlybird_live::device::{Path, Udp};
use earlybird_live::{Driver, Error, Event, Handle, Limits, Monotonic, Settings, Stack, spawn};
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

/// An echo on a thread.
struct Server {
    address: SocketAddr,
    handle: Handle<Udp, Monotonic>,
    thread: JoinHandle<io::Result<Echo>>,
}

impl Server {
    /// Begins; it ends after so many connections.
    fn new(at: SocketAddr, connections: usize) -> Self {
        let device = Udp::bind(at).unwrap();
        let address = device.address();
        let make = move || {
            let mut stack =
                Stack::new(device, Monotonic::default(), Settings::drawn(&[])?).map_err(io::Error::other)?;
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

fn client(at: SocketAddr, clock: Monotonic) -> Host {
    Stack::new(Udp::bind(at).unwrap(), clock, Settings::drawn(&[]).unwrap()).unwrap()
}

/// Sends a text over so many connections at once, and expects it back from each.
fn echo(at: SocketAddr, connections: usize, text: Vec<u8>) {
    let server = Server::new(at, connections);
    let there = server.address;
    echo_from(at, server, there, connections, text);
}

/// The same from one address to another at which a server can be reached.
fn echo_from(at: SocketAddr, server: Server, there: SocketAddr, connections: usize, text: Vec<u8>) {
    let mut stack = client(at, Monotonic::default());
    for _ in 0..connections {
        stack.connect(&Config::linux(), Path::over_udp(there), PORT).unwrap();
    }
    let mut client = Client::new(text, connections);
    let mut driver = Driver::new(stack).unwrap();
    driver.run(&mut client).unwrap();
    assert_eq!(client.endings, vec![Ending::InOrder; connections]);
    // The last ACK may get lost: as long as the server repeats its FIN, somebody must be there.
    while !server.thread.is_finished() {
        let _ = driver.turn(&mut client).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(server.join().endings, vec![Ending::InOrder; connections]);
}

#[test]
fn megabytes_come_back_whole_over_ipv4_and_ipv6() {
    for at in LOOPBACK {
        echo(at.parse().unwrap(), 1, pattern(20_000_000));
    }
}

#[test]
fn a_thousand_connections_at_once() {
    echo(loopback(), 1000, pattern(20_000));
}

/// A socket for all addresses answers from the one that was asked, and speaks to both versions of IP.
#[test]
fn a_socket_without_an_address_is_reached_at_all_of_them() {
    for (bound, reached) in [("0.0.0.0:0", "127.0.0.5"), ("[::]:0", "::1"), ("[::]:0", "127.0.0.1")] {
        let server = Server::new(bound.parse().unwrap(), 3);
        let there = SocketAddr::new(reached.parse().unwrap(), server.address.port());
        let from = if there.is_ipv4() { LOOPBACK[0] } else { LOOPBACK[1] };
        echo_from(from.parse().unwrap(), server, there, 3, pattern(100_000));
    }
}

#[test]
fn a_port_that_is_in_use_is_not_bound_again() {
    let first = Udp::bind(loopback()).unwrap();
    let again = Udp::bind(first.address()).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
    let mut stack = Stack::new(first, Monotonic::default(), Settings::drawn(&[]).unwrap()).unwrap();
    stack.listen(PORT, &Config::linux(), ListenConfig::default()).unwrap();
    let taken = stack.listen(PORT, &Config::linux(), ListenConfig::default());
    assert_eq!(taken, Err(Error::PortInUse(PORT)));
}

/// Another thread gives work, and asks; what it is told is what the stack's own thread sees.
#[test]
fn other_threads_give_work_without_waiting() {
    let server = Server::new(loopback(), 1);
    let (address, (sender, receiver)) = (server.address, channel());
    let is_taken = server.handle.submit(move |stack| {
        sender.send((stack.connections(), stack.device().address())).unwrap();
    });
    assert!(is_taken);
    assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(10)), Ok((0, address)));
    let mut driver = Driver::new(client(loopback(), Monotonic::default())).unwrap();
    driver.stack.connect(&Config::linux(), Path::over_udp(address), PORT).unwrap();
    driver.run(&mut Client::new(pattern(1000), 1)).unwrap();
    let handle = server.handle.clone();
    server.join();
    assert!(!handle.submit(|_| ()), "nobody is there any more");
}

/// So many datagrams are there before the transfer begins; more come during it.
const FLOOD: u64 = 1000;

/// What comes to the port from others neither stops a transfer nor stays.
#[test]
fn a_flood_of_rubbish_at_the_port_stops_nothing() {
    let server = Server::new(loopback(), 1);
    let (address, (stop, stopped), (flooding, is_flooded)) = (server.address, channel::<()>(), channel::<()>());
    let flood = std::thread::spawn(move || {
        let socket = UdpSocket::bind(loopback()).unwrap();
        let rubbish = pattern(1400);
        let mut sent = 0_u64;
        while stopped.try_recv().is_err() {
            // The system may have no room for more: the flood goes on all the same.
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
    let mut driver = Driver::new(client(loopback(), Monotonic::default())).unwrap();
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

/// The peer's process is gone, and with it its socket: nobody answers any more.
#[test]
fn a_peer_that_is_killed_is_given_up_in_time() {
    let server = Server::new(loopback(), usize::MAX);
    let mut driver = Driver::new(client(loopback(), Monotonic::default())).unwrap();
    let patience = Some(Duration::from_millis(700));
    let config = Config { lifetimes: Lifetimes { user_timeout: patience, ..Lifetimes::LINUX }, ..Config::linux() };
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
