//! Files and pipes.

use super::packets::{Foreign, Packets};
use super::{LOOK, Outlet, Read};
use crate::ts::Pace;
use earlybird_live::Clock;
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::sleep;

/// Bytes read at once.
const AT_ONCE: usize = 1 << 16;

/// Opens a recorded transport stream, which goes out as its clock says; or the standard input, which goes out as it comes.
pub(super) fn open(path: &Path) -> io::Result<Read> {
    if path.as_os_str() == "-" {
        let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        return Ok(Box::new(move |outlet| read(&mut input, outlet, None)));
    }
    // A pipe opens otherwise only when somebody writes to it.
    let mut file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(move |outlet| {
        outlet.wait_for_viewers();
        read(&mut file, outlet, Some(Player::new(outlet)))
    }))
}

/// Reads to the end, at the stream's own pace if there is one.
fn read(from: &mut File, outlet: &Outlet, mut player: Option<Player>) -> io::Result<()> {
    let (mut packets, mut buffer) = (Packets::default(), vec![0; AT_ONCE]);
    while outlet.is_wanted() {
        if !is_ready(from)? {
            continue;
        }
        let count = match from.read(&mut buffer) {
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => continue,
            result => result?,
        };
        if count == 0 {
            break;
        }
        let put = |whole: &[u8]| match &mut player {
            Some(player) => player.put(whole, outlet),
            None => outlet.put(whole),
        };
        match packets.take(&buffer[..count], put) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(Foreign) => return Err(foreign()),
        }
    }
    if let Some(player) = &mut player {
        player.finish(outlet);
    }
    Ok(())
}

/// Waits a moment for bytes or the end: what nobody has written to yet has neither.
fn is_ready(file: &File) -> io::Result<bool> {
    let timeout = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Err(Errno::INTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}

pub(super) fn foreign() -> io::Error {
    let advice = "no MPEG transport stream; make one by `ffmpeg -i FILE -c copy -f mpegts -`";
    io::Error::new(io::ErrorKind::InvalidData, advice)
}

/// Plays a recorded stream: what lies between two clock references goes out evenly between their times.
struct Player {
    began: Instant,
    pace: Pace,
    /// What came since the last reference, and when that was due.
    waiting: Vec<Vec<u8>>,
    last: Duration,
}

/// Chunks without any clock reference: beyond these there is none.
const TIMELESS: usize = 10_000;

impl Player {
    fn new(outlet: &Outlet) -> Self {
        Self { began: outlet.clock.now(), pace: Pace::default(), waiting: Vec::new(), last: Duration::ZERO }
    }

    fn put(&mut self, whole: &[u8], outlet: &Outlet) -> bool {
        self.waiting.push(whole.to_vec());
        match self.pace.read(whole) {
            Some(due) => self.play_until(due, outlet),
            // A stream without a clock goes out at once: nobody can say when else.
            None if self.waiting.len() > TIMELESS => self.play_until(self.last, outlet),
            None => true,
        }
    }

    fn play_until(&mut self, due: Duration, outlet: &Outlet) -> bool {
        let (count, span) = (self.waiting.len() as u64, due.saturating_sub(self.last));
        let first = std::mem::replace(&mut self.last, due) + self.began.since(Instant::ZERO);
        for (number, bytes) in (1..).zip(std::mem::take(&mut self.waiting)) {
            if !wait_until(Instant::ZERO + first + span * number / count, outlet) || !outlet.put(&bytes) {
                return false;
            }
        }
        true
    }

    /// Lets go what stands behind the last reference.
    fn finish(&mut self, outlet: &Outlet) {
        self.play_until(self.last, outlet);
    }
}

fn wait_until(due: Instant, outlet: &Outlet) -> bool {
    loop {
        let left = due - outlet.clock.now();
        if left == Duration::ZERO || !outlet.is_wanted() {
            return outlet.is_wanted();
        }
        sleep(std::time::Duration::from_nanos(left.as_nanos()).min(LOOK));
    }
}
