use super::{Ladder, Request};
use crate::{ConnectionId, Encoding, PathId, SenderApp, SenderIo};
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// Answers requests in order, each unit as soon as it is available: of a live film a part is sent when it is complete
/// (chunked transfer of CMAF, ISO/IEC 23000-19).
#[derive(Clone, Debug)]
pub struct SegmentServer {
    path: PathId,
    ladder: Ladder,
    lead: Duration,
    /// The start of the film.
    start: Instant,
    connection: Option<ConnectionId>,
    requests: VecDeque<Request>,
    /// The part of the first of them that is sent next.
    part: u64,
    rung: usize,
}

impl SegmentServer {
    /// Makes one that opens the connection with its first wake-up; the film begins `lead` later.
    pub const fn new(path: PathId, ladder: Ladder, lead: Duration) -> Self {
        Self { path, ladder, lead, start: Instant::ZERO, connection: None, requests: VecDeque::new(), part: 0, rung: 0 }
    }

    fn answer(&mut self, io: &mut dyn SenderIo, connection: ConnectionId) {
        while let Some(request) = self.requests.front().copied() {
            let begins = self.start + self.ladder.segment() * request.segment + self.ladder.unit * self.part;
            // A live part exists once it has been filmed.
            let exists = if self.ladder.is_live { begins + self.ladder.unit } else { self.start };
            if exists > io.now() {
                return io.wake_at(exists);
            }
            self.note_rung(io, request.rung, begins);
            // Delay counts from the film's time: a late request is delay, too.
            io.write_abandonable_unit(connection, self.ladder.bytes(request.rung), begins);
            self.part += 1;
            if self.part == self.ladder.parts {
                self.part = 0;
                self.requests.pop_front();
            }
        }
    }

    fn note_rung(&mut self, io: &mut dyn SenderIo, rung: usize, begins: Instant) {
        if rung != self.rung {
            self.rung = rung;
            io.report(Encoding::BitrateFrom(begins, self.ladder.rates[rung].bits_per_second()));
        }
    }
}

impl SenderApp for SegmentServer {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        let connection = *self.connection.get_or_insert_with(|| {
            self.start = io.now() + self.lead;
            io.open(self.path)
        });
        self.answer(io, connection);
    }

    fn on_request(&mut self, io: &mut dyn SenderIo, connection: ConnectionId, request: Request) {
        if request.replaces {
            io.abandon_unit(connection);
        }
        self.requests.push_back(request);
        self.answer(io, connection);
    }
}
