//! Frames over any link, in every real-time mode.
//!
//! Each frame that was written is *delivered*, or it is *lost*: the sender gave it up and says so, or the reader stepped
//! over its place in the stream and says so, or both. One that was given up while on its way may be delivered anyway,
//! and then counts as that. So the frames delivered and those lost, each counted once, are those written.

use crate::link::{Faults, Link, faults};
use crate::settings::{configs, modes};
use earlybird_tcp::{
    Backlog, Config, Connection, Cx, Delivery, Event, RealTime, RfcState, Segmentation, SendBufferLimit,
};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::{Flags, SeqNum};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// The reads of the application at the other end.
#[derive(Clone, Copy, Debug)]
enum Reading {
    /// It always waits for the next frame.
    Waiting,
    /// Up to so many frames every so many milliseconds; in between it waits for nothing.
    Playing { frames: u64, period: u64 },
    /// As an ordinary application reads bytes.
    Bytes,
}

/// The writes: pauses in milliseconds, and the sizes of the frames of one unit in thousandths of a segment.
type Units = Vec<(u64, Vec<u64>)>;

fn units() -> impl Strategy<Value = Units> {
    vec((0_u64..300, vec(1_u64..=1000, 1..4)), 1..60)
}

fn readings() -> impl Strategy<Value = Reading> {
    let playing = (1_u64..4, 1_u64..500).prop_map(|(frames, period)| Reading::Playing { frames, period });
    prop_oneof![Just(Reading::Waiting), playing]
}

/// A frame as its writer knows it.
#[derive(Clone, Copy, Debug)]
struct Written {
    bytes: u64,
    /// Its range of the stream, if it was sent.
    position: Option<u64>,
}

/// A writer and a reader, and a witness of both.
struct Call {
    /// The writer's connection, and the reader's.
    ends: [Connection; 2],
    configs: [Config; 2],
    link: Link,
    now: Instant,
    /// Frames to write: when, how long, of which unit.
    plan: VecDeque<(Instant, u64, u64)>,
    next_read: Option<Instant>,
    reading: Reading,
    origin: Option<SeqNum>,
    written: Vec<Written>,
    refused: u64,
    discarded: BTreeSet<u64>,
    /// Positions and lengths, as they were read.
    delivered: Vec<(u64, u64)>,
    skipped: Vec<Range<u64>>,
    reader_has_closed: bool,
}

/// More steps than any of these calls needs.
const STEPS: u64 = 200_000;
/// Frames after the last fault: more than an hour, for a queue of a hundred that waits behind a window which only the timer
/// opens (ns-2's Vegas).
const PATIENCE: u32 = 1000;
/// More segments than any connection may send at once.
const BURST: usize = 500;

impl Call {
    fn new(configs: [Config; 2], units: &Units, reading: Reading, faults: Faults) -> Self {
        let seeds = SeedTree::new(1);
        let mss = u64::from(configs[0].segments.mss.min(configs[1].segments.mss));
        let (mut time, mut plan) = (Instant::ZERO, VecDeque::new());
        for (unit, (pause, sizes)) in (0..).zip(units) {
            time += Duration::from_millis(*pause);
            plan.extend(sizes.iter().map(|size| (time, (size * mss / 1000).max(1), unit)));
        }
        let next_read = matches!(reading, Reading::Playing { .. }).then_some(Instant::ZERO);
        let mut call = Self {
            ends: [Connection::connect(&configs[0], seeds), Connection::listen(&configs[1], seeds)],
            configs,
            link: Link::new(faults),
            now: Instant::ZERO,
            plan,
            next_read,
            reading,
            origin: None,
            written: Vec::new(),
            refused: 0,
            discarded: BTreeSet::new(),
            delivered: Vec::new(),
            skipped: Vec::new(),
            reader_has_closed: false,
        };
        call.read();
        call.serve(0);
        call
    }

    fn mode(&self) -> RealTime {
        self.configs[0].real_time
    }

    /// Returns whether frames that were sent may be given up: the other end steps over them.
    fn may_lose_sent(&self) -> bool {
        let [ours, theirs] = self.configs.map(|config| config.real_time);
        ours.delivery.skips() && (!ours.skip_notice || theirs.skip_notice)
    }

    fn step(&mut self) -> bool {
        let write = self.plan.front().map(|(at, _, _)| *at);
        let [writer, reader] = self.ends.each_ref().map(Connection::poll_timeout);
        let times = [self.link.next(), writer, reader, write, self.next_read];
        let Some(next) = times.into_iter().flatten().min() else { return false };
        self.now = next;
        let due = times.map(|time| time == Some(next));
        if due[0] {
            if let Some((to, segment)) = self.link.arrive() {
                self.ends[to].on_segment(&mut Cx { now: next, trace: &mut () }, &segment);
                self.serve(to);
            }
        } else if due[1] || due[2] {
            let side = usize::from(!due[1]);
            self.ends[side].on_timeout(&mut Cx { now: next, trace: &mut () });
            self.serve(side);
        } else if due[3] {
            self.write();
        } else {
            self.play();
        }
        true
    }

    fn run(&mut self, what: &str, mut is_done: impl FnMut(&Self) -> bool) {
        for _ in 0..STEPS {
            if is_done(self) || !self.step() {
                return;
            }
        }
        panic!("no end of {what} at {:?}", self.now);
    }

    fn write(&mut self) {
        let Some((_, bytes, unit)) = self.plan.pop_front() else { return };
        let held = self.ends[0].frames_held();
        match self.ends[0].write_frame(&mut Cx { now: self.now, trace: &mut () }, bytes, unit) {
            Ok(number) => {
                assert_eq!(number, self.written.len() as u64, "frames are numbered in order of writing");
                self.written.push(Written { bytes, position: None });
            }
            Err(error) => {
                let Backlog::Block(limit) = self.mode().backlog else { panic!("the writer is stopped: {error}") };
                assert!(held >= limit.segments(self.ends[0].cwnd()), "{error} with {held} frames");
                self.refused += 1;
            }
        }
        self.serve(0);
        self.check_memory();
    }

    /// Beside the limit there may be what may not be given up: what was sent, or the last frame of a closed window.
    fn check_memory(&self) {
        let Backlog::AbandonOldest(limit) = self.mode().backlog else { return };
        let kept = if self.may_lose_sent() { 1 } else { self.ends[0].outstanding() + 1 };
        // The window may have shrunk since.
        let limit = if let SendBufferLimit::Segments(segments) = limit { u64::from(segments) } else { u64::MAX - kept };
        let held = self.ends[0].frames_held();
        assert!(held <= limit + kept, "{held} frames are held with a limit of {limit}");
    }

    fn play(&mut self) {
        let Reading::Playing { frames, period } = self.reading else { return };
        self.next_read = Some(self.now + Duration::from_millis(period));
        let cx = &mut Cx { now: self.now, trace: &mut () };
        for _ in 0..frames {
            if let Some(frame) = self.ends[1].read_frame(cx) {
                self.delivered.push((frame.position, u64::from(frame.bytes)));
            }
        }
        self.ends[1].stop_waiting();
        self.serve(1);
    }

    fn read(&mut self) {
        match self.reading {
            Reading::Playing { .. } => {}
            Reading::Bytes => {
                self.ends[1].read(u64::MAX);
            }
            Reading::Waiting => {
                while let Some(frame) = self.ends[1].read_frame(&mut Cx { now: self.now, trace: &mut () }) {
                    self.delivered.push((frame.position, u64::from(frame.bytes)));
                }
            }
        }
    }

    fn serve(&mut self, side: usize) {
        loop {
            for count in 0.. {
                let cx = &mut Cx { now: self.now, trace: &mut () };
                let Some(transmit) = self.ends[side].poll_transmit(cx) else { break };
                assert!(count < BURST, "a connection sends without end");
                if side == 0 {
                    self.witness(&transmit);
                }
                self.link.carry(self.now, side, transmit.segment);
            }
            while let Some(number) = self.ends[0].poll_abandoned() {
                assert!(self.discarded.insert(number), "frame {number} was discarded twice");
            }
            self.skipped.extend(std::iter::from_fn(|| self.ends[1].poll_skipped()));
            match self.ends[side].poll_event() {
                None => break,
                Some(Event::Readable) if side == 1 => self.read(),
                Some(Event::PeerClosed) => {
                    self.reader_has_closed |= side == 1;
                    self.ends[side].shutdown();
                }
                Some(_) => {}
            }
        }
    }

    /// A frame leaves: whole, always in the same place, and not after it was given up.
    fn witness(&mut self, transmit: &earlybird_tcp::Transmit) {
        let segment = &transmit.segment;
        if segment.flags.contains(Flags::SYN) {
            self.origin = Some(segment.seq);
        }
        assert_eq!(transmit.frame.is_some(), segment.len > 0, "data are frames");
        let (Some(number), Some(origin)) = (transmit.frame, self.origin) else { return };
        let position = u64::from(segment.seq.0.wrapping_sub(origin.0)) - 1;
        let is_ordinary = self.reading_is_ordinary();
        let frame = &mut self.written[number as usize];
        if !is_ordinary {
            assert_eq!(u64::from(segment.len), frame.bytes, "frame {number} is neither split nor merged");
            assert_eq!(*frame.position.get_or_insert(position), position, "frame {number} has moved");
        }
        frame.position.get_or_insert(position);
        assert!(!self.discarded.contains(&number), "frame {number} leaves after it was given up");
    }

    /// An ordinary receiver may take a part of a frame that probes its closed window.
    fn reading_is_ordinary(&self) -> bool {
        matches!(self.reading, Reading::Bytes)
    }

    /// Writes single frames, one every five seconds, until one of them gets through.
    fn prove_alive(&mut self) {
        self.run("the script", |call| call.plan.is_empty());
        self.reading = if self.reading_is_ordinary() { Reading::Bytes } else { Reading::Waiting };
        self.next_read = None;
        self.read();
        self.serve(1);
        let first = self.written.len() as u64;
        let mut patience = PATIENCE;
        for unit in 1_000_000.. {
            assert!(unit < 1_010_000, "the faults have no end");
            self.plan.push_back((self.now + Duration::from_secs(5), 1, unit));
            self.run("a frame", |call| call.plan.is_empty());
            if self.has_delivered_from(first) {
                return;
            }
            patience -= u32::from(self.link.is_healed());
            assert!(patience > 0, "nothing gets through any more: {} of {}", self.delivered.len(), self.written.len());
        }
    }

    fn has_delivered_from(&self, first: u64) -> bool {
        let Some(start) = self.written.iter().skip(first as usize).find_map(|frame| frame.position) else {
            return false;
        };
        match self.reading {
            Reading::Bytes => self.ends[1].received() > start,
            _ => self.delivered.last().is_some_and(|(position, _)| *position >= start),
        }
    }

    fn close(&mut self) {
        self.ends[0].shutdown();
        self.serve(0);
        let is_over = |end: &Connection| matches!(end.state(), RfcState::Closed | RfcState::TimeWait);
        self.run("the end", |call| call.ends.iter().all(is_over));
    }

    /// Each frame whole, at most once, in order; every one accounted for.
    fn check_accounts(&self) {
        assert!(self.reader_has_closed);
        let sent: BTreeMap<u64, u64> =
            self.written.iter().filter_map(|frame| Some((frame.position?, frame.bytes))).collect();
        for (position, bytes) in &self.delivered {
            assert_eq!(sent.get(position), Some(bytes), "frame at {position}");
        }
        assert!(self.delivered.is_sorted_by(|before, after| before.0 < after.0), "in order, at most once");
        let delivered: BTreeSet<u64> = self.delivered.iter().map(|(position, _)| *position).collect();
        let mut lost = 0;
        for (number, frame) in (0..).zip(&self.written) {
            let is_delivered = frame.position.is_some_and(|position| delivered.contains(&position));
            let is_skipped = frame.position.is_some_and(|position| self.is_skipped(position, frame.bytes));
            let is_lost = is_skipped || self.discarded.contains(&number);
            assert!(!(is_delivered && is_skipped), "frame {number} was stepped over and delivered");
            assert!(is_delivered || is_lost, "nobody tells of frame {number}: {frame:?}");
            lost += usize::from(!is_delivered);
        }
        assert_eq!(delivered.len() + lost, self.written.len());
        let [writer, reader] = self.ends.each_ref().map(Connection::real_time_statistics);
        assert_eq!(writer.frames_written, self.written.len() as u64);
        assert_eq!(writer.frames_abandoned, self.discarded.len() as u64);
        assert_eq!(reader.frames_delivered, self.delivered.len() as u64);
        let received = self.delivered.iter().map(|(_, bytes)| *bytes).sum::<u64>();
        let skipped = self.skipped.iter().map(|range| range.end - range.start).sum::<u64>();
        assert_eq!((self.ends[1].received(), reader.bytes_skipped), (received, skipped));
        assert_eq!(received + skipped, sent.values().sum::<u64>(), "the stream has no place that nobody tells of");
        assert_eq!(writer.bad_notices, 0);
        assert!(self.ends[0].losses_reported() <= reader.segments_skipped);
        assert_eq!(self.ends[0].frames_held(), 0);
    }

    fn is_skipped(&self, position: u64, bytes: u64) -> bool {
        self.skipped.iter().any(|range| range.start <= position && position + bytes <= range.end)
    }
}

/// Unpaced, for a lost handshake can leave a round trip of minutes to ns-2's coarse clock, and a rate as slow as that.
fn with(configs: [Config; 2], modes: [RealTime; 2]) -> [Config; 2] {
    [0, 1].map(|side| {
        let segmentation = Segmentation::Simulated;
        configs[side].with_real_time(modes[side]).with_segmentation(segmentation).with_pacing(false)
    })
}

proptest! {
    #[test]
    fn every_frame_is_delivered_whole_and_in_order_or_accounted_for(
        configs in [configs(), configs()],
        mode in modes(),
        units in units(),
        reading in readings(),
        faults in faults(),
    ) {
        let mut call = Call::new(with(configs, [mode, mode]), &units, reading, faults);
        call.prove_alive();
        call.close();
        call.check_accounts();
        let loses_nothing = mode.delivery == Delivery::InOrder && matches!(mode.backlog, Backlog::Block(_));
        prop_assert!(!loses_nothing || call.delivered.len() == call.written.len());
    }

    /// The peer steps over nothing: what was sent arrives, byte by byte.
    #[test]
    fn with_an_ordinary_peer_nothing_is_lost_that_was_sent(
        configs in [configs(), configs()],
        mode in modes(),
        units in units(),
        faults in faults(),
    ) {
        let mode = RealTime { skip_notice: true, ..mode };
        let mut call = Call::new(with(configs, [mode, RealTime::default()]), &units, Reading::Bytes, faults);
        call.prove_alive();
        call.close();
        let kept = (0..).zip(&call.written).filter(|(number, _)| !call.discarded.contains(number));
        prop_assert_eq!(call.ends[1].received(), kept.map(|(_, frame)| frame.bytes).sum::<u64>());
        for (number, frame) in (0..).zip(&call.written) {
            prop_assert_eq!(frame.position.is_some(), !call.discarded.contains(&number), "sent, or discarded: {}", number);
        }
    }
}
