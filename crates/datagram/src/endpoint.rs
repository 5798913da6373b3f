//! One end of a flow of datagrams, whatever decides about its rate.

use crate::udp::Udp;
use earlybird_units::Instant;
use earlybird_wire::Datagram;

/// What a flow of datagrams is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Largest payload of a datagram in bytes.
    pub mss: u16,
}

/// One end of a flow.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// No control of the rate, on either side.
    Udp(Udp),
}

/// What the application should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All parts of this unit arrived.
    Delivered(u32),
    /// Everything written was sent.
    Drained,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transmit {
    /// The datagram.
    pub datagram: Datagram,
    /// Number of the datagram among those with payload; `None` for feedback.
    pub number: Option<u64>,
}

impl Endpoint {
    /// Makes the side that sends and the one that receives.
    pub fn pair(config: &Config) -> [Self; 2] {
        [Self::Udp(Udp::new(config.mss)), Self::Udp(Udp::new(config.mss))]
    }

    /// Takes a datagram from the network.
    pub fn on_datagram(&mut self, _now: Instant, datagram: &Datagram) {
        match self {
            Self::Udp(udp) => udp.on_datagram(datagram),
        }
    }

    /// Gives the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Udp(udp) => udp.take_completed().map(Event::Delivered),
        }
    }

    /// Gives the next datagram to send, if there is one.
    #[must_use]
    pub fn poll_transmit(&mut self, _now: Instant) -> Option<Transmit> {
        match self {
            Self::Udp(udp) => udp.poll_transmit(),
        }
    }

    /// Gives the time at which to call [`Self::on_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Udp(_) => None,
        }
    }

    /// Acts on whatever deadline has come.
    pub fn on_timeout(&mut self, _now: Instant) {
        match self {
            Self::Udp(_) => {}
        }
    }

    /// Queues bytes that are no unit. UDP has no stream: they are one all the same.
    pub fn write(&mut self, _now: Instant, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
        }
    }

    /// Queues a unit, which is delivered as a whole or not at all.
    pub fn write_unit(&mut self, _now: Instant, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
        }
    }

    /// Gives the datagrams with payload sent so far.
    pub fn sent(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.sent(),
        }
    }

    /// Gives the payload bytes that arrived so far.
    pub fn received(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.received(),
        }
    }
}
