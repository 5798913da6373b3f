//! A simulated path between two stacks.

use earlybird_live::device::{Encapsulation, Memory, MemoryPacket, Path};
use earlybird_live::{ManualClock, Settings, Stack};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

pub(crate) type Host = Stack<Memory, ManualClock>;

/// Shares of packets that a path loses, duplicates or reorders.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Impairments {
    pub(crate) lost: f64,
    pub(crate) duplicated: f64,
    pub(crate) reordered: f64,
}

/// A packet that was sent: time, sender and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) at: Instant,
    pub(crate) side: usize,
    pub(crate) bytes: Vec<u8>,
}

/// Two stacks, the path between them, and their clock.
pub(crate) struct TestPath {
    pub(crate) hosts: [Host; 2],
    pub(crate) clock: ManualClock,
    /// The network's ends of both devices.
    ends: [Memory; 2],
    encapsulation: Encapsulation,
    addresses: [IpAddr; 2],
    delay: Duration,
    impairments: Impairments,
    /// Packets above this size are dropped.
    pub(crate) largest: usize,
    random: Random,
    /// Packets in flight, by arrival time, then by order of sending.
    in_flight: BTreeMap<(Instant, u64), (usize, MemoryPacket)>,
    sent: u64,
    pub(crate) seen: Vec<Sighting>,
}

const PORTS: [u16; 2] = [40_000, 4201];

/// The addresses of both hosts, over IPv6 or IPv4.
pub(crate) fn addresses(is_v6: bool) -> [IpAddr; 2] {
    let names = if is_v6 { ["fd77::1", "fd77::2"] } else { ["10.77.0.1", "10.77.0.2"] };
    names.map(|name| name.parse().unwrap())
}

impl TestPath {
    pub(crate) fn new(
        encapsulation: Encapsulation,
        is_v6: bool,
        delay: Duration,
        impairments: Impairments,
        seed: u64,
    ) -> Self {
        let addresses = addresses(is_v6);
        let sockets = [0, 1].map(|side| SocketAddr::new(addresses[side], PORTS[side]));
        let clock = ManualClock::default();
        clock.set(Instant::from_nanos(1_000_000));
        let pair = |side: usize| match encapsulation {
            Encapsulation::Ip => Memory::pair(1500),
            // The other end belongs to the test path, which knows both sockets.
            Encapsulation::Udp => Memory::udp_pair(1500, [sockets[side], sockets[1 - side]]),
        };
        let ((first, first_end), (second, second_end)) = (pair(0), pair(1));
        let host = |device, side: usize| {
            Stack::new(device, clock.clone(), Settings::deterministic(seed + side as u64, &addresses[side..=side]))
                .unwrap()
        };
        let hosts = [host(first, 0), host(second, 1)];
        Self {
            hosts,
            clock,
            ends: [first_end, second_end],
            encapsulation,
            addresses,
            delay,
            impairments,
            largest: usize::MAX,
            random: SeedTree::new(seed).random(),
            in_flight: BTreeMap::new(),
            sent: 0,
            seen: Vec::new(),
        }
    }

    /// The path from one side to the other.
    pub(crate) fn path(&self, side: usize) -> Path {
        match self.encapsulation {
            Encapsulation::Ip => Path::to(self.addresses[1 - side]),
            Encapsulation::Udp => Path::over_udp(SocketAddr::new(self.addresses[1 - side], PORTS[1 - side])),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.hosts[0].now().max(self.hosts[1].now())
    }

    /// Puts what a side sent in flight, after impairments.
    fn collect(&mut self, side: usize, now: Instant) {
        while let Some(packet) = self.ends[side].take() {
            self.seen.push(Sighting { at: now, side, bytes: packet.bytes.clone() });
            let mut draw = |share: f64| self.random.unit() < share;
            if draw(self.impairments.lost) || packet.bytes.len() > self.largest {
                continue;
            }
            let copies = 1 + u64::from(draw(self.impairments.duplicated));
            let late = if draw(self.impairments.reordered) { self.delay / 2 } else { Duration::ZERO };
            for _ in 0..copies {
                self.sent += 1;
                self.in_flight.insert((now + self.delay + late, self.sent), (1 - side, packet.clone()));
            }
        }
    }

    /// Runs both stacks until nothing is left to do at `now`.
    fn settle(&mut self, now: Instant) {
        for side in [0, 1] {
            while self.hosts[side].turn().unwrap() || self.hosts[side].deadline().is_some_and(|at| at <= now) {
                self.collect(side, now);
            }
            self.collect(side, now);
        }
    }

    /// Runs both stacks at the current time.
    pub(crate) fn settle_now(&mut self) {
        use earlybird_live::Clock;
        self.settle(self.clock.now());
    }

    /// Injects a packet at a side.
    pub(crate) fn inject(&self, side: usize, packet: MemoryPacket) {
        self.ends[side].put(packet).unwrap();
    }

    /// Swaps the network ends of a side with those of another path, after its stack was swapped. The clock continues.
    pub(crate) fn swap_end(&mut self, side: usize, other: &mut Self) {
        use earlybird_live::Clock;
        std::mem::swap(&mut self.ends[side], &mut other.ends[side]);
        other.clock.set(self.clock.now());
    }

    /// Advances to the next event and processes it; returns `None` if there is none.
    pub(crate) fn step(&mut self) -> Option<Instant> {
        self.settle_now();
        let next = self.next()?;
        self.go_to(next);
        Some(next)
    }

    /// Advances to the next event, but not beyond `latest`. Returns the new time.
    pub(crate) fn step_until(&mut self, latest: Instant) -> Instant {
        self.settle_now();
        let next = self.next().map_or(latest, |next| next.min(latest));
        self.go_to(next);
        next
    }

    fn next(&mut self) -> Option<Instant> {
        let [one, other] = self.hosts.each_mut().map(Stack::deadline);
        let arrival = self.in_flight.first_key_value().map(|((at, _), _)| *at);
        [one, other, arrival].into_iter().flatten().min()
    }

    fn go_to(&mut self, next: Instant) {
        self.clock.set(next);
        while let Some(entry) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= next) {
            let (to, packet) = entry.remove();
            self.ends[to].put(packet).unwrap();
        }
        self.settle(next);
    }
}
