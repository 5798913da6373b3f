//! The crate's storeys: what a part may know. A part knows those below it, and nobody above.

use std::fs;
use std::path::{Path, PathBuf};

/// The parts from the ground up; those of one storey do not know one another.
const STOREYS: &[&[&str]] = &[
    &["trace"],
    &["scoreboard"],
    &["policy", "stream"],
    &["real_time"],
    &["config"],
    &["send", "receive"],
    &["connection"],
    &["listen"],
];

fn storey_of(part: &str) -> Option<usize> {
    STOREYS.iter().position(|parts| parts.contains(&part))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources are there").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Returns the parts that a file names, outside its tests.
fn parts_named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    let name = |path: &str| path.chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
    paths.map(name).collect()
}

#[test]
fn no_part_knows_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for path in files_below(&source) {
        let inside = path.strip_prefix(&source).unwrap().with_extension("");
        let part = inside.iter().next().unwrap().to_str().unwrap();
        if part == "lib" {
            continue;
        }
        let own = storey_of(part).unwrap_or_else(|| panic!("{part} stands in no storey"));
        for named in parts_named(&fs::read_to_string(&path).unwrap()) {
            let Some(other) = storey_of(&named) else { continue };
            assert!(named == part || other < own, "{} knows {named}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 50, "the imports were read");
}
