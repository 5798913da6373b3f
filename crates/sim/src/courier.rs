//! A network whose packets come from outside, where somebody else keeps the clock.

use crate::events::{Event, Kind};
use crate::ids::LinkId;
use crate::moment::Moment;
use crate::network::Network;
use crate::observer::{Observer, PacketEvent};
use crate::packet::Packet;
use crate::slots::Place;
use crate::transit::Transit;
use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// The shortest time there is.
const INSTANT_LENGTH: Duration = Duration::from_nanos(1);

/// Carries packets that are handed over at one end of their route and taken back at the other.
///
/// The links are those of a [`World`](crate::World), which has endpoints besides. What becomes of a packet on its way, the
/// observer is told: one that is dropped never arrives, one that is doubled arrives twice, and [`Packet::ticket`] says which it
/// was. Time is an argument and never goes back.
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
/// let mut courier = Courier::new(network, ());
/// courier.send(Instant::ZERO, Packet::foreign(route, 1250, Content::Datagram(Datagram::default())));
/// // Sending 10,000 bits takes 10 ms.
/// let arrival = Instant::from_nanos(30_000_000);
/// assert_eq!(courier.poll_timeout(), Some(arrival));
/// assert_eq!(courier.poll_arrival(arrival).map(|(at, packet)| (at, packet.bytes)), Some((arrival, 1250)));
/// ```
#[derive(Debug)]
pub struct Courier<O: Observer = ()> {
    transit: Transit<O>,
    /// What has come to the end of its route, and when.
    arrived: VecDeque<(Instant, Packet)>,
}

impl<O: Observer> Courier<O> {
    /// Makes a courier for this network.
    pub fn new(network: Network, observer: O) -> Self {
        Self { transit: Transit::new(network, observer), arrived: VecDeque::new() }
    }

    /// Takes a packet at the beginning of its route.
    pub fn send(&mut self, now: Instant, packet: Packet) {
        self.advance(now);
        let place = self.transit.events.slots.take();
        self.transit.events.slots.get_mut(place).packet = packet;
        if O::PACKETS {
            self.transit.observer.on_packet(now, PacketEvent::Sent, &packet);
        }
        self.transit.depart(place);
    }

    /// Returns the next packet that has come to the end of its route by now, and when it did.
    pub fn poll_arrival(&mut self, now: Instant) -> Option<(Instant, Packet)> {
        self.advance(now);
        self.arrived.pop_front()
    }

    /// Returns the time at which to call [`Self::poll_arrival`].
    pub fn poll_timeout(&mut self) -> Option<Instant> {
        self.arrived.front().map(|(at, _)| *at).or_else(|| self.transit.events.next_at())
    }

    /// Returns how many packets are on their way: waiting, being sent, carried, or arrived and not asked for.
    pub fn packets_under_way(&self) -> usize {
        self.transit.events.packets() + self.arrived.len()
    }

    /// Returns the links.
    pub const fn network(&self) -> &Network {
        &self.transit.network
    }

    /// Returns how many packets wait at a link now.
    pub fn backlog(&mut self, now: Instant, link: LinkId) -> usize {
        self.advance(now);
        self.transit.network.link_mut(link).backlog(now)
    }

    /// Returns the observer.
    pub const fn observer_mut(&mut self) -> &mut O {
        &mut self.transit.observer
    }

    /// Returns the network and the observer, at the end.
    pub fn into_parts(self) -> (Network, O) {
        (self.transit.network, self.transit.observer)
    }

    /// Lets everything happen that is due by now.
    fn advance(&mut self, now: Instant) {
        while let Some(place) = self.transit.events.pop_before(now + INSTANT_LENGTH) {
            let event = self.transit.events.slots.get(place).event;
            self.transit.now = event.moment;
            if event.is_arrival() {
                self.forward(place);
            } else {
                self.on_appointment(place, event);
            }
        }
        if self.transit.now.at < now {
            self.transit.now = Moment::fresh(now);
        }
    }

    fn forward(&mut self, place: Place) {
        if self.transit.forward(place) {
            let packet = *self.transit.events.slots.set_free(place);
            if O::PACKETS {
                self.transit.observer.on_packet(self.transit.now.at, PacketEvent::Arrived, &packet);
            }
            self.arrived.push_back((self.transit.now.at, packet));
        }
    }

    /// Links and what they keep back are all that has appointments here.
    fn on_appointment(&mut self, place: Place, event: Event) {
        self.transit.events.keep_appointment(place);
        match event.kind() {
            Kind::Service => self.transit.serve_link(LinkId(event.number())),
            _ => {
                if let Some(place) = self.transit.release_straggler(event.number()) {
                    self.forward(place);
                }
            }
        }
    }
}
