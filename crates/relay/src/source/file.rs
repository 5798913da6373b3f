//! Files and pipes.

use super::packets::{Foreign, Packets};
use super::{LOOK, Outlet, Read};
use crate::ts::Pace;
use earlybird_live::Clock;
use earlybird_units::{Duration, Instant};
use std::fs::File;
use std::io;
use std::path::Path;
use std::thread::sleep;

/// Bytes read at once.
const AT_ONCE: usize = 1 << 16;

/// Opens a recorded transport stream, which goes out as its clock says; or the standard input, which goes out as it comes.
pub(super) fn open(path: &Path) -> io::Result<Read> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(|outlet| read(&mut io::stdin(), outlet, None)));
    }
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(move |outlet| {
        outlet.wait_for_viewers();
        read(&mut file, outlet, Some(Player::new(outlet)))
    }))
}

/// Reads to the end, at the stream's own pace if there is one.
fn read(from: &mut impl io::Read, outlet: &Outlet, mut player: Option<Player>) -> io::Result<()> {
    let (mut packets, mut buffer) = (Packets::default(), vec![0; AT_ONCE]);
    while outlet.is_wanted() {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
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
