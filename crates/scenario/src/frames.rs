//! Files with a line for each frame of a film.

use crate::model::{Application, Frames, Media, Scenario};
use crate::traces::read_file;
use earlybird_transport::ScenarioError;
use std::path::Path;

/// The largest frame in bytes that is taken for one.
const LARGEST: u64 = 100_000_000;

/// The least time between frames on average, in seconds: less means a wrong unit.
const SHORTEST: f64 = 0.001;

impl Scenario {
    /// Puts the frames of files, named as seen from `folder`, in the place of the files' names.
    pub(crate) fn read_frames(&mut self, folder: &Path) -> Result<(), ScenarioError> {
        for flow in &mut self.flows {
            if let Application::Frames(frames) = &flow.application {
                let path = format!("flows.{}.application.frames", flow.name);
                flow.application = Application::Media(read(frames, folder, &path)?);
            }
        }
        Ok(())
    }
}

fn read(frames: &Frames, folder: &Path, path: &str) -> Result<Media, ScenarioError> {
    let text = read_file(folder, &frames.file, &format!("{path}.file"))?;
    let mut reader = Reader { frames, path, times: Vec::new(), sizes: Vec::new(), count: 0, last: 0.0 };
    for (number, line) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        if !fields.is_empty() {
            reader.take(number, &fields)?;
        }
    }
    reader.finish()
}

/// The fields of a line.
struct Row<'a> {
    time: Option<&'a str>,
    size: &'a str,
}

impl<'a> Row<'a> {
    /// Finds the columns: the type of a frame is the one that is not a number.
    fn of(fields: &[&'a str]) -> Option<Self> {
        let is_type = |field: &str| field.parse::<f64>().is_err();
        match fields {
            [size] => Some(Self { time: None, size }),
            [_, kind, time, size, ..] if is_type(kind) => Some(Self { time: Some(time), size }),
            [_, time, kind, size, ..] if is_type(kind) => Some(Self { time: Some(time), size }),
            _ => None,
        }
    }
}

struct Reader<'a> {
    frames: &'a Frames,
    path: &'a str,
    times: Vec<f64>,
    sizes: Vec<u32>,
    /// Frames so far, those of size 0 included.
    count: u32,
    /// Time of the last one.
    last: f64,
}

impl Reader<'_> {
    fn take(&mut self, number: u32, fields: &[&str]) -> Result<(), ScenarioError> {
        let row = Row::of(fields).ok_or_else(|| {
            self.error(number, "does not describe a frame", &fields.join(" "))
                .allowed("a size; or number, type, time, size; or number, time, type, size")
        })?;
        let time = self.time(number, &row)?;
        let size = self.size(number, row.size)?;
        // The encoder left this frame out; it still has its place in the timetable.
        if size > 0 {
            self.times.push(time);
            self.sizes.push(size);
        }
        self.count += 1;
        self.last = time;
        Ok(())
    }

    fn time(&self, number: u32, row: &Row<'_>) -> Result<f64, ScenarioError> {
        if let Some(fps) = self.frames.fps {
            // Frames of size 0 count, or those behind them would come too early.
            return Ok(f64::from(self.count) / fps);
        }
        let text = row.time.ok_or_else(|| {
            self.error(number, "has a size and no time", row.size).allowed("`fps` beside `file`, or lines with times")
        })?;
        let unit = self.frames.time_unit.per_second();
        let time =
            text.parse::<f64>().ok().filter(|time| time.is_finite() && *time >= 0.0).ok_or_else(|| {
                self.error(number, "has a time that is not one", text).allowed("a number of at least 0")
            })? / unit;
        if time < self.last {
            return Err(self
                .error(number, "decreases", text)
                .allowed(format!("a time of at least {}, that of the frame before", self.last * unit))
                .hint("where frames stand in the order of decoding with the times of showing, give `fps`."));
        }
        Ok(time)
    }

    fn size(&self, number: u32, text: &str) -> Result<u32, ScenarioError> {
        let bits = self.frames.size_unit.bits();
        let bytes = text.parse::<u64>().ok().and_then(|size| size.checked_mul(bits)).map(|bits| bits.div_ceil(8));
        bytes.filter(|bytes| *bytes <= LARGEST).and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(|| {
            self.error(number, "has a size that is not one", text)
                .allowed(format!("a whole number from 0 to {}", LARGEST * 8 / bits))
        })
    }

    /// The clip ends as long after its last frame as the frames are apart.
    fn finish(mut self) -> Result<Media, ScenarioError> {
        let file = || ScenarioError::new(&format!("{}.file", self.path), "").text(&self.frames.file);
        if self.times.is_empty() {
            let problem = if self.count == 0 { "has no frames" } else { "has only frames of size 0" };
            return Err(
                ScenarioError { problem: problem.into(), ..file() }.allowed("a file with a line for each frame")
            );
        }
        // With `fps` the times begin at 0 already, unless the first frames were left out.
        let first = if self.frames.fps.is_some() { 0.0 } else { self.times[0] };
        self.times.iter_mut().for_each(|time| *time -= first);
        let period = match self.frames.fps {
            Some(fps) => 1.0 / fps,
            // A single frame has no distance to another: its period of 0 is refused below.
            None => (self.last - first) / f64::from(self.count.max(2) - 1),
        };
        if self.frames.fps.is_none() && period < SHORTEST {
            let problem = format!("has a frame every {} ms", period * 1e3);
            return Err(ScenarioError { problem, ..file() }
                .allowed("at least 1 ms from frame to frame on average")
                .hint("give `time-unit = \"s\"` if it counts seconds, or `fps`."));
        }
        let length = self.last - first + period;
        Ok(Media { times: self.times, sizes: self.sizes, length })
    }

    fn error(&self, number: u32, problem: &str, value: &str) -> ScenarioError {
        let file = &self.frames.file;
        ScenarioError::new(&format!("{}.file", self.path), format!("in line {number} of {file} {problem}")).text(value)
    }
}
