//! What applications can do in real time.

use crate::hosts::Hosts;
use crate::performance::Performance;
use earlybird_sim::{FlowId, Observer};
use earlybird_traffic::{ConnectionId, Encoding, Io, ListenerIo, Part, PathId, Playout};
use earlybird_units::Instant;

/// A source's view of a run.
pub(crate) struct SourceIo<'a, H: Hosts> {
    pub(crate) performance: &'a mut Performance<H>,
    pub(crate) actor: usize,
    /// When it was to act.
    pub(crate) now: Instant,
}

/// What a source holds whose connection the system refused: nothing comes of it, and the run ends.
const NO_CONNECTION: ConnectionId = ConnectionId(u32::MAX);

impl<H: Hosts> Io for SourceIo<'_, H> {
    fn now(&self) -> Instant {
        self.now
    }

    fn open(&mut self, _: PathId) -> ConnectionId {
        self.performance.open(self.actor).unwrap_or_else(|error| {
            self.performance.failure = Some(error);
            NO_CONNECTION
        })
    }

    fn write(&mut self, connection: ConnectionId, bytes: u64) {
        self.performance.write(connection, bytes);
    }

    fn write_unit_made(&mut self, connection: ConnectionId, bytes: u64, made: Instant) {
        self.performance.write_unit(made, connection, bytes);
    }

    /// What waits for room is not asked for here: the applications that ask are refused.
    fn is_blocked(&self, _: ConnectionId) -> bool {
        false
    }

    fn tell(&mut self, event: Encoding) {
        let flow = self.performance.actors[self.actor].flow;
        self.performance.recorder.on_encoding(self.now, FlowId(flow as u32), event);
    }

    fn close(&mut self, connection: ConnectionId) {
        let Some(line) = self.performance.lines.get_mut(connection.0 as usize) else { return };
        line.is_closing = true;
        self.performance.hand_over(connection);
    }

    fn wake_at(&mut self, at: Instant) {
        self.performance.actors[self.actor].wake = at;
    }

    fn mss(&self) -> u64 {
        self.performance.flows[self.performance.actors[self.actor].flow].mss
    }
}

/// A viewer's view of a run.
pub(crate) struct SeatIo<'a, H: Hosts> {
    pub(crate) performance: &'a mut Performance<H>,
    pub(crate) seat: usize,
}

impl<H: Hosts> SeatIo<'_, H> {
    fn connection(&self) -> Option<ConnectionId> {
        self.performance.seats[self.seat].connection
    }
}

impl<H: Hosts> ListenerIo for SeatIo<'_, H> {
    fn now(&self) -> Instant {
        self.performance.clock.now()
    }

    fn read_in_order(&mut self) -> Option<Part> {
        self.performance.read_part(self.connection()?, false)
    }

    fn read(&mut self) -> Option<Part> {
        self.performance.read_part(self.connection()?, true)
    }

    fn peek(&self) -> Option<Part> {
        self.performance.hosts.peek_frame(self.connection()?)
    }

    fn write(&mut self, bytes: u64) {
        if let Some(id) = self.connection() {
            self.performance.hosts.answer(id, bytes);
        }
    }

    fn wake_at(&mut self, at: Instant) {
        self.performance.seats[self.seat].wake = at;
    }

    fn tell(&mut self, event: Playout) {
        let flow = self.performance.seats[self.seat].flow;
        self.performance.recorder.on_playout(self.performance.clock.now(), FlowId(flow as u32), event);
    }
}
