//! Our stack over TUN and programs over this machine's TCP, with emulated links of 500 Mb/s and 4 ms between: `interop [MEGABYTES
//! [FILTER]]` prints a table of all transfers whose row contains FILTER. Needs root.

use earlybird_interop_and_soak::Harm;
use earlybird_interop_and_soak::interop::{Family, Trial, Way, serve};
use std::error::Error;
use std::process::ExitCode;

const HARMS: [(&str, Harm); 4] = [
    ("none", Harm { lost: 0.0, doubled: 0.0, overtaken: 0.0 }),
    ("1 % lost", Harm { lost: 0.01, doubled: 0.0, overtaken: 0.0 }),
    ("5 % lost", Harm { lost: 0.05, doubled: 0.0, overtaken: 0.0 }),
    ("1 % doubled, 1 % overtaken", Harm { lost: 0.0, doubled: 0.01, overtaken: 0.01 }),
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
        "| way | over | links | control | seconds | Mb/s | lost | sent again | SHA-256 |\n|---|---|---|---|---|---|---|---|---|"
    );
    let mut are_whole = true;
    for (name, trial) in trials(megabytes) {
        let Trial { way, family, ours, kernel, .. } = &trial;
        let control = if *way == Way::FromPython { kernel } else { ours };
        let row = format!("| {way:?} | {family:?} | {name} | {control} |");
        if !row.contains(filter) {
            continue;
        }
        let outcome = trial.run(&program)?;
        let seconds = outcome.took.as_secs_f64();
        let (rate, lost, repeated) = (megabytes as f64 * 8.0 / seconds, outcome.lost, outcome.repeated);
        let verdict = if outcome.is_whole() { "equal" } else { "DIFFERENT" };
        eprintln!("{row} {seconds:.1} | {rate:.0} | {lost} | {repeated} | {verdict} |");
        are_whole &= outcome.is_whole();
    }
    Ok(if are_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// All transfers, over clean links with CUBIC and over others with what is made for them.
fn trials(megabytes: u64) -> Vec<(&'static str, Trial)> {
    let mut trials = Vec::new();
    for (name, harm) in HARMS {
        let (ours, kernel) = if harm.lost > 0.0 { ("tolerant", "bbr") } else { ("cubic", "cubic") };
        for way in Way::ALL {
            for family in Family::ALL {
                let (ours, kernel) = (ours.to_owned(), kernel.to_owned());
                trials.push((name, Trial { way, family, harm, ours, kernel, megabytes }));
            }
        }
    }
    trials
}
