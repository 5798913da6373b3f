//! One end of a flow of datagrams, whatever decides about its rate.

use crate::tfrc::{Gauges, Receiver, Sender};
use crate::udp::Udp;
use earlybird_units::Instant;
use earlybird_wire::Datagram;

/// What a flow of datagrams is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// What decides about the rate.
    pub control: Control,
    /// Largest payload of a datagram in bytes.
    pub mss: u16,
    /// Whether queues may mark datagrams in place of dropping them: of a flow with a rate of its own, which answers.
    pub ecn: bool,
}

/// What decides about the rate of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The application alone.
    Udp,
    /// The equation of TCP's throughput (RFC 5348).
    Tfrc,
}

/// One end of a flow.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// Either end of a flow without control.
    Udp(Udp),
    /// The end that sends.
    TfrcSender(Sender),
    /// The end that receives and reports.
    TfrcReceiver(Receiver),
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
    /// Number of the datagram among those of the sender; `None` for a report.
    pub number: Option<u64>,
}

impl Endpoint {
    /// Makes the side that sends and the one that receives.
    pub fn pair(config: Config) -> [Self; 2] {
        match config.control {
            Control::Udp => [Self::Udp(Udp::new(config.mss)), Self::Udp(Udp::new(config.mss))],
            Control::Tfrc => [Self::TfrcSender(Sender::new(config)), Self::TfrcReceiver(Receiver::default())],
        }
    }

    /// Takes a datagram from the network.
    pub fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        match self {
            Self::Udp(udp) => udp.on_datagram(datagram),
            Self::TfrcSender(sender) => sender.on_datagram(now, datagram),
            Self::TfrcReceiver(receiver) => receiver.on_datagram(now, datagram),
        }
    }

    /// Gives the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Udp(udp) => udp.take_completed().map(Event::Delivered),
            Self::TfrcSender(sender) => sender.take_drained().then_some(Event::Drained),
            Self::TfrcReceiver(receiver) => receiver.take_completed().map(Event::Delivered),
        }
    }

    /// Gives the next datagram to send, if there is one.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        match self {
            Self::Udp(udp) => udp.poll_transmit(),
            Self::TfrcSender(sender) => sender.poll_transmit(now),
            Self::TfrcReceiver(receiver) => receiver.poll_transmit(now),
        }
    }

    /// Gives the time at which to call [`Self::on_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Udp(_) => None,
            Self::TfrcSender(sender) => sender.poll_timeout(),
            Self::TfrcReceiver(receiver) => receiver.poll_timeout(),
        }
    }

    /// Acts on whatever deadline has come.
    pub fn on_timeout(&mut self, now: Instant) {
        match self {
            Self::Udp(_) => {}
            Self::TfrcSender(sender) => sender.on_timeout(now),
            Self::TfrcReceiver(receiver) => receiver.on_timeout(now),
        }
    }

    /// Queues bytes that are no unit. UDP has no stream: they are one all the same. TFRC cuts them into units of one
    /// datagram.
    pub fn write(&mut self, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
            Self::TfrcSender(sender) => sender.write(bytes),
            Self::TfrcReceiver(_) => {}
        }
    }

    /// Queues a unit, which is delivered as a whole or not at all.
    pub fn write_unit(&mut self, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
            Self::TfrcSender(sender) => sender.write_unit(bytes),
            Self::TfrcReceiver(_) => {}
        }
    }

    /// Gives the datagrams with payload sent so far.
    pub fn sent(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.sent(),
            Self::TfrcSender(sender) => sender.sent(),
            Self::TfrcReceiver(_) => 0,
        }
    }

    /// Gives the payload bytes that arrived so far.
    pub fn received(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.received(),
            Self::TfrcSender(_) => 0,
            Self::TfrcReceiver(receiver) => receiver.received(),
        }
    }

    /// Gives what a sender with a rate of its own knows.
    pub fn gauges(&self) -> Option<Gauges> {
        match self {
            Self::TfrcSender(sender) => Some(sender.gauges()),
            Self::Udp(_) | Self::TfrcReceiver(_) => None,
        }
    }
}
