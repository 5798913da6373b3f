use super::buffer::Buffer;
use super::delay::{PlaybackDelay, Schedule};
use crate::{Playout, ReceiverIo, Timetable};
use earlybird_units::Instant;

/// Plays each unit so long after it was written, and waits for none.
///
/// At its time a unit is whole or lost. Until then what is missing may still come, so that reading early never steps over
/// anything: only a unit whose time has come is read with the will to skip, up to the first part of a later one, which is
/// kept for its own time.
#[derive(Clone, Debug)]
pub struct Deadline {
    pub(super) buffer: Buffer,
    schedule: Schedule,
    /// A unit was lost, and nothing at all was there: whatever comes is welcome, holes before it or not.
    is_starved: bool,
    is_patient: bool,
}

impl Deadline {
    /// Makes a player of the units of `timetable`.
    pub fn new(timetable: Timetable, delay: PlaybackDelay) -> Self {
        Self { buffer: Buffer::new(timetable), schedule: Schedule::new(delay), is_starved: false, is_patient: false }
    }

    /// The same player, but one that steps over a hole only when what is behind it is due: a hole of several units can be
    /// filled unit by unit, each until its own time. It needs frames; without them it plays as any other.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { is_patient: true, ..self }
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        Some(self.schedule.playout(self.buffer.written(self.buffer.next)?))
    }

    pub(super) fn advance(&mut self, io: &mut dyn ReceiverIo) {
        self.read_ahead(io);
        while self.next_time().is_some_and(|at| at <= io.now()) {
            // A patient viewer does not skip for a unit of the future: that would give up earlier holes before their
            // deadlines.
            if !self.is_patient || self.has_come(io) {
                self.is_starved = !self.buffer.fetch(io);
            }
            self.buffer.play(io);
            if let Some(delay) = self.schedule.on_played(self.buffer.next) {
                io.report(Playout::Delayed(delay));
            }
        }
    }

    /// Returns whether there is something to read whose time has come.
    fn has_come(&self, io: &dyn ReceiverIo) -> bool {
        io.peek().is_some_and(|part| part.unit <= self.buffer.next)
    }

    /// Reads what is there in order; its time of arrival is what the playback delay may follow.
    fn read_ahead(&mut self, io: &mut dyn ReceiverIo) {
        while let Some(part) = io.read_in_order() {
            let whole = self.buffer.take(io, part);
            if let Some(written) = whole.and_then(|unit| self.buffer.written(unit)) {
                self.schedule.on_arrival(io.now() - written);
            }
        }
        // After a miss the viewer waits, so that the transport may skip as soon as later data arrives.
        if self.is_starved {
            self.is_starved = self.buffer.is_empty() && io.read().map(|part| self.buffer.take(io, part)).is_none();
        }
    }
}
