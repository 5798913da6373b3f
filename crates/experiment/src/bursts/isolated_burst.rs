//! Isolation of one burst, if the recovery from a burst lasts into the next one.

use crate::table::{Column, Table};
use earlybird_scenario::{Application, Loss, Network, Periodic, Scenario};

/// Returns the scenario with its first burst alone – without the packets of the other periods –, if the run could not tell as
/// many bursts apart as it was to measure.
pub(crate) fn isolated_burst(
    scenario: &Scenario,
    bottleneck: &str,
    tables: &[(&'static str, Table)],
) -> Option<Scenario> {
    let count = scenario.measure.bursts.as_ref()?.count?;
    let period = rule(scenario, bottleneck)?.period;
    if separable_bursts(tables)? >= count {
        return None;
    }
    let mut isolated = scenario.clone();
    losses_mut(&mut isolated, bottleneck)?.iter_mut().for_each(|loss| {
        if let Loss::Periodic(rule) = loss {
            // Same packet numbers, so that the first burst is the same one.
            rule.bursts = Some(1);
        }
    });
    for flow in &mut isolated.flows {
        if let Application::Cbr(cbr) = &mut flow.application {
            let others = period.saturating_mul(count - 1);
            // The run ends one period after its only burst instead of after all.
            cbr.packets = cbr.packets.map(|packets| packets.saturating_sub(others).max(1));
        }
    }
    Some(isolated)
}

/// Returns the rule that loses bursts at the bottleneck.
pub(super) fn rule<'a>(scenario: &'a Scenario, bottleneck: &str) -> Option<&'a Periodic> {
    losses(scenario, bottleneck)?
        .iter()
        .find_map(|loss| if let Loss::Periodic(rule) = loss { Some(rule) } else { None })
}

/// Returns the smallest number of bursts that a flow shows.
fn separable_bursts(tables: &[(&'static str, Table)]) -> Option<u64> {
    let (_, table) = tables.iter().find(|(name, _)| *name == "bursts")?;
    let (_, Column::String(flows)) = table.columns.iter().find(|(name, _)| *name == "flow")? else { return None };
    flows.chunk_by(|one, next| one == next).map(|rows| rows.len() as u64).min()
}

fn losses<'a>(scenario: &'a Scenario, bottleneck: &str) -> Option<&'a Vec<Loss>> {
    match &scenario.network {
        Network::Dumbbell(dumbbell) => Some(&dumbbell.bottleneck.loss),
        Network::Links(links) => links.iter().find(|link| link.name() == bottleneck).map(|link| &link.loss),
    }
}

fn losses_mut<'a>(scenario: &'a mut Scenario, bottleneck: &str) -> Option<&'a mut Vec<Loss>> {
    match &mut scenario.network {
        Network::Dumbbell(dumbbell) => Some(&mut dumbbell.bottleneck.loss),
        Network::Links(links) => links.iter_mut().find(|link| link.name() == bottleneck).map(|link| &mut link.loss),
    }
}
