//! Texts that cannot be read, and parameters.

use crate::{expand, message};
use rstest::rstest;

#[rstest]
#[case::broken_toml(
    "duration = \"10s\"\nflows == 3\n",
    "line 2, column 8: `flows == 3` is not TOML: extra `=`, expected nothing; allowed: TOML, or JSON in a text that starts with `{`."
)]
#[case::broken_toml_twice("duration = \"10s\"\nduration = \"11s\"\n", r#"line 2, column 1: `duration = "11s"` is not TOML: duplicate key; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::broken_toml_end("duration = \"10s", r#"line 1, column 16: `duration = "10s` is not TOML: invalid basic string, expected `"`; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::broken_json("{\n  \"duration\": \"10s\",\n  \"flows\": [}\n", r#"line 3, column 13: `"flows": [}` is not JSON: expected value; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::cut_json("{\"duration\": \"10s\"", r#"line 1, column 18: `{"duration": "10s"` is not JSON: EOF while parsing an object; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::empty("", "duration: is missing; allowed: {TIMES}. hint: Time from start to end, simulated or real.")]
#[case::nothing_but_a_key(
    "duraton = \"1s\"",
    "duraton: `duraton` is not a key here; allowed: backend, duration, endpoint, flows, measure, network, parameters, resolved, sweep, title, variants. hint: did you mean `duration`?"
)]
#[case::null(
    "{\"duration\": null, \"network\": 3, \"flows\": []}",
    "duration: `null` is not a duration; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case::date(
    "duration = 1979-05-27\nflows = []\nnetwork = 3",
    "duration: `1979-05-27` is not a duration; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case::nan(
    "duration = \"1s\"\n[network.dumbbell]\nbottleneck = [nan]",
    "network.dumbbell.bottleneck.0: `NaN` is not finite; allowed: a finite number."
)]
#[case::undeclared(
    "title = \"$name\"",
    "title: `$name` is not a parameter; allowed: no name, as [parameters] is empty."
)]
#[case::undeclared_near(
    "title = \"$nam\"\n[parameters]\nname = 3",
    "title: `$nam` is not a parameter; allowed: $name. hint: did you mean `$name`?"
)]
#[case::undeclared_in_list(
    "flows = [{ name = \"x\" }, { name = \"y\", count = \"$n\" }]",
    "flows.y.count: `$n` is not a parameter; allowed: no name, as [parameters] is empty."
)]
#[case::unused("[parameters]\nname = 3", r#"parameters.name: `name` is declared but never used; allowed: parameters that a value or a variant refers to. hint: write "$name" where its value belongs, or take it out."#)]
#[case::bad_name(
    "title = \"$n.m\"\n[parameters]\n\"n.m\" = 3",
    "parameters.n.m: `n.m` is not a name for a parameter; allowed: a letter followed by letters, digits, `-` and `_`."
)]
#[case::chained(
    "title = \"$a\"\n[parameters]\na = \"$b\"\nb = \"x\"",
    "parameters.a: `$b` refers to another parameter, `b`; allowed: a value."
)]
#[case::parameters_no_table(
    "parameters = 3",
    "duration: is missing; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case::variants_no_table(
    "variants = 3",
    "variants: `3` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_undeclared(
    "[variants.option.x]\n[parameters]\noptions = 3\n[variants.options.3]",
    "variants.option: `option` is not a parameter; allowed: options. hint: did you mean `options`?"
)]
#[case::variants_list(
    "variants.o = [1]\nparameters.o = 1",
    "variants.o: `[1]` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_overlay(
    "variants.o.1 = 5\nparameters.o = 1",
    "variants.o.1: `5` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_parameters(
    "variants.o.1.parameters.o = 5\nparameters.o = 1",
    "variants.o.1.parameters: `parameters` cannot depend on a parameter; allowed: the other keys of a scenario."
)]
#[case::variants_value(
    "variants.o.fall96.title = \"x\"\nparameters.o = \"fall95\"",
    "o: `fall95` is not among its variants; allowed: fall96. hint: did you mean `fall96`?"
)]
#[case::variants_key(
    "variants.o.1.titel = \"x\"\nparameters.o = 1\n",
    "titel: `titel` is not a key here; allowed: backend, duration, endpoint, flows, measure, network, parameters, resolved, sweep, title, variants. hint: did you mean `title`?"
)]
#[case::variants_element(
    "flows = [{name = \"x\"}]\nvariants.o.1.flows.y.count = 3\nparameters.o = 1\n",
    "flows.y: `y` is not in the list; allowed: x, or a number from 0 to 1."
)]
fn broken_texts(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(message(text, ""), expand(expected));
}
