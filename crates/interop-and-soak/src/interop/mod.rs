//! A gigabyte each way between our stack over TUN and programs over this machine's TCP, with emulated links between.
//!
//! The programs are in the near namespace. In the far one the stack has a TUN device, to which the kernel there forwards what comes
//! over the links, as a router would.

mod ours;
mod programs;

pub use ours::serve;

use crate::line::{Harm, Line};
use crate::rig::{MTU, Rig};
use earlybird_emulator::Side;
use earlybird_emulator::shell::host_config;
use earlybird_units::Duration;
use programs::{Program, Report};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Our client to Python's server.
    ToPython,
    /// Python's client to our server.
    FromPython,
    /// Our server to curl.
    ToCurl,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ToPython, Self::FromPython, Self::ToCurl];
}

/// Over which version of the Internet Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The older one.
    V4,
    /// The newer one.
    V6,
}

impl Family {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Returns the address of the programs.
    fn kernel(self) -> IpAddr {
        let place = host_config(Side::Near, MTU);
        match self {
            Self::V4 => place.v4.into(),
            Self::V6 => place.v6.into(),
        }
    }

    /// Returns an address in the network behind the router: 1 is the router's, 2 the stack's.
    const fn behind(self, host: u8) -> IpAddr {
        match self {
            Self::V4 => IpAddr::V4(Ipv4Addr::new(10, 78, 0, host)),
            Self::V6 => IpAddr::V6(Ipv6Addr::new(0xfd78, 0, 0, 0, 0, 0, 0, host as u16)),
        }
    }

    /// Returns the address of our stack.
    const fn ours(self) -> IpAddr {
        self.behind(2)
    }
}

/// What is tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Who sends.
    pub way: Way,
    /// Over what.
    pub family: Family,
    /// What happens to packets.
    pub harm: Harm,
    /// Our congestion control: `cubic`, `bbr` or `tolerant`.
    pub ours: String,
    /// The kernel's.
    pub kernel: String,
    /// How much, in millions of bytes.
    pub megabytes: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// From the first packet to the last.
    pub took: Duration,
    /// Segments that the sender sent again.
    pub repeated: u64,
    /// Packets of both directions that were lost on the links or found a queue full.
    pub lost: u64,
    /// What was sent, and what was read.
    pub sha256: [String; 2],
}

impl Outcome {
    /// Returns whether what was read is what was sent.
    pub fn is_whole(&self) -> bool {
        self.sha256[0] == self.sha256[1]
    }
}

/// As fast as losses of a twentieth allow in bearable time, and as the links of an emulator on a shared machine are exact.
const RATE: u64 = 500_000_000;
const DELAY: Duration = Duration::from_millis(2);
/// Packets: 24 ms.
const QUEUE: usize = 1_000;

impl Trial {
    /// Runs it; `program` is what runs [`serve`] with the arguments behind its first one, which is `ours`.
    ///
    /// # Errors
    ///
    /// If the machine gives no namespaces with TUN devices, or a program fails.
    pub fn run(&self, program: &Path) -> io::Result<Outcome> {
        let rig = Rig::new(&Line { rate: RATE, delay: DELAY, queue: QUEUE, harm: self.harm })?;
        let router = &rig.sides[Side::Far as usize];
        router.set(c"/proc/sys/net/ipv4/ip_forward", "1")?;
        router.set(c"/proc/sys/net/ipv6/conf/all/forwarding", "1")?;
        let outcome = self.transfer(&rig, program);
        let end = rig.stop()?;
        Ok(Outcome { lost: end.dropped + end.stats.undelivered, ..outcome? })
    }

    fn transfer(&self, rig: &Rig, program: &Path) -> io::Result<Outcome> {
        let [near, far] = &rig.sides;
        let ours = || Program::ours(far, program, self);
        let [sender, reader] = match self.way {
            Way::ToPython => {
                let reader = Program::python(near, self)?.until_ready()?;
                [ours()?, reader]
            }
            Way::FromPython => {
                let reader = ours()?.until_ready()?;
                [Program::python(near, self)?, reader]
            }
            Way::ToCurl => {
                let sender = ours()?.until_ready()?;
                [sender, Program::curl(near, self)?]
            }
        };
        let began = sender.started.max(reader.started);
        let (read, sent): (Report, Report) = (reader.report()?, sender.report()?);
        let took = Duration::from_nanos((read.at - began).as_nanos() as u64);
        Ok(Outcome { took, repeated: sent.repeated, lost: 0, sha256: [sent.sha256, read.sha256] })
    }
}
