//! The queue before the connection, and the frames that it drops: `add_video_packet`, `check_to_drop_frames` and `drop_frames` of
//! OBS Studio's `plugins/obs-outputs/rtmp-stream.c`.

use super::film::{Content, Picture};
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// Nothing is done about fewer packets than this (`check_to_drop_frames`).
const FEWEST: usize = 5;

/// OBS Studio counts whole microseconds: six pictures at 30 per second are 200 ms, not a nanosecond less.
fn whole_micros(time: Duration) -> Duration {
    Duration::from_nanos((time.as_nanos() + 500) / 1000 * 1000)
}

/// A packet with the time at which the encoder produced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) made: Instant,
    pub(super) bytes: u64,
    pub(super) content: Content,
}

/// Playing times in the queue beyond which pictures are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropThresholds {
    /// Those that no other one, or few, refer to (B): `drop_threshold_ms`.
    pub both: Duration,
    /// All but key frames: `pframe_drop_threshold_ms`.
    pub earlier: Duration,
}

/// The packets that no write has taken.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    packets: VecDeque<Waiting>,
    /// The time at which the encoder produced the newest picture that is, or was, in it.
    last: Instant,
    /// Pictures are dropped until one of this priority (`min_priority`).
    until: Option<Picture>,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self { packets: VecDeque::new(), last: Instant::ZERO, until: None }
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.packets.pop_front()
    }

    /// Returns the playing time from the first picture that is no key frame to the newest; `None` where nothing is to be done
    /// about it.
    pub(super) fn playing_time(&self) -> Option<Duration> {
        let is_picture = |packet: &&Waiting| matches!(packet.content, Content::Picture(kind) if kind < Picture::Key);
        let first = self.packets.iter().find(is_picture).filter(|_| self.packets.len() >= FEWEST)?;
        Some(whole_micros(self.last - first.made))
    }

    /// Drops pictures according to the thresholds, and reports each.
    pub(super) fn thin(&mut self, thresholds: DropThresholds, mut on_drop: impl FnMut(Picture)) {
        // B pictures first (`add_video_packet`): without them the queue may be within the second threshold.
        for (below, threshold) in [(Picture::Earlier, thresholds.both), (Picture::Key, thresholds.earlier)] {
            if self.playing_time().is_some_and(|time| time > threshold) {
                self.drop_below(below, &mut on_drop);
            }
        }
    }

    fn drop_below(&mut self, kept: Picture, on_drop: &mut impl FnMut(Picture)) {
        self.packets.retain(|packet| match packet.content {
            Content::Picture(kind) if kind < kept => {
                on_drop(kind);
                false
            }
            _ => true,
        });
        // After a drop, dependent pictures are useless until the next one of this type.
        self.until = self.until.max(Some(kept));
    }

    /// Enqueues a packet. Returns `false` if it was dropped.
    pub(super) fn take(&mut self, packet: Waiting) -> bool {
        if let Content::Picture(kind) = packet.content {
            // Before `last`: only pictures that are kept count as the newest (`add_video_packet`).
            if self.until.is_some_and(|until| kind < until) {
                return false;
            }
            self.until = None;
            self.last = packet.made;
        }
        self.packets.push_back(packet);
        true
    }
}
