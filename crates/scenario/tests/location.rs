//! Errors are found in the file in which they are.

use earlybird_scenario::line_of;

const TEXT: &str = r#"title = "a line"
duration = "10s"

[network]
links = [
    { from = "a", to = "b", rate = "1Mb/s" },
]

[[flows]]
name = "video"
transport = "sack"

[[flows]]
name = "bulk"
endpoint.rto.floor = "1s"
"#;

#[test]
fn keys_are_found_by_name_and_by_number() {
    for (path, line) in [
        ("duration", 2),
        ("flows.video.transport", 11),
        ("flows.1.name", 14),
        ("flows.bulk.endpoint.rto.floor", 15),
        ("network.links.a-b.rate", 6),
    ] {
        assert_eq!(line_of(TEXT, path), Some(line), "{path}");
    }
}

#[test]
fn a_missing_key_is_at_the_table_that_lacks_it() {
    assert_eq!(line_of(TEXT, "flows.video.application"), Some(9));
    assert_eq!(line_of(TEXT, "measure.series"), None);
}

#[test]
fn only_toml_has_lines() {
    assert_eq!(line_of(r#"{"duration": "1s"}"#, "duration"), None);
    assert_eq!(line_of("duration = ", "duration"), None);
}
