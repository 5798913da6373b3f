//! A server from which players fetch the stream as it is now.

use super::queue::{Entry, Exit, Left, queue};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The server and those that it serves.
#[derive(Debug)]
pub(crate) struct Server {
    players: Players,
}

type Players = Arc<Mutex<Vec<Entry>>>;

/// Players at once: beyond them the oldest is let go.
const MOST_PLAYERS: usize = 64;
/// How long a player may take to say what it wants, or to take what it gets.
const PATIENCE: Duration = Duration::from_secs(10);
/// Lines of a request that are read.
const MOST_LINES: usize = 100;
const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";

impl Server {
    pub(super) fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let players = Players::default();
        let served = players.clone();
        thread::Builder::new().name("http".into()).spawn(move || accept(&listener, &served))?;
        Ok(Self { players })
    }

    /// Returns a unit to all players; those that are too slow are let go, and may come again. Says whether there was one.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        let unit: Arc<[u8]> = bytes.into();
        let mut players = self.players.lock().unwrap_or_else(PoisonError::into_inner);
        players.retain(|player| player.put(unit.clone()) == Ok(true));
        !players.is_empty()
    }

    /// Hands over no more.
    pub(super) fn end(&mut self) {
        self.players.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(Entry::end);
    }

    /// Returns what players have not taken yet.
    pub(super) fn left(&self) -> Left {
        self.players.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Entry::left).sum()
    }
}

fn accept(listener: &TcpListener, players: &Players) {
    for stream in listener.incoming().filter_map(Result::ok) {
        let players = players.clone();
        // Without a thread more the player gets nothing, and tries again.
        let _ = thread::Builder::new().name("player".into()).spawn(move || serve(stream, &players));
    }
}

fn serve(mut stream: TcpStream, players: &Players) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&stream)?;
    stream.write_all(ANSWER)?;
    if request.starts_with("HEAD ") {
        return Ok(());
    }
    let units = enter(players);
    units.each(|unit| stream.write_all(unit))
}

/// Reads a request to its empty line, and gives its first one.
fn read_request(stream: &TcpStream) -> io::Result<String> {
    let mut lines = BufReader::new(stream).lines().take(MOST_LINES);
    let first = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    Ok(first)
}

fn enter(players: &Players) -> Exit {
    let (entry, units) = queue();
    let mut players = players.lock().unwrap_or_else(PoisonError::into_inner);
    if players.len() == MOST_PLAYERS {
        players.remove(0);
    }
    players.push(entry);
    units
}
