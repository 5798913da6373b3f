//! Trace files: read when the scenario is resolved, so that the resolved scenario is all that a run needs.

mod throughput;

use crate::document::step_to;
use earlybird_transport::ScenarioError;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// Puts the times in the files of all `trace` keys in the place of their names, which count from `folder`.
pub(crate) fn read(document: &mut Value, folder: &Path) -> Result<(), ScenarioError> {
    let Some(network) = document.get_mut("network") else { return Ok(()) };
    if let Some(dumbbell) = network.get_mut("dumbbell") {
        for key in ["bottleneck", "access", "reverse"] {
            read_one(dumbbell.get_mut(key), folder, &format!("network.dumbbell.{key}"))?;
        }
    }
    let Some(Value::Array(links)) = network.get_mut("links") else { return Ok(()) };
    for index in 0..links.len() {
        let path = format!("network.links.{}", step_to(links, index));
        read_one(links[index].get_mut("reverse"), folder, &format!("{path}.reverse"))?;
        read_one(links.get_mut(index), folder, &path)?;
    }
    Ok(())
}

fn read_one(channel: Option<&mut Value>, folder: &Path, path: &str) -> Result<(), ScenarioError> {
    let Some(trace) = channel.and_then(|channel| channel.get_mut("trace")) else { return Ok(()) };
    // Resolved scenarios have the times themselves.
    let Some(file) = trace.as_str() else { return Ok(()) };
    let path = format!("{path}.trace");
    let text = read_file(folder, file, &path)?;
    *trace = json!(trace_times(&text, file).map_err(|error| error.at(&path))?);
    Ok(())
}

/// The largest file in bytes.
const LARGEST: u64 = 128 << 20;

/// Returns the text of a file that the key at `path` names.
pub(crate) fn read_file(folder: &Path, file: &str, path: &str) -> Result<String, ScenarioError> {
    let mut text = String::new();
    let read = open(&folder.join(file)).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
    let read = read.and_then(|length| if length as u64 > LARGEST { Err(too_large()) } else { Ok(text) });
    read.map_err(|error| {
        let reason = error.kind().to_string();
        ScenarioError::new(path, format!("cannot be read: {reason}"))
            .text(file)
            .allowed("a text file")
            .hint("paths count from the folder of the scenario file.")
    })
}

/// Opens a file. A device such as `/dev/zero` has no end, and a pipe may have no writer, so that these are refused.
fn open(place: &Path) -> io::Result<File> {
    let kind = fs::metadata(place)?.file_type();
    if kind.is_file() || kind.is_dir() { File::open(place) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// Returns the times of delivery opportunities of 1500 bytes in milliseconds, from a trace in mahimahi's format, or of a time
/// in seconds and a rate in Mb/s per line, or from CSV with names of columns; `file` names it in errors.
///
/// # Errors
/// If it is none of these, at no path.
pub fn trace_times(text: &str, file: &str) -> Result<Vec<u64>, ScenarioError> {
    // Windows programs mark UTF-8.
    let text = text.trim_start_matches('\u{feff}');
    if throughput::has_columns(text) { throughput::opportunities(text, file) } else { times_of_lines(text, file) }
}

/// Reads one time in milliseconds per line.
fn times_of_lines(text: &str, file: &str) -> Result<Vec<u64>, ScenarioError> {
    let mut times: Vec<u64> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let error = |problem: &str| {
            ScenarioError::new("", format!("is {problem} in line {number} of {file}")).text(line).allowed(
                "one time in whole milliseconds per line, never falling; or seconds and Mb/s, or CSV with names",
            )
        };
        let time: u64 = line.trim().parse().map_err(|_| error("not a time"))?;
        if times.last().is_some_and(|last| time < *last) {
            return Err(error("earlier than the line before"));
        }
        times.push(time);
    }
    match times.last() {
        None => Err(useless(file, "is empty", "at least one time in milliseconds")),
        // mahimahi starts a trace again at its last time: a period of 0 would never end.
        Some(0) => Err(useless(file, "ends at 0 ms", "a last time above 0, at which the trace starts again")),
        Some(_) => Ok(times),
    }
}

fn useless(file: &str, problem: &str, allowed: &str) -> ScenarioError {
    ScenarioError::new("", problem).text(file).allowed(allowed)
}
