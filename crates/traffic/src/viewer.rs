//! Viewers: receivers that play the units of a stream, with feedback to its sender.

mod buffer;
mod deadline;
mod delay;
mod feedback;
mod rebuffer;
mod requests;
mod segments;

pub use deadline::Deadline;
pub use delay::{AdaptiveDelay, PlaybackDelay, minimum_playback_delay};
pub use feedback::Feedback;
pub use rebuffer::{Rebuffer, StartRule};
pub use segments::SegmentClient;

use crate::{ReceiverApp, ReceiverIo};
use alloc::boxed::Box;
use buffer::Buffer;
use earlybird_units::Instant;
use feedback::Clock;

/// The playout rule.
#[derive(Clone, Debug)]
enum Player {
    Deadline(Deadline),
    Rebuffer(Rebuffer),
    Segments(Box<SegmentClient>),
}

impl Player {
    fn buffer(&mut self) -> &mut Buffer {
        match self {
            Self::Deadline(deadline) => &mut deadline.buffer,
            Self::Rebuffer(rebuffer) => &mut rebuffer.buffer,
            Self::Segments(client) => &mut client.player.buffer,
        }
    }

    fn advance(&mut self, io: &mut dyn ReceiverIo) {
        match self {
            Self::Deadline(deadline) => deadline.advance(io),
            Self::Rebuffer(rebuffer) => rebuffer.advance(io),
            Self::Segments(client) => client.advance(io),
        }
    }

    fn next_time(&self, now: Instant) -> Option<Instant> {
        match self {
            Self::Deadline(deadline) => deadline.next_time(),
            Self::Rebuffer(rebuffer) => rebuffer.next_time(),
            Self::Segments(client) => client.next_time(now),
        }
    }
}

/// The application at the listener of a media flow: one stream, from its first unit to its last.
#[derive(Clone, Debug)]
pub struct Viewer {
    player: Player,
    clock: Clock,
    is_started: bool,
}

impl From<Deadline> for Viewer {
    fn from(deadline: Deadline) -> Self {
        Self::new(Player::Deadline(deadline))
    }
}

impl From<Rebuffer> for Viewer {
    fn from(rebuffer: Rebuffer) -> Self {
        Self::new(Player::Rebuffer(rebuffer))
    }
}

impl From<SegmentClient> for Viewer {
    fn from(client: SegmentClient) -> Self {
        Self::new(Player::Segments(Box::new(client)))
    }
}

impl Viewer {
    fn new(player: Player) -> Self {
        Self { player, clock: Clock::default(), is_started: false }
    }

    /// Adds messages from the viewer to the sender.
    #[must_use]
    pub fn with_feedback(self, feedback: Feedback) -> Self {
        Self { clock: Clock::new(feedback), ..self }
    }

    /// Reads and plays what is due, sends due feedback, then sets the next wake-up.
    fn advance(&mut self, io: &mut dyn ReceiverIo) {
        // Whether anything was read decides about heartbeats.
        let parts_before = self.player.buffer().parts_read;
        self.player.advance(io);
        let buffer = self.player.buffer();
        if buffer.parts_read > parts_before {
            self.clock.on_data(io.now());
        }
        // No feedback and no wake-up after the last unit, so that the run can become idle.
        if buffer.is_over() {
            return;
        }
        self.clock.send_due(io, buffer.reception);
        let times = self.player.next_time(io.now()).into_iter().chain(self.clock.next_time());
        // Everything that is due now was done above.
        if let Some(at) = times.filter(|at| *at > io.now()).min() {
            io.wake_at(at);
        }
    }
}

impl ReceiverApp for Viewer {
    fn on_wake(&mut self, io: &mut dyn ReceiverIo) {
        // The first wake-up is when the sender opens: that is time 0 of playback.
        if !self.is_started {
            self.is_started = true;
            self.player.buffer().start = io.now();
        }
        self.advance(io);
    }

    fn on_readable(&mut self, io: &mut dyn ReceiverIo) {
        self.advance(io);
    }
}
