//! From a scenario's rates and traces to the simulator's.

use earlybird_scenario::{Channel, Speed};
use earlybird_sim::RateChanges;
use earlybird_units::{Duration, Instant, Rate};

/// Returns the rate of a link, or its first or mean one, and how it changes.
pub(crate) fn rates_of(channel: &Channel) -> (Rate, Option<RateChanges>) {
    let Speed { rate, rate_steps, trace } = channel.speed();
    if let Some(trace) = trace {
        let times = trace.times().iter().copied().map(Duration::from_millis).collect();
        return (mean_rate(trace.times()), Some(RateChanges::Opportunities(times)));
    }
    let steps = || rate_steps.iter().map(|step| (Instant::ZERO + step.at.duration(), step.rate.rate())).collect();
    let changes = (!rate_steps.is_empty()).then(|| RateChanges::Steps(steps()));
    (rate.map_or(SLOWEST, earlybird_scenario::Rate::rate), changes)
}

/// A placeholder: every resolved scenario has a rate.
const SLOWEST: Rate = Rate::from_bits_per_second(1).unwrap();

fn mean_rate(times: &[u64]) -> Rate {
    let bits = times.len() as u64 * u64::from(RateChanges::OPPORTUNITY_BYTES) * 8;
    // A trace repeats after its last time, which therefore is its length.
    let millis = times.last().copied().unwrap_or(0).max(1);
    Rate::from_bits_per_second(bits * 1000 / millis).unwrap_or(SLOWEST)
}
