//! The MTU of paths: of this host's routes, and of paths on which a black hole was found.

use super::{Id, Stack};
use crate::clock::Clock;
use crate::device::Device;
use earlybird_tcp::Connection;
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// The MTUs of paths that drop longer packets without a report: another connection to the same host starts with them.
#[derive(Debug, Default)]
pub(super) struct BlackHoles(VecDeque<BlackHole>);

#[derive(Debug)]
struct BlackHole {
    host: IpAddr,
    mtu: u16,
    until: Instant,
}

/// The time after which longer packets are tried again (`PMTU_RAISE_TIMER`, RFC 8899 §5.1.1).
const LIFETIME: Duration = Duration::from_secs(600);
/// The largest number of hosts that are remembered; above it, the oldest is forgotten.
const HOSTS: usize = 64;

impl BlackHoles {
    fn insert(&mut self, host: IpAddr, mtu: u16, now: Instant) {
        self.0.retain(|hole| hole.host != host);
        if self.0.len() == HOSTS {
            self.0.pop_front();
        }
        self.0.push_back(BlackHole { host, mtu, until: now + LIFETIME });
    }

    fn mtu(&self, host: IpAddr, now: Instant) -> Option<u16> {
        self.0.iter().find(|hole| hole.host == host && hole.until > now).map(|hole| hole.mtu)
    }
}

impl<D: Device, C: Clock> Stack<D, C> {
    /// Returns the MTU of the path to a peer if less than that of the device is known.
    pub(super) fn known_mtu(&self, remote: SocketAddr) -> Option<u16> {
        let found = self.black_holes.mtu(remote.ip(), self.now);
        let mtu = [self.device.route_mtu(remote), found].into_iter().flatten().min();
        mtu.filter(|mtu| *mtu < self.device.mtu())
    }

    /// Reduces the segments of a connection to what is known of its path.
    pub(super) fn fit_route(&mut self, id: Id) {
        let Some(remote) = self.connections.get(id).map(|entry| entry.path.remote) else { return };
        let Some(mtu) = self.known_mtu(remote) else { return };
        self.limit_to(id, mtu);
    }

    fn limit_to(&mut self, id: Id, mtu: u16) {
        let mtu = mtu.saturating_sub(self.encapsulator.encapsulation.overhead());
        let Some(entry) = self.connections.get_mut(id) else { return };
        if self.observer.with_context(self.now, id, |cx| entry.connection.on_route_mtu(cx, mtu)) {
            self.after_update(id);
        }
    }

    /// Reduces the segments of connections whose packets the device has refused because of their length.
    pub(super) fn fit_refused(&mut self) {
        while let Some(remote) = self.device.take_too_long() {
            let Some(mtu) = self.known_mtu(remote) else { continue };
            for id in self.connections.ids_towards(remote) {
                self.limit_to(id, mtu);
            }
        }
    }

    /// Runs the timers of a connection. Segments may have been lost because of their length: after a retransmission timeout, the
    /// reports that routers have sent to the kernel are looked up, and what the connection has found itself is remembered.
    pub(super) fn run_timer(&mut self, id: Id) {
        let Some(entry) = self.connections.get_mut(id) else { return };
        let before = PathSigns::of(&entry.connection);
        self.observer.with_context(self.now, id, |cx| entry.connection.on_timeout(cx));
        let after = PathSigns::of(&entry.connection);
        let host = entry.path.remote.ip();
        if after.mss < before.mss {
            let headers = self.device.mtu() - self.encapsulator.mss(host, self.device.mtu());
            self.black_holes.insert(host, after.mss as u16 + headers, self.now);
        }
        if after.timeouts > before.timeouts {
            self.fit_route(id);
        }
    }
}

/// The values that a timer of a connection may change.
#[derive(Clone, Copy, Debug)]
struct PathSigns {
    timeouts: u64,
    mss: u64,
}

impl PathSigns {
    fn of(connection: &Connection) -> Self {
        Self { timeouts: connection.statistics().timeouts, mss: connection.effective_mss() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_64_black_holes_are_known_for_ten_minutes() {
        let mut holes = BlackHoles::default();
        let host = |number: u32| IpAddr::V4(std::net::Ipv4Addr::from_bits(number));
        (0..65).for_each(|number| holes.insert(host(number), 764, Instant::ZERO));
        holes.insert(host(1), 600, Instant::ZERO + Duration::from_secs(1));
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!([0, 1, 64].map(|number| holes.mtu(host(number), at(599))), [None, Some(600), Some(764)]);
        assert_eq!([1, 64].map(|number| holes.mtu(host(number), at(600))), [Some(600), None]);
    }
}
