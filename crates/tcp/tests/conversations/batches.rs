//! A driver that hands over all segments that have arrived before it polls, as `recvmmsg` and coarse timers do: one ACK then
//! acknowledges new data and reports losses at once.

use crate::plain;
use earlybird_tcp::{Config, Connection, Cx, Recovery, Transmit, WindowReduction};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use earlybird_wire::Segment;
use rstest::rstest;
use std::collections::VecDeque;

const MSS: u64 = 1000;
/// Bytes of an answer; the next one is written when everything is acknowledged, so that no new data follows a loss.
const ANSWER: u64 = 30 * MSS;
const ANSWERS: u64 = 500;
/// The propagation delay in each direction.
const DELAY: Duration = Duration::from_millis(20);
/// The interval at which the driver polls.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Data segments lost, in thousandths.
const LOSS: u64 = 5;
/// Segments behind each loss: with fewer of them neither `DupThresh` nor `IsLost` (RFC 6675 §4) can be reached.
const BEHIND_LOSS: u64 = 3;

/// Two connections and what is under way to each of them.
struct Driver {
    ends: [Connection; 2],
    in_flight: [VecDeque<(Instant, Segment)>; 2],
    random: Random,
    written: u64,
    /// The stream position below which everything has been sent.
    sent_below: u64,
    lost: u64,
}

impl Driver {
    fn new(config: &Config, seed: u64) -> Self {
        let seeds = SeedTree::new(seed);
        let ends = [Connection::connect(config, seeds), Connection::listen(config, seeds)];
        Self {
            ends,
            in_flight: [VecDeque::new(), VecDeque::new()],
            random: seeds.random(),
            written: 0,
            sent_below: 0,
            lost: 0,
        }
    }

    /// Returns whether the network loses a segment.
    fn is_lost(&mut self, transmit: &Transmit) -> bool {
        // RFC 6675 §4 (`NextSeg`) leaves a lost retransmission to the timer, so that none is lost here.
        let is_new = transmit.data.start >= self.sent_below && !transmit.data.is_empty();
        self.sent_below = self.sent_below.max(transmit.data.end);
        let is_followed = transmit.data.end + BEHIND_LOSS * MSS <= self.written;
        is_new && is_followed && self.random.below(1000) < LOSS
    }

    /// Writes an answer, and returns when everything is acknowledged.
    fn answer(&mut self, mut now: Instant) -> Instant {
        assert_eq!(self.ends[0].write(ANSWER), Ok(ANSWER));
        self.written += ANSWER;
        while self.ends[0].acknowledged() < self.written {
            self.poll(now);
            now += POLL_INTERVAL;
        }
        now
    }

    /// Hands over everything that has arrived, then polls.
    fn poll(&mut self, now: Instant) {
        for end in 0..2 {
            let cx = &mut Cx { now, trace: &mut () };
            while let Some((_, segment)) = self.in_flight[end].pop_front_if(|(at, _)| *at <= now) {
                self.ends[end].on_segment(cx, &segment);
            }
            if self.ends[end].poll_timeout().is_some_and(|deadline| deadline <= now) {
                self.ends[end].on_timeout(cx);
            }
            self.ends[end].read(u64::MAX);
            while let Some(transmit) = self.ends[end].poll_transmit(cx) {
                let is_lost = self.is_lost(&transmit);
                self.lost += u64::from(is_lost);
                if !is_lost {
                    self.in_flight[1 - end].push_back((now + DELAY, transmit.segment));
                }
            }
        }
    }
}

/// RFC 6675 §5 takes an ACK with new SACK information for a duplicate "regardless of its status as a cumulative acknowledgment".
#[rstest]
#[case::rfc6675(plain())]
#[case::rfc6675_proportional(plain().with_window_reduction(WindowReduction::Proportional))]
#[case::rack(plain().with_recovery_only(Recovery::Rack))]
fn losses_that_an_advancing_ack_reports_wait_for_no_timeout(#[case] config: Config) {
    let mut driver = Driver::new(&config.with_mss(MSS as u16).with_max_window(64), 1);
    let end = (0..ANSWERS).fold(Instant::ZERO, |now, _| driver.answer(now));
    let statistics = driver.ends[0].statistics();
    assert!(driver.lost > 50, "{} were lost", driver.lost);
    assert_eq!(statistics.timeouts, 0, "of {} losses, in {} s", driver.lost, end.as_secs_f64());
}
