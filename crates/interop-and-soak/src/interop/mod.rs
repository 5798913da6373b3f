//! Transfers of a gigabyte in each direction between our stack over TUN and programs over the kernel's TCP, with emulated links
//! between them.
//!
//! The programs are in the near namespace. In the far one, the kernel forwards packets between the links and the stack's TUN
//! device, like a router.

mod processes;
mod stack_side;

pub use stack_side::serve;

use crate::path::{TestImpairments, TestPath};
use crate::testbed::{MTU, Testbed};
use earlybird_emulator::Side;
use earlybird_emulator::shell::host_config;
use earlybird_units::Duration;
use processes::{Process, Report};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// The direction and programs of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Our client to Python's server.
    ToPython,
    /// Python's client to our server.
    FromPython,
    /// Our server to curl.
    ToCurl,
}

impl Direction {
    /// All directions.
    pub const ALL: [Self; 3] = [Self::ToPython, Self::FromPython, Self::ToCurl];
}

/// The IP version of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Both versions.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// Returns the address of the programs.
    fn kernel(self) -> IpAddr {
        let index = host_config(Side::Near, MTU);
        match self {
            Self::V4 => index.v4.into(),
            Self::V6 => index.v6.into(),
        }
    }

    /// Returns an address in the network behind the router: 1 is the router, 2 the stack.
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

/// The parameters of a transfer.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Direction.
    pub direction: Direction,
    /// IP version.
    pub family: Family,
    /// Impairments of the links.
    pub impairments: TestImpairments,
    /// Our congestion control: `cubic`, `bbr` or `tolerant`.
    pub ours: String,
    /// The congestion control of the kernel.
    pub kernel: String,
    /// Size in megabytes (10⁶ bytes).
    pub megabytes: u64,
}

/// The result of a transfer.
#[derive(Clone, Debug)]
pub struct TrialResult {
    /// Time from the first packet to the last.
    pub duration: Duration,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Packets of both directions that the links lost or their queues dropped.
    pub lost: u64,
    /// SHA-256 of what was sent and of what was read.
    pub sha256: [String; 2],
}

impl TrialResult {
    /// Returns whether the received data equals the sent data.
    pub fn is_intact(&self) -> bool {
        self.sha256[0] == self.sha256[1]
    }
}

/// The rate: high enough for a gigabyte per trial at 5 % loss, low enough for an emulator on a shared machine.
const RATE: u64 = 500_000_000;
const DELAY: Duration = Duration::from_millis(2);
/// Queue limit in packets: 24 ms.
const QUEUE: usize = 1_000;

impl Trial {
    /// Runs the transfer. `program` must call [`serve`] with its arguments after the first one, which is `ours`.
    ///
    /// # Errors
    ///
    /// If namespaces with TUN devices are not available, or a program fails.
    pub fn run(&self, program: &Path) -> io::Result<TrialResult> {
        let testbed =
            Testbed::new(&TestPath { rate: RATE, delay: DELAY, queue: QUEUE, impairments: self.impairments })?;
        let router = &testbed.sides[Side::Far as usize];
        router.set(c"/proc/sys/net/ipv4/ip_forward", "1")?;
        router.set(c"/proc/sys/net/ipv6/conf/all/forwarding", "1")?;
        let outcome = self.transfer(&testbed, program);
        let end = testbed.stop()?;
        Ok(TrialResult { lost: end.dropped + end.stats.undelivered, ..outcome? })
    }

    fn transfer(&self, testbed: &Testbed, program: &Path) -> io::Result<TrialResult> {
        let [near, far] = &testbed.sides;
        let ours = || Process::ours(far, program, self);
        let [sender, reader] = match self.direction {
            Direction::ToPython => {
                let reader = Process::python(near, self)?.wait_until_ready()?;
                [ours()?, reader]
            }
            Direction::FromPython => {
                let reader = ours()?.wait_until_ready()?;
                [Process::python(near, self)?, reader]
            }
            Direction::ToCurl => {
                let sender = ours()?.wait_until_ready()?;
                [sender, Process::curl(near, self)?]
            }
        };
        let began = sender.started.max(reader.started);
        let (read, sent): (Report, Report) = (reader.report()?, sender.report()?);
        // Measured at the reader, whose last byte ends the transfer.
        let duration = Duration::from_nanos((read.at - began).as_nanos() as u64);
        Ok(TrialResult { duration, retransmissions: sent.retransmissions, lost: 0, sha256: [sent.sha256, read.sha256] })
    }
}
