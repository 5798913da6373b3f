//! Queue lengths of a link at regular times.
//!
//! Packets come to some links ahead of time (see `Network::classify_hops`): what waits at a time must be read before a
//! packet is accepted that comes later.

use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// A packet that comes at the very time of a sample is in it.
const RESOLUTION: Duration = Duration::from_nanos(1);

/// Samples of a queue length, some of them taken ahead of time.
#[derive(Clone, Debug)]
pub(super) struct QueueSamples {
    period: Duration,
    /// Time of the next sample.
    next: Instant,
    /// Samples that were taken and not asked for yet.
    ahead: VecDeque<(Instant, usize)>,
}

impl QueueSamples {
    /// Begins with a sample at `first`.
    pub(super) fn new(first: Instant, period: Duration) -> Self {
        Self { period, next: first, ahead: VecDeque::new() }
    }

    /// Returns the earliest time at which a packet is too late for the next sample.
    pub(super) fn due(&self) -> Instant {
        self.next + RESOLUTION
    }

    /// Returns the time of the next sample, if a packet that comes now is too late for it.
    pub(super) fn due_before(&self, now: Instant) -> Option<Instant> {
        (self.next < now).then_some(self.next)
    }

    /// Stores a sample until it is asked for.
    pub(super) fn store(&mut self, at: Instant, length: usize) {
        self.ahead.push_back((at, length));
        self.next = at + self.period;
    }

    /// Returns the stored sample of a time, if there is one.
    pub(super) fn take(&mut self, at: Instant) -> Option<usize> {
        let (_, length) = self.ahead.pop_front_if(|(time, _)| *time == at)?;
        Some(length)
    }

    /// Notes that a sample was taken at its time.
    pub(super) fn pass(&mut self, at: Instant) {
        self.next = at + self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RouteId;
    use crate::link::{Link, LinkSettings};
    use crate::packet::{Content, Packet};
    use crate::timestamp::Timestamp;
    use earlybird_units::{Rate, SeedTree};
    use earlybird_wire::Segment;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const PERIOD: Duration = Duration::from_micros(777);

    fn link() -> Link {
        let mut link =
            Link::new(LinkSettings::plain("", Rate::from_bits_per_second(8_000_000).unwrap(), SeedTree::new(0)));
        // Between whole microseconds, so that no packet comes or starts just then.
        link.sample_every(Instant::from_nanos(500), PERIOD);
        link
    }

    /// Lets packets come, after gaps in microseconds, and returns their arrivals and starts. A byte takes a microsecond.
    fn send(link: &mut Link, packets: &[(u64, u32)]) -> Vec<(Instant, Instant)> {
        let (mut now, mut free) = (Instant::ZERO, Instant::ZERO);
        let mut passages = Vec::new();
        for (gap, bytes) in packets {
            now += Duration::from_micros(*gap);
            let packet = Packet::external(RouteId(0), *bytes, Content::Segment(Segment::default()));
            assert!(link.accept(&mut Timestamp::from_instant(now), &packet));
            passages.push((now, now.max(free)));
            free = now.max(free) + Duration::from_micros(u64::from(*bytes));
        }
        passages
    }

    proptest! {
        /// A packet that came to its link ahead of time and waited there was in the samples before.
        #[test]
        fn a_sample_of_a_queue_counts_no_packet_that_comes_later(
            packets in vec((0_u64..3_000, prop_oneof![4 => Just(1000_u32), 1 => Just(40)]), 1..120),
        ) {
            let mut link = link();
            let passages = send(&mut link, &packets);
            let mut at = Instant::from_nanos(500);
            while at < passages[passages.len() - 1].0 {
                let waiting = passages.iter().filter(|(came, start)| *came <= at && at < *start).count();
                prop_assert_eq!(link.backlog(at), waiting, "{:?}", at);
                at += PERIOD;
            }
        }
    }
}
