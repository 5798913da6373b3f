//! The random parts of a scenario.

use earlybird_scenario::{
    AccessDelay, Channel, Flow, Kind, Loss, Network, Scenario, ScenarioError, Start, Time, TraceStart,
};

/// Congestion controls that draw nothing; of others, and of those from outside, that is not known.
const CONTROLS_WITHOUT_DRAWS: [&str; 2] = ["cubic", "vegas"];

/// Lists the keys under which something is drawn at random that can matter.
///
/// The phases of the senders' clocks are not among them: they are drawn wherever a timer has a tick, and matter only where
/// one expires.
///
/// # Errors
/// If an endpoint of a flow cannot be built.
pub fn random_parts(scenario: &Scenario) -> Result<Vec<String>, ScenarioError> {
    // Two runs in real time are never equal.
    let mut parts: Vec<String> = (!scenario.backend.is_simulated()).then(|| "backend".to_owned()).into_iter().collect();
    for flow in &scenario.flows {
        let drawn = of_flow(flow).into_iter().chain(transport_of(scenario, flow)?);
        parts.extend(drawn.map(|key| format!("flows.{}.{key}", flow.name)));
    }
    for (path, channel) in channels(scenario) {
        parts.extend(of_channel(&channel).map(|key| format!("network.{path}.{key}")));
    }
    Ok(parts)
}

fn of_flow(flow: &Flow) -> Vec<&'static str> {
    let starts = matches!(flow.start, Start::Uniform([low, high]) if low < high);
    let places = flow.access_delay.as_ref().is_some_and(|delay| match delay {
        AccessDelay::Same(_) => false,
        AccessDelay::Uniform([low, high]) => low < high,
        AccessDelay::Spread(share) => share.value() > 0.0,
    });
    let keys = [(starts, "start"), (places, "access-delay"), (flow.application.is_web(), "application")];
    keys.into_iter().filter_map(|(is_drawn, key)| is_drawn.then_some(key)).collect()
}

fn transport_of(scenario: &Scenario, flow: &Flow) -> Result<Option<&'static str>, ScenarioError> {
    let kind = scenario.endpoint_of(flow)?.transport.kind;
    let draws = match kind {
        Kind::Control(name) => !CONTROLS_WITHOUT_DRAWS.contains(&name.as_str()),
        // It skips packet numbers at random, to detect peers that acknowledge packets that they did not receive.
        Kind::Quic(_) => true,
        _ => false,
    };
    Ok(draws.then_some("transport"))
}

fn channels(scenario: &Scenario) -> Vec<(String, Channel)> {
    match &scenario.network {
        Network::Dumbbell(dumbbell) => vec![
            ("dumbbell.bottleneck".to_owned(), dumbbell.bottleneck.clone()),
            ("dumbbell.reverse".to_owned(), dumbbell.backward()),
            ("dumbbell.access".to_owned(), dumbbell.access.clone()),
        ],
        Network::Links(links) => {
            let both = |link: &earlybird_scenario::Link| {
                let name = link.name();
                [(format!("links.{name}"), link.forward()), (format!("links.{name}.reverse"), link.backward())]
            };
            links.iter().flat_map(both).collect()
        }
    }
}

fn of_channel(channel: &Channel) -> impl Iterator<Item = &'static str> {
    let keys = [
        (channel.trace_start == Some(TraceStart::Random), "trace-start"),
        (channel.loss.iter().any(is_drawn), "loss"),
        (channel.queue.is_random(), "queue"),
        (channel.arq.is_some(), "arq"),
        (channel.jitter.is_some(), "jitter"),
        (channel.reorder.is_some(), "reorder"),
        (channel.duplicate.is_some(), "duplicate"),
    ];
    keys.into_iter().filter_map(|(is_drawn, key)| is_drawn.then_some(key))
}

fn is_drawn(loss: &Loss) -> bool {
    match loss {
        Loss::List(_) | Loss::Policer(_) => false,
        Loss::Periodic(periodic) => periodic.random_start,
        Loss::Bernoulli(bernoulli) => bernoulli.probability.value() > 0.0,
        Loss::Fading(fading) => fading.mean_fade > Time::default() && fading.ratio.value() > 0.0,
        Loss::GilbertElliott(_) | Loss::Gilbert(_) | Loss::FourState(_) => true,
    }
}
