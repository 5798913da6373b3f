//! The emulator between two devices, under the clock of this machine.

use crate::emulator::Emulator;
use crate::timing::Timing;
use crate::ways::Side;
use earlybird_scheduling::RealtimePriority;
use earlybird_sim::Observer;
use earlybird_units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Looks on while packets cross.
pub trait Watch<O: Observer = ()> {
    /// Is called again and again; says whether to go on.
    fn look(&mut self, now: Instant, emulator: &mut Emulator<O>, carried: &Carried) -> bool;

    /// Returns the time between two calls of [`Self::look`].
    fn interval(&self) -> Duration {
        Duration::from_millis(50)
    }

    /// A packet came out of a device, or goes into one.
    fn on_packet(&mut self, _at: Instant, _device: Side, _is_entering: bool, _bytes: &[u8]) {}
}

/// What came of the packets that were due.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// How much later they left.
    pub timing: Timing,
    /// How many the device did not take.
    pub undelivered: u64,
}

/// Two devices between which packets are carried.
#[derive(Debug)]
pub struct Crossing {
    devices: [OwnedFd; 2],
    started: std::time::Instant,
    carried: Carried,
}

/// Packets that are taken from a device before those are looked at that are due.
const BATCH: usize = 64;
/// Longer than any packet.
const BUFFER: usize = 1 << 16;

impl Crossing {
    /// Makes one of the devices near and far, which must not block.
    #[expect(clippy::disallowed_methods, reason = "packets of real networks come in real time")]
    pub fn new(near: OwnedFd, far: OwnedFd) -> Self {
        let started = std::time::Instant::now();
        Self { devices: [near, far], started, carried: Carried::default() }
    }

    /// Returns the moment at which this was made.
    pub const fn started(&self) -> std::time::Instant {
        self.started
    }

    /// Returns the time since this was made.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// Returns what came of the packets that were due.
    pub const fn carried(&self) -> &Carried {
        &self.carried
    }

    /// Carries packets until `watch` has seen enough.
    ///
    /// # Errors
    ///
    /// If a device fails.
    pub fn run<O: Observer>(&mut self, emulator: &mut Emulator<O>, watch: &mut impl Watch<O>) -> io::Result<()> {
        let _priority = RealtimePriority::request();
        let mut buffer = vec![0; BUFFER];
        let mut next_look = Instant::ZERO;
        loop {
            let now = self.now();
            if now >= next_look {
                if !watch.look(now, emulator, &self.carried) {
                    return Ok(());
                }
                next_look = now + watch.interval();
            }
            let mut is_busy = false;
            for side in Side::ALL {
                is_busy |= self.take(side, emulator, watch, &mut buffer)?;
                self.deliver(emulator, watch)?;
            }
            if !is_busy {
                self.wait(emulator.deadline().map_or(next_look, |deadline| deadline.min(next_look)))?;
            }
        }
    }

    /// Takes what waits at a device; says whether there was anything.
    fn take<O: Observer>(
        &mut self,
        from: Side,
        emulator: &mut Emulator<O>,
        watch: &mut impl Watch<O>,
        buffer: &mut [u8],
    ) -> io::Result<bool> {
        for count in 0..BATCH {
            match rustix::io::read(&self.devices[from as usize], &mut *buffer) {
                Ok(len) => {
                    let now = self.now();
                    watch.on_packet(now, from, true, &buffer[..len]);
                    emulator.offer(now, from, &buffer[..len]);
                }
                Err(Errno::AGAIN) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Hands over what is due.
    fn deliver<O: Observer>(&mut self, emulator: &mut Emulator<O>, watch: &mut impl Watch<O>) -> io::Result<()> {
        let mut now = self.now();
        while let Some(delivery) = emulator.poll(now) {
            match rustix::io::write(&self.devices[delivery.to as usize], delivery.bytes) {
                Ok(_) => {}
                // The host has no room, or its device is down: to the sender that is a loss.
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::IO) => self.carried.undelivered += 1,
                Err(error) => return Err(error.into()),
            }
            now = Instant::from_nanos(self.started.elapsed().as_nanos() as u64);
            watch.on_packet(now, delivery.to, false, delivery.bytes);
            self.carried.timing.note(delivery.due, now);
        }
        Ok(())
    }

    /// Waits for a packet, until a time at the latest.
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
