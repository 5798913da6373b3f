use crate::{ConnectionId, PathId, SenderApp, SenderIo, Timetable};
use earlybird_units::Instant;

/// A microphone or camera: writes every unit of its timetable at its time, even if earlier ones still wait.
#[derive(Clone, Debug)]
pub struct Media {
    path: PathId,
    timetable: Timetable,
    connection: Option<ConnectionId>,
    start: Instant,
    next: u64,
}

impl Media {
    /// Makes a source that starts at its first wake-up.
    pub const fn new(path: PathId, timetable: Timetable) -> Self {
        Self { path, timetable, connection: None, start: Instant::ZERO, next: 0 }
    }
}

impl SenderApp for Media {
    fn on_wake(&mut self, io: &mut dyn SenderIo) {
        while let Some(bytes) = self.timetable.bytes(self.next) {
            let connection = *self.connection.get_or_insert_with(|| {
                self.start = io.now();
                io.open(self.path)
            });
            // Units that are due together are written in one call, before anything is sent.
            let Some(due) = self.timetable.written(self.start, self.next).filter(|due| *due > io.now()) else {
                io.write_unit(connection, bytes);
                self.next += 1;
                continue;
            };
            return match self.timetable.written_seconds(self.start, self.next) {
                // ns-2's CBR schedules in floating point; the exact value decides ties with packets.
                Some(seconds) => io.wake_at_seconds(seconds),
                None => io.wake_at(due),
            };
        }
    }
}
