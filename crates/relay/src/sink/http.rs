//! An HTTP server from which players fetch the live stream.

use super::queue::{QueueReceiver, QueueSender, Unsent, queue};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The server and its players.
#[derive(Debug)]
pub(crate) struct Server {
    players: Players,
}

type Players = Arc<Mutex<Vec<QueueSender>>>;

/// The largest number of players; above it, the oldest is disconnected.
const MAX_PLAYERS: usize = 64;
/// The timeout of reading a request and of each write.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The largest number of request lines.
const MAX_LINES: usize = 100;
const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";

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

fn accept(listener: &TcpListener, players: &Players) {
    for stream in listener.incoming().filter_map(Result::ok) {
        let players = players.clone();
        // If no thread can be started, the connection closes and the player retries.
        let _ = thread::Builder::new().name("player".into()).spawn(move || serve(stream, &players));
    }
}

fn serve(mut stream: TcpStream, players: &Players) -> io::Result<()> {
    // A client that sends nothing must not hold a thread.
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let request = read_request(&stream)?;
    stream.write_all(RESPONSE)?;
    if request.starts_with("HEAD ") {
        return Ok(());
    }
    let units = register(players);
    units.each(|unit| stream.write_all(unit))
}

/// Reads a request up to its empty line, and returns the first line.
fn read_request(stream: &TcpStream) -> io::Result<String> {
    let mut lines = BufReader::new(stream).lines().take(MAX_LINES);
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    Ok(first)
}

fn register(players: &Players) -> QueueReceiver {
    let (sender, units) = queue();
    let mut players = players.lock().unwrap_or_else(PoisonError::into_inner);
    if players.len() == MAX_PLAYERS {
        players.remove(0);
    }
    players.push(sender);
    units
}
