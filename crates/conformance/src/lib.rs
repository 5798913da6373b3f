//! What the tests compared with the literature, noted by the tests themselves.
//!
//! A test calls [`conforms`] after its last assertion. With `EARLYBIRD_CONFORMANCE` naming a folder, the note goes there,
//! and `tools/conformance.py` makes `docs/conformance.md` of all notes; without it nothing happens.
#![forbid(unsafe_code)]

use serde_json::json;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// Which part of earlybird a test looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Congestion controls.
    Control,
    /// Loss recovery, its triggers and undoing.
    Recovery,
    /// The retransmission timer.
    Timer,
    /// TCP that would rather skip than stall.
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

/// Notes that `algorithm` was compared with `source` and agrees.
///
/// `compared` says what with what; `result` gives the outcome in numbers: how many values, how close. Neither may depend
/// on the machine or the time.
///
/// # Panics
///
/// If the note cannot be written.
pub fn conforms(area: Area, algorithm: &str, source: &str, compared: &str, result: &str) {
    let Some(folder) = std::env::var_os("EARLYBIRD_CONFORMANCE") else { return };
    let mut hasher = DefaultHasher::new();
    (area, algorithm, source, compared).hash(&mut hasher);
    let folder = Path::new(&folder);
    let note = json!({
        "area": area.title(), "algorithm": algorithm, "source": source, "compared": compared, "result": result,
    });
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(folder.join(format!("{:016x}.json", hasher.finish())), note.to_string()));
    assert!(written.is_ok(), "cannot write to {}: {written:?}", folder.display());
}
