//! `DualPI2` (De Schepper, Briscoe and White, RFC 9332, appendix A): a queue for scalable senders and one for all
//! others. One controller controls both: the probability of a classic drop is the square of the marking probability, so
//! that both get the same throughput.

use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use earlybird_units::{Duration, Instant, Random, Rate};
use earlybird_wire::Ecn;

/// The parameters of `DualPI2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Settings {
    /// Target queueing delay of classic packets (RFC 9332 figure 2: 15 ms).
    pub target: Duration,
    /// Time from one change of the probability to the next (16 ms).
    pub update: Duration,
    /// Gain for the distance from the target, in Hz (0.16).
    pub alpha: f64,
    /// Gain for the change since the last time, in Hz (3.2).
    pub beta: f64,
    /// The factor k by which marks of the low-latency queue are coupled (2).
    pub coupling: f64,
    /// Queueing delay from which on the low-latency queue marks by itself (figure 7: 0.8 ms) …
    pub ramp_start: Duration,
    /// … with a probability that reaches 1 after this additional delay (0.4 ms; zero: a step).
    pub ramp: Duration,
    /// Share of the link that classic packets get at least while both queues hold packets (Linux `c_protection`: 0.1).
    pub classic_share: f64,
}

/// One of the two queues.
#[derive(Debug, Default)]
struct Lane {
    fifo: Fifo,
    /// Sum of the probabilities since the last mark or drop (RFC 9332 figure 5, `recur`).
    due: f64,
}

impl Lane {
    /// Returns whether this packet is marked or dropped: evenly spaced, not random.
    fn recurs(&mut self, probability: f64) -> bool {
        self.due += probability;
        if self.due > 1.0 {
            self.due -= 1.0;
            return true;
        }
        false
    }
}

/// Both queues of one link.
#[derive(Debug)]
pub(crate) struct DualPi2 {
    settings: DualPi2Settings,
    limit: QueueLimit,
    low_latency: Lane,
    classic: Lane,
    /// p′: the controller's own probability.
    probability: f64,
    delay: Duration,
    next_update: Instant,
    /// Bytes by which the low-latency queue is ahead of its share.
    ahead: f64,
}

impl DualPi2 {
    pub(crate) fn new(settings: DualPi2Settings, limit: QueueLimit) -> Self {
        Self {
            limit,
            low_latency: Lane::default(),
            classic: Lane::default(),
            probability: 0.0,
            delay: Duration::ZERO,
            next_update: Instant::ZERO + settings.update,
            ahead: 0.0,
            settings,
        }
    }

    /// Makes the updates that were due since the last call: the queue has not changed in between, so none is late.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            let at = self.next_update;
            self.update(self.classic.fifo.delay(at).max(self.low_latency.fifo.delay(at)));
            if self.len() == 0 && self.probability == 0.0 && self.delay == Duration::ZERO {
                // Nothing changes until a packet waits: the idle updates are skipped in one step.
                let missed = (now - at).as_nanos() / self.settings.update.as_nanos();
                self.next_update += self.settings.update * missed;
            }
            self.next_update += self.settings.update;
        }
    }

    /// Moves p′ (RFC 9332 figure 6).
    fn update(&mut self, delay: Duration) {
        let [now, old, target] = [delay, self.delay, self.settings.target].map(Duration::as_secs_f64);
        self.probability += self.settings.alpha * (now - target) + self.settings.beta * (now - old);
        self.probability = self.probability.clamp(0.0, 1.0);
        // Last: the gain β needs the delay of the update before.
        self.delay = delay;
    }

    /// `p_C` = p′² (RFC 9332 equation 2).
    fn classic_probability(&self) -> f64 {
        self.probability * self.probability
    }

    /// `p_CL` = k·p′ (equation 3).
    fn coupled_probability(&self) -> f64 {
        self.settings.coupling * self.probability
    }

    /// The low-latency queue's own marking (figure 7); a lone packet is never marked for having waited.
    fn native_probability(&self, delay: Duration) -> f64 {
        let above = delay.saturating_sub(self.settings.ramp_start);
        if self.low_latency.fifo.len() == 0 || delay < self.settings.ramp_start {
            0.0
        } else if above < self.settings.ramp {
            above.as_secs_f64() / self.settings.ramp.as_secs_f64()
        } else {
            1.0
        }
    }

    /// Returns whether the low-latency queue is served next; while both hold packets, in shares by bytes (§4.2.2: weighted round
    /// robin).
    fn serves_low_latency(&self) -> bool {
        self.classic.fifo.len() == 0 || (self.low_latency.fifo.len() > 0 && self.ahead <= 0.0)
    }

    fn account(&mut self, packet: &QueuedPacket, is_low_latency: bool) {
        let share = self.settings.classic_share;
        let bytes = f64::from(packet.bytes);
        let is_contended = self.low_latency.fifo.len() > 0 && self.classic.fifo.len() > 0;
        self.ahead += if is_low_latency { share * bytes } else { (share - 1.0) * bytes };
        if !is_contended {
            // Without competition a lane collects at most a packet of credit, or it would later shut the other one out.
            self.ahead = self.ahead.clamp(-MTU, MTU);
        }
    }

    /// Returns the next packet and whether it is kept.
    fn take_low_latency(&mut self, now: Instant) -> Option<(QueuedPacket, bool)> {
        let mut packet = self.low_latency.fifo.pop()?;
        let coupled = self.coupled_probability();
        if coupled >= 1.0 && self.low_latency.recurs(self.classic_probability()) {
            // Overload: marks no longer help (figure 5).
            return Some((packet, false));
        }
        let probability = self.native_probability(now - packet.since).max(coupled).min(1.0);
        if self.low_latency.recurs(probability) {
            packet.mark();
        }
        Some((packet, true))
    }

    /// The same from the classic queue.
    fn take_classic(&mut self) -> Option<(QueuedPacket, bool)> {
        // Marked and dropped on dequeue, as in appendix A: the signal is not delayed by the queue.
        let mut packet = self.classic.fifo.pop()?;
        let probability = self.classic_probability();
        if !self.classic.recurs(probability) {
            return Some((packet, true));
        }
        let is_overloaded = self.coupled_probability() >= 1.0;
        let is_kept = !is_overloaded && packet.mark();
        Some((packet, is_kept))
    }
}

/// The most that one queue may be ahead or behind without competition, in bytes.
const MTU: f64 = 1500.0;

impl QueueSettings for DualPi2Settings {
    fn queue(self, limit: QueueLimit, _rate: Rate, _random: Random) -> Box<dyn Queue> {
        Box::new(DualPi2::new(self, limit))
    }
}

impl Queue for DualPi2 {
    fn enqueue(&mut self, now: Instant, packet: QueuedPacket, dropped: &mut Dropped) {
        self.catch_up(now);
        // One limit for both lanes: the buffer of a link is shared.
        let bytes = self.classic.fifo.bytes() + self.low_latency.fifo.bytes();
        if !self.limit.has_room(self.len(), bytes, packet.bytes) {
            return dropped.push_back(packet);
        }
        // ECT(1) and CE are the low-latency service (RFC 9332 §2.3, RFC 9331 §5.1).
        match packet.ecn {
            Ecn::Capable1 | Ecn::Congested => self.low_latency.fifo.push(packet),
            Ecn::NotCapable | Ecn::Capable0 => self.classic.fifo.push(packet),
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket> {
        self.catch_up(now);
        loop {
            let is_low_latency = self.serves_low_latency();
            let next = if is_low_latency { self.take_low_latency(now) } else { self.take_classic() };
            let (packet, is_kept) = next?;
            if is_kept {
                self.account(&packet, is_low_latency);
                return Some(packet);
            }
            dropped.push_back(packet);
        }
    }

    fn len(&self) -> usize {
        self.low_latency.fifo.len() + self.classic.fifo.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestQueue, millis, packet};
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SETTINGS: DualPi2Settings = DualPi2Settings {
        target: Duration::from_millis(15),
        update: Duration::from_millis(16),
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        ramp_start: Duration::from_micros(800),
        ramp: Duration::from_micros(400),
        classic_share: 0.1,
    };

    fn dual(settings: DualPi2Settings) -> TestQueue<DualPi2> {
        TestQueue::new(DualPi2::new(settings, QueueLimit::Unlimited))
    }

    fn of(ecn: Ecn) -> QueuedPacket {
        QueuedPacket { ecn, ..packet(millis(0), 0) }
    }

    #[test]
    fn classic_drops_are_the_square_and_marks_twice_the_controllers_probability() {
        for probability in [0.0, 0.01, 0.1, 0.25, 0.5] {
            let mut dual = dual(SETTINGS).queue;
            dual.probability = probability;
            let [classic, coupled] = [dual.classic_probability(), dual.coupled_probability()];
            assert!((classic - (coupled / 2.0) * (coupled / 2.0)).abs() < 1e-12);
            assert!((coupled - 2.0 * probability).abs() < 1e-12);
        }
        let compared = "p_C = (p_CL/k)², k = 2, at 5 probabilities";
        conforms(Area::Queue, "dualpi2", "RFC 9332 §2.1 equation 1", compared, "5 of 5 within 1e-12");
    }

    #[test]
    fn the_controller_adds_distance_and_change() {
        let mut dual = dual(SETTINGS).queue;
        dual.update(Duration::from_millis(20));
        let first = 0.16 * 0.005 + 3.2 * 0.020;
        assert!((dual.probability - first).abs() < 1e-12);
        dual.update(Duration::from_millis(15));
        assert!((dual.probability - (first - 3.2 * 0.005)).abs() < 1e-12);
        dual.update(Duration::ZERO);
        assert!(dual.probability < 0.01 && dual.probability >= 0.0);
        conforms(Area::Queue, "dualpi2", "RFC 9332 figure 6", "p' after 2 updates", "2 of 2 within 1e-12");
    }

    /// Over 10,000 packets of each kind.
    #[test]
    fn the_shares_of_drops_and_marks_follow_the_probability() {
        let mut bench = dual(DualPi2Settings { classic_share: 0.5, ..SETTINGS });
        let (mut marked, mut kept) = (0, 0);
        for _ in 0..10_000 {
            // Outside updates the probability stays as it is set.
            bench.queue.probability = 0.2;
            bench.put(of(Ecn::NotCapable));
            bench.put(of(Ecn::Capable1));
            while let Some(packet) = bench.take(millis(0)) {
                marked += u32::from(packet.is_marked);
                kept += u32::from(packet.ecn == Ecn::NotCapable);
            }
        }
        assert_eq!((10_000 - kept, marked), (400, 4000));
        conforms(
            Area::Queue,
            "dualpi2",
            "RFC 9332 figure 5",
            "drops and marks of 10,000 packets each at p' = 0.2",
            "400 and 4000",
        );
    }

    /// Once, the mark was set on a copy that was left behind.
    #[test]
    fn classic_packets_that_may_be_marked_leave_with_their_marks() {
        let mut bench = dual(SETTINGS);
        let (mut marked, mut kept) = (0, 0);
        for _ in 0..10_000 {
            bench.queue.probability = 0.2;
            bench.put(of(Ecn::Capable0));
            while let Some(packet) = bench.take(millis(0)) {
                marked += u32::from(packet.is_marked);
                kept += 1;
            }
        }
        assert_eq!((kept, marked), (10_000, 400));
        let compared = "marks of 10,000 classic packets that may be marked, at p' = 0.2";
        conforms(Area::Queue, "dualpi2", "RFC 9332 figure 5", compared, "400, none dropped");
    }

    #[test]
    fn the_low_latency_queue_marks_from_800_us_on_and_always_after_1200_us() {
        let mut bench = dual(SETTINGS);
        bench.put(of(Ecn::Capable1));
        let probability = |micros| bench.queue.native_probability(Duration::from_micros(micros));
        for (micros, expected) in [(0, 0.0), (799, 0.0), (900, 0.25), (1000, 0.5), (1200, 1.0), (9000, 1.0)] {
            assert!((probability(micros) - expected).abs() < 1e-12, "{micros}");
        }
        let step = dual(DualPi2Settings { ramp_start: Duration::from_millis(1), ramp: Duration::ZERO, ..SETTINGS });
        let mut step = step.queue;
        step.low_latency.fifo.push(of(Ecn::Capable1));
        assert!(step.native_probability(Duration::from_micros(999)) < 0.5);
        assert!(step.native_probability(Duration::from_micros(1000)) > 0.5);
        let compared = "ramp from 0.8 to 1.2 ms at 6 waiting times; step at 1 ms";
        conforms(Area::Queue, "dualpi2", "RFC 9332 figure 7", compared, "8 of 8");
    }

    #[test]
    fn one_packet_in_ten_is_classic_while_both_wait() {
        let mut bench = dual(SETTINGS);
        for _ in 0..1000 {
            bench.put(of(Ecn::NotCapable));
            bench.put(of(Ecn::Capable1));
        }
        let classic = (0..500).filter(|_| bench.take(millis(0)).unwrap().ecn == Ecn::NotCapable).count();
        assert_eq!(classic, 50);
    }

    #[test]
    fn from_half_on_marks_no_longer_help_and_both_queues_drop() {
        let mut bench = dual(SETTINGS);
        for _ in 0..400 {
            bench.put(of(Ecn::Capable0));
            bench.put(of(Ecn::Capable1));
        }
        bench.queue.probability = 0.5;
        let sent: Vec<QueuedPacket> = std::iter::from_fn(|| bench.take(millis(0))).collect();
        let low_latency = sent.iter().filter(|packet| packet.ecn == Ecn::Capable1);
        assert!(low_latency.clone().all(|packet| packet.is_marked));
        assert!((299..=301).contains(&low_latency.count()) && (599..=602).contains(&sent.len()));
        conforms(Area::Queue, "dualpi2", "RFC 9332 §4.2.3, figure 5", "overload: drops in both queues", "1 in 4");
    }
}
