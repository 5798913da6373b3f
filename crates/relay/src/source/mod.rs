//! Sources of media. Each runs on a thread and stamps units with the time at which it had them.

mod file;
mod rtmp;
mod sockets;
mod splitter;
mod srt;

use crate::address::Address;
use crate::notice::Notice;
use earlybird_live::MonotonicClock;
use earlybird_scheduling::RealtimePriority;
use earlybird_units::Instant;
use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// A unit of media: a datagram, or up to seven TS packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MediaUnit {
    pub(crate) number: u32,
    pub(crate) at: Instant,
    pub(crate) bytes: Vec<u8>,
}

/// A running source.
#[derive(Debug)]
pub(crate) struct Source {
    /// Units; disconnected when the source ends.
    pub(crate) units: Receiver<MediaUnit>,
    result: thread::JoinHandle<io::Result<()>>,
    flags: Arc<Flags>,
    /// The last event of the source, such as a sender that was refused.
    pub(crate) notice: Notice,
}

/// Signals to the thread of a source.
#[derive(Debug, Default)]
struct Flags {
    is_stopped: AtomicBool,
    is_started: AtomicBool,
}

/// Sends units from the thread of a source to the relay.
pub(crate) struct UnitSender {
    units: SyncSender<MediaUnit>,
    /// Number of the next unit.
    next: Cell<u32>,
    clock: MonotonicClock,
    waker: Box<dyn Fn() + Send>,
    flags: Arc<Flags>,
    notice: Notice,
}

/// Units in the queue to the relay: 100 ms of units of 1316 bytes at 100 Mbit/s.
const QUEUE_UNITS: usize = 1024;
/// The interval at which a recorded stream polls whether it may start.
const START_POLL: std::time::Duration = std::time::Duration::from_millis(5);
/// The interval at which a source polls whether it must stop.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(100);

impl Source {
    /// Opens a source; `waker` is called after each unit.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(crate) fn open(address: &Address, clock: MonotonicClock, waker: Box<dyn Fn() + Send>) -> io::Result<Self> {
        let (sender, units) = sync_channel(QUEUE_UNITS);
        let flags = Arc::<Flags>::default();
        let notice = Notice::default();
        let out = UnitSender {
            units: sender,
            next: Cell::default(),
            clock,
            waker,
            flags: flags.clone(),
            notice: notice.clone(),
        };
        let read = match address {
            Address::Udp(socket) => sockets::datagrams(socket, false)?,
            Address::Rtp(socket) => sockets::datagrams(socket, true)?,
            Address::Tcp(socket) => sockets::stream(*socket)?,
            Address::File(path) => file::open(path)?,
            Address::Rtmp(rtmp) => rtmp::open(rtmp, notice.clone())?,
            Address::Srt(srt) => srt::open(srt)?,
            Address::Http(_) | Address::Relay(_) => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, "this is no source: http:// only serves"));
            }
        };
        let result = thread::Builder::new().name("source".into()).spawn(move || {
            let _priority = RealtimePriority::request();
            read(&out)
        })?;
        Ok(Self { units, result, flags, notice })
    }

    /// Starts a recorded stream, which waits for the first peer.
    pub(crate) fn start(&self) {
        self.flags.is_started.store(true, Ordering::Relaxed);
    }

    /// Stops the source. Returns its error if it has failed.
    ///
    /// # Errors
    ///
    /// The error of the source.
    pub(crate) fn close(self) -> io::Result<()> {
        self.flags.is_stopped.store(true, Ordering::Relaxed);
        // Unblocks a source that waits in a full queue, before the thread is joined.
        drop(self.units);
        self.result.join().unwrap_or_else(|_| Err(io::Error::other("the source failed")))
    }
}

/// The loop on the thread of a source.
pub(crate) type ReadLoop = Box<dyn FnOnce(&UnitSender) -> io::Result<()> + Send>;

impl UnitSender {
    /// Sends a unit with the current time. Returns whether the source should continue.
    pub(crate) fn send(&self, bytes: &[u8]) -> bool {
        let number = self.next.replace(self.next.get().wrapping_add(1));
        let unit = MediaUnit { number, at: earlybird_live::Clock::now(&self.clock), bytes: bytes.to_vec() };
        // Blocks while the queue is full, which slows a pipe or a TCP connection down instead of losing units.
        let is_taken = self.units.send(unit).is_ok();
        (self.waker)();
        is_taken && self.is_running()
    }

    /// Blocks until the first peer is connected or the source is stopped.
    pub(crate) fn wait_for_peers(&self) {
        while self.is_running() && !self.flags.is_started.load(Ordering::Relaxed) {
            thread::sleep(START_POLL);
        }
    }

    /// Returns where events are reported.
    pub(crate) fn notice(&self) -> &Notice {
        &self.notice
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.flags.is_stopped.load(Ordering::Relaxed)
    }
}
