//! Records of what tests compared with the literature.
//!
//! A test calls [`conforms`] after its last assertion. If `EARLYBIRD_CONFORMANCE` names a folder, the record is written there,
//! and `tools/conformance.py` compiles `docs/conformance.md`; otherwise nothing happens.
#![forbid(unsafe_code)]

use serde_json::json;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// The part of earlybird that a test covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Congestion controls.
    Control,
    /// Loss recovery, its triggers and undoing.
    Recovery,
    /// The retransmission timer.
    Timer,
    /// Real-time mode.
    RealTime,
    /// Queues and marking.
    Queue,
    /// Losses, reordering, duplication and changing rates.
    Network,
    /// Applications and other traffic.
    Traffic,
}

impl Area {
    const fn title(self) -> &'static str {
        match self {
            Self::Control => "Congestion control",
            Self::Recovery => "Loss recovery",
            Self::Timer => "Retransmission timer",
            Self::RealTime => "Real-time mode",
            Self::Queue => "Queues",
            Self::Network => "Network",
            Self::Traffic => "Traffic",
        }
    }
}

/// Records that `algorithm` agrees with `source`.
///
/// `compared` names what is compared; `result` is the outcome in numbers: how many values, how close. Neither may depend on the
/// machine or the time.
///
/// # Panics
///
/// If the record cannot be written.
pub fn conforms(area: Area, algorithm: &str, source: &str, compared: &str, result: &str) {
    // Off by default: ordinary test runs write nothing.
    let Some(folder) = std::env::var_os("EARLYBIRD_CONFORMANCE") else { return };
    let mut hasher = DefaultHasher::new();
    // The name of the file identifies the comparison, so that a repeated test overwrites its note.
    (area, algorithm, source, compared).hash(&mut hasher);
    let folder = Path::new(&folder);
    let note = json!({
        "area": area.title(), "algorithm": algorithm, "source": source, "compared": compared, "result": result,
    });
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join(format!("{:016x}.json", hasher.finish())), note.to_string()));
    assert!(written.is_ok(), "cannot write to {}: {written:?}", folder.display());
}
