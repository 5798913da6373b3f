//! Payload from end to end: what is read is what was written, whatever becomes of the packets on the way.

use crate::link::{Fate, Faults, faults};
use earlybird_tcp::{AcceptedRange, Assembler, Config, Connection, Cx, Event, IpVersion, Lifetimes, Ring, Transmit};
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::Segment;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;

const SEND_BUFFER: u64 = 6000;
/// Fixed headers of IPv4 and TCP.
const HEADERS: u16 = 40;

/// A writer, a reader, and a path that carries smaller and smaller packets.
struct Line {
    now: u64,
    writer: Connection,
    reader: Connection,
    ring: Ring,
    assembler: Assembler,
    waiting: Vec<u8>,
    read: Vec<u8>,
    faults: Faults,
    carried: [usize; 2],
    /// By time of arrival and order: to which side.
    flying: BTreeMap<(u64, usize), (usize, Segment, Vec<u8>)>,
    mtu: u16,
    /// Routers say what was too big.
    reports: bool,
}

impl Line {
    fn new(config: &Config, written: &[u8], faults: Faults, reports: bool) -> Self {
        let seeds = SeedTree::new(7);
        let mut line = Self {
            now: 0,
            writer: Connection::connect(&config.with_send_buffer(Some(SEND_BUFFER)), seeds.child("writer")),
            reader: Connection::listen(config, seeds.child("reader")),
            ring: Ring::new(SEND_BUFFER as usize),
            assembler: Assembler::new(1 << 20),
            waiting: written.to_vec(),
            read: Vec::new(),
            faults,
            carried: [0; 2],
            flying: BTreeMap::new(),
            mtu: 1500,
            reports,
        };
        line.transmit();
        line
    }

    fn time(&self) -> Instant {
        Instant::ZERO + Duration::from_millis(self.now)
    }

    fn transmit(&mut self) {
        let cx = &mut Cx { now: self.time(), trace: &mut () };
        for from in 0..2 {
            let side = if from == 0 { &mut self.writer } else { &mut self.reader };
            let sent: Vec<_> = std::iter::from_fn(|| side.poll_transmit(cx)).collect();
            for transmit in sent {
                self.carry(from, &transmit);
            }
        }
        while let Some(event) = self.writer.poll_event() {
            assert_ne!(event, Event::Reset);
        }
    }

    /// Lets a packet meet its fate. One that is too big meets a router.
    fn carry(&mut self, from: usize, transmit: &Transmit) {
        let segment = transmit.segment;
        let size = HEADERS + segment.options.wire_len() as u16 + segment.len;
        assert!(size <= 1500, "{size} bytes in a packet: {segment:?}");
        if size > self.mtu {
            if self.reports {
                let cx = &mut Cx { now: self.time(), trace: &mut () };
                self.writer.on_path_mtu(cx, self.mtu, segment.seq);
            }
            return;
        }
        let mut payload = vec![0; segment.len.into()];
        let count = self.ring.copy(transmit.data.clone(), &mut payload).filter(|_| from == 0);
        assert_eq!(count.unwrap_or(0), payload.len(), "what is sent is held: {transmit:?}");
        let fate = self.faults.fates[from].get(self.carried[from]).copied().unwrap_or(Fate::Arrives);
        self.carried[from] += 1;
        let arrivals: &[u64] = match fate {
            Fate::Arrives => &[0],
            Fate::IsLost => &[],
            Fate::ArrivesTwice(later) => &[0, later],
            Fate::IsLate(later) => &[later],
        };
        for later in arrivals {
            let key = (self.now + self.faults.delay + later, self.flying.len() + 2 * self.carried[0] + self.carried[1]);
            self.flying.insert(key, (1 - from, segment, payload.clone()));
        }
    }

    fn arrive(&mut self, to: usize, segment: &Segment, payload: &[u8]) {
        let cx = &mut Cx { now: self.time(), trace: &mut () };
        if to == 0 {
            self.writer.on_segment(cx, segment);
            self.ring.forget_below(self.writer.acknowledged());
            return;
        }
        let AcceptedRange { stream, skip } = self.reader.on_segment(cx, segment);
        if !stream.is_empty() {
            let taken = (stream.end - stream.start) as usize;
            let put = self.assembler.put(stream, &payload[usize::from(skip)..]);
            assert!(put <= taken);
        }
    }

    /// The applications have a turn.
    fn turn(&mut self, writes: usize, reads: u64) {
        let most = writes.min(self.waiting.len()).min(self.ring.room());
        let taken = self.writer.write(most as u64).expect("it is open") as usize;
        assert_eq!(self.ring.append(&self.waiting[..taken]), taken, "the ring has the room that the connection has");
        self.waiting.drain(..taken);
        let count = self.reader.read(reads) as usize;
        let mut into = vec![0; count];
        assert_eq!(self.assembler.read(&mut into), count, "what can be read is there");
        self.read.extend(into);
    }

    /// Goes on to the next moment at which something happens, 20 ms on at most.
    fn step(&mut self) {
        let deadlines = [self.writer.poll_timeout(), self.reader.poll_timeout()].into_iter().flatten();
        let deadline = deadlines.min().map_or(u64::MAX, |at| at.as_nanos().div_ceil(1_000_000));
        let arrival = self.flying.keys().next().map_or(u64::MAX, |key| key.0);
        self.now = (self.now + 20).min(deadline.min(arrival)).max(self.now);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, segment, payload) = entry.remove();
            self.arrive(to, &segment, &payload);
        }
        let cx = &mut Cx { now: self.time(), trace: &mut () };
        self.writer.on_timeout(cx);
        self.reader.on_timeout(cx);
        self.transmit();
    }
}

fn configs() -> impl Strategy<Value = Config> {
    let profiles = select(vec![Config::rfc(), Config::linux()]);
    (profiles, any::<[bool; 3]>(), 2_u32..40).prop_map(|(profile, [nagle, timestamps, has_sack], window)| {
        profile
            .with_mss(IpVersion::V4.mss_within(1500))
            .with_max_window(window)
            .with_nagle(nagle)
            .with_timestamps(timestamps)
            .with_sack_blocks(if has_sack { 4 } else { 0 })
            .with_pmtu_black_hole_detection(true)
            .with_lifetimes(Lifetimes::UNLIMITED)
    })
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written_though_paths_shrink(
        config in configs(),
        written in vec(any::<u8>(), 1..30_000),
        turns in vec((0_usize..4000, 0_u64..6000), 1..20),
        mtus in vec((0_u64..6000, 576_u16..1500), 0..4),
        reports in any::<bool>(),
        faults in faults(),
    ) {
        let mut line = Line::new(&config, &written, faults, reports);
        let mut turns = turns.into_iter();
        for _ in 0..200_000 {
            let (writes, reads) = turns.next().unwrap_or((usize::MAX, u64::MAX));
            line.turn(writes, reads);
            line.transmit();
            line.step();
            let smallest = mtus.iter().filter(|(at, _)| *at <= line.now).map(|(_, mtu)| *mtu).min();
            line.mtu = line.mtu.min(smallest.unwrap_or(1500));
            if line.read.len() == written.len() {
                break;
            }
        }
        prop_assert_eq!(line.read.len(), written.len(), "at {} ms", line.now);
        prop_assert!(line.read == written);
    }
}
