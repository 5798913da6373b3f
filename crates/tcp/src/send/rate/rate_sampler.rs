//! Samples of the delivery rate, for controls that model the path (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
//!
//! Each outstanding segment has a record of the state of delivery at the time it was sent.

use crate::policy::control::path::{LostSegment, RateSample, SamplingRules};
use crate::scoreboard::DeliveredSegment;
use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// The state of an outstanding segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SegmentState {
    #[default]
    InFlight,
    Lost,
    Delivered,
}

/// The state of delivery when a segment was sent (the draft's `P`).
#[derive(Clone, Copy, Debug, Default)]
struct SendRecord {
    number: u64,
    state: SegmentState,
    /// Whether it was lost once or more.
    was_lost: bool,
    is_app_limited: bool,
    sent: Instant,
    first_sent: Instant,
    delivered_at: Instant,
    delivered: u64,
    lost: u64,
    tx_in_flight: u64,
}

/// The segments that an ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
struct AckSample {
    segments: u64,
    /// The record of the one that was sent last.
    newest: SendRecord,
    /// The shortest round trip of those that were sent once.
    rtt: Option<Duration>,
    /// Segments in flight before it.
    prior_in_flight: u64,
}

impl AckSample {
    /// Adds a segment. The one that was sent last is the one to measure by.
    #[inline]
    fn add(&mut self, sending: &SendRecord, rtt: Option<Duration>) {
        if self.segments == 0 || (sending.sent, sending.number) > (self.newest.sent, self.newest.number) {
            self.newest = *sending;
        }
        self.rtt = if self.segments == 0 { rtt } else { [self.rtt, rtt].into_iter().flatten().min() };
        self.segments += 1;
    }
}

/// The sampler of one sender (the draft's `C`). All volumes count segments.
#[derive(Clone, Debug)]
pub(crate) struct RateSampler {
    /// The records by number, from `una` on.
    records: VecDeque<SendRecord>,
    una: u64,
    in_flight: u64,
    /// Segments that are lost and were not retransmitted since.
    missing: u64,
    /// Segments that were lost and are not delivered yet, whether or not they were retransmitted.
    unrepaired: u64,
    delivered: u64,
    delivered_at: Instant,
    /// The transmission time of the segment delivered last; after an idle period, of the first one.
    first_sent: Instant,
    lost: u64,
    /// Segments sent before so many are delivered are limited by the application.
    app_limited_until: Option<u64>,
    /// Until so many are delivered, the window was full in the last round trip.
    full_until: u64,
    min_rtt: Duration,
    /// The segments that the last ACK delivered.
    acked: AckSample,
    rules: SamplingRules,
}

impl RateSampler {
    /// Makes a sampler for the segments behind the SYN.
    pub(crate) fn new(rules: SamplingRules) -> Self {
        Self {
            rules,
            records: VecDeque::new(),
            una: 1,
            in_flight: 0,
            missing: 0,
            unrepaired: 0,
            delivered: 0,
            delivered_at: Instant::ZERO,
            first_sent: Instant::ZERO,
            lost: 0,
            app_limited_until: None,
            full_until: 0,
            min_rtt: Duration::MAX,
            acked: AckSample::default(),
        }
    }

    pub(crate) fn rules(&self) -> SamplingRules {
        self.rules
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// Marks the samples as limited by the application if nothing is left to send although the window has room
    /// (`CheckIfApplicationLimited`). To be called before an ACK, a write or a timer can end such a gap.
    #[inline]
    pub(crate) fn check_app_limited(&mut self, has_data: bool, cwnd: impl FnOnce() -> f64) {
        if !has_data && self.missing == 0 && (self.in_flight.cast_signed() as f64) < cwnd() {
            self.mark_app_limited();
        }
    }

    /// Marks the samples of what is in flight as limited by the application (`MarkConnectionAppLimited`).
    pub(crate) fn mark_app_limited(&mut self) {
        self.app_limited_until = Some((self.delivered + self.in_flight).max(1));
    }

    /// Records that segment `number` is sent or retransmitted (`OnPacketSent`).
    pub(crate) fn on_sent(&mut self, now: Instant, number: u64, cwnd: f64) {
        let Some(index) = number.checked_sub(self.una).map(|index| index as usize) else { return };
        if self.starts_interval() {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let before = self.records.get(index).map(|sending| (sending.state, sending.was_lost));
        if let Some((state, _)) = before {
            self.leave(state);
        }
        self.in_flight += 1;
        if (self.in_flight + 1).cast_signed() as f64 > cwnd {
            self.full_until = self.delivered + self.in_flight;
        }
        let sending = SendRecord {
            number,
            state: SegmentState::InFlight,
            was_lost: before.is_some_and(|(state, was_lost)| was_lost && state != SegmentState::Delivered),
            is_app_limited: self.is_app_limited(),
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: self.in_flight,
        };
        match self.records.get_mut(index) {
            Some(slot) => *slot = sending,
            None => self.records.push_back(sending),
        }
    }

    /// Returns whether the segment that is sent next starts an interval.
    fn starts_interval(&self) -> bool {
        match self.rules {
            SamplingRules::Draft => self.in_flight == 0,
            SamplingRules::Linux => self.records.is_empty(),
        }
    }

    /// Takes a segment out of the counter of its state.
    fn leave(&mut self, state: SegmentState) {
        match state {
            SegmentState::InFlight => self.in_flight -= 1,
            SegmentState::Lost => self.missing -= 1,
            SegmentState::Delivered => {}
        }
    }

    fn sending(&mut self, number: u64) -> Option<&mut SendRecord> {
        self.records.get_mut(number.checked_sub(self.una)? as usize)
    }

    /// Records that a segment counts as lost; `None` if it is not in flight.
    pub(crate) fn on_lost(&mut self, number: u64) -> Option<LostSegment> {
        let sending = self.sending(number).filter(|sending| sending.state == SegmentState::InFlight)?;
        sending.state = SegmentState::Lost;
        let is_first = !core::mem::replace(&mut sending.was_lost, true);
        let sending = *sending;
        self.unrepaired += u64::from(is_first);
        self.in_flight -= 1;
        self.missing += 1;
        self.lost += 1;
        Some(LostSegment {
            number,
            tx_in_flight: sending.tx_in_flight,
            lost: self.lost - sending.lost,
            is_app_limited: sending.is_app_limited,
            total_delivered: self.delivered,
            in_flight: self.in_flight,
        })
    }

    /// Processes the segments that an ACK delivered while it moved the window to `una`.
    pub(crate) fn on_ack(&mut self, now: Instant, delivered: &[DeliveredSegment], una: u64) {
        self.start_ack();
        for segment in delivered {
            let Some(sending) = self.sending(segment.number).filter(|sending| sending.state != SegmentState::Delivered)
            else {
                continue;
            };
            let before = *sending;
            sending.state = SegmentState::Delivered;
            // An ACK of a segment that was sent twice may be that of the first (Karn's rule).
            self.acked.add(&before, (segment.transmissions == 1).then(|| now - before.sent));
            self.on_delivered(now, &before);
        }
        while self.una < una
            && let Some(sending) = self.records.pop_front()
        {
            self.remove(&sending);
            self.una += 1;
        }
        self.una = self.una.max(una);
    }

    /// Processes an ACK that delivered all that is below `una`, each segment sent once.
    pub(crate) fn on_progress(&mut self, now: Instant, una: u64) {
        self.start_ack();
        while self.una < una
            && let Some(sending) = self.records.pop_front()
        {
            self.una += 1;
            if sending.state != SegmentState::Delivered {
                self.acked.add(&sending, Some(now - sending.sent));
                self.on_delivered(now, &sending);
            }
        }
        self.una = self.una.max(una);
    }

    fn start_ack(&mut self) {
        (self.acked.segments, self.acked.prior_in_flight) = (0, self.in_flight);
    }

    /// Takes a segment out of the counters.
    fn remove(&mut self, sending: &SendRecord) {
        self.leave(sending.state);
        self.unrepaired -= u64::from(sending.was_lost && sending.state != SegmentState::Delivered);
    }

    /// Records that a segment is delivered (`UpdateRateSample`).
    fn on_delivered(&mut self, now: Instant, sending: &SendRecord) {
        self.remove(sending);
        self.delivered += 1;
        self.delivered_at = now;
        self.first_sent = self.acked.newest.sent;
    }

    /// Returns the sample of the last ACK, after [`Self::on_lost`]; `None` if it delivered nothing (`GenerateRateSample`).
    pub(crate) fn sample(&mut self, now: Instant, snd_max: u64) -> Option<RateSample> {
        let AckSample { segments, newest, rtt, prior_in_flight } = &self.acked;
        if *segments == 0 {
            return None;
        }
        let (rtt, prior_in_flight) = (*rtt, *prior_in_flight);
        self.app_limited_until = self.app_limited_until.filter(|until| self.delivered <= *until);
        self.min_rtt = self.min_rtt.min(rtt.unwrap_or(Duration::MAX));
        let delivered = self.delivered - newest.delivered;
        // The longer of send and ACK interval: data cannot arrive faster than they were sent, even if ACKs are compressed.
        let interval = (newest.sent - newest.first_sent).max(now - newest.delivered_at);
        let is_plausible = interval >= self.min_rtt && interval > Duration::ZERO;
        Some(RateSample {
            delivery_rate: is_plausible.then(|| delivered.cast_signed() as f64 / interval.as_secs_f64()),
            delivered,
            prior_delivered: newest.delivered,
            newly_acked: *segments,
            rtt,
            lost: self.lost - newest.lost,
            tx_in_flight: newest.tx_in_flight,
            is_app_limited: newest.is_app_limited,
            total_delivered: self.delivered,
            in_flight: self.in_flight,
            prior_in_flight,
            unrepaired: self.unrepaired,
            pacing_delay: Duration::ZERO,
            may_be_delayed: *segments == 1 && delivered == 1,
            is_cwnd_limited: self.delivered < self.full_until,
            una: self.una,
            snd_max,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use earlybird_conformance::{Area, conforms};

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    /// Segments from 1 on, one each 10 ms from time 0.
    fn sender(count: u64) -> RateSampler {
        let mut sampler = RateSampler::new(SamplingRules::Draft);
        (0..count).for_each(|index| sampler.on_sent(at(10 * index), index + 1, 100.0));
        sampler
    }

    /// An ACK that delivers these segments, all sent once.
    fn ack(sampler: &mut RateSampler, millis: u64, numbers: &[u64], una: u64) -> Option<RateSample> {
        let list: Vec<_> = numbers
            .iter()
            .map(|number| DeliveredSegment { number: *number, departed: at(0), transmissions: 1 })
            .collect();
        sampler.on_ack(at(millis), &list, una);
        sampler.sample(at(millis), 0)
    }

    fn rate(sample: Option<RateSample>) -> Option<u64> {
        sample.and_then(|sample| sample.delivery_rate).map(|rate| libm::round(rate) as u64)
    }

    /// Ten segments at 100 a second over a round trip of 50 ms, acknowledged as the path delivers them: 50 a second. The
    /// interval of a sample begins with the ACK before the segment was sent, for the first ones with the first sending.
    #[test]
    fn a_worked_sequence_of_samples() {
        let mut sampler = sender(5);
        let first = ack(&mut sampler, 50, &[1], 2);
        assert_eq!(rate(first), Some(20), "one segment in 50 ms");
        sampler.on_sent(at(50), 6, 100.0);
        let second = ack(&mut sampler, 70, &[2], 3).unwrap();
        assert_eq!(rate(Some(second)), Some(29), "two in 70 ms");
        let facts = (second.delivered, second.prior_delivered, second.newly_acked, second.tx_in_flight);
        assert_eq!(facts, (2, 0, 1, 2));
        assert_eq!((second.rtt, second.in_flight, second.lost), (Some(Duration::from_millis(60)), 4, 0));
        assert_eq!(rate(ack(&mut sampler, 110, &[3, 4, 5], 6)), Some(45), "five in 110 ms");
        let sixth = ack(&mut sampler, 130, &[6], 7).unwrap();
        assert_eq!((sixth.prior_delivered, sixth.delivered), (1, 5));
        assert_eq!(rate(Some(sixth)), Some(63), "five in the 80 ms since the first ACK");
        conforms(
            Area::Control,
            "delivery rate",
            "draft-ietf-ccwg-bbr, Delivery Rate Samples",
            "rates and volumes of a worked sequence of six segments",
            "13 of 13 values",
        );
    }

    #[test]
    fn an_ack_in_order_has_the_effect_of_the_general_path() {
        let mut long = sender(5);
        for (millis, una) in [(60, 2), (61, 5), (90, 6)] {
            let mut short = long.clone();
            short.on_progress(at(millis), una);
            let numbers: Vec<_> = (long.una..una).collect();
            let sample = ack(&mut long, millis, &numbers, una);
            assert_eq!(short.sample(at(millis), 0), sample);
            // The sample was taken, so its inputs need not be equal any more.
            (short.acked, long.acked) = (AckSample::default(), AckSample::default());
            assert_eq!(alloc::format!("{short:?}"), alloc::format!("{long:?}"));
        }
    }

    #[test]
    fn compressed_acks_show_no_higher_rate_than_that_of_sending() {
        let mut sampler = sender(5);
        ack(&mut sampler, 50, &[1], 2);
        (6..=9).for_each(|number| sampler.on_sent(at(50 + 40 * (number - 5)), number, 100.0));
        ack(&mut sampler, 211, &[2, 3, 4, 5], 6);
        let sample = ack(&mut sampler, 212, &[6, 7, 8, 9], 10);
        assert_eq!(rate(sample), Some(38), "eight that took 210 ms to send, not the 162 ms since the first ACK");
    }

    #[test]
    fn an_interval_shorter_than_the_shortest_round_trip_makes_no_rate() {
        let mut sampler = sender(2);
        ack(&mut sampler, 50, &[1], 2);
        sampler.on_lost(2);
        sampler.on_sent(at(60), 2, 100.0);
        let retransmitted = DeliveredSegment { number: 2, departed: at(60), transmissions: 2 };
        sampler.on_ack(at(65), &[retransmitted], 3);
        let sample = sampler.sample(at(65), 0).unwrap();
        assert_eq!((sample.delivery_rate, sample.rtt, sample.delivered), (None, None, 1));
    }

    #[test]
    fn losses_are_counted_once_and_since_the_sending() {
        let mut sampler = sender(5);
        assert_eq!(sampler.on_lost(2).map(|lost| (lost.lost, lost.tx_in_flight)), Some((1, 2)));
        assert_eq!(sampler.on_lost(2), None);
        assert_eq!(sampler.on_lost(3).map(|lost| (lost.lost, lost.tx_in_flight)), Some((2, 3)));
        assert_eq!(sampler.in_flight(), 3);
        sampler.on_sent(at(60), 2, 100.0);
        assert_eq!(sampler.in_flight(), 4);
        let sample = ack(&mut sampler, 100, &[5], 1).unwrap();
        assert_eq!((sample.lost, sample.in_flight), (2, 3));
        assert_eq!(sample.unrepaired, 2, "2 was sent again, 3 was not");
        assert_eq!(sampler.on_lost(2).map(|lost| lost.lost), Some(1), "since it was sent again");
        assert_eq!(sampler.on_lost(5), None, "it was delivered");
        assert_eq!(ack(&mut sampler, 110, &[1, 2], 3).unwrap().unrepaired, 1);
        assert_eq!(ack(&mut sampler, 120, &[4], 5).unwrap().unrepaired, 0, "3 is acknowledged with 4");
    }

    #[test]
    fn a_gap_makes_samples_limited_by_the_application_until_it_has_left_the_path() {
        let mut sampler = sender(2);
        sampler.check_app_limited(true, || 100.0);
        sampler.check_app_limited(false, || 2.0);
        assert!(!sampler.is_app_limited(), "there were data, or the window was full");
        sampler.check_app_limited(false, || 100.0);
        sampler.on_sent(at(30), 3, 100.0);
        ack(&mut sampler, 60, &[1, 2], 3);
        assert!(sampler.is_app_limited());
        let third = ack(&mut sampler, 81, &[3], 4).unwrap();
        assert!(third.is_app_limited && !sampler.is_app_limited());
    }

    #[test]
    fn the_window_was_full_for_a_round_trip_after_it_was() {
        let mut sampler = RateSampler::new(SamplingRules::Draft);
        (1..=3).for_each(|number| sampler.on_sent(at(0), number, 3.0));
        let first = [1, 2, 3].map(|number| ack(&mut sampler, 50, &[number], number + 1).unwrap().is_cwnd_limited);
        assert_eq!(first, [true, true, false]);
    }

    /// The first of two segments is lost, and is sent again 10 ms after the second was delivered. Linux starts an interval
    /// with a segment only if none is outstanding, so that its sample counts from that delivery.
    #[test]
    fn the_interval_of_a_retransmission_into_an_empty_path_starts_at_the_last_delivery_for_linux() {
        let retransmission_rate = |rules| {
            let mut sampler = RateSampler::new(rules);
            (1..=2).for_each(|number| sampler.on_sent(at(0), number, 100.0));
            ack(&mut sampler, 50, &[2], 1);
            sampler.on_lost(1);
            sampler.on_sent(at(60), 1, 100.0);
            rate(ack(&mut sampler, 110, &[1], 3))
        };
        assert_eq!(retransmission_rate(SamplingRules::Linux), Some(17), "one in the 60 ms since the delivery");
        assert_eq!(retransmission_rate(SamplingRules::Draft), Some(20), "one in the 50 ms since it was sent");
    }
}
