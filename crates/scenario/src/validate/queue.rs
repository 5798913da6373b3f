use super::ensure;
use crate::model::{Network, Queue, Red, Scenario};
use earlybird_transport::{ScenarioError, Time, positive};

pub(super) fn validate(scenario: &Scenario) -> Result<(), ScenarioError> {
    queues(&scenario.network).into_iter().try_for_each(|(path, queue)| check(&queue, &path))
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
                let reverse = link.reverse.as_ref().map(|channel| (format!("{path}.reverse.queue"), channel.queue));
                [(format!("{path}.queue"), link.queue)].into_iter().chain(reverse)
            })
            .collect(),
    }
}

fn check(queue: &Queue, path: &str) -> Result<(), ScenarioError> {
    match queue {
        Queue::Red(red) => check_red(red, &format!("{path}.red")),
        Queue::Codel(codel) => positive(codel.interval, &format!("{path}.codel.interval")),
        Queue::Pie(pie) => check_update(pie.update, &format!("{path}.pie.update")),
        Queue::FqCodel(fq) => positive(fq.interval, &format!("{path}.fq-codel.interval")),
        Queue::DualPi2(dual) => check_update(dual.update, &format!("{path}.dualpi2.update")),
        Queue::Unlimited | Queue::Packets(_) | Queue::Bytes(_) | Queue::HeadDrop(_) => Ok(()),
    }
}

/// The shortest period of a controller: a thousandth of the standards' 15 ms (RFC 8033) and 16 ms (RFC 9332). Every period of
/// a run is made up for, so that shorter ones take all day.
const SHORTEST_UPDATE: Time = Time::from_micros(15);

fn check_update(update: Time, path: &str) -> Result<(), ScenarioError> {
    positive(update, path)?;
    let error = || ScenarioError::new(path, "is too short").text(&update.to_string());
    ensure(update >= SHORTEST_UPDATE, || error().allowed(format!("a duration from {SHORTEST_UPDATE} on")))
}

fn check_red(red: &Red, path: &str) -> Result<(), ScenarioError> {
    let Some(max) = red.max_threshold else { return Ok(()) };
    let error = |problem| ScenarioError::new(&format!("{path}.max-threshold"), problem).text(&max.to_string());
    let Some(min) = red.min_threshold else {
        return Err(error("stands without `min-threshold`").allowed("both thresholds, or the lower one, or none"));
    };
    ensure(max > min, || error("is not above `min-threshold`").allowed(format!("a number above {min}")))
}
