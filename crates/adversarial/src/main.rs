//! Tries very many hostile segments: `earlybird-adversarial 100000000 [SEED [FIRST]]`, from experiment FIRST on.

use cap::Cap;
use earlybird_adversarial::{Counts, TARGETS};
use earlybird_units::{Random, SeedTree};
use std::alloc::System;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// The longest experiment reads so many bytes …
const LONGEST: usize = 1 << 20;
/// … and nothing else may take as much memory: a connection's is bounded, however long it is attacked.
const BOUND: usize = 8 << 20;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let mut next = |default| arguments.next().unwrap_or(Ok(default));
    let (Ok(goal @ 1..), Ok(seed), Ok(first)) = (next(0), next(1), next(0)) else {
        eprintln!("usage: earlybird-adversarial PACKETS [SEED [FIRST]]");
        return ExitCode::FAILURE;
    };
    run(goal, SeedTree::new(seed), first)
}

#[expect(clippy::disallowed_methods, reason = "it tells how fast it is; the connections have a clock of their own")]
fn run(goal: u64, seeds: SeedTree, first: u64) -> ExitCode {
    let (start, mut counts, mut told) = (Instant::now(), Counts::default(), 0);
    let mut data = vec![0; LONGEST];
    for experiment in first.. {
        if counts.total() >= goal {
            break;
        }
        let mut random = seeds.nth(experiment).random();
        let length = length(&mut random);
        fill(&mut random, &mut data[..length]);
        let (name, target) = TARGETS[random.below(TARGETS.len() as u64) as usize];
        if catch_unwind(AssertUnwindSafe(|| target(&data[..length], &mut counts))).is_err() {
            say(&format!("{name}, experiment {experiment}, after {} packets", counts.total()));
            return ExitCode::FAILURE;
        }
        assert!(HEAP.max_allocated() < LONGEST + BOUND, "memory is not bounded: {} bytes", HEAP.max_allocated());
        if counts.total() * 20 / goal > told {
            told = counts.total() * 20 / goal;
            tell(&counts, goal, start);
        }
    }
    say(&format!(
        "{counts}\nmost memory: {} kB, beside {} kB of input",
        (HEAP.max_allocated() - LONGEST) >> 10,
        LONGEST >> 10
    ));
    ExitCode::SUCCESS
}

/// Mostly a few hundred events; now and then very many, so that what grows shows.
fn length(random: &mut Random) -> usize {
    let most = if random.below(2000) == 0 { LONGEST } else { 1 << (5 + random.below(9)) };
    1 + random.below(most as u64) as usize
}

fn fill(random: &mut Random, data: &mut [u8]) {
    for bytes in data.chunks_mut(4) {
        let word = (random.below(1 << 32) as u32).to_le_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

fn tell(counts: &Counts, goal: u64, start: Instant) {
    let (done, seconds) = (counts.total(), start.elapsed().as_secs_f64());
    say(&format!("{:>3} % {done} packets, {:.0} a second", done * 100 / goal, done as f64 / seconds));
}

fn say(text: &str) {
    // Who closes the pipe has read enough.
    let _ = writeln!(std::io::stdout(), "{text}");
}
