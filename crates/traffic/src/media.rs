use crate::{Application, ConnectionId, Io, PathId};
use alloc::sync::Arc;
use earlybird_units::{Duration, Instant};

/// One frame of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When the encoder gives it, from the start of the clip.
    pub at: Duration,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A clip that is sent as it is encoded, again and again.
#[derive(Clone, Debug)]
pub struct Media {
    path: PathId,
    frames: Arc<[Frame]>,
    length: Duration,
    connection: Option<ConnectionId>,
    clip_start: Instant,
    next: usize,
}

impl Media {
    /// Makes a source from frames in order of time; the clip starts anew every `length`.
    pub const fn new(path: PathId, frames: Arc<[Frame]>, length: Duration) -> Self {
        Self { path, frames, length, connection: None, clip_start: Instant::ZERO, next: 0 }
    }

    fn due(&self) -> Instant {
        self.clip_start + self.frames[self.next].at
    }

    fn advance(&mut self) {
        self.next += 1;
        if self.next == self.frames.len() {
            self.next = 0;
            self.clip_start += self.length;
        }
    }
}

impl Application for Media {
    fn on_wake(&mut self, io: &mut dyn Io) {
        if self.frames.is_empty() {
            return;
        }
        let connection = *self.connection.get_or_insert_with(|| {
            self.clip_start = io.now();
            io.open(self.path)
        });
        while self.due() <= io.now() {
            io.write_unit(connection, self.frames[self.next].bytes);
            self.advance();
        }
        io.wake_at(self.due());
    }
}
