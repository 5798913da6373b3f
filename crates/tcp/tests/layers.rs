//! The crate's layers: a part imports only from parts of lower layers.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers, the lowest first; parts of one layer do not import each other.
const LAYERS: &[&[&str]] = &[
    &["trace"],
    &["scoreboard"],
    &["policy", "stream"],
    &["real_time"],
    &["config"],
    &["send", "receive"],
    &["connection"],
    &["listen"],
];

fn layer_of(part: &str) -> Option<usize> {
    LAYERS.iter().position(|parts| parts.contains(&part))
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the sources exist").map(|entry| entry.expect("readable").path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Returns the parts that a file imports, outside its tests.
fn imported_parts(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    let name = |path: &str| path.chars().take_while(|next| next.is_alphanumeric() || *next == '_').collect();
    paths.map(name).collect()
}

#[test]
fn parts_import_only_from_lower_layers() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = 0;
    for path in files_below(&source) {
        let inside = path.strip_prefix(&source).unwrap().with_extension("");
        let part = inside.iter().next().unwrap().to_str().unwrap();
        if part == "lib" {
            continue;
        }
        let own = layer_of(part).unwrap_or_else(|| panic!("{part} is in no layer"));
        for imported in imported_parts(&fs::read_to_string(&path).unwrap()) {
            let Some(other) = layer_of(&imported) else { continue };
            assert!(imported == part || other < own, "{} imports {imported}", path.display());
            imports += 1;
        }
    }
    assert!(imports > 50, "the imports were read");
}
