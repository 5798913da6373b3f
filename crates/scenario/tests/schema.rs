//! The schema that editors and the reference use.

use earlybird_scenario::{Transports, schema};
use serde_json::Value;

fn document() -> Value {
    serde_json::from_str(&schema(&Transports::built_in())).expect("a schema is JSON")
}

#[test]
fn every_key_is_described() {
    let document = document();
    let tables = document["$defs"].as_object().unwrap().values().chain([&document]);
    let keys: Vec<_> = tables.filter_map(|table| table["properties"].as_object()).flatten().collect();
    assert!(keys.len() > 60);
    for (key, schema) in keys {
        assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
}

#[test]
fn ranges_and_forms_are_part_of_it() {
    let document = document();
    assert_eq!(document["$defs"]["Endpoint"]["properties"]["mss"]["maximum"], 65_495);
    assert_eq!(document["$defs"]["Flow"]["properties"]["count"]["minimum"], 1);
    assert_eq!(document["$defs"]["Flow"]["properties"]["endpoint"]["$ref"], "#/$defs/Endpoint");
    assert_eq!(document["$defs"]["Time"]["examples"][0], "26.7ms");
}

#[test]
fn values_may_be_parameters_and_variants_may_be_given() {
    let document = document();
    let count = &document["$defs"]["Flow"]["properties"]["count"];
    assert_eq!(count["type"], serde_json::json!(["integer", "string"]));
    assert_eq!(count["pattern"], r"^\$[A-Za-z][A-Za-z0-9_-]*$");
    assert_eq!(document["properties"]["variants"]["type"], "object");
}
