//! An HTTP server from which players fetch the live stream.

use super::queue::{QueueReceiver, QueueSender, Unsent, queue};
use earlybird_live::{Clock, MonotonicClock};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The server and its players.
#[derive(Debug)]
pub(crate) struct Server {
    players: Players,
}

type Players = Arc<Mutex<Vec<QueueSender>>>;

/// The connections of each address, those included that have not sent their request yet.
#[derive(Clone, Debug, Default)]
struct Connections(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// The place of a connection, which is given back when it is dropped.
#[derive(Debug)]
struct Place {
    host: IpAddr,
    connections: Connections,
}

/// The largest number of connections, each with a thread. Further ones are refused, so that none loses its place to them.
const MAX_CONNECTIONS: usize = 64;
/// The largest number of connections of one address, so that one host cannot take all places; several viewers may share an address.
const MAX_PER_ADDRESS: usize = 16;
/// The time that a request, and each write, may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest request in bytes, as in Apache and nginx (8 KiB for a line or header).
const MAX_REQUEST: usize = 8 << 10;
const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
const BUSY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\n\r\n";
const TOO_LARGE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n";

impl Server {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let players = Players::default();
        let served = players.clone();
        thread::Builder::new().name("http".into()).spawn(move || accept(&listener, &served))?;
        Ok(Self { players })
    }

    /// Sends a unit to all players. Players that are too slow are disconnected and may reconnect. Returns whether there is any
    /// player.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        // One copy for all players.
        let unit: Arc<[u8]> = bytes.into();
        let mut players = self.players.lock().unwrap_or_else(PoisonError::into_inner);
        // A player whose queue is full is dropped, so that it does not hold memory.
        players.retain(|player| player.try_send(unit.clone()) == Ok(true));
        !players.is_empty()
    }

    /// Ends the input.
    pub(super) fn end(&mut self) {
        self.players.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(QueueSender::end);
    }

    /// Returns the data not sent to players yet.
    pub(super) fn unsent(&self) -> Unsent {
        self.players.lock().unwrap_or_else(PoisonError::into_inner).iter().map(QueueSender::unsent).sum()
    }
}

impl Connections {
    /// Takes a place for a host, if there is one.
    fn take(&self, host: IpAddr) -> Option<Place> {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = hosts.get(&host).copied().unwrap_or_default();
        if own >= MAX_PER_ADDRESS || hosts.values().sum::<usize>() >= MAX_CONNECTIONS {
            return None;
        }
        hosts.insert(host, own + 1);
        Some(Place { host, connections: self.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut hosts = self.connections.0.lock().unwrap_or_else(PoisonError::into_inner);
        match hosts.get_mut(&self.host) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(hosts.remove(&self.host)),
        }
    }
}

fn accept(listener: &TcpListener, players: &Players) {
    let connections = Connections::default();
    for stream in listener.incoming().filter_map(Result::ok) {
        let Some(place) = stream.peer_addr().ok().and_then(|peer| connections.take(peer.ip().to_canonical())) else {
            refuse(&stream);
            continue;
        };
        let players = players.clone();
        // If no thread can be started, the connection closes and the player retries.
        let _ = thread::Builder::new().name("player".into()).spawn(move || {
            let _place = place;
            serve(stream, &players)
        });
    }
}

/// Refuses a connection without waiting for its request.
fn refuse(mut stream: &TcpStream) {
    // The answer fits into an empty send buffer. A failure needs no handling: the player sees the end of the connection instead.
    let _ = stream.set_nonblocking(true);
    let _ = stream.write_all(BUSY);
}

fn serve(mut stream: TcpStream, players: &Players) -> io::Result<()> {
    stream.set_write_timeout(Some(TIMEOUT))?;
    let Some(request) = read_request(&mut stream)? else { return stream.write_all(TOO_LARGE) };
    stream.write_all(RESPONSE)?;
    if request.starts_with(b"HEAD ") {
        return Ok(());
    }
    let units = register(players);
    units.each(|unit| stream.write_all(unit))
}

/// Reads a request up to its empty line; returns `None` if it is too large.
fn read_request(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let (mut request, mut chunk) = (Vec::new(), [0; 1024]);
    let clock = MonotonicClock::default();
    let begin = clock.now();
    let left = || TIMEOUT.saturating_sub(Duration::from_nanos(clock.now().as_nanos() - begin.as_nanos()));
    while !has_ended(&request) {
        if request.len() > MAX_REQUEST {
            return Ok(None);
        }
        // A client that sends a byte now and then must not hold the place longer than one that sends none.
        stream.set_read_timeout(Some(left().max(Duration::from_millis(1))))?;
        match stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ if left().is_zero() => return Err(io::ErrorKind::TimedOut.into()),
            count => request.extend(&chunk[..count]),
        }
    }
    Ok(Some(request))
}

/// Returns whether a request has its empty line; lines may end without a carriage return (RFC 9112 §2.2).
fn has_ended(request: &[u8]) -> bool {
    request.windows(4).any(|end| end == b"\r\n\r\n") || request.windows(2).any(|end| end == b"\n\n")
}

fn register(players: &Players) -> QueueReceiver {
    let (sender, units) = queue();
    players.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
    units
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "players connect in real time")]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A server, and its address.
    fn server() -> (Server, SocketAddr) {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        (Server::bind(free).expect("it is free"), free)
    }

    /// Returns the first line of what the server answers.
    fn answer(mut player: &TcpStream) -> String {
        player.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let mut bytes = [0; 20];
        player.read_exact(&mut bytes).expect("an answer");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn player(address: SocketAddr) -> TcpStream {
        let mut player = TcpStream::connect(address).expect("it listens");
        player.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it reads");
        player
    }

    /// The symptom: 64 connections pushed out the viewer, and 4,067 slow requests had as many threads.
    #[test]
    fn newcomers_are_refused_and_the_viewer_stays() {
        let (mut server, address) = server();
        let viewer = player(address);
        assert!(answer(&viewer).starts_with("HTTP/1.1 200"));
        let slow: Vec<_> = (1..MAX_PER_ADDRESS).map(|_| TcpStream::connect(address).expect("it listens")).collect();
        let refused: Vec<_> = (0..40).map(|_| player(address)).collect();
        assert!(refused.iter().all(|player| answer(player).starts_with("HTTP/1.1 503")));
        assert!(server.put(b"unit"), "the viewer is there");
        drop((slow, refused));
        let until = Instant::now() + Duration::from_secs(5);
        while !answer(&player(address)).starts_with("HTTP/1.1 200") {
            assert!(Instant::now() < until, "places are not given back");
        }
    }

    /// The symptom: a connection without a newline took 615 MB.
    #[test]
    fn a_request_without_an_end_is_refused() {
        let (_server, address) = server();
        let mut endless = TcpStream::connect(address).expect("it listens");
        // The server closes while some of it is under way.
        while endless.write_all(&[b'a'; 1024]).is_ok() {}
        assert!(answer(&player(address)).starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn one_address_gets_a_quarter_of_the_places() {
        let connections = Connections::default();
        let host = |number: u8| IpAddr::from([192, 0, 2, number]);
        let mut held: Vec<_> = (0..100).filter_map(|_| connections.take(host(1))).collect();
        assert_eq!(held.len(), MAX_PER_ADDRESS);
        held.extend((2..200).filter_map(|number| connections.take(host(number))));
        assert_eq!(held.len(), MAX_CONNECTIONS);
        held.clear();
        assert!(connections.take(host(1)).is_some());
    }
}
