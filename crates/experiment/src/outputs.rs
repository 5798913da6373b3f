//! The files that a run writes besides its tables.

use crate::RunError;
use crate::capture::Capture;
use crate::plan::Plan;
use crate::qlog::Qlog;
use crate::trace::{FlowTrace, LinkTrace};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files to write.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// One line per event of the chosen flows.
    pub trace: Option<PathBuf>,
    /// The segments, ACKs and decisions of the senders of the chosen flows, in the format qlog.
    pub qlog: Option<PathBuf>,
    /// The flows to trace; empty: all but web flows.
    pub trace_flows: Vec<String>,
    /// One line per packet offered to the bottleneck.
    pub link_trace: Option<PathBuf>,
    /// A capture at the hosts that open connections.
    pub capture: Option<PathBuf>,
}

impl Outputs {
    /// Returns the path of the file that callers select by `name`, or `None` if there is no such file.
    pub fn file_mut(&mut self, name: &str) -> Option<&mut Option<PathBuf>> {
        match name {
            "trace" => Some(&mut self.trace),
            "qlog" => Some(&mut self.qlog),
            "link_trace" => Some(&mut self.link_trace),
            "pcap" => Some(&mut self.capture),
            _ => None,
        }
    }

    /// Returns whether a file is written that needs every packet.
    pub(crate) fn any(&self) -> bool {
        [&self.trace, &self.qlog, &self.link_trace, &self.capture].into_iter().any(Option::is_some)
    }
}

/// Observers that collect the contents of the files. A pair of observers is an observer, hence the nesting.
pub(crate) type Files = ((Option<FlowTrace>, Option<Qlog>), (Option<LinkTrace>, Option<Capture>));

/// Creates the observers of the requested files.
pub(crate) fn open(plan: &Plan, outputs: &Outputs) -> Result<Files, RunError> {
    let trace = outputs.trace.as_ref().map(|_| FlowTrace::new(plan, &outputs.trace_flows)).transpose()?;
    // Each file has its own observer, so that a run without it pays nothing.
    let qlog = outputs.qlog.as_ref().map(|_| Qlog::new(plan, &outputs.trace_flows)).transpose()?;
    let link = outputs.link_trace.as_ref().map(|_| LinkTrace::new(plan));
    // A capture is too large to be held: it is written during the run, the others at its end.
    let capture = outputs.capture.as_deref().map(|path| Capture::create(path, plan)).transpose()?;
    Ok(((trace, qlog), (link, capture)))
}

/// Writes the files at the end of a run.
pub(crate) fn finish(files: Files, plan: &Plan, outputs: &Outputs) -> Result<(), RunError> {
    let ((trace, qlog), (link, capture)) = files;
    if let (Some(trace), Some(path)) = (trace, &outputs.trace) {
        write_file(path, |file| trace.write(plan, file))?;
    }
    if let (Some(qlog), Some(path)) = (qlog, &outputs.qlog) {
        write_file(path, |file| qlog.write(plan, file))?;
    }
    if let (Some(link), Some(path)) = (link, &outputs.link_trace) {
        write_file(path, |file| link.write(plan, file))?;
    }
    capture.map_or(Ok(()), Capture::finish)
}

fn write_file(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), RunError> {
    let create = || {
        let mut file = BufWriter::new(File::create(path)?);
        write(&mut file)?;
        file.flush()
    };
    create().map_err(|error| RunError::output(path, error))
}
