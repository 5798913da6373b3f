//! Defaults of congestion controls: their values are those of `earlybird-tcp`, and descriptions of keys state them.

use earlybird_tcp::Control;
use earlybird_transport::{Endpoint, Profile, Transports};
use serde_json::{Value, json};

/// Returns the default that a description states, as in `(default 10 s; profile …)`.
fn stated(description: &str) -> Option<Value> {
    let (_, rest) = description.rsplit_once("default ")?;
    let text = rest.split([';', ')']).next()?.trim_matches('`');
    Some(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)))
}

fn control(name: &str, table: &Value) -> Control {
    let endpoint: Endpoint = serde_json::from_value(json!({ "transport": name, name: table })).expect("a table");
    endpoint.controls.control(name, Profile::Rfc).expect("a control")
}

/// Returns the defaults that the descriptions of a table's keys state.
fn defaults(schema: &Value, definition: &str) -> Vec<(String, Value)> {
    let keys = schema["$defs"][definition]["properties"].as_object().expect("keys");
    let stated = |(key, node): (&String, &Value)| Some((key.clone(), stated(node["description"].as_str()?)?));
    keys.iter().filter_map(stated).collect()
}

#[test]
fn a_default_that_a_description_states_is_the_one_that_holds() {
    let transports = Transports::built_in();
    let schema = transports.endpoint_schema();
    let mut count = 0;
    for (name, definition) in [
        ("bbr1", "Bbr1"),
        ("bbr3", "Bbr3"),
        ("copa", "Copa"),
        ("cubic", "Cubic"),
        ("pert", "Pert"),
        ("prague", "Prague"),
        ("vegas", "Vegas"),
    ] {
        for (key, value) in defaults(schema, definition) {
            assert_eq!(control(name, &json!({ &key: &value })), control(name, &json!({})), "endpoint.{name}.{key}");
            count += 1;
        }
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn a_default_of_the_design_of_pert_pi_is_the_one_that_holds() {
    let transports = Transports::built_in();
    let stated = defaults(transports.endpoint_schema(), "PiDesign");
    assert_eq!(stated.len(), 6);
    for (key, value) in stated {
        let given = control("pert", &json!({ "preset": "pi", "pi": { &key: value } }));
        assert_eq!(given, control("pert", &json!({ "preset": "pi" })), "endpoint.pert.pi.{key}");
    }
}

#[test]
fn another_value_than_the_default_makes_another_control() {
    assert_ne!(control("bbr3", &json!({ "beta": 0.6 })), control("bbr3", &json!({})));
    assert_ne!(
        control("pert", &json!({ "preset": "pi", "pi": { "flows": 51 } })),
        control("pert", &json!({ "preset": "pi" }))
    );
}
