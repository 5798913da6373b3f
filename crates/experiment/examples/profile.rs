//! Runs a scenario file a few times without Python, for profilers: `profile FILE [REPEATS]`.

use earlybird_experiment::{Outputs, run};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: profile FILE [REPEATS]")?;
    let repeats = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let folder = Path::new(&file).parent().unwrap_or(Path::new(""));
    let scenario = earlybird_scenario::resolve_in(folder, &std::fs::read_to_string(&file)?, &[])?;
    for seed in 1..=repeats {
        let report = run(&scenario, seed, &Outputs::default(), &mut |_| true)?;
        let packets = report.summary.iter().find(|(key, _)| key == "bottleneck_packets");
        eprintln!("seed {seed}: {packets:?}");
    }
    Ok(())
}
