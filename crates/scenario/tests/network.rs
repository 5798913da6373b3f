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
fn a_network_is_told_from_a_scenario_by_its_keys(#[case] text: &str, #[case] is: bool) {
    assert_eq!(is_network(text), is);
}
