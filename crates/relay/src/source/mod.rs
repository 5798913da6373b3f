//! Sources of media. They stamp units with the time at which they had them. Sources of datagrams are polled by the relay's event
//! loop; the others, which may block, have threads.

mod datagrams;
mod file;
mod rtmp;
mod splitter;
mod srt;
mod stream;

use crate::address::Address;
use crate::notice::Notice;
use datagrams::Datagrams;
use earlybird_live::{Clock as _, MonotonicClock};
use earlybird_scheduling::RealtimePriority;
use earlybird_units::Instant;
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
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
    origin: Origin,
    /// The last event of the source, such as a sender that was refused.
    pub(crate) notice: Notice,
}

/// The origin of units.
#[derive(Debug)]
enum Origin {
    Datagrams(Datagrams),
    Thread(Thread),
}

/// A thread that reads a source.
#[derive(Debug)]
struct Thread {
    /// Units; disconnected when the source ends.
    units: Receiver<MediaUnit>,
    result: thread::JoinHandle<io::Result<()>>,
    flags: Arc<Flags>,
}

/// Numbers units, and stamps them with the current time.
#[derive(Debug)]
struct Stamp {
    /// Number of the next unit.
    next: Cell<u32>,
    clock: MonotonicClock,
}

impl Stamp {
    fn new(clock: MonotonicClock) -> Self {
        Self { next: Cell::default(), clock }
    }

    fn unit(&self, bytes: &[u8]) -> MediaUnit {
        let number = self.next.replace(self.next.get().wrapping_add(1));
        MediaUnit { number, at: self.clock.now(), bytes: bytes.to_vec() }
    }
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
    stamp: Stamp,
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
    /// Opens a source; `waker` is called after each unit of those that have threads.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(crate) fn open(address: &Address, clock: MonotonicClock, waker: Box<dyn Fn() + Send>) -> io::Result<Self> {
        let notice = Notice::default();
        let thread = |read| Thread::spawn(read, Stamp::new(clock), waker, notice.clone()).map(Origin::Thread);
        let origin = match address {
            Address::Udp(socket) => Origin::Datagrams(Datagrams::open(socket, false, Stamp::new(clock))?),
            Address::Rtp(socket) => Origin::Datagrams(Datagrams::open(socket, true, Stamp::new(clock))?),
            Address::Tcp(socket) => thread(stream::open(*socket)?)?,
            Address::File(path) => thread(file::open(path)?)?,
            Address::Rtmp(rtmp) => thread(rtmp::open(rtmp, notice.clone())?)?,
            Address::Srt(srt) => thread(srt::open(srt)?)?,
            Address::Http(_) | Address::Relay(_) => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, "this is no source: http:// only serves"));
            }
        };
        Ok(Self { origin, notice })
    }

    /// Starts a recorded stream, which waits for the first peer.
    pub(crate) fn start(&self) {
        if let Origin::Thread(thread) = &self.origin {
            thread.flags.is_started.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the descriptor that is readable when units have arrived, of a source without a thread.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if let Origin::Datagrams(datagrams) = &self.origin { datagrams.descriptor() } else { None }
    }

    /// Passes units that have arrived to `take`. Returns whether the source has ended.
    pub(crate) fn read(&mut self, mut take: impl FnMut(MediaUnit)) -> bool {
        match &mut self.origin {
            Origin::Datagrams(datagrams) => datagrams.read(take),
            Origin::Thread(thread) => loop {
                match thread.units.try_recv() {
                    Ok(unit) => take(unit),
                    Err(error) => break error == TryRecvError::Disconnected,
                }
            },
        }
    }

    /// Stops the source. Returns its error if it has failed.
    ///
    /// # Errors
    ///
    /// The error of the source.
    pub(crate) fn close(self) -> io::Result<()> {
        match self.origin {
            Origin::Datagrams(datagrams) => datagrams.close(),
            Origin::Thread(thread) => thread.close(),
        }
    }
}

impl Thread {
    /// Starts a thread that reads a source, with the priority of real time if that is permitted.
    fn spawn(read: ReadLoop, stamp: Stamp, waker: Box<dyn Fn() + Send>, notice: Notice) -> io::Result<Self> {
        let (sender, units) = sync_channel(QUEUE_UNITS);
        let flags = Arc::<Flags>::default();
        let out = UnitSender { units: sender, stamp, waker, flags: flags.clone(), notice };
        let result = thread::Builder::new().name("source".into()).spawn(move || {
            let _priority = RealtimePriority::request();
            read(&out)
        })?;
        Ok(Self { units, result, flags })
    }

    fn close(self) -> io::Result<()> {
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
        // Blocks while the queue is full, which slows a pipe or a TCP connection down instead of losing units.
        let is_taken = self.units.send(self.stamp.unit(bytes)).is_ok();
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
