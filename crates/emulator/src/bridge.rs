//! Bridges two devices over the emulator, in real time.

use crate::delays::DelayHistogram;
use crate::emulator::Emulator;
use crate::flow_routes::Side;
use earlybird_scheduling::RealtimePriority;
use earlybird_sim::Observer;
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Observes and controls a bridge.
pub trait BridgeObserver<O: Observer = ()> {
    /// Called at each [`Self::interval`]. Returns whether to continue.
    fn poll(&mut self, now: Instant, emulator: &mut Emulator<O>, stats: &BridgeStats) -> bool;

    /// Returns the time between two calls of [`Self::poll`].
    fn interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// Called for each packet that is read from a device (ingress) or written to one.
    fn on_packet(&mut self, _at: Instant, _device: Side, _is_ingress: bool, _bytes: &[u8]) {}
}

/// Statistics of a bridge.
#[derive(Clone, Debug, Default)]
pub struct BridgeStats {
    /// Delay of delivered packets after they were due.
    pub delays: DelayHistogram,
    /// Packets that the device did not accept.
    pub undelivered: u64,
}

/// A bridge between two TUN devices.
#[derive(Debug)]
pub struct Bridge {
    devices: [OwnedFd; 2],
    started: std::time::Instant,
    stats: BridgeStats,
}

/// Packets that are read from a device before due packets are delivered.
const BATCH: usize = 64;
/// Larger than any packet.
const BUFFER: usize = 1 << 16;

impl Bridge {
    /// Creates a bridge between two non-blocking devices.
    #[expect(clippy::disallowed_methods, reason = "packets of real networks come in real time")]
    pub fn new(near: OwnedFd, far: OwnedFd) -> Self {
        let started = std::time::Instant::now();
        Self { devices: [near, far], started, stats: BridgeStats::default() }
    }

    /// Returns when the bridge was created.
    pub const fn started(&self) -> std::time::Instant {
        self.started
    }

    /// Returns the time since the bridge was created.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// Returns the statistics.
    pub const fn stats(&self) -> &BridgeStats {
        &self.stats
    }

    /// Forwards packets until the observer ends it.
    ///
    /// # Errors
    ///
    /// If a device fails.
    pub fn run<O: Observer>(
        &mut self,
        emulator: &mut Emulator<O>,
        observer: &mut impl BridgeObserver<O>,
    ) -> io::Result<()> {
        // Delays of this thread add to those of the links.
        let _priority = RealtimePriority::request();
        let mut buffer = vec![0; BUFFER];
        let mut next_poll = Instant::ZERO;
        loop {
            let now = self.now();
            if now >= next_poll {
                if !observer.poll(now, emulator, &self.stats) {
                    return Ok(());
                }
                // Relative to now: polls that were missed are not repeated.
                next_poll = now + observer.interval();
            }
            let mut is_busy = false;
            for side in Side::ALL {
                is_busy |= self.take(side, emulator, observer, &mut buffer)?;
                // After each side: a burst from one side must not delay what is due on the other.
                self.deliver(emulator, observer)?;
            }
            // Poll without blocking while packets arrive, as a wake-up costs more than a read.
            if !is_busy {
                self.wait(emulator.deadline().map_or(next_poll, |deadline| deadline.min(next_poll)))?;
            }
        }
    }

    /// Reads a batch of packets from a device into the emulator. Returns whether there was any.
    fn take<O: Observer>(
        &mut self,
        from: Side,
        emulator: &mut Emulator<O>,
        observer: &mut impl BridgeObserver<O>,
        buffer: &mut [u8],
    ) -> io::Result<bool> {
        for count in 0..BATCH {
            match rustix::io::read(&self.devices[from as usize], &mut *buffer) {
                Ok(len) => {
                    let now = self.now();
                    observer.on_packet(now, from, true, &buffer[..len]);
                    emulator.offer(now, from, &buffer[..len]);
                }
                Err(Errno::AGAIN) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Writes packets that are due.
    fn deliver<O: Observer>(
        &mut self,
        emulator: &mut Emulator<O>,
        observer: &mut impl BridgeObserver<O>,
    ) -> io::Result<()> {
        let mut now = self.now();
        while let Some(delivery) = emulator.poll(now) {
            match rustix::io::write(&self.devices[delivery.to as usize], delivery.bytes) {
                Ok(_) => {}
                // The queue of the device is full or the device is down. To the sender that is a loss.
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::IO) => self.stats.undelivered += 1,
                Err(error) => return Err(error.into()),
            }
            now = Instant::from_nanos(self.started.elapsed().as_nanos() as u64);
            observer.on_packet(now, delivery.to, false, delivery.bytes);
            self.stats.delays.record(delivery.due, now);
        }
        Ok(())
    }

    /// Blocks until a packet arrives or until `until`.
    fn wait(&self, until: Instant) -> io::Result<()> {
        let span = std::time::Duration::from_nanos(until.since(self.now()).as_nanos());
        let timeout = Timespec::try_from(span).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut files = self.devices.each_ref().map(|device| PollFd::from_borrowed_fd(readable(device), PollFlags::IN));
        match poll(&mut files, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn readable(device: &OwnedFd) -> BorrowedFd<'_> {
    device.as_fd()
}
