//! Existing scenarios with times, counts and rates made extreme: an error or a run, never an abort.

#[path = "common/extremes.rs"]
mod extremes;

use earlybird_scenario::{canonical_json, resolve_in};
use extremes::{Outcome, extremes, leaves, try_text};
use rstest::rstest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a scenario with all its values, as JSON.
fn complete(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).expect("a scenario");
    let scenario = resolve_in(file.parent().expect("a folder"), &text, &[]).expect("a good scenario");
    serde_json::from_str(&canonical_json(&scenario)).expect("canonical JSON")
}

/// Tries every third extreme value in the place of each value of a scenario; gives what came of how many, or the changes
/// that ended in a panic.
fn try_extremes_of(file: &Path) -> Result<BTreeMap<Outcome, u32>, Vec<String>> {
    let (document, folder) = (complete(file), file.parent().expect("a folder"));
    let (mut outcomes, mut aborted) = (BTreeMap::new(), Vec::new());
    for (number, leaf) in leaves(&document).iter().enumerate() {
        let choices = extremes(document.pointer(leaf).expect("a leaf"));
        for (_, extreme) in choices.iter().enumerate().filter(|(place, _)| (place + number) % 3 == 0) {
            let mut changed = document.clone();
            *changed.pointer_mut(leaf).expect("a leaf") = extreme.clone();
            match catch_unwind(|| try_text(folder, &changed.to_string())) {
                Ok(outcome) => *outcomes.entry(outcome).or_insert(0) += 1,
                Err(_) => aborted.push(format!("{}: {leaf} = {extreme}", file.display())),
            }
        }
    }
    if aborted.is_empty() { Ok(outcomes) } else { Err(aborted) }
}

#[test]
fn a_scenario_with_an_extreme_value_aborted() {
    let files = std::fs::read_dir(repository().join("scenarios")).expect("a folder");
    let files = files.map(|file| file.expect("a file").path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "toml"));
    let tried: Vec<_> =
        files.chain([repository().join("studies/pert-video/queue.toml")]).map(|file| try_extremes_of(&file)).collect();
    let aborted: Vec<_> = tried.iter().filter_map(|each| each.as_ref().err()).flatten().collect();
    assert!(aborted.is_empty(), "{aborted:#?}");
    for outcomes in tried.iter().flatten() {
        assert!([Outcome::Ran, Outcome::Invalid].iter().all(|one| outcomes.contains_key(one)), "{outcomes:?}");
    }
}

#[rstest]
#[case("")]
#[case("{")]
#[case("duration = \"1s\"")]
#[case("[[flows]]\n[[flows]]")]
#[case("[network.links]\n")]
#[case("duration = 99999999999999999999999999")]
#[case("parameters = { a = \"$b\", b = \"$a\" }")]
fn a_broken_text_aborted(#[case] text: &str) {
    assert_eq!(try_text(Path::new(""), text), Outcome::Invalid);
}

#[test]
fn the_name_of_a_flow_was_searched_among_four_billion() {
    let mut document = complete(&repository().join("scenarios/reordering.toml"));
    document["flows"][0]["count"] = 4_294_967_295_u32.into();
    // Above the largest count, which is checked before any name is searched.
    assert_eq!(try_text(Path::new(""), &document.to_string()), Outcome::Invalid);
}
