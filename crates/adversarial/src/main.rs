//! Runs millions of adversarial segments: `earlybird-adversarial PACKETS [SEED [FIRST]]` starts at experiment FIRST.

use cap::Cap;
use earlybird_adversarial::{TARGETS, Totals};
use earlybird_units::{Random, SeedTree};
use std::alloc::System;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// The largest input of an experiment, in bytes.
const MAX_INPUT: usize = 1 << 20;
/// The limit of all other memory: that of a connection is bounded, however long the attack.
const MEMORY_BOUND: usize = 8 << 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default));
    let (Ok(goal @ 1..), Ok(seed), Ok(first)) = (next(0), next(1), next(0)) else {
        eprintln!("usage: earlybird-adversarial PACKETS [SEED [FIRST]]");
        return ExitCode::FAILURE;
    };
    run(goal, SeedTree::new(seed), first)
}

#[expect(clippy::disallowed_methods, reason = "measures the throughput of the program; connections get simulated time")]
fn run(goal: u64, seeds: SeedTree, first: u64) -> ExitCode {
    let (start, mut totals, mut printed) = (Instant::now(), Totals::default(), 0);
    let mut data = vec![0; MAX_INPUT];
    // Each experiment derives its seed from its number, so that a failure is reproduced without the experiments before.
    for experiment in first.. {
        if totals.total() >= goal {
            break;
        }
        let mut random = seeds.nth(experiment).random();
        let length = length(&mut random);
        fill(&mut random, &mut data[..length]);
        let (name, target) = TARGETS[random.below(TARGETS.len() as u64) as usize];
        // Print the number of the experiment before the process ends.
        if catch_unwind(AssertUnwindSafe(|| target(&data[..length], &mut totals))).is_err() {
            print_line(&format!("{name}, experiment {experiment}, after {} packets", totals.total()));
            return ExitCode::FAILURE;
        }
        assert!(
            HEAP.max_allocated() < MAX_INPUT + MEMORY_BOUND,
            "memory is not bounded: {} bytes",
            HEAP.max_allocated()
        );
        if totals.total() * 20 / goal > printed {
            printed = totals.total() * 20 / goal;
            print_progress(&totals, goal, start);
        }
    }
    print_line(&format!(
        "{totals}\nmost memory: {} kB, beside {} kB of input",
        (HEAP.max_allocated() - MAX_INPUT) >> 10,
        MAX_INPUT >> 10
    ));
    ExitCode::SUCCESS
}

/// Mostly a few hundred events; rarely very many, to reveal growth.
fn length(random: &mut Random) -> usize {
    let most = if random.below(2000) == 0 { MAX_INPUT } else { 1 << (5 + random.below(9)) };
    1 + random.below(most as u64) as usize
}

fn fill(random: &mut Random, data: &mut [u8]) {
    for bytes in data.chunks_mut(4) {
        let word = (random.below(1 << 32) as u32).to_le_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

fn print_progress(totals: &Totals, goal: u64, start: Instant) {
    let (done, seconds) = (totals.total(), start.elapsed().as_secs_f64());
    print_line(&format!("{:>3} % {done} packets, {:.0} a second", done * 100 / goal, done as f64 / seconds));
}

fn print_line(text: &str) {
    // A closed pipe is no error: the reader has seen enough.
    let _ = writeln!(std::io::stdout(), "{text}");
}
