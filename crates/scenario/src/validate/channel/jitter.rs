use super::{below_one, check_flow, ensure, long_enough};
use crate::model::{DelaySpikes, Flow, Jitter, JitterDistribution, ParetoDelay};
use earlybird_transport::{ScenarioError, Time, positive};

pub(super) fn check(rule: &Jitter, path: &str, flows: &[Flow]) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "delays nothing").allowed("`distribution`, `spikes`, or both");
    ensure(rule.distribution.is_some() || rule.spikes.is_some(), error)?;
    // With 1 the delay of the first packet would be that of all.
    below_one(rule.correlation, &format!("{path}.correlation"))?;
    rule.correlation_time.map_or(Ok(()), |time| check_correlation_time(rule, time, path))?;
    if let Some(distribution) = &rule.distribution {
        check_distribution(distribution, &format!("{path}.distribution"))?;
    }
    rule.spikes.as_ref().map_or(Ok(()), |spikes| check_spikes(spikes, &format!("{path}.spikes")))?;
    check_flow(rule.flow.as_deref(), path, flows)
}

fn check_correlation_time(rule: &Jitter, time: Time, path: &str) -> Result<(), ScenarioError> {
    let path = format!("{path}.correlation-time");
    let both = || ScenarioError::new(&path, "stands beside `correlation`").text(&time.to_string());
    ensure(rule.correlation.value() == 0.0, || both().allowed("one of the two keys"))?;
    long_enough(time, &path)
}

fn check_distribution(distribution: &JitterDistribution, path: &str) -> Result<(), ScenarioError> {
    match distribution {
        JitterDistribution::Uniform(max) => positive(*max, &format!("{path}.uniform")),
        JitterDistribution::Exponential(mean) => positive(*mean, &format!("{path}.exponential")),
        JitterDistribution::Pareto(pareto) => check_pareto(pareto, &format!("{path}.pareto")),
        JitterDistribution::Quantiles(times) => check_quantiles(times, &format!("{path}.quantiles")),
        JitterDistribution::Normal(_) => Ok(()),
    }
}

fn check_pareto(pareto: &ParetoDelay, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(&format!("{path}.shape"), "leaves no mean").text(&pareto.shape.to_string());
    ensure(pareto.shape > 1.0, || error().allowed("a number above 1"))?;
    positive(pareto.mean, &format!("{path}.mean"))
}

fn check_quantiles(times: &[Time], path: &str) -> Result<(), ScenarioError> {
    let Some(index) = (1..times.len()).find(|index| times[*index] < times[index - 1]) else { return Ok(()) };
    let error = ScenarioError::new(&format!("{path}.{index}"), "is below the quantile before");
    Err(error.text(&times[index].to_string()).allowed("durations that never fall"))
}

fn check_spikes(spikes: &DelaySpikes, path: &str) -> Result<(), ScenarioError> {
    let ratio = || ScenarioError::new(&format!("{path}.ratio"), "leaves no spikes").text("0");
    ensure(spikes.ratio.value() > 0.0, || ratio().allowed("a number above 0 and below 1"))?;
    below_one(spikes.ratio, &format!("{path}.ratio"))?;
    long_enough(spikes.mean_duration, &format!("{path}.mean-duration"))?;
    positive(spikes.delay, &format!("{path}.delay"))
}
