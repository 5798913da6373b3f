//! Where media come from. Each source has a thread, and stamps what it gets with the time at which it had it.

mod file;
mod packets;
mod sockets;

use crate::address::Address;
use earlybird_live::MonotonicClock;
use earlybird_scheduling::RealtimePriority;
use earlybird_units::Instant;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// What a source had at once: a datagram, or some packets of a transport stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) at: Instant,
    pub(crate) bytes: Vec<u8>,
}

/// A source that runs.
#[derive(Debug)]
pub(crate) struct Source {
    /// What it has; it hangs up at its end.
    pub(crate) chunks: Receiver<Chunk>,
    result: thread::JoinHandle<io::Result<()>>,
    signs: Arc<Signs>,
}

/// What a source is told.
#[derive(Debug, Default)]
struct Signs {
    is_stopped: AtomicBool,
    has_begun: AtomicBool,
}

/// What a source does with its chunks.
pub(crate) struct Outlet {
    chunks: SyncSender<Chunk>,
    clock: MonotonicClock,
    ring: Box<dyn Fn() + Send>,
    signs: Arc<Signs>,
}

/// Chunks that wait for who sends them on: of 1316 bytes at 100 Mb/s those of 100 ms.
const WAITING: usize = 1024;
/// How often a recorded stream looks whether it may begin.
const BEGINNING: std::time::Duration = std::time::Duration::from_millis(5);
/// How often a source looks whether it is still wanted.
const LOOK: std::time::Duration = std::time::Duration::from_millis(100);

impl Source {
    /// Opens a source; `ring` is called when there is something.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(crate) fn open(address: &Address, clock: MonotonicClock, ring: Box<dyn Fn() + Send>) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(WAITING);
        let signs = Arc::<Signs>::default();
        let outlet = Outlet { chunks: sender, clock, ring, signs: signs.clone() };
        let read = match address {
            Address::Udp(socket) => sockets::datagrams(*socket, false)?,
            Address::Rtp(socket) => sockets::datagrams(*socket, true)?,
            Address::Tcp(socket) => sockets::stream(*socket)?,
            Address::File(path) => file::open(path)?,
            Address::Http(_) | Address::Relay(_) => {
                return Err(io::Error::new(io::ErrorKind::Unsupported, "nothing can be read from there"));
            }
        };
        let result = thread::Builder::new().name("source".into()).spawn(move || {
            let _priority = RealtimePriority::request();
            read(&outlet)
        })?;
        Ok(Self { chunks, result, signs })
    }

    /// Lets a recorded stream begin, which waits for somebody to watch it.
    pub(crate) fn begin(&self) {
        self.signs.has_begun.store(true, Ordering::Relaxed);
    }

    /// Ends it, and tells why it ended by itself if it did.
    ///
    /// # Errors
    ///
    /// What went wrong with it.
    pub(crate) fn close(self) -> io::Result<()> {
        self.signs.is_stopped.store(true, Ordering::Relaxed);
        drop(self.chunks);
        self.result.join().unwrap_or_else(|_| Err(io::Error::other("the source failed")))
    }
}

/// What runs on a source's thread.
pub(crate) type Read = Box<dyn FnOnce(&Outlet) -> io::Result<()> + Send>;

impl Outlet {
    /// Hands over what came now; says whether more is wanted.
    pub(crate) fn put(&self, bytes: &[u8]) -> bool {
        let chunk = Chunk { at: earlybird_live::Clock::now(&self.clock), bytes: bytes.to_vec() };
        let is_taken = self.chunks.send(chunk).is_ok();
        (self.ring)();
        is_taken && self.is_wanted()
    }

    /// Waits until somebody watches, or nobody will.
    pub(crate) fn wait_for_viewers(&self) {
        while self.is_wanted() && !self.signs.has_begun.load(Ordering::Relaxed) {
            thread::sleep(BEGINNING);
        }
    }

    pub(crate) fn is_wanted(&self) -> bool {
        !self.signs.is_stopped.load(Ordering::Relaxed)
    }
}
