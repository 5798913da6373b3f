use super::Sites;
use crate::{ConnectionId, SenderApp, SenderIo, Transfer, TransferKind};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;
use earlybird_units::{Duration, Instant, Random};

/// A question and its answer in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes that the client sends.
    pub request: u64,
    /// Bytes that the server sends.
    pub response: u64,
}

/// A model of the pages of users.
pub trait Pages: Debug + Send {
    /// Draws the objects of a page: first the page itself, then the embedded objects.
    fn draw(&mut self, random: &mut Random, exchanges: &mut Vec<Exchange>);
    /// Draws how long the user reads after a page.
    fn reading(&mut self, random: &mut Random) -> Duration;
    /// Draws the pause before each embedded object.
    fn pause(&mut self, _random: &mut Random) -> Duration {
        Duration::ZERO
    }
    /// Decides whether the next page is another server's.
    fn leaves_server(&mut self, _random: &mut Random) -> bool {
        true
    }
}

/// The lifetime of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Each object has a new one (HTTP/1.0).
    PerObject,
    /// They are used again until the page is complete (HTTP/1.1).
    PerPage,
}

/// A user with a browser: fetches a page, then what is embedded in it over a few connections at a time, then reads.
///
/// A request and its answer travel over two connections, one opened by each side, since only openers send. Each act
/// touches at most one connection besides the one that gave rise to it; what more is due now waits for the next wake-up.
#[derive(Debug)]
pub struct Browser<P> {
    sites: Arc<Sites>,
    pages: P,
    random: Random,
    persistence: Persistence,
    client: usize,
    server: usize,
    /// Objects still to request, the next one last.
    exchanges: Vec<Exchange>,
    lines: Vec<Line>,
    state: State,
    /// The time at which the page's first request was written.
    began: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// The page itself is on its way: what is embedded is not yet known.
    Opening,
    Completing,
    /// The page is complete, and its connections are being closed.
    Closing,
}

/// A pair of connections and what is under way on them.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    request: Option<ConnectionId>,
    response: Option<ConnectionId>,
    /// Bytes of the answer that is awaited.
    awaits: Option<u64>,
    /// The time at which its request was written.
    began: Option<Instant>,
}

impl<P: Pages> Browser<P> {
    /// Makes a browser at a client drawn at random that has at most so many requests under way.
    pub fn new(sites: Arc<Sites>, pages: P, parallel: usize, persistence: Persistence, mut random: Random) -> Self {
        let client = sites.draw_client(&mut random);
        let server = sites.draw_server(client, &mut random);
        let (exchanges, lines) = (Vec::new(), alloc::vec![Line::default(); parallel]);
        Self {
            sites,
            pages,
            random,
            persistence,
            client,
            server,
            exchanges,
            lines,
            state: State::Reading,
            began: Instant::ZERO,
        }
    }

    fn begin_page(&mut self, io: &mut dyn SenderIo) {
        if self.pages.leaves_server(&mut self.random) {
            self.server = self.sites.draw_server(self.client, &mut self.random);
        }
        self.pages.draw(&mut self.random, &mut self.exchanges);
        // `pop` takes from the end.
        self.exchanges.reverse();
        self.state = State::Opening;
        self.began = io.now();
        self.ask(0, io);
    }

    fn ask(&mut self, line: usize, io: &mut dyn SenderIo) {
        let Some(exchange) = self.exchanges.pop() else { return };
        let path = self.sites.requests[self.client][self.server];
        let line = &mut self.lines[line];
        (line.awaits, line.began) = (Some(exchange.response), Some(io.now()));
        let connection = *line.request.get_or_insert_with(|| io.open(path));
        io.write(connection, exchange.request);
    }

    fn answer(&mut self, line: usize, io: &mut dyn SenderIo) {
        let path = self.sites.responses[self.client][self.server];
        let line = &mut self.lines[line];
        if self.persistence == Persistence::PerObject {
            // HTTP/1.0: the connection ends with the transfer.
            line.request.take().into_iter().for_each(|connection| io.close(connection));
        }
        let connection = *line.response.get_or_insert_with(|| io.open(path));
        io.write(connection, line.awaits.unwrap_or_default());
    }

    fn complete(&mut self, line: usize, io: &mut dyn SenderIo) {
        let line = &mut self.lines[line];
        line.awaits = None;
        let object = line.began.take().map(|began| Transfer { kind: TransferKind::Object, began });
        if let Some(object) = object {
            io.complete(object);
        }
        if self.persistence == Persistence::PerObject {
            line.response.take().into_iter().for_each(|connection| io.close(connection));
        }
        self.state = State::Completing;
        if self.exchanges.is_empty() {
            return self.proceed(io);
        }
        match self.pages.pause(&mut self.random) {
            Duration::ZERO => self.proceed(io),
            pause => io.wake_at(io.now() + pause),
        }
    }

    /// Asks for the next object, or ends the page.
    fn proceed(&mut self, io: &mut dyn SenderIo) {
        let free = self.lines.iter().position(|line| line.awaits.is_none());
        match free {
            Some(free) if !self.exchanges.is_empty() => {
                self.ask(free, io);
                // One connection per call: the host serves only the connection that was used last.
                if !self.exchanges.is_empty() && self.lines.iter().any(|line| line.awaits.is_none()) {
                    io.wake_at(io.now());
                }
            }
            _ if self.lines.iter().all(|line| line.awaits.is_none()) => self.complete_page(io),
            _ => {}
        }
    }

    fn complete_page(&mut self, io: &mut dyn SenderIo) {
        // Closing its connections takes several calls: only the first one completes the page.
        if self.state != State::Closing {
            io.complete(Transfer { kind: TransferKind::Page, began: self.began });
            self.state = State::Closing;
        }
        self.end_page(io);
    }

    /// Closes a connection and comes back for the next; then reads.
    fn end_page(&mut self, io: &mut dyn SenderIo) {
        let mut lines = self.lines.iter_mut();
        if let Some(connection) = lines.find_map(|line| line.request.take().or_else(|| line.response.take())) {
            io.close(connection);
            // Close one connection per call, for the same reason.
            return io.wake_at(io.now());
        }
        self.state = State::Reading;
        let reading = self.pages.reading(&mut self.random);
        io.wake_at(io.now() + reading);
    }
}

impl<P: Pages> SenderApp for Browser<P> {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        match self.state {
            State::Reading => self.begin_page(io),
            State::Completing | State::Closing => self.proceed(io),
            State::Opening => {}
        }
    }

    fn on_drained(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        let known = |line: &Line| line.request == Some(connection) || line.response == Some(connection);
        let Some(line) = self.lines.iter().position(known) else { return };
        if self.lines[line].request == Some(connection) {
            self.answer(line, io);
        } else {
            self.complete(line, io);
        }
    }
}
