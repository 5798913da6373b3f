//! Hashes the sources that decide what a run gives, so that results can be told apart by the code that made them.

use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

const CRATES: [&str; 7] = ["units", "wire", "tcp", "traffic", "sim", "scenario", "experiment"];

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    for name in CRATES {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in sources(&folder)? {
            bytes.extend(fs::read(file)?);
        }
    }
    println!("cargo::rustc-env=EARLYBIRD_CODE_VERSION={:016x}", (xxh3_128(&bytes) >> 64) as u64);
    Ok(())
}

fn sources(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
