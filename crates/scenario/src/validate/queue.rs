use crate::model::{Network, Queue};
use earlybird_transport::ScenarioError;

pub(super) fn validate(network: &Network) -> Result<(), ScenarioError> {
    queues(network).into_iter().try_for_each(|(path, queue)| queue.check(&path))
}

/// Returns all queues of a network with their paths.
fn queues(network: &Network) -> Vec<(String, Queue)> {
    match network {
        Network::Dumbbell(dumbbell) => vec![
            ("network.dumbbell.bottleneck.queue".to_owned(), dumbbell.bottleneck.queue),
            ("network.dumbbell.access.queue".to_owned(), dumbbell.access.queue),
            ("network.dumbbell.reverse-queue".to_owned(), dumbbell.reverse_queue),
        ],
        Network::Links(links) => links
            .iter()
            .flat_map(|link| {
                let path = format!("network.links.{}", link.name());
                // Without `reverse` the other direction has the same queue, which is checked once.
                let reverse = link.reverse.as_ref().map(|channel| (format!("{path}.reverse.queue"), channel.queue));
                [(format!("{path}.queue"), link.queue)].into_iter().chain(reverse)
            })
            .collect(),
    }
}
