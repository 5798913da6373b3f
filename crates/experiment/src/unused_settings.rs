//! Settings that are declared but never used: with any other value, or without the flow or link, the run would be the same.
//!
//! The effect of a scenario is computed in full – flows that start in time, links that they cross, settings of their endpoints,
//! marks that a queue sets and an endpoint answers –, and a setting that does not change the effect is unused.

use crate::ecn::{marks, network_in_effect};
use crate::endpoint::carrier_of;
use crate::link_paths::link_names;
use crate::plan::Plan;
use earlybird_scenario::{
    Flow, Network, Outage, RateStep, Scenario, ScenarioError, Setting, Start, Time, visit_settings,
};
use earlybird_sim::Carrier;
use earlybird_tcp::EcnMode;
use std::collections::BTreeSet;

/// All values that a run depends on.
#[derive(Debug, PartialEq)]
struct Effect {
    flows: Vec<(Flow, String)>,
    network: Network,
}

/// Lists settings of a scenario that are not used, or that have no effect on any run.
pub fn unused_settings(scenario: &Scenario) -> Vec<ScenarioError> {
    let mut found = Vec::new();
    let Some(effect) = effect_of(scenario) else { return found };
    if effect.flows.is_empty() {
        return found; // nothing at all has an effect, which is a warning of its own
    }
    // Returning `false` stops the descent: parts of an unused setting need no complaint of their own.
    visit_settings(scenario, &mut |setting| {
        let is_used = is_used(&setting, &effect);
        if !is_used {
            found.push(complaint(&setting, scenario));
        }
        is_used
    });
    found
}

fn is_used(setting: &Setting, effect: &Effect) -> bool {
    // A setting that cannot be omitted is used.
    effect_of(&setting.without).is_none_or(|without| without != *effect)
        || setting.others.iter().filter_map(effect_of).any(|other| other != *effect)
}

fn complaint(setting: &Setting, scenario: &Scenario) -> ScenarioError {
    let late = scenario.flows.iter().find(|flow| setting.path == format!("flows.{}", flow.name));
    let is_step = ["rate-steps", "outages"].iter().any(|key| setting.path.contains(key));
    let (problem, hint) = match (late, &setting.value) {
        _ if is_step => (
            "is declared but never used: it comes after the end, or changes nothing",
            "lengthen `duration`, or take it out.",
        ),
        (Some(_), _) => ("is declared but never used: it starts after the end", "lengthen `duration`, or take it out."),
        (None, None) => ("is declared but never used: no flow crosses it", "take it out."),
        (None, Some(_)) => ("is declared but never used: with any other value the run is the same", "take it out."),
    };
    ScenarioError {
        path: setting.path.clone(),
        value: setting.value.as_ref().map(|value| value.to_string().trim_matches('"').to_owned()).unwrap_or_default(),
        problem: problem.to_owned(),
        allowed: String::new(),
        hint: hint.to_owned(),
    }
}

/// Computes the values that a run depends on. `None` if the scenario is not legal.
fn effect_of(scenario: &Scenario) -> Option<Effect> {
    let nodes = scenario.network.nodes();
    let has_ends = |flow: &Flow| [&flow.from, &flow.to].iter().all(|end| nodes.contains(&end.as_str()));
    // A scenario of which there is no plan is not legal.
    scenario.flows.iter().all(has_ends).then(|| Plan::of_groups(scenario, 1).ok())??;
    let running = || scenario.flows.iter().filter(|flow| first_start(flow) < scenario.duration);
    let mut flows = Vec::new();
    let (mut crossed, mut answers) = (BTreeSet::new(), BTreeSet::new());
    for flow in running() {
        let endpoint = scenario.endpoint_of(flow).ok()?;
        let [there, back] = link_names(&scenario.network, flow).ok()?;
        // ECN settings matter only if a queue on the forward route marks.
        let is_marked = there.iter().any(|link| marks(&scenario.network, link));
        let carrier = in_effect(carrier_of(&endpoint, flow), is_marked);
        if is_markable(&carrier) {
            answers.extend(there.iter().cloned());
        }
        crossed.extend([there, back].concat());
        let mut bare = flow.clone();
        // The effective transport is compared by its resolved configuration below.
        bare.transport = None;
        bare.endpoint.clear();
        flows.push((bare, format!("{} {carrier:?}", endpoint.transport)));
    }
    let mut network = network_in_effect(&scenario.network, &crossed, &answers);
    drop_late_changes(&mut network, scenario.duration);
    Some(Effect { flows, network })
}

/// Removes the changes of rates and the outages after the end of the run.
fn drop_late_changes(network: &mut Network, end: Time) {
    let shorten = |steps: &mut Vec<RateStep>, outages: &mut Vec<Outage>| {
        steps.retain(|step| step.at < end);
        outages.retain(|outage| outage.start < end);
    };
    match network {
        Network::Dumbbell(dumbbell) => {
            shorten(&mut dumbbell.bottleneck.rate_steps, &mut dumbbell.bottleneck.outages);
            shorten(&mut dumbbell.access.rate_steps, &mut dumbbell.access.outages);
            dumbbell.reverse.iter_mut().for_each(|reverse| shorten(&mut reverse.rate_steps, &mut reverse.outages));
        }
        Network::Links(links) => {
            for link in links {
                shorten(&mut link.rate_steps, &mut link.outages);
                link.reverse.iter_mut().for_each(|reverse| shorten(&mut reverse.rate_steps, &mut reverse.outages));
            }
        }
    }
}

pub(crate) fn first_start(flow: &Flow) -> earlybird_scenario::Time {
    match &flow.start {
        Start::At(at) => *at,
        Start::Uniform([low, _]) => *low,
        Start::Each(times) => times.iter().min().copied().unwrap_or_default(),
    }
}

fn in_effect(carrier: Carrier, is_marked: bool) -> Carrier {
    match carrier {
        Carrier::Tcp(mut settings) => {
            for config in [&mut settings.opener, &mut settings.listener] {
                *config = if is_marked { config.in_effect() } else { config.in_effect().without_marks() };
            }
            Carrier::Tcp(settings)
        }
        Carrier::Datagrams(mut settings) => {
            settings.config.ecn &= is_marked;
            Carrier::Datagrams(settings)
        }
        Carrier::External(mut settings) => {
            settings.ecn &= is_marked;
            Carrier::External(settings)
        }
    }
}

fn is_markable(carrier: &Carrier) -> bool {
    match carrier {
        Carrier::Tcp(settings) => settings.opener.ecn != EcnMode::Off,
        Carrier::Datagrams(settings) => settings.config.ecn,
        Carrier::External(settings) => settings.ecn,
    }
}
