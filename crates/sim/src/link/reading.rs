//! Counts and measurements of a link up to a time, and between two times.

use super::{Counters, Link};
use crate::packet::Packet;
use earlybird_units::{Duration, Instant};

/// Counts of all packets at a link, or of a group's, from the start of the run up to a time.
///
/// Every packet that arrived was transmitted, was dropped, or still waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets whose transmission has ended.
    pub packets_out: u64,
    /// Packets that were dropped, by a loss rule or by the queue.
    pub packets_dropped: u64,
    /// Those of them that a loss rule dropped.
    pub packets_lost: u64,
    /// Packets that the queue marked with CE.
    pub packets_marked: u64,
    /// Packets in the queue, and the one that is being transmitted.
    pub packets_waiting: u64,
    /// Bytes of the packets whose transmission has ended.
    pub bytes_out: u64,
    /// Of the packets that waited, those that were dropped later.
    dropped_later: u64,
    /// Of the packets that waited, those that were marked later.
    marked_later: u64,
}

impl LinkCounts {
    /// Returns the counts from the packets and bytes counted on arrival, and those that still wait.
    fn new(counted: &Counters, (packets_waiting, bytes_waiting): (u64, u64)) -> Self {
        Self {
            packets_in: counted.packets_in,
            packets_out: counted.packets_accepted() - packets_waiting,
            packets_dropped: counted.packets_dropped,
            packets_lost: counted.packets_lost,
            packets_marked: counted.packets_marked,
            packets_waiting,
            bytes_out: counted.bytes_accepted - bytes_waiting,
            ..Self::default()
        }
    }

    /// Returns the outcomes, up to this time, of the packets that arrived after an earlier time.
    pub const fn arrived_after(&self, earlier: &Self) -> Arrivals {
        Arrivals {
            packets_in: self.packets_in - earlier.packets_in,
            packets_dropped: self.packets_dropped - earlier.packets_dropped - earlier.dropped_later,
            packets_lost: self.packets_lost - earlier.packets_lost,
            packets_marked: self.packets_marked - earlier.packets_marked - earlier.marked_later,
        }
    }
}

/// The fates of the packets that arrived between two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Those of them that were dropped.
    pub packets_dropped: u64,
    /// Those of them that a loss rule dropped.
    pub packets_lost: u64,
    /// Those of them that the queue marked.
    pub packets_marked: u64,
}

impl Arrivals {
    /// Returns the share of a number of packets in those that arrived; `None` if none did.
    pub fn share(&self, packets: u64) -> Option<f64> {
        (self.packets_in > 0).then(|| packets as f64 / self.packets_in as f64)
    }
}

/// Counts and measurements of a link from the start of the run up to a time.
///
/// A packet that arrives at that time is not counted; a transmission that ends at that time has ended.
#[derive(Clone, Debug)]
pub struct LinkReading {
    /// The time.
    pub at: Instant,
    /// Counts of all packets.
    pub total: LinkCounts,
    /// Counts by group, if [`Link::count_groups`] asked for them.
    pub groups: Vec<LinkCounts>,
    /// Bits sent, those of a packet in transmission included.
    pub bits_sent: f64,
    /// Time integral of the number of packets in the queue, without the one in transmission.
    pub queue_time: Duration,
    /// The greatest queue length in packets.
    pub max_queue: usize,
    /// Packets whose transmission has begun.
    packets_started: u64,
    /// Sum of their times from arrival to the start of the transmission.
    delay_sum: Duration,
}

impl LinkReading {
    fn without_packets(at: Instant, groups: usize) -> Self {
        Self {
            at,
            total: LinkCounts::default(),
            groups: vec![LinkCounts::default(); groups],
            bits_sent: 0.0,
            queue_time: Duration::ZERO,
            max_queue: 0,
            packets_started: 0,
            delay_sum: Duration::ZERO,
        }
    }

    /// Returns the mean number of packets in the queue since an earlier time.
    pub fn mean_queue_since(&self, earlier: &Self) -> f64 {
        self.queue_time.saturating_sub(earlier.queue_time).as_secs_f64() / (self.at - earlier.at).as_secs_f64()
    }

    /// Returns the mean time from arrival to the start of the transmission of the packets whose transmission began
    /// since an earlier time, in milliseconds; 0 if none did.
    pub fn mean_queue_delay_ms_since(&self, earlier: &Self) -> f64 {
        let started = (self.packets_started - earlier.packets_started).max(1);
        1e3 * self.delay_sum.saturating_sub(earlier.delay_sum).as_secs_f64() / started as f64
    }
}

/// The packets at a link at a time, and the lead of the sums that count on arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// Packets in the queue.
    pub(super) queued: u64,
    /// Packets and bytes in the queue or in transmission.
    pub(super) waiting: (u64, u64),
    /// Bits of the waiting packets that are not sent yet.
    pub(super) bits_unsent: f64,
    /// Time integral of the queue length up to now.
    pub(super) queue_time: Duration,
    /// Sum of the queueing delays of the packets whose transmission has begun.
    pub(super) delay_sum: Duration,
    /// Packets that were dropped from the queue do not start.
    pub(super) packets_started: u64,
}

/// The two ends of the measured interval, and the readings at those that have passed.
#[derive(Clone, Debug)]
pub(super) struct MeasuredInterval {
    ends: [Instant; 2],
    /// `None` where no packet had arrived: most links of a large network have no other reading at the start, and a
    /// stored one would cost each of them hundreds of bytes.
    readings: [Option<Box<LinkReading>>; 2],
    /// Ends that have passed.
    passed: usize,
}

impl Default for MeasuredInterval {
    /// Returns an interval from the start without end.
    fn default() -> Self {
        Self::new([Instant::ZERO, Instant::NEVER])
    }
}

impl MeasuredInterval {
    fn new(ends: [Instant; 2]) -> Self {
        // No packet arrives before the start of the run.
        Self { ends, readings: [None, None], passed: usize::from(ends[0] == Instant::ZERO) }
    }

    fn next_end(&self) -> Instant {
        self.ends.get(self.passed).copied().unwrap_or(Instant::NEVER)
    }

    /// Returns the next end, if it is not later than now.
    fn end_due(&self, now: Instant) -> Option<Instant> {
        self.ends.get(self.passed).copied().filter(|end| *end <= now)
    }

    /// Stores the reading at the next end.
    fn pass(&mut self, reading: Option<Box<LinkReading>>) {
        self.readings[self.passed] = reading;
        self.passed += 1;
    }

    pub(super) fn ends(&self) -> [Instant; 2] {
        self.ends
    }

    pub(super) fn from(&self) -> Instant {
        self.ends[0]
    }

    pub(super) fn contains(&self, at: Instant) -> bool {
        self.ends[0] <= at && at < self.ends[1]
    }
}

impl Link {
    /// Sets the interval that is measured. Must be called before the first packet.
    pub fn measure_between(&mut self, from: Instant, until: Instant) {
        self.cold.measured = MeasuredInterval::new([from, until]);
        self.schedule_reading();
    }

    /// Sets the time at which the next packet must find a reading or a sample taken.
    pub(super) fn schedule_reading(&mut self) {
        let end = self.cold.measured.next_end();
        self.next_reading = self.cold.samples.as_ref().map_or(end, |samples| end.min(samples.due()));
    }

    /// Returns the counts and measures up to the start of the measured interval.
    pub fn reading_at_start(&self) -> LinkReading {
        self.reading_at_end_of(0)
    }

    /// Returns the counts and measures up to the end of the measured interval, if the world has reached it.
    pub fn reading_at_end(&self) -> LinkReading {
        self.reading_at_end_of(1)
    }

    fn reading_at_end_of(&self, number: usize) -> LinkReading {
        let (at, has_passed) = (self.cold.measured.ends[number], number < self.cold.measured.passed);
        match &self.cold.measured.readings[number] {
            Some(reading) => (**reading).clone(),
            None if has_passed => LinkReading::without_packets(at, self.groups.len()),
            None => self.reading(at),
        }
    }

    /// Takes the readings and samples that are due. What happens now is not in them.
    #[cold]
    #[inline(never)]
    pub(super) fn take_readings(&mut self, now: Instant) {
        // Times saturate: an arrival at the end of all time comes after both ends, and there is no third one.
        while let Some(end) = self.cold.measured.end_due(now) {
            let reading = (self.total.packets_in > 0).then(|| Box::new(self.reading(end)));
            self.cold.measured.pass(reading);
        }
        while let Some(at) = self.cold.samples.as_ref().and_then(|samples| samples.due_before(now)) {
            let length = self.backlog_at(at);
            self.cold.samples.as_mut().expect("it is due").store(at, length);
        }
        self.schedule_reading();
    }

    /// Returns the counts and measures up to a time that is not before the last arrival.
    pub fn reading(&self, at: Instant) -> LinkReading {
        let held = self.held(at, None);
        debug_assert!(self.keeps_littles_law(&held), "{}: {held:?}", self.settings().name);
        let of_group =
            |(group, counted): (u32, &Counters)| LinkCounts::new(counted, self.held(at, Some(group)).waiting);
        LinkReading {
            at,
            total: LinkCounts::new(&self.total, held.waiting),
            groups: (0..).zip(&self.groups).map(of_group).collect(),
            bits_sent: self.total.bytes_accepted as f64 * 8.0 - held.bits_unsent,
            queue_time: held.queue_time,
            max_queue: self.max_backlog,
            packets_started: held.packets_started,
            delay_sum: held.delay_sum,
        }
    }

    /// Returns whether the time integral of the queue length is the sum of the queueing delays (Little 1961), of those
    /// packets that still wait or were dropped so far as they have waited.
    fn keeps_littles_law(&self, held: &Held) -> bool {
        // The sum of planned delays saturates: 30,000 packets in front of a link of 7 b/s would wait for 17,000 years.
        if self.waited == Duration::MAX {
            return true;
        }
        match (held.queued, self.total.packets_dropped) {
            (0, 0) => held.queue_time == held.delay_sum,
            (0, _) => held.queue_time >= held.delay_sum,
            // A packet that arrives now is not counted, so that each has waited.
            _ => held.queue_time > held.delay_sum,
        }
    }

    /// Changes the counters of a packet, of all packets and of its group.
    #[inline]
    pub(super) fn each_counter(&mut self, packet: &Packet, change: impl Fn(&mut Counters)) {
        change(&mut self.total);
        if self.counts_groups
            && let Some(group) = self.groups.get_mut(packet.group.0 as usize)
        {
            change(group);
        }
    }

    /// Changes the counts at the start of the measured interval, if a packet arrived before it and this event is within it.
    pub(super) fn count_later(&mut self, now: Instant, since: Instant, packet: &Packet, change: fn(&mut LinkCounts)) {
        if since >= self.cold.measured.from() || !self.cold.measured.contains(now) {
            return;
        }
        if let Some(reading) = &mut self.cold.measured.readings[0] {
            change(&mut reading.total);
            reading.groups.get_mut(packet.group.0 as usize).map(change);
        }
    }

    pub(super) fn count_drop_later(&mut self, now: Instant, since: Instant, packet: &Packet) {
        self.count_later(now, since, packet, |counts| counts.dropped_later += 1);
    }

    pub(super) fn count_mark_later(&mut self, now: Instant, since: Instant, packet: &Packet) {
        self.count_later(now, since, packet, |counts| counts.marked_later += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSettings;
    use crate::packet::Content;
    use crate::timestamp::Timestamp;
    use crate::{GroupId, RouteId};
    use earlybird_queue::QueueLimit;
    use earlybird_units::{Rate, SeedTree};
    use earlybird_wire::Segment;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A packet that a link accepted: arrival, start and end of its transmission, size and group.
    struct AcceptedPacket {
        came: Instant,
        start: Instant,
        end: Instant,
        bytes: u32,
        group: u32,
    }

    fn link(limit: QueueLimit) -> Link {
        let rate = Rate::from_bits_per_second(8_000_000).unwrap();
        let mut link = Link::new(LinkSettings { limit, ..LinkSettings::plain("", rate, SeedTree::new(0)) });
        link.count_groups(2);
        link
    }

    fn packet(bytes: u32, group: u32) -> Packet {
        let packet = Packet::external(RouteId(0), bytes, Content::Segment(Segment::default()));
        Packet { group: GroupId(group), ..packet }
    }

    /// Returns packets in, out, dropped and waiting, and bytes out, from the lists of accepted and dropped packets.
    fn counts(taken: &[&AcceptedPacket], dropped: &[&(Instant, u32)], at: Instant) -> [u64; 5] {
        let came = taken.iter().filter(|packet| packet.came < at);
        let out: Vec<_> = came.clone().filter(|packet| packet.end <= at).collect();
        let [came, dropped] = [came.count(), dropped.iter().filter(|(came, _)| *came < at).count()];
        let bytes = out.iter().map(|packet| u64::from(packet.bytes)).sum();
        [came + dropped, out.len(), dropped, came - out.len()]
            .map(|count| count as u64)
            .into_iter()
            .chain([bytes])
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    }

    proptest! {
        /// At 8 Mb/s a byte takes a microsecond, so that no time is rounded.
        #[test]
        fn a_reading_is_what_a_list_of_all_packets_gives(
            limit in prop_oneof![Just(QueueLimit::Unlimited), (1_u32..8).prop_map(QueueLimit::Packets)],
            packets in vec((0_u64..3_000, prop_oneof![4 => Just(1000_u32), 1 => Just(40)], 0_u32..2), 1..120),
            ends in [0_u64..60_000, 0_u64..60_000],
        ) {
            let at = |micros: u64| Instant::ZERO + Duration::from_micros(micros);
            let ends = [at(ends[0].min(ends[1])), at(ends[0].max(ends[1]) + 1)];
            let mut link = link(limit);
            link.measure_between(ends[0], ends[1]);
            let (mut now, mut free, mut taken, mut dropped) = (Instant::ZERO, Instant::ZERO, Vec::new(), Vec::new());
            for (gap, bytes, group) in packets {
                now += Duration::from_micros(gap);
                let mut timestamp = Timestamp::from_instant(now);
                if link.accept(&mut timestamp, &packet(bytes, group)) {
                    let start = now.max(free);
                    free = start + Duration::from_micros(bytes.into());
                    prop_assert_eq!(timestamp.at, free);
                    taken.push(AcceptedPacket { came: now, start, end: free, bytes, group });
                } else {
                    dropped.push((now, group));
                }
            }
            let readings = [link.reading_at_start(), link.reading_at_end()];
            for (reading, end) in readings.iter().zip(ends) {
                let of = |counts: &LinkCounts| {
                    let LinkCounts { packets_in, packets_out, packets_dropped, packets_waiting, bytes_out, .. } = *counts;
                    [packets_in, packets_out, packets_dropped, packets_waiting, bytes_out]
                };
                let all = (taken.iter().collect::<Vec<_>>(), dropped.iter().collect::<Vec<_>>());
                prop_assert_eq!(of(&reading.total), counts(&all.0, &all.1, end));
                for group in 0..2 {
                    let own = taken.iter().filter(|packet| packet.group == group).collect::<Vec<_>>();
                    let lost = dropped.iter().filter(|(_, other)| *other == group).collect::<Vec<_>>();
                    prop_assert_eq!(of(&reading.groups[group as usize]), counts(&own, &lost, end));
                }
                let came = || taken.iter().filter(|packet| packet.came < end);
                let queue_time = came().map(|packet| packet.start.min(end) - packet.came).fold(Duration::ZERO, |sum, span| sum + span);
                prop_assert_eq!(reading.queue_time, queue_time);
                let sent: u64 = came().map(|packet| (packet.end.min(end) - packet.start.min(end)).as_nanos()).sum();
                prop_assert!((reading.bits_sent - sent as f64 * 8e-3).abs() < 1e-3);
                let started: Vec<_> = came().filter(|packet| packet.start <= end).collect();
                prop_assert_eq!(reading.packets_started, started.len() as u64);
                let delays = started.iter().map(|packet| packet.start - packet.came).fold(Duration::ZERO, |sum, span| sum + span);
                prop_assert_eq!(reading.delay_sum, delays);
            }
        }
    }
}
