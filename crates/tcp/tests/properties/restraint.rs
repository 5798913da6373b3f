//! A sender whose peer steps over holes is never more aggressive than SACK.
//!
//! Two senders write the same and get the same ACKs; one reads the skip notices in them, the other has never heard of any.
//! What they send again counts as lost, so that nothing but their windows can tell them apart.

use earlybird_tcp::{
    Backlog, Config, Connection, Cx, Delivery, NewRenoFlags, RealTime, Recovery, RtoConfig, SendBufferLimit,
    SkipResponse,
};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, Options, SackBlock, Segment, SeqNum, SkipNotice};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::num::NonZeroU16;

/// The fate of the next segment, and whether the reader then reads on.
#[derive(Clone, Copy, Debug)]
struct Step {
    arrives: bool,
    asks: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0_u32..10, 0_u32..4).prop_map(|(fate, ask)| Step { arrives: fate > 0, asks: ask == 0 });
    vec(step, 1..200)
}

const MSS: u64 = 1000;
/// Frames on their way at all times.
const AHEAD: u64 = 8;

/// A receiver with a reader, as the senders know it: by segments, from 1.
#[derive(Default)]
struct Receiver {
    nxt: u64,
    above: Vec<u64>,
    skipped: u32,
    notice: Option<(u64, u16)>,
}

impl Receiver {
    fn take(&mut self, number: u64, step: Step) {
        self.notice = None;
        if step.arrives {
            self.above.push(number);
        }
        self.close_hole();
        if step.asks
            && let Some(first) = self.above.first().copied()
        {
            let missing = first - self.nxt;
            self.notice = Some((self.nxt, missing as u16));
            self.skipped += missing as u32;
            self.nxt = first;
            self.close_hole();
        }
    }

    fn close_hole(&mut self) {
        while self.above.first() == Some(&self.nxt) {
            self.above.remove(0);
            self.nxt += 1;
        }
    }

    fn ack(&self, origin: SeqNum, peer: SeqNum) -> Segment {
        let position = |number: u64| origin.at(1 + (number - 1) * MSS);
        let mut options = Options::default();
        if let (Some(first), Some(last)) = (self.above.first(), self.above.last()) {
            let mut left = *last;
            while left > *first && self.above.contains(&(left - 1)) {
                left -= 1;
            }
            options.sack.push(SackBlock { left: position(left), right: position(last + 1) });
        }
        options.skip_notice = self.notice.map(|(first, segments)| SkipNotice::Skipped {
            total: self.skipped,
            first: position(first),
            segments,
        });
        Segment {
            seq: peer.at(1),
            ack: position(self.nxt),
            flags: Flags::ACK,
            window: 64_000,
            options,
            ..Segment::default()
        }
    }
}

/// A sender, its number of the SYN, and the frames that left for the first time.
struct Sender {
    connection: Connection,
    origin: SeqNum,
    fresh: u64,
}

const PEER: SeqNum = SeqNum(7);

impl Sender {
    fn new(config: &Config, knows_notices: bool) -> Self {
        let mut connection = Connection::connect(config, SeedTree::new(1));
        let cx = &mut Cx { now: Instant::ZERO, trace: &mut () };
        let origin = connection.poll_transmit(cx).map_or(SeqNum(0), |syn| syn.segment.seq);
        let options = Options {
            mss: NonZeroU16::new(1000),
            sack_permitted: true,
            skip_notice: knows_notices.then_some(SkipNotice::Offer),
            ..Options::default()
        };
        let flags = Flags::SYN | Flags::ACK;
        let answer = Segment { seq: PEER, ack: origin.at(1), flags, window: 64_000, options, ..Segment::default() };
        let mut sender = Self { connection, origin, fresh: 0 };
        sender.take(Instant::from_nanos(100_000_000), &answer);
        sender
    }

    fn take(&mut self, now: Instant, segment: &Segment) {
        self.connection.on_segment(&mut Cx { now, trace: &mut () }, segment);
        self.send(now);
    }

    fn write(&mut self, now: Instant) {
        assert!(self.connection.write_frame(&mut Cx { now, trace: &mut () }, MSS, 0).is_ok());
        self.send(now);
    }

    fn send(&mut self, now: Instant) {
        let cx = &mut Cx { now, trace: &mut () };
        while let Some(transmit) = self.connection.poll_transmit(cx) {
            self.fresh += u64::from(transmit.frame.is_some() && !transmit.is_retransmission);
        }
    }
}

fn sack(recovery: Recovery, skip_response: SkipResponse) -> Config {
    // No timer runs out: when it would differs by what measures the round trip.
    let rto = RtoConfig { floor: Duration::from_secs(60), ..RtoConfig::RFC };
    let real_time = RealTime {
        delivery: Delivery::SkipWhenWaiting,
        backlog: Backlog::Block(SendBufferLimit::Unlimited),
        abandoned_stay_in_flight: true,
        framing: true,
        skip_notice: true,
        skip_response,
        never_retransmits: false,
        replaces_after: None,
    };
    Config::rfc()
        .with_recovery_only(recovery)
        .with_real_time(real_time)
        .with_rto(rto)
        .with_initial_window(40)
        .with_timestamps(false)
}

/// Plays the steps to senders of both kinds, and shows them and whether the last ACK told of a skip after each.
fn play(config: &Config, steps: &[Step], mut check: impl FnMut(&Sender, &Sender, f64, bool)) {
    let mut receiver = Receiver { nxt: 1, ..Receiver::default() };
    let [mut reads, mut ignores] = [true, false].map(|knows_notices| Sender::new(config, knows_notices));
    let mut now = Instant::from_nanos(100_000_000);
    for _ in 0..AHEAD {
        reads.write(now);
        ignores.write(now);
    }
    for (number, step) in (1..).zip(steps) {
        now += Duration::from_millis(10);
        receiver.take(number, *step);
        let before = reads.connection.cwnd();
        if step.arrives || receiver.notice.is_some() {
            for sender in [&mut reads, &mut ignores] {
                sender.take(now, &receiver.ack(sender.origin, PEER));
            }
        }
        check(&reads, &ignores, before, receiver.notice.is_some());
        reads.write(now);
        ignores.write(now);
        if [&reads, &ignores].iter().any(|sender| sender.fresh != number + AHEAD) {
            // One of the windows is full: from here on they send different segments.
            return;
        }
    }
}

proptest! {
    /// By a segment it may be: the one by which slow start goes beyond its threshold. (RACK finds losses by its clock, which
    /// no two senders of different round trips have in common.)
    #[test]
    fn on_the_same_acks_the_window_is_never_larger_than_that_of_sack(
        recovery in select(vec![Recovery::Sack1, Recovery::Rfc6675, Recovery::NewReno(NewRenoFlags::default())]),
        steps in steps(),
    ) {
        play(&sack(recovery, SkipResponse::None), &steps, |reads, ignores, _, _| {
            let [ours, theirs] = [reads, ignores].map(|sender| sender.connection.cwnd());
            assert!(ours <= theirs + 1.0, "{ours} segments beside {theirs}");
        });
    }

    #[test]
    fn no_ack_that_tells_of_a_skip_opens_the_window(
        recovery in select(vec![Recovery::Sack1, Recovery::Rfc6675, Recovery::Rack]),
        skip_response in select(vec![SkipResponse::None, SkipResponse::Reduce]),
        steps in steps(),
    ) {
        play(&sack(recovery, skip_response), &steps, |reads, _, before, has_notice| {
            let after = reads.connection.cwnd();
            assert!(!has_notice || after <= before, "from {before} to {after} segments");
        });
    }
}
