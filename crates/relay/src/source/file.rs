//! Files, pipes and the standard input.

use super::splitter::{NotTs, TsSplitter};
use super::{POLL_INTERVAL, ReadLoop, UnitSender};
use crate::ts::PcrClock;
use earlybird_live::Clock;
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;

/// Bytes per read.
const READ_BYTES: usize = 1 << 16;

/// Opens a recorded transport stream, which is sent at the rate of its clock, or the standard input, which is sent as it arrives.
pub(super) fn open(path: &Path) -> io::Result<ReadLoop> {
    if path.as_os_str() == "-" {
        let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        return Ok(Box::new(move |out| read_live(&mut input, out)));
    }
    // Without O_NONBLOCK, opening a pipe blocks until there is a writer.
    let mut file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    // Opening a directory for reading succeeds, and fails only at the first read.
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if file.metadata()?.is_file() {
        check_format(&mut file)?;
    }
    Ok(Box::new(move |out| {
        out.wait_for_peers();
        read(&mut file, out, Some(PacedPlayer::new(out)))
    }))
}

/// Checks that a file begins with a transport stream, so that another format is reported before a receiver connects.
fn check_format(file: &mut File) -> io::Result<()> {
    let mut begin = Vec::new();
    file.take(READ_BYTES as u64).read_to_end(&mut begin)?;
    file.rewind()?;
    let mut units = 0;
    let count = |_: &[u8]| {
        units += 1;
        true
    };
    match TsSplitter::default().push(&begin, count) {
        Ok(_) if units > 0 => Ok(()),
        _ => Err(not_ts()),
    }
}

/// Reads to the end, as data arrive.
pub(super) fn read_live(from: &mut File, out: &UnitSender) -> io::Result<()> {
    read(from, out, None)
}

/// Reads to the end, at the rate of `player` if there is one.
fn read(from: &mut File, out: &UnitSender, mut player: Option<PacedPlayer>) -> io::Result<()> {
    let (mut splitter, mut buffer) = (TsSplitter::default(), vec![0; READ_BYTES]);
    while out.is_running() {
        if !is_ready(from)? {
            continue;
        }
        let count = match from.read(&mut buffer) {
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => continue,
            result => result?,
        };
        // End of file, or the last writer of a pipe has closed.
        if count == 0 {
            break;
        }
        let push = |whole: &[u8]| match &mut player {
            Some(player) => player.push(whole, out),
            None => out.send(whole),
        };
        match splitter.push(&buffer[..count], push) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(NotTs) => return Err(not_ts()),
        }
    }
    if let Some(player) = &mut player {
        player.finish(out);
    }
    Ok(())
}

/// Waits up to one poll interval until the file is readable. A pipe without writer never is.
fn is_ready(file: &File) -> io::Result<bool> {
    // Bounded, so that a stop is noticed.
    let timeout = Timespec::try_from(POLL_INTERVAL).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Err(Errno::INTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}

pub(super) fn not_ts() -> io::Error {
    let hint = "not an MPEG transport stream; create one with `ffmpeg -i FILE -c copy -f mpegts -`";
    io::Error::new(io::ErrorKind::InvalidData, hint)
}

/// Sends a recorded stream in real time: units between two clock references are spread evenly.
struct PacedPlayer {
    started: Instant,
    clock: PcrClock,
    /// Units since the last reference.
    waiting: Vec<Vec<u8>>,
    last: Duration,
}

/// Without a clock reference in this many units, the stream has no clock.
const MAX_UNITS_WITHOUT_PCR: usize = 10_000;

impl PacedPlayer {
    fn new(out: &UnitSender) -> Self {
        Self { started: out.stamp.clock.now(), clock: PcrClock::default(), waiting: Vec::new(), last: Duration::ZERO }
    }

    fn push(&mut self, whole: &[u8], out: &UnitSender) -> bool {
        self.waiting.push(whole.to_vec());
        match self.clock.advance(whole) {
            Some(due) => self.send_until(due, out),
            // A stream without a clock is sent at once, as no rate is known.
            None if self.waiting.len() > MAX_UNITS_WITHOUT_PCR => self.send_until(self.last, out),
            None => true,
        }
    }

    fn send_until(&mut self, due: Duration, out: &UnitSender) -> bool {
        let (count, span) = (self.waiting.len() as u64, due.saturating_sub(self.last));
        let first = std::mem::replace(&mut self.last, due) + self.started.since(Instant::ZERO);
        for (number, bytes) in (1..).zip(std::mem::take(&mut self.waiting)) {
            if !wait_until(Instant::ZERO + first + span * number / count, out) || !out.send(&bytes) {
                return false;
            }
        }
        true
    }

    /// Sends the units after the last reference.
    fn finish(&mut self, out: &UnitSender) {
        self.send_until(self.last, out);
    }
}

fn wait_until(due: Instant, out: &UnitSender) -> bool {
    loop {
        let left = due - out.stamp.clock.now();
        if left == Duration::ZERO || !out.is_running() {
            return out.is_running();
        }
        sleep(std::time::Duration::from_nanos(left.as_nanos()).min(POLL_INTERVAL));
    }
}
