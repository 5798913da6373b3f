//! When what came is acknowledged: from arrivals and reads to the policy.

use crate::config::Config;
use crate::policy::acking::adaptive::{Adaptive, Arrived, IsLast};
use crate::policy::acking::spaced::Spaced;
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
    /// The next position expected when the last segment left.
    told: u64,
    /// Bytes of a full segment of the peer: the longest that came.
    full: u64,
    mss: u64,
    /// Present if the policy remembers more.
    memory: Option<Box<Memory>>,
}

/// What a policy remembers.
#[derive(Clone, Debug)]
enum Memory {
    Adaptive(Adaptive),
    Spaced(Spaced),
}

impl Memory {
    fn of(acking: Acking) -> Option<Self> {
        match acking {
            Acking::Adaptive => Some(Self::Adaptive(Adaptive::default())),
            Acking::Spaced { least, most } => Some(Self::Spaced(Spaced::new(least, most))),
            Acking::EverySegment | Acking::SecondSegment(_) | Acking::Delayed(_) => None,
        }
    }
}

/// A full segment before any came (RFC 9293 §3.7.1: what any host takes).
const FULL_AT_FIRST: u64 = 536;

impl Acks {
    pub(super) fn new(config: &Config) -> Self {
        let mss = u64::from(config.segments.mss);
        let memory = Memory::of(config.acks.policy).map(Box::new);
        Self { acking: config.acks.policy, told: 0, full: mss.min(FULL_AT_FIRST), mss, memory }
    }

    /// Returns whether the policy asks for the circumstances.
    #[inline]
    pub(super) fn remembers(&self) -> bool {
        self.memory.is_some()
    }

    fn adaptive(&mut self) -> Option<&mut Adaptive> {
        match self.memory.as_deref_mut()? {
            Memory::Adaptive(adaptive) => Some(adaptive),
            Memory::Spaced(_) => None,
        }
    }

    fn spaced(&mut self) -> Option<&mut Spaced> {
        match self.memory.as_deref_mut()? {
            Memory::Spaced(spaced) => Some(spaced),
            Memory::Adaptive(_) => None,
        }
    }

    /// Returns whether ns-2's sink is meant.
    pub(super) fn is_ns2_sink(&self) -> bool {
        matches!(self.acking, Acking::SecondSegment(_))
    }

    /// Returns whether ACKs keep their distance, though something is missing.
    pub(super) fn is_spaced(&self) -> bool {
        matches!(self.acking, Acking::Spaced { .. })
    }

    /// Returns whether the ACK of a segment that was stored does.
    pub(super) fn keeps_distance(&mut self, now: Instant, opens_hole: bool) -> bool {
        self.spaced().is_some_and(|spaced| spaced.keeps_distance(now, opens_hole))
    }

    /// Returns the delay that adapts.
    pub(super) fn delay(&self) -> Option<Duration> {
        match self.memory.as_deref()? {
            Memory::Adaptive(adaptive) => adaptive.delay(),
            Memory::Spaced(_) => None,
        }
    }

    fn exceeds_segment(&self, nxt: u64) -> bool {
        nxt.saturating_sub(self.told) > self.full
    }

    /// Decides after an arrival of `len` bytes in order up to `nxt`, which filled no hole and left none, where the policy
    /// remembers nothing.
    #[inline]
    pub(super) fn on_plain_data(&mut self, now: Instant, due: AckDue, nxt: u64, len: u64) -> AckDue {
        let acking = self.acking;
        acking.on_data(now, due, || {
            self.note_length(len);
            self.exceeds_segment(nxt)
        })
    }

    #[inline]
    fn note_length(&mut self, len: u64) {
        self.full = self.full.max(len.min(self.mss));
    }

    /// Decides the same where the policy remembers; `window` is what was told.
    pub(super) fn on_data(
        &mut self,
        now: Instant,
        due: AckDue,
        (nxt, len, window): (u64, u64, u64),
        circumstances: &Circumstances,
    ) -> AckDue {
        let Circumstances { timeout, round_trip, is_pushed, .. } = *circumstances;
        if let Some(spaced) = self.spaced() {
            return spaced.on_data(now, due, round_trip);
        }
        let is_short = len < self.full;
        self.note_length(len);
        let exceeds_segment = self.exceeds_segment(nxt);
        let is_last = match (is_short, is_pushed) {
            (true, _) => IsLast::Short,
            (false, true) => IsLast::Pushed,
            (false, false) => IsLast::No,
        };
        let window = window / self.full;
        let arrived = Arrived { now, is_last, exceeds_segment, window, timeout, round_trip };
        self.adaptive().map_or(due, |adaptive| adaptive.on_data(due, &arrived))
    }

    /// Something came that had come before.
    pub(super) fn on_duplicate(&mut self, window: u64) {
        let window = window / self.full;
        if let Some(adaptive) = self.adaptive() {
            adaptive.on_duplicate(window);
        }
    }

    /// The time of an ACK has come.
    pub(super) fn on_late(&mut self) {
        if let Some(adaptive) = self.adaptive() {
            adaptive.on_late();
        }
    }

    /// A segment leaves that acknowledges what came before `nxt`.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, due: AckDue, nxt: u64, has_data: bool) {
        self.told = nxt;
        match self.memory.as_deref_mut() {
            None => {}
            Some(Memory::Adaptive(adaptive)) => adaptive.on_sent(now, due, has_data),
            Some(Memory::Spaced(spaced)) => spaced.on_sent(now),
        }
    }

    /// Returns whether what was read has to be acknowledged now.
    #[inline]
    pub(super) fn on_read(&self, nxt: u64, has_emptied: bool) -> bool {
        let Some(Memory::Adaptive(adaptive)) = self.memory.as_deref() else { return false };
        adaptive.on_read(has_emptied, self.exceeds_segment(nxt))
    }

    pub(super) fn set_interactive(&mut self, is_interactive: bool) {
        if let Some(adaptive) = self.adaptive() {
            adaptive.set_interactive(is_interactive);
        }
    }
}
