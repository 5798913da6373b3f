//! The kernel's stacks over emulated links. Skipped with a message where privileges are missing.

use crate::links::{link, pair};
use earlybird_emulator::{Bridge, BridgeObserver, BridgeStats, Emulator, FlowRoutes, HostConfig, Namespace};
use earlybird_units::{Duration, Instant};
use rustix::net::{AddressFamily, SocketType};
use std::net::{IpAddr, SocketAddr, UdpSocket};

fn place(number: u8) -> HostConfig {
    let v4 = [10, 77, 0, number].into();
    HostConfig { v4, v6: [0xfd77, 0, 0, 0, 0, 0, 0, u16::from(number)].into(), mtu: 1500 }
}

/// Returns two hosts, if namespaces are available.
fn hosts() -> Option<[Namespace; 2]> {
    match (Namespace::new(place(1)), Namespace::new(place(2))) {
        (Ok(near), Ok(far)) => Some([near, far]),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("skipped: this machine gives no network namespace with a TUN device: {error}");
            None
        }
    }
}

/// Returns a bound socket of a host.
fn socket(host: &Namespace, address: IpAddr) -> UdpSocket {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = host.socket(family, SocketType::DGRAM).expect("a socket in a namespace that is there");
    rustix::net::bind(&socket, &SocketAddr::new(address, 0)).expect("the address of this host");
    socket.into()
}

/// Sends datagrams from the near to the far socket and back, and records round-trip times.
struct Echo {
    near: UdpSocket,
    far: UdpSocket,
    sent: Option<Instant>,
    times: Vec<Duration>,
}

const DATAGRAMS: usize = 20;

impl BridgeObserver for Echo {
    fn poll(&mut self, now: Instant, _: &mut Emulator, _: &BridgeStats) -> bool {
        let mut buffer = [0; 100];
        if let Ok((_, from)) = self.far.recv_from(&mut buffer) {
            self.far.send_to(b"back", from).expect("an answer");
        }
        if self.near.recv(&mut buffer).is_ok() {
            self.times.extend(self.sent.take().map(|sent| now - sent));
        }
        if self.sent.is_none() {
            self.near.send_to(b"there", self.far.local_addr().expect("it is bound")).expect("a datagram");
            self.sent = Some(now);
        }
        self.times.len() < DATAGRAMS && now < Instant::from_nanos(30_000_000_000)
    }

    fn interval(&self) -> Duration {
        Duration::from_micros(100)
    }
}

#[test]
fn round_trip_times_match_the_links() {
    let Some([near, far]) = hosts() else { return };
    for (here, there) in [(place(1).v4.into(), place(2).v4.into()), (place(1).v6.into(), place(2).v6.into())] {
        let (network, route) = pair(link(10_000_000, 20), link(10_000_000, 15));
        let mut emulator = Emulator::new(network, FlowRoutes::all(route), ());
        let [one, other] = [&near, &far].map(|host| host.device().try_clone().expect("a file more"));
        let mut bridge = Bridge::new(one, other);
        let (near, far) = (socket(&near, here), socket(&far, there));
        let mut echo = Echo { near, far, sent: None, times: Vec::new() };
        bridge.run(&mut emulator, &mut echo).expect("the devices are there");
        assert_eq!(echo.times.len(), DATAGRAMS);
        echo.times.sort_unstable();
        // 33 or 53 bytes take less than 0.1 ms at 10 Mbit/s; the rest is overhead of this machine.
        let [shortest, median] = [echo.times[0], echo.times[DATAGRAMS / 2]];
        assert!(shortest >= Duration::from_millis(35) && median < Duration::from_millis(45), "{:?}", echo.times);
        assert!(bridge.stats().delays.packets() >= 2 * DATAGRAMS as u64 && bridge.stats().undelivered == 0);
    }
}

/// The driver's own queue has 500 places: of a burst from 1 Gb/s on a part was lost in front of the network.
#[test]
fn a_burst_of_2000_packets_was_dropped_at_the_device() {
    let Some([near, _]) = hosts() else { return };
    let here = socket(&near, place(1).v4.into());
    for _ in 0..2000 {
        here.send_to(b"there", (place(2).v4, 9)).expect("a datagram");
    }
    assert_eq!(near.dropped().unwrap(), 0);
}

#[test]
fn device_drops_are_counted() {
    const SENT: usize = 20_000;
    let Some([near, far]) = hosts() else { return };
    let here = socket(&near, place(1).v4.into());
    assert_eq!((near.dropped().unwrap(), far.dropped().unwrap()), (0, 0));
    for _ in 0..SENT {
        here.send_to(b"there", (place(2).v4, 9)).expect("a datagram");
    }
    let mut packet = [0; 1500];
    let is_ours = |len| len == 28 + b"there".len();
    let lengths = std::iter::from_fn(|| rustix::io::read(near.device(), &mut packet).ok());
    let waited = lengths.filter(|len| is_ours(*len)).count();
    assert!(waited > 0 && waited < SENT);
    // IPv6 hosts send router solicitations, some of which may be dropped here, too.
    let dropped = near.dropped().unwrap() as usize;
    assert!((SENT - waited..SENT - waited + 20).contains(&dropped), "{dropped} of {SENT}, {waited} waited");
}
