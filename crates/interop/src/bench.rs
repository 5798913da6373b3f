use crate::tun::Tun;
use crate::{Path, Session, Side};
use earlybird_units::{Duration, Instant};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::net::Ipv4Addr;
use std::thread::sleep;

/// The kernel's address.
pub const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The endpoint's, which the kernel reaches through the device.
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Ethernet's.
const MTU: u16 = 1500;
/// How long nothing is looked at, at most: what it adds to a delay.
const NAP: Duration = Duration::from_micros(100);

/// A network of this thread and of those that it starts, in which the kernel and the endpoint meet.
pub struct Bench {
    device: Tun,
    started: std::time::Instant,
    /// What lies between the two.
    pub path: Path,
}

impl Bench {
    /// Moves this thread into a network namespace of its own, with nothing but a TUN device in it. It goes with the thread.
    ///
    /// # Errors
    ///
    /// If that takes rights that the process has not got, or there is no TUN device here.
    #[expect(clippy::disallowed_methods, reason = "the kernel lives in real time")]
    pub fn new(path: Path) -> io::Result<Self> {
        // SAFETY: only the network namespace is left; no descriptor and no memory is shared differently afterwards.
        unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
        let device = Tun::new("earlybird", &KERNEL.to_string(), MTU)?;
        Ok(Self { device, started: std::time::Instant::now(), path })
    }

    /// Gives the time since the bench was made.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// Carries packets until `is_done` says so, or for so long at most; says whether it was done.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn run(
        &mut self,
        session: &mut Session,
        longest: Duration,
        mut is_done: impl FnMut(&mut Session) -> bool,
    ) -> io::Result<bool> {
        let end = self.now() + longest;
        while self.now() < end {
            if is_done(session) {
                return Ok(true);
            }
            if !self.step(session)? {
                sleep(std::time::Duration::from_nanos(NAP.as_nanos()));
            }
        }
        Ok(false)
    }

    /// Carries what there is; says whether there was anything.
    fn step(&mut self, session: &mut Session) -> io::Result<bool> {
        let mut is_busy = self.listen()?;
        while let Some((from, packet)) = self.path.next_arrival(self.now()) {
            is_busy = true;
            match from {
                Side::Kernel => session.on_packet(self.now(), &packet),
                Side::Ours => self.device.send(&packet)?,
            }
        }
        while let Some(packet) = session.next_packet(self.now()) {
            is_busy = true;
            self.path.send(self.now(), Side::Ours, packet);
        }
        Ok(is_busy)
    }

    /// Takes what the kernel sends.
    fn listen(&mut self) -> io::Result<bool> {
        let mut buffer = [0; MTU as usize];
        let mut has_heard = false;
        while let Some(len) = self.device.receive(&mut buffer)? {
            self.path.send(self.now(), Side::Kernel, buffer[..len].to_vec());
            has_heard = true;
        }
        Ok(has_heard)
    }
}
