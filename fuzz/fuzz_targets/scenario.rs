//! Texts of scenarios, valid and broken: the fuzzer's own, and existing ones with values made extreme.
#![no_main]

#[path = "../../crates/experiment/tests/common/extremes.rs"]
mod extremes;

use earlybird_scenario::{canonical_json, resolve_in};
use extremes::{extremes, leaves, try_text};
use serde_json::Value;
use std::path::Path;
use std::sync::LazyLock;

/// Complete scenarios with what may be changed in them.
static SCENARIOS: LazyLock<Vec<(Value, Vec<String>)>> = LazyLock::new(|| {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files: Vec<_> = std::fs::read_dir(repository.join("scenarios"))
        .expect("a folder")
        .map(|file| file.expect("a file").path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .chain([repository.join("studies/pert-video/queue.toml")])
        .collect();
    files.sort();
    files.iter().map(|file| complete(file)).collect()
});

fn complete(file: &Path) -> (Value, Vec<String>) {
    let text = std::fs::read_to_string(file).expect("a scenario");
    let scenario = resolve_in(file.parent().expect("a folder"), &text, &[]).expect("a good scenario");
    let document: Value = serde_json::from_str(&canonical_json(&scenario)).expect("canonical JSON");
    let leaves = leaves(&document);
    (document, leaves)
}

/// A text starts with a letter or a bracket; other first bytes pick a scenario, and the rest what to change: two bytes for
/// the place, one for the value.
fn text_of(data: &[u8]) -> Option<String> {
    let (first, rest) = data.split_first()?;
    if first.is_ascii_graphic() {
        return String::from_utf8(data.to_vec()).ok();
    }
    let (document, leaves) = &SCENARIOS[usize::from(*first) % SCENARIOS.len()];
    let mut document = document.clone();
    for change in rest.chunks_exact(3) {
        let leaf = &leaves[usize::from(u16::from_be_bytes([change[0], change[1]])) % leaves.len()];
        let value = document.pointer_mut(leaf)?;
        let choices = extremes(value);
        if !choices.is_empty() {
            *value = choices[usize::from(change[2]) % choices.len()].clone();
        }
    }
    Some(document.to_string())
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(text) = text_of(data) {
        try_text(Path::new(""), &text);
    }
});
