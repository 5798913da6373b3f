//! Controlled Delay (Nichols, Jacobson, `McGregor` and Iyengar, RFC 8289): drops at the head once packets have waited
//! too long for a whole interval.

use crate::fifo::Fifo;
use crate::{Dropped, Queue, QueueLimit, QueueSettings, QueuedPacket};
use earlybird_units::{Duration, Instant, Random, Rate};

/// The settings of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelSettings {
    /// Acceptable queueing delay (RFC 8289 §4.3: 5 ms).
    pub target: Duration,
    /// Time above target before dropping starts: the longest usual round trip (§4.3: 100 ms).
    pub interval: Duration,
    /// Nothing is dropped while no more bytes than these wait: the largest packet (§5.4).
    pub mtu: u64,
    /// Packets of ECN-capable senders are marked instead of dropped.
    pub ecn: bool,
}

/// The state of the algorithm (RFC 8289 §5.3), without its queue: the flows of FQ-CoDel have one each.
#[derive(Debug, Default)]
pub(crate) struct Codel {
    /// The time at which the delay will have been above the target for an interval.
    first_above: Option<Instant>,
    drop_next: Instant,
    /// Packets dropped since the dropping state began.
    count: u32,
    /// `count` at the start of the dropping state.
    last_count: u32,
    is_dropping: bool,
}

impl Codel {
    /// Takes the next packet to send out of the queue (RFC 8289 §5.5).
    pub(crate) fn dequeue(
        &mut self,
        settings: &CodelSettings,
        now: Instant,
        fifo: &mut Fifo,
        dropped: &mut Dropped,
    ) -> Option<QueuedPacket> {
        let first = self.next(settings, now, fifo);
        if self.is_dropping {
            return self.continue_dropping(settings, now, first, fifo, dropped);
        }
        let (packet, is_above_target) = first?;
        if !is_above_target {
            return Some(packet);
        }
        self.enter(settings, now);
        mark_or_drop(settings, packet, dropped).or_else(|| self.next(settings, now, fifo).map(|(packet, _)| packet))
    }

    /// Returns the next packet and whether the queue is bad (RFC 8289 §5.4, `dodequeue`).
    fn next(&mut self, settings: &CodelSettings, now: Instant, fifo: &mut Fifo) -> Option<(QueuedPacket, bool)> {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        Some((packet, self.is_above_target(settings, now, &packet, fifo)))
    }

    /// Returns whether the delay has been too long for an interval.
    fn is_above_target(&mut self, settings: &CodelSettings, now: Instant, packet: &QueuedPacket, behind: &Fifo) -> bool {
        // With at most one full packet left behind, a drop would risk an idle link (§5.4).
        if now - packet.since < settings.target || behind.bytes() <= settings.mtu {
            self.first_above = None;
            return false;
        }
        // The first packet above the target only starts the interval: a burst shorter than it passes.
        now >= *self.first_above.get_or_insert(now + settings.interval)
    }

    /// Enters the dropping state; if the last one was not long ago, with the rate that controlled the queue then.
    fn enter(&mut self, settings: &CodelSettings, now: Instant) {
        self.is_dropping = true;
        let delta = self.count - self.last_count;
        // 16 intervals, as in §5.5 and Linux.
        let is_recent = now - self.drop_next < settings.interval * 16;
        // Resumes near the drop rate of the last dropping state, of which `delta` is the number of drops (§5.5).
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = control_law(now, settings.interval, self.count);
    }

    /// Drops while drops are due and the delay is above the target; an empty queue is below it.
    fn continue_dropping(
        &mut self,
        settings: &CodelSettings,
        now: Instant,
        mut first: Option<(QueuedPacket, bool)>,
        fifo: &mut Fifo,
        dropped: &mut Dropped,
    ) -> Option<QueuedPacket> {
        while let Some((packet, true)) = first
            && now >= self.drop_next
        {
            self.count += 1;
            let marked = mark_or_drop(settings, packet, dropped);
            first = marked.map(|packet| (packet, true)).or_else(|| self.next(settings, now, fifo));
            // From the time that was due, not from now: a late dequeue does not thin the drops out.
            if first.is_some_and(|(_, is_above_target)| is_above_target) {
                self.drop_next = control_law(self.drop_next, settings.interval, self.count);
            }
            // A mark counts as a drop, but its packet leaves: at most one mark per packet sent, as in Linux.
            if marked.is_some() {
                return marked;
            }
        }
        self.is_dropping = first.is_some_and(|(_, is_above_target)| is_above_target);
        first.map(|(packet, _)| packet)
    }
}

/// Marks the packet and returns it, or drops it.
fn mark_or_drop(settings: &CodelSettings, mut packet: QueuedPacket, dropped: &mut Dropped) -> Option<QueuedPacket> {
    if settings.ecn && packet.mark() {
        return Some(packet);
    }
    dropped.push_back(packet);
    None
}

/// The interval of drops decreases with the square root of their number, which lowers TCP's rate linearly (RFC 8289 §3.3, §5.6).
fn control_law(from: Instant, interval: Duration, count: u32) -> Instant {
    from + Duration::from_secs_f64(interval.as_secs_f64() / f64::from(count).sqrt())
}

/// One queue under `CoDel`.
#[derive(Debug)]
pub(crate) struct CodelQueue {
    settings: CodelSettings,
    limit: QueueLimit,
    fifo: Fifo,
    codel: Codel,
}

impl CodelQueue {
    pub(crate) fn new(settings: CodelSettings, limit: QueueLimit) -> Self {
        Self { settings, limit, fifo: Fifo::default(), codel: Codel::default() }
    }
}

impl QueueSettings for CodelSettings {
    fn queue(self, limit: QueueLimit, _rate: Rate, _random: Random) -> Box<dyn Queue> {
        Box::new(CodelQueue::new(self, limit))
    }
}

impl Queue for CodelQueue {
    fn enqueue(&mut self, _now: Instant, packet: QueuedPacket, dropped: &mut Dropped) {
        if self.limit.has_room(self.fifo.len(), self.fifo.bytes(), packet.bytes) {
            self.fifo.push(packet);
        } else {
            dropped.push_back(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Dropped) -> Option<QueuedPacket> {
        self.codel.dequeue(&self.settings, now, &mut self.fifo, dropped)
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestQueue, millis, packet};
    use super::*;
    use earlybird_conformance::{Area, conforms};
    use earlybird_wire::Ecn;

    const SETTINGS: CodelSettings =
        CodelSettings { target: Duration::from_millis(5), interval: Duration::from_millis(100), mtu: 1500, ecn: false };

    fn codel(settings: CodelSettings) -> TestQueue<CodelQueue> {
        TestQueue::new(CodelQueue::new(settings, QueueLimit::Unlimited))
    }

    /// Two packets arrive and one leaves every millisecond. Returns the times at which packets were dropped or marked.
    fn overload(bench: &mut TestQueue<CodelQueue>, from: u64, until: u64, ecn: Ecn) -> Vec<u64> {
        let mut times = Vec::new();
        for now in from..until {
            for _ in 0..2 {
                bench.put(QueuedPacket { ecn, ..packet(millis(now), 0) });
            }
            let sent = bench.take(millis(now));
            let drops = bench.dropped.drain(..).count() + usize::from(sent.is_some_and(|packet| packet.is_marked));
            times.extend((0..drops).map(|_| now));
        }
        times
    }

    /// After an interval above the target: at once, then after 100 ms, 100/√2 ms, 100/√3 ms, … as RFC 8289 §3.3 says.
    /// Packets go once per millisecond, so every drop waits for the next one.
    #[test]
    fn drops_come_at_the_interval_over_the_root_of_their_number() {
        let mut bench = codel(SETTINGS);
        let times = overload(&mut bench, 0, 700, Ecn::NotCapable);
        // With one packet in two leaving, the first that has waited 5 ms goes at 9 ms.
        let mut expected = vec![109.0_f64];
        let mut due = 109.0;
        for count in 1..times.len() {
            due += 100.0 / (count as f64).sqrt();
            expected.push(due.ceil());
        }
        let given: Vec<f64> = times.iter().map(|at| *at as f64).collect();
        assert!(times.len() > 10 && times[1] == 209);
        assert_eq!(given, expected);
        let compared = "times of the first 10 drops under constant overload";
        conforms(Area::Queue, "codel", "RFC 8289 §3.3, §5.6", compared, "all equal: 109, 209, 280, 338, … ms");
    }

    #[test]
    fn the_dropping_state_ends_with_one_good_packet_and_soon_after_goes_on_where_it_was() {
        let mut bench = codel(SETTINGS);
        overload(&mut bench, 0, 700, Ecn::NotCapable);
        assert!(bench.queue.codel.is_dropping);
        let count = bench.queue.codel.count;
        // The queue runs empty.
        while bench.take(millis(700)).is_some() {}
        bench.put(packet(millis(701), 0));
        assert!(bench.take(millis(701)).is_some() && !bench.queue.codel.is_dropping);
        bench.dropped.clear();
        let times = overload(&mut bench, 702, 1000, Ecn::NotCapable);
        // It enters again after 9 + 100 ms with the count of before (less the one of its beginning), hence soon.
        let next = 811.0 + 100.0 / f64::from(bench.queue.codel.last_count).sqrt();
        assert!(bench.queue.codel.last_count + 1 >= count, "{count}");
        assert_eq!((times[0], times[1]), (811, next.ceil() as u64));
        let compared = "state left with a good packet; entered again with count − lastcount";
        conforms(Area::Queue, "codel", "RFC 8289 §5.5", compared, "2 of 2 times of drops");
    }

    #[test]
    fn a_packet_size_worth_of_queue_is_never_bad() {
        let mut bench = codel(SETTINGS);
        for now in 0..1000 {
            bench.put(packet(millis(now), 0));
            if now > 0 {
                assert!(bench.take(millis(now + 9)).is_some());
            }
        }
        assert!(bench.dropped.is_empty());
    }

    #[test]
    fn capable_packets_are_marked_at_the_same_times_in_place_of_being_dropped() {
        let expected = overload(&mut codel(SETTINGS), 0, 400, Ecn::NotCapable);
        let mut bench = codel(CodelSettings { ecn: true, ..SETTINGS });
        assert_eq!(overload(&mut bench, 0, 400, Ecn::Capable0), expected);
        assert!(bench.dropped.is_empty());
        let mut deaf = codel(CodelSettings { ecn: true, ..SETTINGS });
        assert_eq!(overload(&mut deaf, 0, 400, Ecn::NotCapable), expected);
    }
}
