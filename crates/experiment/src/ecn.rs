//! Which queues of a scenario mark packets, and the network without marks that no endpoint reacts to.

use crate::link_paths::ACCESS;
use earlybird_scenario::{Link, Network, Queue};
use std::collections::BTreeSet;

/// Returns whether the queue of the link of this name marks packets.
pub(crate) fn marks(network: &Network, name: &str) -> bool {
    queue_of(network, name).is_some_and(|queue| queue.marks())
}

fn queue_of(network: &Network, name: &str) -> Option<Queue> {
    match network {
        Network::Dumbbell(dumbbell) => Some(match name {
            ACCESS => dumbbell.access.queue,
            "left-right" => dumbbell.bottleneck.queue,
            _ => dumbbell.reverse_queue,
        }),
        Network::Links(links) => links.iter().find_map(|link| match name {
            name if name == link.name() => Some(link.forward().queue),
            name if name == link.reverse_name() => Some(link.backward().queue),
            _ => None,
        }),
    }
}

/// Returns the bytes that the queue of the link of this name holds, and the path of that setting; nothing if it counts packets.
pub(crate) fn room_in_bytes(network: &Network, name: &str) -> Option<(String, u64)> {
    let Queue::Bytes(bytes) = queue_of(network, name)? else { return None };
    let table = match (network, name) {
        (Network::Dumbbell(_), ACCESS) => "dumbbell.access.queue".to_owned(),
        (Network::Dumbbell(_), "left-right") => "dumbbell.bottleneck.queue".to_owned(),
        (Network::Dumbbell(_), _) => "dumbbell.reverse-queue".to_owned(),
        (Network::Links(_), _) => format!("links.{name}.queue"),
    };
    Some((format!("network.{table}.bytes"), bytes))
}

/// Returns the links that flows cross, each with marking only if a flow on it reacts to marks.
pub(crate) fn network_in_effect(network: &Network, crossed: &BTreeSet<String>, answers: &BTreeSet<String>) -> Network {
    let seen = |queue: Queue, names: &[&str]| {
        if names.iter().any(|name| answers.contains(*name)) { queue } else { queue.without_marks() }
    };
    match network {
        Network::Dumbbell(dumbbell) => {
            let mut dumbbell = dumbbell.clone();
            dumbbell.bottleneck.queue = seen(dumbbell.bottleneck.queue, &["left-right"]);
            dumbbell.reverse_queue = seen(dumbbell.reverse_queue, &["right-left"]);
            dumbbell.access.queue = seen(dumbbell.access.queue, &[ACCESS]);
            Network::Dumbbell(dumbbell)
        }
        Network::Links(links) => {
            let is_crossed = |link: &&Link| crossed.contains(&link.name()) || crossed.contains(&link.reverse_name());
            let links = links.iter().filter(is_crossed).map(|link| {
                let (there, back) = (link.name(), link.reverse_name());
                let mut link = link.clone();
                link.queue = seen(link.queue, &[&there, &back]);
                if let Some(reverse) = &mut link.reverse {
                    reverse.queue = seen(reverse.queue, &[&back]);
                }
                link
            });
            Network::Links(links.collect())
        }
    }
}
