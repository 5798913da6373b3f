//! Networks by themselves, without traffic.

use earlybird_scenario::{Network, Resolver, is_network};
use rstest::rstest;

const LINK: &str = r#"
title = "A link"
[parameters]
delay = "20ms"
[[network.links]]
from = "near"
to = "far"
rate = "5Mb/s"
delay = "$delay"
"#;

fn resolved(overrides: &[(&str, &str)]) -> Result<Network, earlybird_scenario::ScenarioError> {
    let overrides: Vec<_> = overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Resolver::default().resolve_network(LINK, &overrides)
}

#[test]
fn a_network_has_parameters_and_overrides_as_a_scenario_has() {
    let network = resolved(&[("delay", "50ms"), ("network.links.near-far.queue", "{packets=7}")]).expect("a network");
    let Network::Links(links) = network else { panic!("a list of links") };
    assert_eq!(
        (links[0].delay.to_string(), links[0].queue),
        ("50ms".to_owned(), earlybird_scenario::Queue::Packets(7))
    );
}

#[rstest]
#[case(LINK, true)]
#[case("duration = '1s'\nnetwork = { links = [] }", false)]
#[case("flows = []\nnetwork = { links = [] }", false)]
#[case("title = 'nothing'", false)]
#[case("no TOML", false)]
fn a_network_is_distinguished_from_a_scenario_by_its_keys(#[case] text: &str, #[case] is: bool) {
    assert_eq!(is_network(text), is);
}

#[rstest]
#[case::unknown_key(
    "network.links.near-far.dealy=1ms",
    "network.links.near-far.dealy: `dealy` is not a key here; allowed: arq, delay, duplicate, from, jitter, loss, outages, queue, rate, rate-steps, \
     reorder, reverse, to, trace, trace-start. hint: did you mean `delay`?"
)]
#[case::negative_delay(
    "delay=-5ms",
    "network.links.near-far.delay: `-5ms` is negative; allowed: a number with one of the units ns, us, ms, s, min, h, such as \
     26.7ms or 50s. hint: Propagation time of the link. The value is that of parameter `delay`."
)]
#[case::link_to_itself(
    "network.links.near-far.to=near",
    "network.links.0.to: `near` is also where the link begins; allowed: another node."
)]
#[case::short_update(
    "network.links.near-far.queue={pie={update=\"1us\"}}",
    "network.links.near-far.queue.pie.update: `1us` is too short; allowed: a duration from 15us on."
)]
#[case::unknown_link(
    "network.links.far-near.delay=1ms",
    "network.links.far-near: `far-near` is not in the list; allowed: near-far, or a number from 0 to 1."
)]
fn a_network_by_itself_is_refused_as_one_in_a_scenario_is(#[case] overridden: &str, #[case] expected: &str) {
    let error = resolved(&[overridden.split_once('=').expect("a key and a value")]).expect_err("refused");
    assert_eq!(error.to_string(), expected);
}
