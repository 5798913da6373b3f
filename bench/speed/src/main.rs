//! Bulk transfers one after another on this machine: our stack over UDP and over TUN, the kernel's TCP over loopback and over TUN, and
//! QUIC (quinn, which encrypts) over loopback. How fast, and how much processor both ends together take for each 1448 bytes, which is
//! what a packet of 1500 carries.
//!
//! `earlybird-speed [MEGABYTES [ROUNDS]]`; what goes over TUN needs root, and takes networks of its own.

mod kernel;
mod ours;
mod quic;
mod side;

use rustix::time::{ClockId, clock_gettime};
use std::error::Error;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Moves so many bytes.
type Case = fn(u64) -> Result<()>;

const CASES: [(&str, Case); 6] = [
    ("our stack, UDP over loopback", ours::over_udp),
    ("quinn, UDP over loopback", quic::over_udp),
    ("kernel, TCP over loopback", kernel::over_loopback),
    ("our stack to the kernel, TUN", ours::to_kernel),
    ("kernel to our stack, TUN", ours::from_kernel),
    ("kernel to kernel, two TUN devices", kernel::over_tun),
];

/// Payload of a packet of 1500 bytes beside IP's header, TCP's, and timestamps.
const PAYLOAD: u64 = 1448;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let megabytes: u64 = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    let rounds: u64 = arguments.next().map_or(Ok(3), |text| text.parse())?;
    eprintln!("| | Mb/s | µs of processor per {PAYLOAD} bytes | Mb/s per processor |\n|---|---|---|---|");
    for _ in 0..rounds {
        for (name, case) in CASES {
            measure(name, case, megabytes * 1_000_000)?;
        }
    }
    Ok(())
}

fn measure(name: &str, case: Case, bytes: u64) -> Result<()> {
    let begin = [ClockId::MonotonicClock, ClockId::ProcessCPUTime].map(seconds);
    case(bytes)?;
    let end = [ClockId::MonotonicClock, ClockId::ProcessCPUTime].map(seconds);
    let [took, worked] = [end[0] - begin[0], end[1] - begin[1]];
    let megabits = bytes as f64 * 8.0 / 1e6;
    let cost = worked * 1e6 / bytes.div_ceil(PAYLOAD) as f64;
    eprintln!("| {name} | {:.0} | {cost:.2} | {:.0} |", megabits / took, megabits / worked);
    Ok(())
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
