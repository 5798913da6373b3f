use super::ensure;
use crate::model::{Network, RateStep, Reverse, Speed, Trace, TraceStart};
use earlybird_transport::{Rate, ScenarioError, Time};

pub(super) fn validate(network: &Network) -> Result<(), ScenarioError> {
    match network {
        Network::Dumbbell(dumbbell) => {
            check(&dumbbell.bottleneck.speed(), "network.dumbbell.bottleneck")?;
            check(&dumbbell.access.speed(), "network.dumbbell.access")?;
            // It may leave out what is as in the other direction.
            let own = dumbbell.reverse.as_ref().map(Reverse::speed);
            let own = own.filter(|speed| *speed != Speed::default());
            own.map_or(Ok(()), |speed| check(&speed, "network.dumbbell.reverse"))
        }
        Network::Links(links) => links.iter().try_for_each(|link| {
            let path = format!("network.links.{}", link.name());
            check(&link.forward().speed(), &path)?;
            let reverse = link.reverse.as_ref();
            reverse.map_or(Ok(()), |channel| check(&channel.speed(), &format!("{path}.reverse")))
        }),
    }
}

fn check(speed: &Speed, path: &str) -> Result<(), ScenarioError> {
    let Some(trace) = &speed.trace else {
        let missing = || ScenarioError::new(&format!("{path}.rate"), "is missing").allowed(Rate::EXPECTED);
        ensure(speed.rate.is_some(), || missing().hint("say how fast the link sends, or give a `trace`."))?;
        let stray = || ScenarioError::new(&format!("{path}.trace-start"), "stands without a `trace`");
        ensure(speed.trace_start.is_none(), || stray().hint("give the `trace` that begins there."))?;
        return check_steps(&speed.rate_steps, path);
    };
    let error = || ScenarioError::new(&format!("{path}.trace"), "stands beside a rate");
    ensure(speed.rate.is_none() && speed.rate_steps.is_empty(), || {
        error().allowed("either `rate`, with or without `rate-steps`, or `trace`")
    })?;
    check_times(trace, path)?;
    check_start(speed.trace_start, trace, path)
}

fn check_steps(steps: &[RateStep], path: &str) -> Result<(), ScenarioError> {
    let Some(index) = (1..steps.len()).find(|index| steps[*index].at <= steps[index - 1].at) else { return Ok(()) };
    let error = ScenarioError::new(&format!("{path}.rate-steps.{index}.at"), "is not after the step before");
    Err(error.text(&steps[index].at.to_string()).allowed(format!("a time after {}", steps[index - 1].at)))
}

fn check_start(start: Option<TraceStart>, trace: &Trace, path: &str) -> Result<(), ScenarioError> {
    let Some((TraceStart::At(start), last)) = start.zip(trace.times().last()) else { return Ok(()) };
    let length = Time::from_millis(*last);
    let error = || ScenarioError::new(&format!("{path}.trace-start.at"), "is not in the trace");
    ensure(start < length, || error().text(&start.to_string()).allowed(format!("a time below {length}, its length")))
}

/// Files are checked as they are read; these times stand in the scenario.
fn check_times(trace: &Trace, path: &str) -> Result<(), ScenarioError> {
    let times = trace.times();
    let error = |problem, text: u64| ScenarioError::new(&format!("{path}.trace"), problem).text(&text.to_string());
    let fallen = times.windows(2).find(|pair| pair[1] < pair[0]);
    fallen.map_or(Ok(()), |pair| {
        Err(error("is earlier than the time before", pair[1]).allowed("times that never fall"))
    })?;
    ensure(times.last() != Some(&0), || error("is the last time", 0).allowed("a last time above 0 ms"))
}
