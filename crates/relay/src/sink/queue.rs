//! A bounded queue of units to a thread that may block.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// The sending end.
#[derive(Debug)]
pub(super) struct QueueSender {
    /// `None` after the end of the input.
    units: Option<SyncSender<Arc<[u8]>>>,
    level: Arc<QueueLevel>,
}

/// The receiving end.
#[derive(Debug)]
pub(super) struct QueueReceiver {
    units: Receiver<Arc<[u8]>>,
    level: Arc<QueueLevel>,
}

#[derive(Debug, Default)]
struct QueueLevel {
    units: AtomicU64,
    bytes: AtomicU64,
}

/// Units that were not written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unsent {
    /// The number of units, including one that is being written.
    pub units: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// The receiving end was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Disconnected;

/// The largest number of units that wait for a slow disk, pipe or player: some seconds of a stream.
const MAX_UNITS: usize = 4096;
/// The largest number of bytes that wait.
const MAX_BYTES: u64 = 16 << 20;

/// Creates a queue.
pub(super) fn queue() -> (QueueSender, QueueReceiver) {
    let (sender, units) = sync_channel(MAX_UNITS);
    let level = Arc::<QueueLevel>::default();
    (QueueSender { units: Some(sender), level: level.clone() }, QueueReceiver { units, level })
}

impl QueueSender {
    /// Appends a unit. Returns whether there was room.
    pub(super) fn try_send(&self, unit: Arc<[u8]>) -> Result<bool, Disconnected> {
        let length = unit.len() as u64;
        if self.level.bytes.load(Ordering::Relaxed) + length > MAX_BYTES {
            return if self.is_disconnected() { Err(Disconnected) } else { Ok(false) };
        }
        // Count it before it is sent: the receiver may take it at once, and must not decrement first.
        self.level.add(length);
        let outcome = self.units.as_ref().ok_or(Disconnected)?.try_send(unit);
        if outcome.is_err() {
            self.level.remove(length);
        }
        match outcome {
            Ok(()) => Ok(true),
            Err(TrySendError::Full(_)) => Ok(false),
            Err(TrySendError::Disconnected(_)) => Err(Disconnected),
        }
    }

    /// Ends the input.
    pub(super) fn end(&mut self) {
        self.units = None;
    }

    /// Returns whether the receiving end was dropped.
    fn is_disconnected(&self) -> bool {
        Arc::strong_count(&self.level) == 1
    }

    /// Returns the waiting data; nothing if the receiving end was dropped.
    pub(super) fn unsent(&self) -> Unsent {
        if self.is_disconnected() { Unsent::default() } else { self.level.unsent() }
    }
}

impl QueueReceiver {
    /// Passes each unit to `take` until the end of the input.
    pub(super) fn each(&self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        while let Ok(unit) = self.units.recv() {
            let outcome = take(&unit);
            self.level.remove(unit.len() as u64);
            outcome?;
        }
        Ok(())
    }

    /// Discards waiting units. Returns whether the input has ended.
    pub(super) fn discard(&self) -> bool {
        loop {
            match self.units.try_recv() {
                Ok(unit) => self.level.remove(unit.len() as u64),
                Err(error) => return error == std::sync::mpsc::TryRecvError::Disconnected,
            }
        }
    }
}

impl QueueLevel {
    fn add(&self, bytes: u64) {
        self.units.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn remove(&self, bytes: u64) {
        self.units.fetch_sub(1, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn unsent(&self) -> Unsent {
        Unsent { units: self.units.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}

impl std::iter::Sum for Unsent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self { units: sum.units + one.units, bytes: sum.bytes + one.bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(bytes: usize) -> Arc<[u8]> {
        vec![7; bytes].into()
    }

    #[test]
    fn the_queue_is_bounded_in_units_and_bytes() {
        let (sender, _receiver) = queue();
        let taken = (0..10_000).filter(|_| sender.try_send(unit(1_316)) == Ok(true)).count() as u64;
        assert_eq!(sender.unsent(), Unsent { units: 4_096, bytes: 4_096 * 1_316 });
        assert_eq!(taken, 4_096);
        let (sender, _receiver) = queue();
        let taken = (0..10_000).filter(|_| sender.try_send(unit(65_536)) == Ok(true)).count();
        assert_eq!((taken, sender.unsent().bytes), (256, 16 << 20));
    }

    #[test]
    fn units_that_were_taken_or_discarded_do_not_count() {
        let (mut sender, receiver) = queue();
        assert_eq!([1, 2, 3].map(|bytes| sender.try_send(unit(bytes))), [Ok(true); 3]);
        let broken =
            receiver.each(|bytes| if bytes.len() == 2 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) });
        assert!(broken.is_err());
        assert_eq!(sender.unsent(), Unsent { units: 1, bytes: 3 });
        assert!(!receiver.discard());
        assert_eq!(sender.unsent(), Unsent::default());
        sender.end();
        assert!(receiver.discard() && receiver.each(|_| Ok(())).is_ok());
        drop(receiver);
        assert_eq!(sender.try_send(unit(1)), Err(Disconnected));
    }

    #[test]
    fn nothing_waits_after_a_disconnect() {
        let (sender, receiver) = queue();
        assert_eq!(sender.try_send(unit(5)), Ok(true));
        drop(receiver);
        assert_eq!((sender.unsent(), sender.try_send(unit(5))), (Unsent::default(), Err(Disconnected)));
    }
}
