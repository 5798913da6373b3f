//! When what came is acknowledged: from arrivals and reads to the policy.

use crate::config::Config;
use crate::policy::acking::adaptive::{Adaptive, Arrived, IsLast};
use crate::policy::acking::{AckDue, Acking};
use alloc::boxed::Box;
use earlybird_units::{Duration, Instant};

/// What is known beside a segment with data, for policies that ask.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Circumstances {
    /// The segment has PSH.
    pub(crate) is_pushed: bool,
    /// Our own retransmission timeout.
    pub(crate) timeout: Duration,
    /// Our own smoothed round-trip time.
    pub(crate) round_trip: Option<Duration>,
    /// The round trip that the segment's own timestamp shows.
    pub(crate) echoed: Option<Duration>,
}

/// What the policy needs to know of what came.
#[derive(Clone, Debug)]
pub(super) struct Acks {
    acking: Acking,
    /// The next position expected when the last segment left, and when that was.
    told: u64,
    told_at: Instant,
    arrived_at: Instant,
    /// A hole was told once.
    has_told_hole: bool,
    /// Bytes of a full segment of the peer: the longest that came.
    full: u64,
    mss: u64,
    adaptive: Option<Box<Adaptive>>,
}

/// A full segment before any came (RFC 9293 §3.7.1: what any host takes).
const FULL_AT_FIRST: u64 = 536;

impl Acks {
    pub(super) fn new(config: &Config) -> Self {
        let mss = u64::from(config.mss);
        let adaptive = (config.acking == Acking::Adaptive).then(Box::default);
        Self {
            acking: config.acking,
            told: 0,
            told_at: Instant::ZERO,
            arrived_at: Instant::ZERO,
            has_told_hole: false,
            full: mss.min(FULL_AT_FIRST),
            mss,
            adaptive,
        }
    }

    /// Says whether the policy asks for the circumstances.
    #[inline]
    pub(super) fn is_adaptive(&self) -> bool {
        self.adaptive.is_some()
    }

    /// Says whether ns-2's sink is meant.
    pub(super) fn is_ns2_sink(&self) -> bool {
        matches!(self.acking, Acking::SecondSegment(_))
    }

    /// Says whether ACKs keep their distance, though something is missing.
    pub(super) fn is_spaced(&self) -> bool {
        matches!(self.acking, Acking::Spaced { .. })
    }

    /// Says whether the ACK of a segment that was stored does.
    pub(super) fn keeps_distance(&mut self, now: Instant, opens_hole: bool) -> bool {
        if !self.is_spaced() {
            return false;
        }
        let tells_hole = opens_hole || self.has_told_hole;
        self.has_told_hole = opens_hole;
        if tells_hole {
            self.arrived_at = now;
        }
        !tells_hole
    }

    /// Gives the delay that adapts.
    pub(super) fn delay(&self) -> Option<Duration> {
        self.adaptive.as_ref()?.delay()
    }

    fn exceeds_segment(&self, nxt: u64) -> bool {
        nxt.saturating_sub(self.told) > self.full
    }

    /// Decides after an arrival of `len` bytes in order up to `nxt`, which filled no hole and left none, where the policy does
    /// not adapt.
    #[inline]
    pub(super) fn on_plain_data(
        &mut self,
        now: Instant,
        due: AckDue,
        (nxt, len): (u64, u64),
        round_trip: Option<Duration>,
    ) -> AckDue {
        let acking = self.acking;
        let last = (core::mem::replace(&mut self.arrived_at, now), self.told_at);
        acking.on_data(now, due, last, round_trip, || {
            self.note_length(len);
            self.exceeds_segment(nxt)
        })
    }

    #[inline]
    fn note_length(&mut self, len: u64) {
        self.full = self.full.max(len.min(self.mss));
    }

    /// Decides the same where the policy adapts; `window` is what was told.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        due: AckDue,
        (nxt, len, window): (u64, u64, u64),
        circumstances: &Circumstances,
    ) -> AckDue {
        let is_short = len < self.full;
        self.note_length(len);
        let exceeds_segment = self.exceeds_segment(nxt);
        let Circumstances { timeout, round_trip, is_pushed, .. } = *circumstances;
        let is_last = match (is_short, is_pushed) {
            (true, _) => IsLast::Short,
            (false, true) => IsLast::Pushed,
            (false, false) => IsLast::No,
        };
        let Some(adaptive) = &mut self.adaptive else { return due };
        let window = window / self.full;
        adaptive.on_data(due, &Arrived { now, is_last, exceeds_segment, window, timeout, round_trip })
    }

    /// Something came that had come before.
    pub(super) fn on_duplicate(&mut self, window: u64) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.on_duplicate(window / self.full);
        }
    }

    /// The time of an ACK has come.
    pub(super) fn on_late(&mut self) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.on_late();
        }
    }

    /// A segment leaves that acknowledges what came before `nxt`.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, due: AckDue, nxt: u64, has_data: bool) {
        (self.told, self.told_at) = (nxt, now);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.on_sent(now, due, has_data);
        }
    }

    /// Says whether what was read has to be acknowledged now.
    #[inline]
    pub(super) fn on_read(&self, nxt: u64, has_emptied: bool) -> bool {
        let Some(adaptive) = &self.adaptive else { return false };
        adaptive.on_read(has_emptied, self.exceeds_segment(nxt))
    }

    pub(super) fn set_interactive(&mut self, is_interactive: bool) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.set_interactive(is_interactive);
        }
    }
}
