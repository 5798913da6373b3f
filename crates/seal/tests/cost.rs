//! The processor time of a datagram with and without encryption: `cargo test -p earlybird-seal --test cost -- --ignored --nocapture`.
#![expect(clippy::disallowed_methods, reason = "processor time is real")]
#![expect(clippy::print_stdout, reason = "the result of a measurement")]

use earlybird_live::ManualClock;
use earlybird_live::device::{BATCH, Device, Memory, Path, RxQueue, TxQueue};
use earlybird_seal::{Key, RandomSource, Role, Sealed};
use earlybird_units::Duration;
use earlybird_wire::Ecn;
use std::net::SocketAddr;
use std::time::Instant;

/// Bytes of a segment with a unit of seven packets of a transport stream, and the number of datagrams.
const BYTES: usize = 1362;
const COUNT: usize = 200 * BATCH;

fn addresses() -> [SocketAddr; 2] {
    [1, 2].map(|host| SocketAddr::from(([192, 0, 2, host], 4201)))
}

/// Sends from one device to another, and returns the number of packets that arrive.
fn exchange([from, to]: [&mut dyn Device; 2], remote: SocketAddr, count: usize) -> usize {
    let (mut tx, mut rx, mut arrived) = (TxQueue::default(), RxQueue::default(), 0);
    for _ in 0..count.div_ceil(BATCH) {
        for _ in 0..count.min(BATCH) {
            let path = Path::over_udp(remote);
            tx.add(path, Ecn::NotCapable, BYTES, |into| Ok::<_, ()>(into.len())).expect("it fits");
        }
        from.send(&mut tx).expect("memory");
        rx.clear();
        to.receive(&mut rx).expect("memory");
        arrived += std::iter::from_fn(|| rx.take()).count();
    }
    arrived
}

/// Returns the nanoseconds of a datagram, sent and received: the least of five runs.
fn cost([mut from, mut to]: [Box<dyn Device>; 2]) -> f64 {
    let [near, far] = addresses();
    // The handshake, if there is one.
    exchange([&mut *from, &mut *to], far, 1);
    exchange([&mut *to, &mut *from], near, 1);
    exchange([&mut *from, &mut *to], far, 1);
    let mut once = || {
        let started = Instant::now();
        assert_eq!(exchange([&mut *from, &mut *to], far, COUNT), COUNT);
        started.elapsed().as_nanos() as f64 / COUNT as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement"]
fn the_cost_of_encryption() {
    let sealed = |device: Memory, role| -> Box<dyn Device> {
        let (random, unix) = (RandomSource::of_system(), Duration::from_secs(1));
        let clock = ManualClock::default();
        Box::new(Sealed::new(device, clock, role, Key::new([1; 32]), random, unix).expect("valid"))
    };
    let pair = || Memory::udp_pair(1500, addresses());
    let (one, other) = pair();
    let plain = cost([Box::new(one), Box::new(other)]);
    let (one, other) = pair();
    let with_key = cost([sealed(one, Role::Caller), sealed(other, Role::Listener)]);
    println!("ns per datagram of {BYTES} bytes, sent and received: {plain:.0} without a key, {with_key:.0} with one");
}
