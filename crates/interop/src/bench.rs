use crate::tun::Tun;
use crate::{Path, Session, Side};
use earlybird_units::{Duration, Instant};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::thread::sleep;

/// Which version of the Internet Protocol the two speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Gives the kernel's address.
    pub const fn kernel(self) -> IpAddr {
        self.host(1)
    }

    /// Gives the endpoint's address, which the kernel reaches through the device.
    pub const fn ours(self) -> IpAddr {
        self.host(2)
    }

    const fn host(self, number: u8) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::new(10, 77, 0, number)),
            Self::V6 => IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number as u16)),
        }
    }

    /// Gives the bits of the network that both are in.
    const fn prefix(self) -> u8 {
        match self {
            Self::V4 => 24,
            Self::V6 => 64,
        }
    }
}

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
        let device = Tun::new("earlybird", MTU)?;
        for family in Family::ALL {
            device.add_address(family.kernel(), family.prefix())?;
        }
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
