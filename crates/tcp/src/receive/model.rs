//! The reader against a model that knows only bytes: any arrivals, in any order and segmentation, with any reader.

use super::Receiver;
use crate::config::Config;
use crate::policy::delivery::Delivery;
use crate::real_time::RealTime;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;
use earlybird_units::{Duration, Instant};
use earlybird_wire::{SackBlocks, SeqNum};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Position of the FIN, behind 90 bytes.
const FIN: u64 = 91;
/// Bytes of the buffer.
const BUFFER: u64 = 40;
const TIME_LIMIT: u64 = 100;

const DELIVERIES: [Delivery; 3] =
    [Delivery::InOrder, Delivery::SkipWhenWaiting, Delivery::SkipAtDeadline(Duration::from_millis(TIME_LIMIT))];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// A segment of so many bytes at this place; if it reaches the end, it may bring the FIN.
    Arrives(u64, u64, bool),
    Reads(u64),
    ReadsFrame,
    Waits,
    StopsWaiting,
    Passes(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let anywhere = (1..=FIN, 0_u64..=15, any::<bool>()).prop_map(|(start, len, fin)| Step::Arrives(start, len, fin));
    let aligned = (0_u64..=9, any::<bool>()).prop_map(|(frame, fin)| Step::Arrives(1 + frame * 10, 10, fin));
    let others = |arrivals: BoxedStrategy<Step>| {
        let step = prop_oneof![
            6 => arrivals,
            1 => (1_u64..20).prop_map(Step::Reads),
            3 => Just(Step::ReadsFrame),
            1 => Just(Step::Waits),
            1 => Just(Step::StopsWaiting),
            1 => (1_u64..150).prop_map(Step::Passes),
        ];
        vec(step, 1..60)
    };
    prop_oneof![others(anywhere.boxed()), others(aligned.boxed())]
}

/// The model: the state that a reader of bytes observes.
#[derive(Debug, Default)]
struct Model {
    delivery: Delivery,
    framing: bool,
    now: u64,
    nxt: u64,
    /// Behind a hole: position and time of arrival.
    held: BTreeMap<u64, u64>,
    readable: VecDeque<u64>,
    skipped: VecDeque<Range<u64>>,
    bytes_skipped: u64,
    is_waiting: bool,
}

impl Model {
    fn window(&self) -> u64 {
        BUFFER.saturating_sub(self.readable.len() as u64)
    }

    fn arrives(&mut self, range: &Range<u64>) {
        let limit = self.nxt + self.window();
        let fits = |position: u64| position < limit || position == FIN && FIN <= limit;
        let before = self.nxt;
        if range.is_empty() || self.framing && !range.clone().all(fits) {
            return;
        }
        for position in range.clone().filter(|position| fits(*position) && *position >= before) {
            self.held.entry(position).or_insert(self.now);
        }
        self.advance();
        if self.nxt == before && self.readable.is_empty() {
            self.skip_for_waiting();
        }
    }

    fn advance(&mut self) {
        while self.held.remove(&self.nxt).is_some() {
            self.readable.extend(Some(self.nxt).filter(|nxt| *nxt != FIN));
            self.nxt += 1;
        }
    }

    fn skip_for_waiting(&mut self) {
        if self.is_waiting && self.delivery == Delivery::SkipWhenWaiting {
            self.skip();
        }
    }

    fn skip(&mut self) {
        if let Some((&first, _)) = self.held.first_key_value() {
            self.skipped.push_back(self.nxt..first);
            self.bytes_skipped += first - self.nxt;
            self.nxt = first;
            self.advance();
        }
    }

    fn passes(&mut self, millis: u64) {
        self.now += millis;
        let Delivery::SkipAtDeadline(_) = self.delivery else { return };
        while self.held.values().any(|since| since + TIME_LIMIT <= self.now) {
            self.skip();
        }
    }

    fn waits(&mut self) {
        self.is_waiting = self.readable.is_empty();
        if self.is_waiting {
            self.skip_for_waiting();
        }
    }

    fn reads(&mut self, bytes: u64) -> Vec<u64> {
        let bytes = self.readable.len().min(bytes as usize);
        self.is_waiting &= bytes == 0;
        self.readable.drain(..bytes).collect()
    }
}

/// The receiver beside its model.
struct Both {
    receiver: Receiver,
    model: Model,
    /// Every frame may only be one that was sent.
    is_aligned: bool,
}

impl Both {
    fn new(delivery: Delivery, framing: bool, steps: &[Step]) -> Self {
        let real_time = RealTime { delivery, framing, ..RealTime::default() };
        let mut receiver = Receiver::new(&Config::rfc().with_mss(10).with_max_window(4).with_real_time(real_time));
        receiver.on_syn();
        let model = Model { delivery, framing, nxt: 1, ..Model::default() };
        let is_aligned =
            steps.iter().all(|step| !matches!(step, Step::Arrives(start, len, _) if start % 10 != 1 || *len != 10));
        Self { receiver, model, is_aligned }
    }

    fn takes(&mut self, step: Step) {
        match step {
            Step::Arrives(start, len, fin) => self.takes_segment(start, len, fin),
            Step::Reads(bytes) if !self.model.framing => {
                let expected = self.model.reads(bytes).len() as u64;
                assert_eq!(self.receiver.read(bytes), expected);
            }
            Step::ReadsFrame if self.model.framing => self.reads_frame(),
            Step::Reads(_) | Step::ReadsFrame | Step::Waits => {
                let before = self.model.readable.len();
                self.model.waits();
                assert_eq!(self.receiver.wait(), (self.model.readable.len() - before) as u64);
            }
            Step::StopsWaiting => {
                self.receiver.stop_waiting();
                self.model.is_waiting = false;
            }
            Step::Passes(millis) => {
                self.model.passes(millis);
                self.receiver.on_timeout(self.now());
            }
        }
        self.check();
    }

    fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_millis(self.model.now)
    }

    fn takes_segment(&mut self, start: u64, len: u64, fin: bool) {
        let end = (start + len).min(FIN);
        let has_fin = fin && end == FIN;
        let range = start..end + u64::from(has_fin);
        if !range.is_empty() && self.receiver.is_acceptable(&range) {
            let before = self.model.readable.len();
            self.model.arrives(&range);
            let gained = (self.model.readable.len() - before) as u64;
            assert_eq!(self.receiver.on_data(self.now(), range, has_fin).delivered, gained);
        }
    }

    fn reads_frame(&mut self) {
        let frame = self.receiver.read_frame().or_else(|| {
            self.model.waits();
            self.receiver.wait();
            self.receiver.read_frame()
        });
        let frame = frame.unwrap_or(0..0);
        let positions = self.model.reads(frame.end - frame.start);
        assert!(positions.iter().copied().eq(frame.clone()), "{frame:?} is not what comes next: {positions:?}");
        assert_eq!(frame.is_empty(), positions.is_empty());
        assert!(frame.is_empty() || !self.is_aligned || frame.end - frame.start == 10 && frame.start % 10 == 1);
    }

    fn check(&mut self) {
        let (receiver, model) = (&mut self.receiver, &mut self.model);
        assert_eq!((receiver.nxt(), receiver.limit() - receiver.nxt()), (model.nxt, model.window()));
        assert_eq!(receiver.is_finished(), model.nxt > FIN);
        let in_order = model.nxt - 1 - u64::from(model.nxt > FIN);
        assert_eq!(receiver.received(), in_order - model.bytes_skipped);
        assert_eq!(receiver.poll_skipped(), model.skipped.pop_front());
        let deadline = receiver.deadline().filter(|_| matches!(model.delivery, Delivery::SkipAtDeadline(_)));
        let oldest = model.held.values().min().map(|since| Instant::ZERO + Duration::from_millis(since + TIME_LIMIT));
        assert_eq!(deadline, oldest.filter(|_| deadline.is_some()));
        assert!(matches!(model.delivery, Delivery::SkipAtDeadline(_)) <= (deadline.is_some() || model.held.is_empty()));
        for block in blocks_of(receiver, false).as_slice() {
            let range = u64::from(block.left.0)..u64::from(block.right.0);
            let is_held = range.clone().all(|position| model.held.contains_key(&position) || position < model.nxt);
            assert!(is_held, "{range:?} is told and not there");
        }
    }
}

fn blocks_of(receiver: &mut Receiver, has_notice: bool) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    receiver.write_sack(SeqNum(0), has_notice, &mut blocks);
    blocks
}

proptest! {
    #[test]
    fn a_reader_gets_every_byte_once_in_order_or_is_told_of_it_and_frames_whole(
        delivery in select(&DELIVERIES[..]),
        framing: bool,
        steps in steps(),
    ) {
        let mut both = Both::new(delivery, framing, &steps);
        for step in steps {
            both.takes(step);
        }
    }

    /// Whatever comes, memory is the buffer, 16 entries of each kind per segment of it, and 256 skips.
    #[test]
    fn memory_is_bounded_whatever_comes(
        delivery in select(&DELIVERIES[..]),
        framing: bool,
        steps in vec((0_u64..2000, 1_u64..4, any::<[bool; 2]>()), 1..1500),
    ) {
        let real_time = RealTime { delivery, framing, ..RealTime::default() };
        let mut receiver = Receiver::new(&Config::rfc().with_mss(1000).with_max_window(1).with_real_time(real_time));
        receiver.on_syn();
        for (number, (start, len, [fin, reads])) in steps.into_iter().enumerate() {
            let now = Instant::ZERO + Duration::from_millis(number as u64);
            let range = receiver.nxt() + start..receiver.nxt() + start + len;
            receiver.on_data(now, range, fin && start > 1900);
            if reads && start < 20 {
                receiver.wait();
                receiver.read(start);
            }
            let [frames, waits] = receiver.reader.as_ref().map_or([0, 0], |reader| reader.sizes());
            prop_assert!(frames <= 16 && waits <= 16 && receiver.out_of_order.as_slice().len() <= 16);
            prop_assert!(receiver.unread + receiver.out_of_order.total() <= 1000);
            prop_assert!(blocks_of(&mut receiver, true).len() <= SackBlocks::MAX);
        }
    }
}
