use super::buffer::Buffer;
use super::delay::{PlaybackDelay, Schedule};
use crate::{Playout, ReceiverIo, Timetable};
use earlybird_units::Instant;

/// Plays each unit a fixed delay after it was written, and never stalls.
///
/// At its playout time a unit is complete or lost. Until then missing data may still arrive, so reading ahead never skips:
/// only a unit that is due is read with skipping allowed, up to the first part of a later one, which is kept for its own
/// playout time.
#[derive(Clone, Debug)]
pub struct Deadline {
    pub(super) buffer: Buffer,
    schedule: Schedule,
    /// A unit was lost and no data was left: the next data is read even behind a hole.
    skips_for_next_data: bool,
    skips_only_when_due: bool,
}

impl Deadline {
    /// Makes a player of the units of `timetable`.
    pub fn new(timetable: Timetable, delay: PlaybackDelay) -> Self {
        Self {
            buffer: Buffer::new(timetable),
            schedule: Schedule::new(delay),
            skips_for_next_data: false,
            skips_only_when_due: false,
        }
    }

    /// Skips a hole only when the data behind it is due: a hole of several units can be filled unit by unit, each until its own
    /// playout time. Needs frames; has no effect without them.
    #[must_use]
    pub fn skip_only_when_due(self) -> Self {
        Self { skips_only_when_due: true, ..self }
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        Some(self.schedule.playout(self.buffer.written(self.buffer.next)?))
    }

    pub(super) fn advance(&mut self, io: &mut dyn ReceiverIo) {
        self.read_ahead(io);
        while self.next_time().is_some_and(|at| at <= io.now()) {
            // A read that skips to a unit of the future would abandon earlier holes before their deadlines.
            if !self.skips_only_when_due || self.is_due(io) {
                self.skips_for_next_data = !self.buffer.fetch(io);
            }
            self.buffer.play(io);
            if let Some(delay) = self.schedule.on_played(self.buffer.next) {
                io.report(Playout::Delayed(delay));
            }
        }
    }

    /// Returns whether the next data to read is due.
    fn is_due(&self, io: &dyn ReceiverIo) -> bool {
        io.peek().is_some_and(|part| part.unit <= self.buffer.next)
    }

    /// Reads data in order; the playback delay may adapt to their arrival times.
    fn read_ahead(&mut self, io: &mut dyn ReceiverIo) {
        while let Some(part) = io.read_in_order() {
            let whole = self.buffer.take(io, part);
            if let Some(written) = whole.and_then(|unit| self.buffer.written(unit)) {
                self.schedule.on_arrival(io.now() - written);
            }
        }
        // After a miss the viewer waits, so that the transport may skip as soon as later data arrives.
        if self.skips_for_next_data {
            self.skips_for_next_data =
                self.buffer.is_empty() && io.read().map(|part| self.buffer.take(io, part)).is_none();
        }
    }
}
