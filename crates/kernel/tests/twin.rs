//! Compares the eBPF program with the simulator's PERT, given the same RTTs, losses and random numbers.
//!
//! The kernel runs the functions of its sockets (`BPF_PROG_TEST_RUN`). Where it does not allow that, the test prints the reason
//! and passes.

mod steps;

use earlybird_kernel::parameters::{PRESETS, Parameters};
use earlybird_kernel::requirements;
use steps::{Differences, Sequence, Twins, replay};

/// The error that `docs/kernel.md` states, in segments of windows up to some thousand.
const WINDOW: f64 = 1e-5;
/// Delays are whole nanoseconds on both sides, rounded from numbers that differ slightly: by one nanosecond now and then. The
/// curve is steepest from T2 to T3, where it rises by 0.95 in 10 ms.
const NANOSECONDS: u64 = 1;
const PROBABILITY: f64 = 0.96e-7;

/// Recorded connections of Linux 6.18; see `recorded/README.md`.
const RECORDED: [&str; 3] =
    [include_str!("recorded/losses.csv"), include_str!("recorded/cubic.csv"), include_str!("recorded/queue.csv")];

fn compare(seeds: std::ops::Range<u64>, run: impl Fn(&mut Twins, u64) -> Differences) {
    if let Some(reason) = requirements::obstacle() {
        eprintln!("skipped: {reason}");
        return;
    }
    for name in PRESETS {
        let flags = Parameters::read(&[("preset".into(), name.into())]).expect("it is one").flags;
        let mut worst = Differences::default();
        for seed in seeds.clone() {
            let mut twins = Twins::new(flags, seed);
            worst = worst.most(run(&mut twins, seed));
        }
        eprintln!("{name:8} {worst}");
        assert!(worst.window < WINDOW && worst.alpha < WINDOW, "{name}: {worst}");
        assert!(worst.probability < PROBABILITY && worst.queueing <= NANOSECONDS, "{name}: {worst}");
        assert!(worst.thresholds == 0 && worst.responses > 0, "{name}: {worst}");
    }
}

/// Twenty connections of 5000 steps: a varying queue, losses, timeouts and unused windows.
#[test]
fn windows_are_the_same_for_100_000_samples_of_every_preset() {
    let sequence = Sequence { steps: 5000, shortest: 200, longest: 300_000, losses: 400, timeouts: 4000 };
    compare(0..20, |twins, seed| sequence.run(twins, seed));
}

/// RTTs from 10 µs to 10 s, a loss per ten ACKs and a timeout per thirty.
#[test]
fn windows_are_the_same_at_the_ends_of_what_a_network_does() {
    let sequence = Sequence { steps: 2000, shortest: 10, longest: 10_000_000, losses: 10, timeouts: 30 };
    compare(100..110, |twins, seed| sequence.run(twins, seed));
}

/// No losses: only early responses reduce the window.
#[test]
fn windows_are_the_same_without_losses() {
    let sequence = Sequence { steps: 5000, shortest: 20_000, longest: 90_000, losses: u64::MAX, timeouts: u64::MAX };
    compare(200..205, |twins, seed| sequence.run(twins, seed));
}

/// Each run with other random numbers, so that early responses differ.
#[test]
fn windows_are_the_same_over_what_connections_of_linux_met() {
    for recorded in RECORDED {
        compare(300..305, |twins, _| replay(recorded, twins));
    }
}
