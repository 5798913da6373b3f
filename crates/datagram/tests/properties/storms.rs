//! Whatever the network does.

use crate::line::{Log, ONE_WAY, PERIOD, talk, written};
use earlybird_datagram::Control;
use earlybird_datagram::srt::{Latency, Parameters};
use earlybird_units::{Duration, SeedTree};
use proptest::prelude::*;

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
        let earliest = |unit| written(unit) + ONE_WAY + latency;
        for (unit, at) in &log.released {
            prop_assert!(*at >= earliest(*unit));
        }
        // All are released the same time after their writing.
        let delays: Vec<_> = log.released.iter().map(|(unit, at)| *at - written(*unit)).collect();
        prop_assert!(delays.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", delays);
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
        prop_assert!(sender <= units_in(latency.mul_f64(1.25).max(Duration::from_secs(1))), "{sender}");
        // Units whose time has not come, and the holes that are given up with the next release.
        prop_assert!(receiver <= units_in(latency + jitter) + longest_hole(&log, 300), "{receiver}");
    }
}

/// Returns the most units in a row that were never released.
fn longest_hole(log: &Log, units: u32) -> usize {
    let mut next = 0;
    let ends = log.released.iter().map(|(unit, _)| *unit).chain([units]);
    ends.map(|unit| unit - core::mem::replace(&mut next, unit + 1)).max().unwrap_or_default() as usize
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
