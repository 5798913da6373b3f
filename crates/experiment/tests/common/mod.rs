//! Runs of the scenarios that come with earlybird.

use earlybird_experiment::{Outputs, Report, run};
use earlybird_scenario::resolve_in;
use std::path::Path;

/// Runs a scenario file with changes.
pub(crate) fn report(file: &str, changes: &[(&str, &str)]) -> Report {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join(file)).expect("a scenario file");
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let scenario = resolve_in(&folder, &text, &changes).expect("a good scenario");
    run(&scenario, 1, &Outputs::default(), &mut || true).expect("a run")
}
