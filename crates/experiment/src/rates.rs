//! From a scenario's rates and traces to the simulator's.

use earlybird_scenario::{Channel, Speed, TraceStart};
use earlybird_sim::RateChanges;
use earlybird_units::{Duration, Instant, Rate, SeedTree};

/// Returns the rate of a link, or its first or mean one, and how it changes; `seeds` are those of both directions.
pub(crate) fn rates_of(channel: &Channel, seeds: impl FnOnce() -> SeedTree) -> (Rate, Option<RateChanges>) {
    let Speed { rate, rate_steps, trace, trace_start } = channel.speed();
    if let Some(trace) = trace {
        let times = trace.times().iter().copied().map(Duration::from_millis).collect();
        let start = start_of(trace_start, trace.times(), seeds);
        return (mean_rate(trace.times()), Some(RateChanges::Opportunities { times, start }));
    }
    let steps = || rate_steps.iter().map(|step| (Instant::ZERO + step.at.duration(), step.rate.rate())).collect();
    let changes = (!rate_steps.is_empty()).then(|| RateChanges::Steps(steps()));
    (rate.map_or(SLOWEST, earlybird_scenario::Rate::rate), changes)
}

/// Returns the time of a trace at which the run begins.
fn start_of(start: Option<TraceStart>, times: &[u64], seeds: impl FnOnce() -> SeedTree) -> Duration {
    match start {
        None => Duration::ZERO,
        Some(TraceStart::At(time)) => time.duration(),
        Some(TraceStart::Random) => {
            let length = Duration::from_millis(times.last().copied().unwrap_or(0));
            seeds().child("trace").random().duration_between(Duration::ZERO, length)
        }
    }
}

/// A placeholder: every resolved scenario has a rate.
const SLOWEST: Rate = Rate::from_bits_per_second(1).unwrap();

fn mean_rate(times: &[u64]) -> Rate {
    let bits = times.len() as u64 * u64::from(RateChanges::OPPORTUNITY_BYTES) * 8;
    // A trace repeats after its last time, which therefore is its length.
    let millis = times.last().copied().unwrap_or(0).max(1);
    Rate::from_bits_per_second(bits * 1000 / millis).unwrap_or(SLOWEST)
}
