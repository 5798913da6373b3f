//! COBALT, the AQM of CAKE: `CoDel` for flows that respond to drops, BLUE for those that do not (Høiland-Jørgensen, Täht and
//! Morton, "Piece of CAKE", LANMAN 2018, §III-C; Linux, `net/sched/sch_cake.c`).

use crate::QueuedPacket;
use earlybird_units::{Duration, Instant, Random, Rate};

/// The largest packet with its Ethernet header, in bytes (`psched_mtu` in Linux).
pub(super) const MTU: u64 = 1514;
/// `target` is this part of `rtt` (`tc`, `q_cake.c`).
const TARGET_PART: u64 = 20;

/// BLUE's probabilities are in units of 2⁻³²; it rises by 1/256 and falls by 1/4096 (`cake_set_rate`).
const RISE: u32 = 1 << 24;
const FALL: u32 = 1 << 20;

/// The parameters, which follow from the rate of the link (`cake_set_rate`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    /// Acceptable queueing delay.
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// The time that the largest packet takes.
    packet_time: Duration,
}

impl Parameters {
    /// Returns the parameters for the longest usual round trip and the rate of a link.
    pub(super) fn new(rtt: Duration, rate: Rate) -> Self {
        let wanted = rtt / TARGET_PART;
        let packet_time = rate.transmission_time(MTU, &mut 0);
        // On a slow link the queue holds a packet and a half at least.
        let target = wanted.max(packet_time * 3 / 2);
        let interval = (rtt + target.saturating_sub(wanted)).max(target * 2);
        Self { target, interval, packet_time }
    }
}

/// The state of one flow.
#[derive(Debug, Default)]
pub(super) struct Cobalt {
    /// Drops that `CoDel` makes in an interval, squared.
    count: u32,
    /// The time of the next drop; while there is none, the time until which the state is kept.
    drop_next: Instant,
    /// 1 ÷ √`count` at its last change. 0 in a flow that never had one, as in Linux: its first drop is not delayed by an interval.
    inverse_root: f64,
    is_dropping: bool,
    /// The probability of a drop, of BLUE.
    probability: u32,
    blue_changed: Option<Instant>,
}

impl Cobalt {
    /// Returns whether to drop the packet that is about to leave; marks it instead if its sender supports ECN
    /// (`cobalt_should_drop`).
    pub(super) fn drops(&mut self, with: &Parameters, now: Instant, packet: &mut QueuedPacket, random: &mut Random) -> bool {
        let mut scheduled = self.drop_next;
        let is_due = self.is_due(now);
        self.compare_with_target(with, now, now - packet.since);
        let mut is_dropped = false;
        if is_due && self.is_dropping {
            is_dropped = !packet.mark();
            scheduled = self.change_count(with, self.count.saturating_add(1));
        } else if is_due {
            scheduled = self.relax(with, now);
        }
        // BLUE marks nothing: a flow that it acts on does not respond.
        is_dropped |= self.probability > 0 && random.below(1 << 32) < u64::from(self.probability);
        if self.count == 0 {
            self.drop_next = now + with.interval;
        } else if now > scheduled && !is_dropped {
            self.drop_next = now;
        }
        is_dropped
    }

    fn is_due(&self, now: Instant) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    fn compare_with_target(&mut self, with: &Parameters, now: Instant, delay: Duration) {
        let is_above = delay > with.target && delay > with.packet_time * 4;
        if is_above && !self.is_dropping {
            self.drop_next = now + with.interval.mul_f64(self.inverse_root);
        }
        if is_above {
            self.count = self.count.max(1);
        }
        self.is_dropping = is_above;
    }

    /// Counts down what was due while the delay was below the target; returns the time of the next decrement.
    fn relax(&mut self, with: &Parameters, now: Instant) -> Instant {
        while self.is_due(now) {
            self.change_count(with, self.count - 1);
        }
        self.drop_next
    }

    /// Sets `count` and moves the time of the next drop by interval ÷ √`count`; returns that time.
    fn change_count(&mut self, with: &Parameters, count: u32) -> Instant {
        self.count = count;
        self.inverse_root = 1.0 / f64::from(count.max(1)).sqrt();
        self.drop_next += with.interval.mul_f64(self.inverse_root);
        self.drop_next
    }

    /// Records a packet dropped because the memory was full, which BLUE responds to (`cobalt_queue_full`).
    pub(super) fn overflowed(&mut self, with: &Parameters, now: Instant) {
        if self.may_change(with, now) {
            self.probability = self.probability.saturating_add(RISE);
            self.blue_changed = Some(now);
        }
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Records that the flow's queue was served and empty; returns whether the state is at rest (`cobalt_queue_empty`).
    pub(super) fn emptied(&mut self, with: &Parameters, now: Instant) -> bool {
        if self.probability > 0 && self.may_change(with, now) {
            self.probability = self.probability.saturating_sub(FALL);
            self.blue_changed = Some(now);
        }
        self.is_dropping = false;
        if self.is_due(now) {
            self.change_count(with, self.count - 1);
        }
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }

    /// Returns whether BLUE's probability was not changed within the target.
    fn may_change(&self, with: &Parameters, now: Instant) -> bool {
        self.blue_changed.is_none_or(|changed| now - changed > with.target)
    }
}
