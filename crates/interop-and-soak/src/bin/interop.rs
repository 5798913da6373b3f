//! Transfers between our stack and the kernel over emulated links of 500 Mbit/s with an RTT of 4 ms: `interop [MEGABYTES
//! [FILTER]]` prints a table of all transfers whose row contains FILTER. Needs root.

use earlybird_interop_and_soak::TestImpairments;
use earlybird_interop_and_soak::interop::{Direction, Family, Trial, serve};
use std::error::Error;
use std::process::ExitCode;

const IMPAIRMENTS: [(&str, TestImpairments); 4] = [
    ("none", TestImpairments { lost: 0.0, duplicated: 0.0, reordered: 0.0 }),
    ("1 % lost", TestImpairments { lost: 0.01, duplicated: 0.0, reordered: 0.0 }),
    ("5 % lost", TestImpairments { lost: 0.05, duplicated: 0.0, reordered: 0.0 }),
    ("1 % duplicated, 1 % reordered", TestImpairments { lost: 0.0, duplicated: 0.01, reordered: 0.01 }),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("ours", rest)) = arguments.split_first().map(|(first, rest)| (&**first, rest)) {
        serve(rest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let megabytes = arguments.first().map_or(Ok(1_000), |text| text.parse())?;
    let filter = arguments.get(1).map_or("", String::as_str);
    let program = std::env::current_exe()?;
    eprintln!(
        "| direction | over | links | control | seconds | Mb/s | lost | sent again | SHA-256 |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut are_intact = true;
    for (name, trial) in trials(megabytes) {
        let Trial { direction, family, ours, kernel, .. } = &trial;
        let control = if *direction == Direction::FromPython { kernel } else { ours };
        let row = format!("| {direction:?} | {family:?} | {name} | {control} |");
        if !row.contains(filter) {
            continue;
        }
        let outcome = trial.run(&program)?;
        let seconds = outcome.duration.as_secs_f64();
        let (rate, lost, retransmissions) = (megabytes as f64 * 8.0 / seconds, outcome.lost, outcome.retransmissions);
        let verdict = if outcome.is_intact() { "equal" } else { "DIFFERENT" };
        eprintln!("{row} {seconds:.1} | {rate:.0} | {lost} | {retransmissions} | {verdict} |");
        are_intact &= outcome.is_intact();
    }
    Ok(if are_intact { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns all transfers: CUBIC over links without loss, loss-tolerant controls over others.
fn trials(megabytes: u64) -> Vec<(&'static str, Trial)> {
    let mut trials = Vec::new();
    for (name, impairments) in IMPAIRMENTS {
        // Loss-based controls would need hours at 5 % loss.
        let (ours, kernel) = if impairments.lost > 0.0 { ("tolerant", "bbr") } else { ("cubic", "cubic") };
        for direction in Direction::ALL {
            for family in Family::ALL {
                let (ours, kernel) = (ours.to_owned(), kernel.to_owned());
                trials.push((name, Trial { direction, family, impairments, ours, kernel, megabytes }));
            }
        }
    }
    trials
}
