use super::ensure;
use crate::model::{AccessDelay, Application, Flow, Media, Network, Scenario, Start};
use earlybird_transport::{ScenarioError, Time};
use serde_json::json;

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    for (index, flow) in scenario.flows.iter().enumerate() {
        // By number: a name that is wrong, or not unique, picks no flow.
        let path = format!("flows.{index}.name");
        check_name(&flow.name, &path)?;
        check_unique(&scenario.flows[..index], &flow.name, &path)?;
    }
    scenario.flows.iter().try_for_each(|flow| check_flow(flow, &scenario.network, &format!("flows.{}", flow.name)))
}

fn check_name(name: &str, path: &str) -> Result<(), ScenarioError> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    // With a digit at the end `video1` could be a group, or the second flow of `video`.
    let legal = name.chars().all(is_part) && name.ends_with(|letter: char| !letter.is_ascii_digit());
    let error = || ScenarioError::new(path, "is not a name for flows").text(name);
    ensure(legal, || {
        error()
            .allowed("letters, digits, `-` and `_`, with no digit at the end")
            .hint("the flows of the group are numbered: name0, name1, …")
    })
}

fn check_unique(earlier: &[Flow], name: &str, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "is already the name of other flows").text(name);
    ensure(earlier.iter().all(|flow| flow.name != name), || {
        error().allowed("a name of its own").hint("for several flows of a kind use `count`.")
    })
}

fn check_flow(flow: &Flow, network: &Network, path: &str) -> Result<(), ScenarioError> {
    check_count(flow, path)?;
    check_transport(flow, path)?;
    check_start(flow, path)?;
    flow.access_delay.as_ref().map_or(Ok(()), |delay| check_access_delay(delay, network, path))?;
    match &flow.application {
        Application::Media(media) => check_media(media, &format!("{path}.application.media")),
        _ => Ok(()),
    }
}

/// The most flows of a group: each takes memory before a run begins.
const MOST_FLOWS: u32 = 100_000;

fn check_count(flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    ensure(flow.count <= MOST_FLOWS, || {
        ScenarioError::new(&format!("{path}.count"), "is too large")
            .value(&json!(flow.count))
            .allowed(format!("1 to {MOST_FLOWS}"))
    })
}

fn check_transport(flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(&format!("{path}.endpoint.transport"), "is given twice");
    ensure(flow.transport.is_none() || !flow.endpoint.contains_key("transport"), || {
        error().allowed(format!("`{path}.transport`, or this key, not both"))
    })
}

fn check_start(flow: &Flow, path: &str) -> Result<(), ScenarioError> {
    match &flow.start {
        Start::Uniform(range) => check_range(*range, &format!("{path}.start.uniform")),
        Start::Each(times) => ensure(times.len() as u64 == u64::from(flow.count), || {
            ScenarioError::new(&format!("{path}.start.each"), "does not have one time per flow")
                .value(&json!(times))
                .allowed(format!("a list of {}, which is `{path}.count`", flow.count))
        }),
        Start::At(_) => Ok(()),
    }
}

fn check_range([low, high]: [Time; 2], path: &str) -> Result<(), ScenarioError> {
    let error = || ScenarioError::new(path, "ends before it begins").text(&format!("{low} … {high}"));
    ensure(low <= high, || error().allowed("two durations, the shorter one first"))
}

fn check_access_delay(delay: &AccessDelay, network: &Network, path: &str) -> Result<(), ScenarioError> {
    let path = format!("{path}.access-delay");
    let error = || ScenarioError::new(&path, "has no effect: the network has no access links").allowed("nothing here");
    ensure(matches!(network, Network::Dumbbell(_)), || {
        error().hint("only a `dumbbell` gives every flow its own hosts.")
    })?;
    match delay {
        AccessDelay::Same(_) | AccessDelay::Spread(_) => Ok(()),
        AccessDelay::Uniform(range) => check_range(*range, &format!("{path}.uniform")),
    }
}

fn check_media(media: &Media, path: &str) -> Result<(), ScenarioError> {
    check_times(&media.times, &media.sizes, media.length, path)
}

/// Checks that there is a size for each time, that times never fall, and that none is behind the length.
pub(super) fn check_times(times: &[f64], sizes: &[u32], length: f64, path: &str) -> Result<(), ScenarioError> {
    let error = |key: &str, problem: &str| ScenarioError::new(&format!("{path}.{key}"), problem);
    ensure(sizes.len() == times.len(), || {
        error("sizes", "does not have one size per frame")
            .value(&json!(sizes))
            .allowed(format!("a list of {}, as `{path}.times`", times.len()))
    })?;
    let mut pairs = times.iter().zip(times.iter().skip(1));
    if let Some((before, after)) = pairs.find(|(before, after)| after < before) {
        let order = format!("{before}, {after}");
        return Err(error("times", "decreases").text(&order).allowed("times that never fall"));
    }
    let last = times.last().copied().unwrap_or_default();
    ensure(length >= last, || {
        error("length", "is shorter than the frames last")
            .text(&length.to_string())
            .allowed(format!("a number of at least {last}, the time of the last frame"))
    })
}
