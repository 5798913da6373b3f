//! Video files: read when the scenario is resolved, so that the resolved scenario is all that a run needs.

use crate::document::{parse, step_to};
use earlybird_transport::ScenarioError;
use serde_json::Value;
use std::path::Path;

/// The part of a video file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The table `media` of an application: pictures, each with its sound.
    Media,
    /// A [`Film`](crate::Film): pictures by kind, and sound apart.
    Film,
}

/// Reads video files; implemented by the caller of the resolver. The path of an error is ignored.
pub trait ReadMedia {
    /// Returns what is wanted of a file, as JSON.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn read(&self, file: &Path, wanted: Wanted) -> Result<String, ScenarioError>;
}

/// Reads no video files: every one is an error.
pub struct NoMedia;

impl ReadMedia for NoMedia {
    fn read(&self, _: &Path, _: Wanted) -> Result<String, ScenarioError> {
        let error = ScenarioError::new("", "is a video file, which cannot be read here");
        Err(error.allowed("the frames themselves").hint("the Python package reads video files."))
    }
}

/// Puts pictures and sound in the place of the names of video files, which count from `folder`.
pub(crate) fn read(document: &mut Value, folder: &Path, reader: &dyn ReadMedia) -> Result<(), ScenarioError> {
    let Some(Value::Array(flows)) = document.get_mut("flows") else { return Ok(()) };
    for index in 0..flows.len() {
        let path = format!("flows.{}.application", step_to(flows, index));
        let Some(application) = flows[index].get_mut("application") else { continue };
        read_one(application.get_mut("media"), &format!("{path}.media"), folder, reader, Wanted::Media)?;
        let media = application.get_mut("ingest").and_then(|ingest| ingest.get_mut("media"));
        read_one(media, &format!("{path}.ingest.media"), folder, reader, Wanted::Film)?;
    }
    Ok(())
}

fn read_one(
    media: Option<&mut Value>,
    path: &str,
    folder: &Path,
    reader: &dyn ReadMedia,
    wanted: Wanted,
) -> Result<(), ScenarioError> {
    let Some((media, file)) = media.and_then(|media| media.as_str().map(str::to_owned).map(|file| (media, file)))
    else {
        return Ok(());
    };
    let read = reader.read(&folder.join(&file), wanted).and_then(|text| parse(&text));
    // The reader knows the file, not the key that names it.
    *media = read.map_err(|error| ScenarioError { path: path.to_owned(), value: file, ..error })?;
    Ok(())
}
