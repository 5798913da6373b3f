//! What waits for who takes it on a thread of his own.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// Where units are handed over.
#[derive(Debug)]
pub(super) struct Entry {
    /// Gone when no more units come.
    units: Option<SyncSender<Arc<[u8]>>>,
    waiting: Arc<Waiting>,
}

/// Where they are taken.
#[derive(Debug)]
pub(super) struct Exit {
    units: Receiver<Arc<[u8]>>,
    waiting: Arc<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    units: AtomicU64,
    bytes: AtomicU64,
}

/// What was not taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Whole units, that which was being taken among them.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Whoever took the units has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// Units that wait for a slow disk, pipe or player: some seconds of a stream …
const MOST_UNITS: usize = 4096;
/// … however large they are.
const MOST_BYTES: u64 = 16 << 20;

/// Makes both ends of a queue.
pub(super) fn queue() -> (Entry, Exit) {
    let (sender, units) = sync_channel(MOST_UNITS);
    let waiting = Arc::<Waiting>::default();
    (Entry { units: Some(sender), waiting: waiting.clone() }, Exit { units, waiting })
}

impl Entry {
    /// Hands over a unit; says whether there was room.
    pub(super) fn put(&self, unit: Arc<[u8]>) -> Result<bool, Gone> {
        let length = unit.len() as u64;
        if self.waiting.bytes.load(Ordering::Relaxed) + length > MOST_BYTES {
            return if self.is_left() { Err(Gone) } else { Ok(false) };
        }
        // Before it can be taken.
        self.waiting.enter(length);
        let outcome = self.units.as_ref().ok_or(Gone)?.try_send(unit);
        if outcome.is_err() {
            self.waiting.leave(length);
        }
        match outcome {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Disconnected(_)) => Err(Gone),
        }
    }

    /// Hands over no more.
    pub(super) fn end(&mut self) {
        self.units = None;
    }

    /// Returns whether whoever took the units has gone.
    fn is_left(&self) -> bool {
        Arc::strong_count(&self.waiting) == 1
    }

    /// Returns what waits; for one who has gone nothing does.
    pub(super) fn left(&self) -> Left {
        if self.is_left() { Left::default() } else { self.waiting.left() }
    }
}

impl Exit {
    /// Takes unit after unit until no more come.
    pub(super) fn each(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        while let Ok(unit) = self.units.recv() {
            let outcome = take(&unit);
            self.waiting.leave(unit.len() as u64);
            outcome?;
        }
        Ok(())
    }

    /// Throws away what waits; says whether nothing more will come.
    pub(super) fn forget(&self) -> bool {
        loop {
            match self.units.try_recv() {
                Ok(unit) => self.waiting.leave(unit.len() as u64),
                Err(error) => return error == std::sync::mpsc::TryRecvError::Disconnected,
            }
        }
    }
}

impl Waiting {
    fn enter(&self, bytes: u64) {
        self.units.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn leave(&self, bytes: u64) {
        self.units.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn left(&self) -> Left {
        Left { units: self.units.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

impl std::iter::Sum for Left {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, left| Self { units: sum.units + left.units, bytes: sum.bytes + left.bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(bytes: usize) -> Arc<[u8]> {
        vec![7; bytes].into()
    }

    #[test]
    fn what_nobody_takes_has_bounds_in_units_and_in_bytes() {
        let (entry, _exit) = queue();
        let taken = (0..10_000).filter(|_| entry.put(unit(1_316)) == Ok(true)).count() as u64;
        assert_eq!(entry.left(), Left { units: 4_096, bytes: 4_096 * 1_316 });
        assert_eq!(taken, 4_096);
        let (entry, _exit) = queue();
        let taken = (0..10_000).filter(|_| entry.put(unit(65_536)) == Ok(true)).count();
        assert_eq!((taken, entry.left().bytes), (256, 16 << 20));
    }

    #[test]
    fn what_was_taken_or_thrown_away_waits_no_more() {
        let (mut entry, exit) = queue();
        assert_eq!([1, 2, 3].map(|bytes| entry.put(unit(bytes))), [Ok(true); 3]);
        let broken = exit.each(|bytes| if bytes.len() == 2 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) });
        assert!(broken.is_err());
        assert_eq!(entry.left(), Left { units: 1, bytes: 3 });
        assert!(!exit.forget());
        assert_eq!(entry.left(), Left::default());
        entry.end();
        assert!(exit.forget() && exit.each(|_| Ok(())).is_ok());
        drop(exit);
        assert_eq!(entry.put(unit(1)), Err(Gone));
    }

    #[test]
    fn nothing_waits_for_who_has_gone() {
        let (entry, exit) = queue();
        assert_eq!(entry.put(unit(5)), Ok(true));
        drop(exit);
        assert_eq!((entry.left(), entry.put(unit(5))), (Left::default(), Err(Gone)));
    }
}
