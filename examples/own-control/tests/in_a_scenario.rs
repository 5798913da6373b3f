//! The control in a scenario: by name, with parameters, checked, and in every message.

#[path = "../../../crates/experiment/tests/common/mod.rs"]
mod common;

use common::{run_once, summary};
use earlybird_experiment::Outputs;
use earlybird_scenario::{Resolver, Scenario, ScenarioError, Transports, schema};
use own_control::Aimd;

const FILE_OVER_A_LINK: &str = r#"
duration = "20s"
[endpoint]
transport = "aimd-example"
aimd-example = { increase = 0.5, decrease = 0.25 }
[[network.links]]
from = "a"
to = "b"
rate = "5Mb/s"
delay = "20ms"
queue = { packets = 30 }
[[flows]]
name = "file"
from = "a"
to = "b"
application = { bulk = {} }
"#;

fn transports() -> Transports {
    Transports::built_in().with::<Aimd>().expect("the name is free")
}

fn resolved(changes: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Resolver { transports: transports(), ..Resolver::default() }.resolve(FILE_OVER_A_LINK, &changes)
}

fn error(change: &str) -> ScenarioError {
    let (key, value) = change.split_once('=').expect("a key and a value");
    resolved(&[(key, value)]).expect_err("no scenario")
}

/// Returns the share of packets that the link dropped, and how much of it was used.
fn run_with(change: &[(&str, &str)]) -> (f64, f64) {
    let report = run_once(&resolved(change).expect("a scenario"), &Outputs::default());
    (summary(&report, "drop_rate"), summary(&report, "utilisation"))
}

#[test]
fn its_parameters_decide_how_a_run_goes() {
    let (gentle, bold) = (run_with(&[]), run_with(&[("endpoint.aimd-example.increase", "10")]));
    assert!(gentle.1 > 0.9, "the link is used: {gentle:?}");
    assert!(bold.0 > 2.0 * gentle.0, "ten segments per round trip lose more: {bold:?}, {gentle:?}");
}

#[test]
fn half_of_all_packets_were_dropped_where_the_window_had_no_limit() {
    for change in [&[][..], &[("endpoint.aimd-example", "{}")], &[("endpoint.transport", "aimd-example-rack")]] {
        let (dropped, used) = run_with(change);
        assert!(dropped < 0.05 && used > 0.95, "{change:?}: {dropped} dropped, {used} used");
    }
}

#[test]
fn it_may_have_the_ends_that_other_transports_have() {
    let names = transports().names();
    for name in ["aimd-example", "aimd-example-er", "aimd-example-rack-fg"] {
        assert!(names.iter().any(|known| known == name), "{name}");
    }
    assert!(run_with(&[("endpoint.transport", "aimd-example-rack")]).1 > 0.9);
}

#[test]
fn the_schema_describes_its_table() {
    let schema = schema(&transports());
    for part in [
        "\"aimd-example\"",
        "AIMD's parameters (transports with `aimd-example`).",
        "The segments that a round trip adds",
    ] {
        assert!(schema.contains(part), "{part}");
    }
}

#[test]
fn a_value_out_of_range_is_named_with_what_is_allowed() {
    let error = error("endpoint.aimd-example.decrease=2");
    assert_eq!(error.path, "endpoint.aimd-example.decrease");
    assert_eq!(error.allowed, "a number from 0.01 to 0.99");
}

#[test]
fn a_mistyped_key_or_name_is_guessed() {
    assert_eq!(error("endpoint.aimd-example.decrese=0.5").hint, "did you mean `decrease`?");
    let name = error("endpoint.transport=aimd-exampel");
    assert_eq!(name.hint, "did you mean `aimd-example`?");
    assert!(name.allowed.contains("prague-rack, aimd-example, "), "{}", name.allowed);
}

#[test]
fn policies_that_do_not_go_with_it_are_refused_as_with_any_other() {
    let error = error("endpoint={transport='aimd-example',recovery='tahoe'}");
    assert_eq!(error.path, "endpoint.recovery");
}

#[test]
fn a_register_without_it_refuses_its_name() {
    let error = Resolver::default().resolve(FILE_OVER_A_LINK, &[]).expect_err("no scenario");
    assert_eq!((error.path.as_str(), error.value.as_str()), ("endpoint.aimd-example", "aimd-example"));
}
