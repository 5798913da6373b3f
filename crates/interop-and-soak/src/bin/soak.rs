//! Connections come and go over bad links, and the memory of this process is looked at: `soak sim|real [SECONDS [CONNECTIONS PER
//! SECOND]]`. `sim` goes as fast as it can, `real` in real time over UDP between two network namespaces.

use earlybird_interop_and_soak::soak::{Growth, Progress, Soak, Tally};
use earlybird_units::{Duration, Instant};
use std::error::Error;
use std::process::ExitCode;

/// A day, and half an hour.
const LONG: [u64; 2] = [86_400, 1_800];
/// Looks in a run.
const LOOKS: u64 = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let is_real = match arguments.next().as_deref() {
        Some("sim") => false,
        Some("real") => true,
        _ => return Err("usage: soak sim|real [SECONDS [CONNECTIONS PER SECOND]]".into()),
    };
    let seconds = arguments.next().map_or(Ok(LONG[usize::from(is_real)]), |text| text.parse())?;
    let per_second = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let (soak, span) = (Soak::lasting(seconds, per_second), Duration::from_secs((seconds / LOOKS).max(1)));
    let mut growth = Growth::default();
    let look = |at: Instant, progress: &Progress| tell(at, growth.poll(), progress);
    let progress = if is_real { soak.perform(span, look)? } else { soak.simulate(span, look)? };
    let has_grown = growth.has_grown().ok_or("too short to tell")?;
    eprintln!("memory {}", if has_grown { "has grown" } else { "has not grown" });
    let is_sound = !has_grown && progress.broken.get() == 0;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell(at: Instant, bytes: u64, progress: &Progress) {
    let Progress { opened, whole, aborted, broken, .. } = progress;
    let [opened, whole, aborted, broken] = [opened, whole, aborted, broken].map(Tally::get);
    let (memory, read) = (bytes as f64 / 1e6, progress.bytes.get() as f64 / 1e6);
    eprintln!(
        "{:>7.0} s: {memory:.1} MB in memory; {read:.0} MB read; connections: {opened} opened, {whole} whole, {aborted} given up, \
         {broken} broken",
        at.as_secs_f64()
    );
}
