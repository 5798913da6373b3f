//! Two stacks and what lies between them.

use earlybird_live::device::{Carriage, Memory, Parcel, Path};
use earlybird_live::{Scripted, Settings, Stack};
use earlybird_units::{Duration, Instant, Random, SeedTree};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

pub(crate) type Host = Stack<Memory, Scripted>;

/// What a line does to packets, in shares of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Harm {
    pub(crate) lost: f64,
    pub(crate) doubled: f64,
    pub(crate) overtaken: f64,
}

/// A packet as it left: when, from which side, and what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sighting {
    pub(crate) at: Instant,
    pub(crate) side: usize,
    pub(crate) bytes: Vec<u8>,
}

/// Two stacks, a line between them, and their clock.
pub(crate) struct Line {
    pub(crate) hosts: [Host; 2],
    pub(crate) clock: Scripted,
    /// The line's ends.
    ends: [Memory; 2],
    carriage: Carriage,
    addresses: [IpAddr; 2],
    delay: Duration,
    harm: Harm,
    /// What is longer never arrives.
    pub(crate) largest: usize,
    random: Random,
    /// By time, and in order of sending.
    on_its_way: BTreeMap<(Instant, u64), (usize, Parcel)>,
    sent: u64,
    pub(crate) seen: Vec<Sighting>,
}

const PORTS: [u16; 2] = [40_000, 4201];

/// The addresses of both sides, over IPv6 or IPv4.
pub(crate) fn addresses(is_v6: bool) -> [IpAddr; 2] {
    let names = if is_v6 { ["fd77::1", "fd77::2"] } else { ["10.77.0.1", "10.77.0.2"] };
    names.map(|name| name.parse().unwrap())
}

impl Line {
    pub(crate) fn new(carriage: Carriage, is_v6: bool, delay: Duration, harm: Harm, seed: u64) -> Self {
        let addresses = addresses(is_v6);
        let sockets = [0, 1].map(|side| SocketAddr::new(addresses[side], PORTS[side]));
        let clock = Scripted::default();
        clock.set(Instant::from_nanos(1_000_000));
        let pair = |side: usize| match carriage {
            Carriage::Ip => Memory::pair(1500),
            // The other end belongs to the line, which knows who is who.
            Carriage::Udp => Memory::udp_pair(1500, [sockets[side], sockets[1 - side]]),
        };
        let ((first, first_end), (second, second_end)) = (pair(0), pair(1));
        let host = |device, side: usize| {
            Stack::new(device, clock.clone(), Settings::scripted(seed + side as u64, &addresses[side..=side])).unwrap()
        };
        let hosts = [host(first, 0), host(second, 1)];
        Self {
            hosts,
            clock,
            ends: [first_end, second_end],
            carriage,
            addresses,
            delay,
            harm,
            largest: usize::MAX,
            random: SeedTree::new(seed).random(),
            on_its_way: BTreeMap::new(),
            sent: 0,
            seen: Vec::new(),
        }
    }

    /// The way from a side to the other one.
    pub(crate) fn path(&self, side: usize) -> Path {
        match self.carriage {
            Carriage::Ip => Path::to(self.addresses[1 - side]),
            Carriage::Udp => Path::over_udp(SocketAddr::new(self.addresses[1 - side], PORTS[1 - side])),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.hosts[0].now().max(self.hosts[1].now())
    }

    /// Takes what a side sent.
    fn collect(&mut self, side: usize, now: Instant) {
        while let Some(parcel) = self.ends[side].take() {
            self.seen.push(Sighting { at: now, side, bytes: parcel.bytes.clone() });
            let mut draw = |share: f64| self.random.unit() < share;
            if draw(self.harm.lost) || parcel.bytes.len() > self.largest {
                continue;
            }
            let copies = 1 + u64::from(draw(self.harm.doubled));
            let late = if draw(self.harm.overtaken) { self.delay / 2 } else { Duration::ZERO };
            for _ in 0..copies {
                self.sent += 1;
                self.on_its_way.insert((now + self.delay + late, self.sent), (1 - side, parcel.clone()));
            }
        }
    }

    /// Lets both sides do what is to be done now.
    fn settle(&mut self, now: Instant) {
        for side in [0, 1] {
            while self.hosts[side].turn().unwrap() || self.hosts[side].deadline().is_some_and(|at| at <= now) {
                self.collect(side, now);
            }
            self.collect(side, now);
        }
    }

    /// Lets both sides do what is to be done now, and no time pass.
    pub(crate) fn settle_now(&mut self) {
        use earlybird_live::Clock;
        self.settle(self.clock.now());
    }

    /// Hands a side a packet that comes from elsewhere.
    pub(crate) fn give(&self, side: usize, parcel: Parcel) {
        self.ends[side].put(parcel).unwrap();
    }

    /// Exchanges what a side's device is joined to, with the clock's time kept: its host was exchanged before.
    pub(crate) fn swap_end(&mut self, side: usize, other: &mut Self) {
        use earlybird_live::Clock;
        std::mem::swap(&mut self.ends[side], &mut other.ends[side]);
        other.clock.set(self.clock.now());
    }

    /// Goes on to the next time at which anything happens, and lets it; `None` if nothing ever does.
    pub(crate) fn step(&mut self) -> Option<Instant> {
        self.settle_now();
        let next = self.next()?;
        self.go_to(next);
        Some(next)
    }

    /// Goes on to the next time at which anything happens, but not beyond `latest`; gives where that was.
    pub(crate) fn step_until(&mut self, latest: Instant) -> Instant {
        self.settle_now();
        let next = self.next().map_or(latest, |next| next.min(latest));
        self.go_to(next);
        next
    }

    fn next(&mut self) -> Option<Instant> {
        let [one, other] = self.hosts.each_mut().map(Stack::deadline);
        let arrival = self.on_its_way.first_key_value().map(|((at, _), _)| *at);
        [one, other, arrival].into_iter().flatten().min()
    }

    fn go_to(&mut self, next: Instant) {
        self.clock.set(next);
        while let Some(entry) = self.on_its_way.first_entry().filter(|entry| entry.key().0 <= next) {
            let (to, parcel) = entry.remove();
            self.ends[to].put(parcel).unwrap();
        }
        self.settle(next);
    }
}
