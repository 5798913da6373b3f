use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A film given by a file with a line for each frame, as the libraries of video traces in Berlin and Arizona publish them.
///
/// A line has the size, or number, type, time and size, or number, time, type and size, and then any other fields,
/// between spaces or tabs; `#` begins a comment. Frames of size 0 were skipped by the encoder and are not sent. The
/// complete scenario has the frames instead of the file's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Frames {
    /// The file, seen from the folder of the scenario.
    pub file: String,
    /// Frames per second: required if lines have only the size; else it replaces the times of the file.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fps: Option<f64>,
    /// Unit of times in the file (default ms).
    #[serde(default)]
    pub time_unit: TimeUnit,
    /// Unit of sizes in the file (default bytes).
    #[serde(default)]
    pub size_unit: SizeUnit,
}

/// The unit of a trace's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Milliseconds.
    #[default]
    Ms,
    /// Seconds.
    S,
}

/// The unit of a trace's sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeUnit {
    /// Bytes.
    #[default]
    Bytes,
    /// Bits; a frame takes whole bytes.
    Bits,
}

impl TimeUnit {
    /// Returns how many make a second.
    pub(crate) const fn per_second(self) -> f64 {
        match self {
            Self::Ms => 1000.0,
            Self::S => 1.0,
        }
    }
}

impl SizeUnit {
    /// Returns how many bits it has.
    pub(crate) const fn bits(self) -> u64 {
        match self {
            Self::Bytes => 8,
            Self::Bits => 1,
        }
    }
}
