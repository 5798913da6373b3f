//! Opens connections over impaired links and checks that memory does not grow: `soak sim|real [SECONDS [CONNECTIONS PER
//! SECOND]]`. `sim` runs in simulated time, `real` in real time over UDP between two network namespaces. `soak stream [SECONDS]`
//! sends an encrypted live stream in simulated time instead.

use earlybird_interop_and_soak::soak::{Growth, Progress, SharedCounter, Soak, Stream};
use earlybird_units::{Duration, Instant};
use std::error::Error;
use std::process::ExitCode;

/// A day in simulated time, half an hour in real time.
const DEFAULT_SECONDS: [u64; 2] = [86_400, 1_800];
/// Ten hours.
const STREAM_SECONDS: u64 = 36_000;
/// Samples per run.
const SAMPLES: u64 = 30;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let is_real = match arguments.next().as_deref() {
        Some("sim") => false,
        Some("real") => true,
        Some("stream") => return stream(arguments.next().map_or(Ok(STREAM_SECONDS), |text| text.parse())?),
        _ => return Err("usage: soak sim|real [SECONDS [CONNECTIONS PER SECOND]], or soak stream [SECONDS]".into()),
    };
    let seconds = arguments.next().map_or(Ok(DEFAULT_SECONDS[usize::from(is_real)]), |text| text.parse())?;
    let per_second = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let (soak, span) = (Soak::lasting(seconds, per_second), Duration::from_secs((seconds / SAMPLES).max(1)));
    let mut growth = Growth::default();
    let on_progress = |at: Instant, progress: &Progress| print_progress(at, growth.sample(), progress);
    let progress = if is_real { soak.run_in_real_time(span, on_progress)? } else { soak.simulate(span, on_progress)? };
    let has_grown = growth.has_grown().ok_or("too short to tell")?;
    eprintln!("memory {}", if has_grown { "has grown" } else { "has not grown" });
    // Aborted connections are part of the test; broken ones are not.
    let is_sound = !has_grown && progress.broken.get() == 0;
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Sends a stream, and checks that nothing of it is lost and memory does not grow.
fn stream(seconds: u64) -> Result<ExitCode, Box<dyn Error>> {
    let (mut growth, mut stream) = (Growth::default(), Stream::new("earlybird-rt")?);
    let mut lost = 0;
    for number in 1..=SAMPLES {
        let progress = stream.run(Duration::from_secs((seconds / SAMPLES).max(1)))?;
        lost = progress.lost;
        let memory = growth.sample() as f64 / 1e6;
        eprintln!("{number} of {SAMPLES}: {memory:.1} MB in memory; {progress:?}");
    }
    let has_grown = growth.has_grown().ok_or("too short to tell")?;
    eprintln!("memory {}; {lost} units lost", if has_grown { "has grown" } else { "has not grown" });
    Ok(if has_grown || lost > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print_progress(at: Instant, bytes: u64, progress: &Progress) {
    let Progress { opened, complete, aborted, broken, .. } = progress;
    let [opened, complete, aborted, broken] = [opened, complete, aborted, broken].map(SharedCounter::get);
    let (memory, read) = (bytes as f64 / 1e6, progress.bytes.get() as f64 / 1e6);
    eprintln!(
        "{:>7.0} s: {memory:.1} MB in memory; {read:.0} MB read; connections: {opened} opened, {complete} complete, {aborted} aborted, \
         {broken} broken",
        at.as_secs_f64()
    );
}
