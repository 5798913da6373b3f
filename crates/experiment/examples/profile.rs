//! Runs a scenario file a few times without Python, for profilers: `profile FILE [REPEATS] [KEY=VALUE…]`. For each run it
//! prints the packets that left the bottleneck.

use earlybird_experiment::{Outputs, run};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: profile FILE [REPEATS] [KEY=VALUE…]")?;
    let repeats = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let settings: Option<Vec<_>> = arguments.map(|text| split(&text)).collect();
    let settings = settings.ok_or("settings are written KEY=VALUE")?;
    let folder = Path::new(&file).parent().unwrap_or(Path::new(""));
    let scenario = earlybird_scenario::resolve_in(folder, &std::fs::read_to_string(&file)?, &settings)?;
    for seed in 1..=repeats {
        let report = run(&scenario, seed, &Outputs::default(), &mut |_| true)?;
        let packets = report.summary.iter().find(|(key, _)| key == "bottleneck_packets");
        eprintln!("seed {seed}: {packets:?}");
    }
    Ok(())
}

fn split(setting: &str) -> Option<(String, String)> {
    let (key, value) = setting.split_once('=')?;
    Some((key.to_owned(), value.to_owned()))
}
