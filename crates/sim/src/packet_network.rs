//! The links of the simulator for packets from outside, under the caller's clock.

use crate::events::{EventKind, SimEvent};
use crate::forwarding::Forwarder;
use crate::ids::LinkId;
use crate::ids::SlotId;
use crate::network::Network;
use crate::observer::{Observer, PacketEvent};
use crate::packet::Packet;
use crate::timestamp::Timestamp;
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// The resolution of time.
const INSTANT_LENGTH: Duration = Duration::from_nanos(1);

/// Carries packets from one end of their route to the other.
///
/// The links are those of a [`World`](crate::World), without endpoints. The observer reports the events of each
/// packet: a dropped one never arrives, a duplicated one arrives twice, and [`Packet::external_id`] identifies
/// it. Time is an argument and never decreases.
///
/// ```
/// # use earlybird_sim::*;
/// # use earlybird_units::{Duration, Instant, Rate, SeedTree};
/// # use earlybird_wire::Datagram;
/// let mut network = Network::default();
/// let [here, there] = [network.add_node(), network.add_node()];
/// let link = LinkSettings {
///     delay: Duration::from_millis(20),
///     ..LinkSettings::plain("link", Rate::from_bits_per_second(1_000_000).unwrap(), SeedTree::new(1))
/// };
/// network.add_link(here, there, link);
/// let route = network.add_route(here, there).unwrap();
/// let mut network = PacketNetwork::new(network, ());
/// network.send(Instant::ZERO, Packet::external(route, 1250, Content::Datagram(Datagram::default())));
/// // Sending 10,000 bits takes 10 ms.
/// let arrival = Instant::from_nanos(30_000_000);
/// assert_eq!(network.poll_timeout(), Some(arrival));
/// assert_eq!(network.poll_arrival(arrival).map(|(at, packet)| (at, packet.bytes)), Some((arrival, 1250)));
/// ```
#[derive(Debug)]
pub struct PacketNetwork<O: Observer = ()> {
    forwarder: Forwarder<O>,
    /// Packets at the end of their route, each with its arrival time.
    arrived: VecDeque<(Instant, Packet)>,
}

impl<O: Observer> PacketNetwork<O> {
    /// Makes a network without packets.
    pub fn new(network: Network, observer: O) -> Self {
        Self { forwarder: Forwarder::new(network, observer), arrived: VecDeque::new() }
    }

    /// Sends a packet at the beginning of its route.
    pub fn send(&mut self, now: Instant, packet: Packet) {
        self.advance(now);
        let slot = self.forwarder.events.pool.take();
        self.forwarder.events.pool.get_mut(slot).packet = packet;
        if O::PACKETS {
            self.forwarder.observer.on_packet(now, PacketEvent::Sent, &packet);
        }
        self.forwarder.depart(slot);
    }

    /// Returns the next packet that has reached the end of its route, and its time of arrival.
    pub fn poll_arrival(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.arrived.pop_front()
    }

    /// Returns the time at which to call [`Self::poll_arrival`].
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        self.arrived.front().map(|(at, _)| *at).or_else(|| self.forwarder.events.next_at())
    }

    /// Returns how many packets are in the network: waiting, in transmission, in propagation, or arrived and not read.
    pub fn packets_in_flight(&self) -> usize {
        self.forwarder.events.packets() + self.arrived.len()
    }

    /// Returns the links.
    pub const fn network(&self) -> &Network {
        &self.forwarder.network
    }

    /// Returns how many packets wait at a link now.
    pub fn backlog(&mut self, now: Instant, link: LinkId) -> usize {
        self.advance(now);
        self.forwarder.network.link_mut(link).backlog(now)
    }

    /// Returns the observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.forwarder.observer
    }

    /// Returns the network and the observer, at the end.
    pub fn into_parts(self) -> (Network, O) {
        (self.forwarder.network, self.forwarder.observer)
    }

    /// Handles all events until `now`, inclusive.
    fn advance(&mut self, now: Instant) {
        // `pop_before` excludes its bound, and events at `now` are due.
        while let Some(slot) = self.forwarder.events.pop_before(now + INSTANT_LENGTH) {
            let event = self.forwarder.events.pool.get(slot).event;
            self.forwarder.now = event.timestamp;
            if event.is_arrival() {
                self.forward(slot);
            } else {
                self.on_event(slot, event);
            }
        }
        // Events may have set the time to `now` already, with ns-2's tie break, which must not be lost.
        if self.forwarder.now.at < now {
            self.forwarder.now = Timestamp::from_instant(now);
        }
    }

    fn forward(&mut self, slot: SlotId) {
        if self.forwarder.forward(slot) {
            let packet = *self.forwarder.events.pool.set_free(slot);
            if O::PACKETS {
                self.forwarder.observer.on_packet(self.forwarder.now.at, PacketEvent::Arrived, &packet);
            }
            self.arrived.push_back((self.forwarder.now.at, packet));
        }
    }

    /// Handles an event without a packet: a service of a link, or the release of a held packet.
    fn on_event(&mut self, slot: SlotId, event: SimEvent) {
        self.forwarder.events.free_event(slot);
        match event.kind() {
            EventKind::Service => self.forwarder.serve_link(LinkId(event.number())),
            _ => {
                if let Some(slot) = self.forwarder.release_held(event.number()) {
                    self.forward(slot);
                }
            }
        }
    }
}
