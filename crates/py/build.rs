//! Hashes the sources that decide what a run gives, so that results can be told apart by the code that made them.

use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// For a simulation, and what comes to it in real time between sockets and over our own endpoints.
const SIM: [&str; 11] =
    ["units", "wire", "tcp", "datagram", "quic", "traffic", "queue", "sim", "transport", "scenario", "experiment"];
const KERNEL: [&str; 3] = ["emulator", "backends", "scheduling"];
const LIVE: [&str; 1] = ["live"];

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    for (backend, crates) in [("SIM", &SIM[..]), ("KERNEL", &KERNEL), ("LIVE", &LIVE)] {
        read(crates, &mut bytes)?;
        println!("cargo::rustc-env=EARLYBIRD_{backend}_VERSION={:016x}", (xxh3_128(&bytes) >> 64) as u64);
    }
    Ok(())
}

/// Adds the sources of crates.
fn read(crates: &[&str], bytes: &mut Vec<u8>) -> std::io::Result<()> {
    for name in crates {
        let folder = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", folder.display());
        for file in sources(&folder)? {
            bytes.extend(fs::read(file)?);
        }
    }
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
