//! The client and the server of a soak.

use super::{PORT, Soak};
use earlybird_live::device::{Device, Path};
use earlybird_live::{Application, Clock, Error, Event, Id, Stack};
use earlybird_tcp::{Config, Ending};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that several threads share.
#[derive(Debug, Default)]
pub struct SharedCounter(AtomicU64);

impl SharedCounter {
    fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Returns its value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The progress of a soak.
#[derive(Debug, Default)]
pub struct Progress {
    /// Connections that were opened.
    pub opened: SharedCounter,
    /// Connections whose data was complete, as confirmed by the server.
    pub complete: SharedCounter,
    /// Connections that the client aborted on purpose.
    pub aborted: SharedCounter,
    /// Connections that failed.
    pub broken: SharedCounter,
    /// Bytes that the server read.
    pub bytes: SharedCounter,
}

/// Returns the byte at an offset of a stream.
const fn byte_at(index: u64) -> u8 {
    (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8
}

/// The state of a connection of the client.
#[derive(Clone, Copy, Debug)]
struct OpenTransfer {
    written: u64,
    length: u64,
    /// The offset after which it is aborted.
    abort_at: Option<u64>,
    is_answered: bool,
}

/// Opens connections, one of which is persistent.
pub(super) struct Client {
    path: Path,
    interval: Duration,
    max_bytes: u64,
    end: Instant,
    next: Instant,
    random: Random,
    open: HashMap<Id, OpenTransfer>,
    persistent: Option<Id>,
    progress: Arc<Progress>,
}

/// One of so many connections is aborted in mid-stream.
const ABORT_ONE_IN: u64 = 20;
/// Bytes that the persistent connection gets with each new connection.
const PERSISTENT_BYTES: u64 = 1_000;
/// The interval at which the client polls whether the last connection has ended.
const FINAL_POLL: Duration = Duration::from_secs(1);

impl Client {
    pub(super) fn new(soak: &Soak, path: Path, progress: &Arc<Progress>) -> Self {
        Self {
            path,
            interval: soak.interval,
            max_bytes: soak.max_bytes,
            end: soak.end,
            next: Instant::ZERO,
            random: SeedTree::new(1).random(),
            open: HashMap::new(),
            persistent: None,
            progress: Arc::clone(progress),
        }
    }

    fn open<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        // At least one byte: an empty transfer has no data to confirm.
        let length = 1 + self.random.below(self.max_bytes);
        let abort_at = (self.random.below(ABORT_ONE_IN) == 0).then(|| self.random.below(length));
        let id = stack.connect(&Config::linux(), self.path, PORT)?;
        self.progress.opened.add(1);
        let transfer = OpenTransfer { written: 0, length, abort_at, is_answered: false };
        // The first connection is persistent: its transfer never completes.
        let persistent = *self.persistent.get_or_insert(id);
        let transfer = if persistent == id {
            OpenTransfer { length: PERSISTENT_BYTES, abort_at: None, ..transfer }
        } else {
            transfer
        };
        self.open.insert(id, transfer);
        if let Some(transfer) = self.open.get_mut(&persistent).filter(|_| persistent != id) {
            transfer.length += PERSISTENT_BYTES;
            self.write(stack, persistent)?;
        }
        Ok(())
    }

    fn write<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let Some(transfer) = self.open.get_mut(&id) else { return Ok(()) };
        while transfer.written < transfer.length {
            // In pieces, so that a full send buffer is met in the middle of a transfer.
            let most = (transfer.length - transfer.written).min(1 << 14);
            let bytes: Vec<u8> = (transfer.written..transfer.written + most).map(byte_at).collect();
            let count = stack.write(id, &bytes)?;
            transfer.written += count as u64;
            if transfer.abort_at.is_some_and(|at| transfer.written > at) {
                self.open.remove(&id);
                self.progress.aborted.add(1);
                return stack.abort(id);
            }
            if count < bytes.len() {
                return Ok(());
            }
        }
        if self.persistent == Some(id) { Ok(()) } else { stack.shutdown(id) }
    }

    /// Reads the number of bytes that the server confirms.
    fn read<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let (mut buffer, mut count) = ([0; 8], 0);
        while let more @ 1.. = stack.read(id, &mut buffer[count..])? {
            count += more;
        }
        if let Some(transfer) = self.open.get_mut(&id) {
            // Eight bytes are one segment, so that they are not split.
            transfer.is_answered = count == 8 && u64::from_be_bytes(buffer) == transfer.length;
        }
        Ok(())
    }

    fn close<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id, ending: Ending) -> Result<(), Error> {
        let transfer = self.open.remove(&id);
        let is_intact = ending == Ending::InOrder && transfer.is_some_and(|transfer| transfer.is_answered);
        let tally = if is_intact { &self.progress.complete } else { &self.progress.broken };
        tally.add(1);
        stack.close(id)
    }

    fn close_persistent<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        self.persistent.take().map_or(Ok(()), |id| stack.shutdown(id))
    }
}

impl<D: Device, C: Clock> Application<D, C> for Client {
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event) {
        let done = match event {
            Event::Established | Event::Writable => self.write(stack, id),
            Event::Readable => self.read(stack, id),
            Event::Closed(ending) => self.close(stack, id, ending),
            _ => Ok(()),
        };
        done.expect("the connection is there");
    }

    fn on_turn(&mut self, stack: &mut Stack<D, C>) -> ControlFlow<(), Option<Instant>> {
        // Catches up if the clock has skipped several openings.
        while self.next <= stack.now().min(self.end) {
            self.next += Duration::from_secs_f64(self.random.exponential(self.interval.as_secs_f64()));
            self.open(stack).expect("there is room");
        }
        if self.next <= self.end {
            return ControlFlow::Continue(Some(self.next));
        }
        self.close_persistent(stack).expect("it is there");
        // Wait until no connection is left: TIME-WAIT acknowledges retransmitted FINs.
        let is_stopped = self.open.is_empty() && stack.connections() == 0;
        if is_stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(Some(stack.now() + FINAL_POLL)) }
    }
}

/// Accepts connections, and replies to each with the number of received bytes.
pub(super) struct Server {
    read: HashMap<Id, u64>,
    progress: Arc<Progress>,
    buffer: Vec<u8>,
}

impl Server {
    pub(super) fn new(progress: &Arc<Progress>) -> Self {
        Self { read: HashMap::new(), progress: Arc::clone(progress), buffer: vec![0; 1 << 16] }
    }

    fn read<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        let read = self.read.entry(id).or_default();
        while let count @ 1.. = stack.read(id, &mut self.buffer)? {
            // Each stream is a function of the offset, so that misplaced bytes are detected at once.
            let is_sound = self.buffer[..count].iter().zip(*read..).all(|(byte, index)| *byte == byte_at(index));
            assert!(is_sound, "other bytes come than were sent, behind byte {read}");
            *read += count as u64;
            self.progress.bytes.add(count as u64);
        }
        Ok(())
    }

    fn answer<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>, id: Id) -> Result<(), Error> {
        self.read(stack, id)?;
        let read = self.read.get(&id).copied().unwrap_or_default();
        stack.write(id, &read.to_be_bytes())?;
        stack.shutdown(id)
    }
}

impl<D: Device, C: Clock> Application<D, C> for Server {
    fn on_event(&mut self, stack: &mut Stack<D, C>, id: Id, event: Event) {
        let done = match event {
            Event::Incoming(port) => {
                stack.accept(port);
                Ok(())
            }
            Event::Readable => self.read(stack, id),
            Event::PeerClosed => self.answer(stack, id),
            Event::Closed(_) => {
                self.read.remove(&id);
                stack.close(id)
            }
            _ => Ok(()),
        };
        done.expect("the connection is there");
    }
}
