//! Whatever the network does.

use crate::line::{Log, PERIOD, talk, written};
use earlybird_datagram::Control;
use earlybird_datagram::srt::{Latency, Parameters};
use earlybird_units::{Duration, SeedTree};
use proptest::prelude::*;
use std::ops::Range;

/// A line that loses and doubles a share of everything, and delays each copy by up to `jitter`.
fn storm(parameters: Parameters, units: &[u64], shares: [f64; 2], jitter: Duration, seed: u64) -> Log {
    let mut random = SeedTree::new(seed).random();
    talk(Control::Srt(parameters), units, &mut |_| {
        let copies = if random.unit() < shares[0] { 0 } else { 1 + usize::from(random.unit() < shares[1]) };
        (0..copies).map(|_| random.duration_between(Duration::ZERO, jitter)).collect()
    })
}

proptest! {
    #[test]
    fn units_are_released_once_in_order_and_in_time(
        sizes in proptest::collection::vec(1_u64..3_500, 1..150),
        latency in 0_u64..500,
        shares in [0.0..0.6, 0.0..0.5],
        jitter in 0_u64..100,
        overhead in proptest::option::of(0.05..1.0),
        seed in any::<u64>(),
    ) {
        let (latency, jitter) = (Duration::from_millis(latency), Duration::from_millis(jitter));
        let parameters = Parameters { latency: Latency::Fixed(latency), overhead };
        let log = storm(parameters, &sizes, shares, jitter, seed);
        prop_assert!(log.released.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        // The first packet to arrive may be delayed, and sets the base for all.
        let packets = packets_of(&sizes);
        let base = log.arrived.first().map(|(sequence, at)| {
            let unit = packets.partition_point(|range| range.end <= *sequence) as u32;
            *at - written(unit)
        });
        for (unit, at) in &log.released {
            let due = written(*unit) + base.expect("what was released has arrived") + latency;
            // A unit that arrives late is released at once.
            let arrivals = packets[*unit as usize].clone().map(|sequence| log.arrival_of(sequence));
            let complete = arrivals.max().flatten().expect("a whole unit has arrived");
            prop_assert_eq!(*at, due.max(complete));
        }
    }

    #[test]
    fn neither_side_keeps_more_than_its_time_allows(
        latency in 0_u64..1_500,
        loss in 0.0..1.0,
        seed in any::<u64>(),
    ) {
        let latency = Duration::from_millis(latency);
        let parameters = Parameters { latency: Latency::Fixed(latency), overhead: None };
        let jitter = Duration::from_millis(10);
        let log = storm(parameters, &[100; 300], [loss, 0.1], jitter, seed);
        let units_in = |time: Duration| (time.as_nanos() / PERIOD.as_nanos()) as usize + 2;
        let [sender, receiver] = log.most_kept;
        prop_assert!(sender <= units_in(latency.max(Duration::from_secs(1)) + Duration::from_millis(20)), "{sender}");
        // Units whose time has not come, and the holes that are given up with the next release.
        prop_assert!(receiver <= units_in(latency + jitter) + longest_gap(&log), "{receiver}");
    }
}

/// Returns the numbers of the packets of each unit.
fn packets_of(sizes: &[u64]) -> Vec<Range<u32>> {
    let mut next = 0;
    let range = |size: &u64| {
        let first = next;
        next += size.div_ceil(1000) as u32;
        first..next
    };
    sizes.iter().map(range).collect()
}

/// Returns the most packets in a row that were missing when a later one arrived.
fn longest_gap(log: &Log) -> usize {
    let mut next = 0;
    let gaps = log.arrived.iter().map(|(sequence, _)| {
        let gap = sequence.saturating_sub(next);
        next = next.max(sequence + 1);
        gap
    });
    gaps.max().unwrap_or_default() as usize
}

#[test]
fn more_latency_loses_fewer_units_until_none_is_lost() {
    let lost = |latency: u64| {
        let parameters = Parameters { latency: Latency::Fixed(Duration::from_millis(latency)), overhead: None };
        1_500 - storm(parameters, &[100; 1_500], [0.05, 0.0], Duration::ZERO, 1).released.len()
    };
    let [none, one, two, many] = [0, 150, 350, 1_200].map(lost);
    // Without a repair 5 %; with one that may be lost 0.25 %, and 5 % of its reports.
    assert!((50..100).contains(&none) && one < none / 4 && two <= one && many == 0, "{none} {one} {two} {many}");
}
