//! The network between the two ends.

use crate::Host;
use earlybird_units::{Duration, Instant, Random, SeedTree};
use earlybird_wire::{Checksums, Parsed, parse};
use std::collections::BTreeMap;

/// Faults of the network, each with a probability in percent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// By up to a round trip.
    pub(crate) late: u64,
}

/// Segments and options seen in the network.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Segments with SACK blocks, of each end.
    pub(crate) sacks: [u32; 2],
    /// Segments that closed the window.
    pub(crate) zero_windows: [u32; 2],
    /// The window scale of each SYN.
    pub(crate) scales: [Option<u8>; 2],
    /// Segments with timestamps.
    pub(crate) stamps: [u32; 2],
    /// The largest packet in bytes.
    pub(crate) largest: usize,
    /// The time at which both ends were done.
    pub(crate) end: Instant,
}

impl Seen {
    fn note(&mut self, from: usize, packet: &[u8]) {
        let Parsed { segment, .. } = parse(packet, Checksums::Verify).expect("what leaves an end is sound");
        self.largest = self.largest.max(packet.len());
        self.sacks[from] += u32::from(!segment.options.sack.is_empty());
        self.stamps[from] += u32::from(segment.options.timestamps.is_some());
        self.zero_windows[from] += u32::from(segment.window == 0);
        self.scales[from] = segment.options.window_scale.or(self.scales[from]);
    }
}

/// One way.
const DELAY: Duration = Duration::from_millis(25);
/// More packets than any of the cases needs.
const STEPS: u32 = 200_000;

struct Network {
    random: Random,
    faults: Faults,
    /// By time of arrival, then in order of sending: to which end.
    in_flight: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    sent: u64,
    seen: Seen,
}

impl Network {
    fn carry(&mut self, now: Instant, from: usize, packet: Vec<u8>) {
        self.seen.note(from, &packet);
        if self.happens(self.faults.lost) {
            return;
        }
        if self.happens(self.faults.doubled) {
            self.put(now, from, packet.clone());
        }
        self.put(now, from, packet);
    }

    fn put(&mut self, now: Instant, from: usize, packet: Vec<u8>) {
        let is_late = self.happens(self.faults.late);
        let extra = if is_late { self.random.duration_between(Duration::ZERO, DELAY * 2) } else { Duration::ZERO };
        self.sent += 1;
        self.in_flight.insert((now + DELAY + extra, self.sent), (1 - from, packet));
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }
}

/// Lets the two talk until both are done, and gives what was seen; end 0 opens.
pub(crate) fn converse(ends: &mut [Box<dyn Host>; 2], faults: Faults, seed: u64) -> Seen {
    let (random, in_flight) = (SeedTree::new(seed).random(), BTreeMap::new());
    let mut network = Network { random, faults, in_flight, sent: 0, seen: Seen::default() };
    let mut now = Instant::ZERO;
    for _ in 0..STEPS {
        for (number, end) in ends.iter_mut().enumerate() {
            end.serve(now).into_iter().for_each(|packet| network.carry(now, number, packet));
        }
        if ends.iter_mut().all(|end| end.is_over()) {
            return Seen { end: now, ..network.seen };
        }
        let arrival = network.in_flight.first_key_value().map(|((at, _), _)| *at);
        let next = ends.each_mut().map(|end| end.next(now));
        now = [arrival, next[0], next[1]].into_iter().flatten().min().expect("nobody waits for ever").max(now);
        while let Some(entry) = network.in_flight.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, packet) = entry.remove();
            ends[to].receive(now, packet);
        }
    }
    let received = ends.each_ref().map(|end| end.application().received.len());
    panic!("no end at {now:?}: {received:?} bytes were received");
}
