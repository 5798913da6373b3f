//! One end of a flow of datagrams, with any rate control.

use crate::srt;
use crate::tfrc::{Gauges, Receiver, Sender};
use crate::transmit::Transmit;
use crate::udp::Udp;
use earlybird_units::Instant;
use earlybird_wire::Datagram;

/// Settings of a flow of datagrams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The rate control.
    pub control: Control,
    /// Largest payload of a datagram in bytes.
    pub mss: u16,
    /// Whether queues may mark datagrams instead of dropping them: of a flow with a rate of its own, which answers.
    pub ecn: bool,
}

/// The rate control of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// The application alone.
    Udp,
    /// The equation of TCP's throughput (RFC 5348).
    Tfrc,
    /// The application, and retransmissions of lost packets (SRT's live mode).
    Srt(srt::Parameters),
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
    /// The end that sends and repairs.
    SrtSender(srt::Sender),
    /// The end that requests retransmissions and releases in time.
    SrtReceiver(srt::Receiver),
}

/// An event for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// All parts of this unit are released to the application: SRT holds them until the latency has passed.
    Delivered(u32),
    /// Everything written was sent.
    Drained,
}

impl Endpoint {
    /// Makes the side that sends and the one that receives.
    pub fn pair(config: Config) -> [Self; 2] {
        match config.control {
            Control::Udp => [Self::Udp(Udp::new(config.mss)), Self::Udp(Udp::new(config.mss))],
            Control::Tfrc => {
                [Self::TfrcSender(Sender::new(config.mss, config.ecn)), Self::TfrcReceiver(Receiver::default())]
            }
            Control::Srt(parameters) => [
                Self::SrtSender(srt::Sender::new(parameters, config.mss)),
                Self::SrtReceiver(srt::Receiver::new(parameters.latency)),
            ],
        }
    }

    /// Takes a datagram from the network.
    pub fn on_datagram(&mut self, now: Instant, datagram: &Datagram) {
        match self {
            Self::Udp(udp) => udp.on_datagram(datagram),
            Self::TfrcSender(sender) => sender.on_datagram(now, datagram),
            Self::TfrcReceiver(receiver) => receiver.on_datagram(now, datagram),
            Self::SrtSender(sender) => sender.on_datagram(now, datagram),
            Self::SrtReceiver(receiver) => receiver.on_datagram(now, datagram),
        }
    }

    /// Returns the next thing the application should know.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        match self {
            Self::Udp(udp) => udp.take_completed().map(Event::Delivered),
            Self::TfrcSender(sender) => sender.take_drained().then_some(Event::Drained),
            Self::TfrcReceiver(receiver) => receiver.take_completed().map(Event::Delivered),
            // SRT's application writes in real time and waits for nothing.
            Self::SrtSender(_) => None,
            Self::SrtReceiver(receiver) => receiver.take_completed().map(Event::Delivered),
        }
    }

    /// Returns the next datagram to send, if there is one.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        match self {
            Self::Udp(udp) => udp.poll_transmit(),
            Self::TfrcSender(sender) => sender.poll_transmit(now),
            Self::TfrcReceiver(receiver) => receiver.poll_transmit(now),
            Self::SrtSender(sender) => sender.poll_transmit(now),
            Self::SrtReceiver(receiver) => receiver.poll_transmit(now),
        }
    }

    /// Returns the time at which to call [`Self::on_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Udp(_) => None,
            Self::TfrcSender(sender) => sender.poll_timeout(),
            Self::TfrcReceiver(receiver) => receiver.poll_timeout(),
            Self::SrtSender(sender) => sender.poll_timeout(),
            Self::SrtReceiver(receiver) => receiver.poll_timeout(),
        }
    }

    /// Handles an expired timer.
    pub fn on_timeout(&mut self, now: Instant) {
        match self {
            // Everything that waits for a time is sent at the poll.
            Self::Udp(_) | Self::SrtSender(_) => {}
            Self::TfrcSender(sender) => sender.on_timeout(now),
            Self::TfrcReceiver(receiver) => receiver.on_timeout(now),
            Self::SrtReceiver(receiver) => receiver.on_timeout(now),
        }
    }

    /// Queues bytes that are no unit. UDP and SRT have no stream: they are one anyway. TFRC cuts them into units of
    /// one datagram.
    pub fn write(&mut self, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
            Self::TfrcSender(sender) => sender.write(bytes),
            Self::SrtSender(sender) => sender.write_unit(bytes),
            Self::TfrcReceiver(_) | Self::SrtReceiver(_) => {}
        }
    }

    /// Queues a unit, which is delivered as a whole or not at all.
    pub fn write_unit(&mut self, bytes: u64) {
        match self {
            Self::Udp(udp) => udp.write_unit(bytes),
            Self::TfrcSender(sender) => sender.write_unit(bytes),
            Self::SrtSender(sender) => sender.write_unit(bytes),
            Self::TfrcReceiver(_) | Self::SrtReceiver(_) => {}
        }
    }

    /// Returns the datagrams with payload sent so far, repairs included.
    pub fn sent(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.sent(),
            Self::TfrcSender(sender) => sender.sent(),
            Self::SrtSender(sender) => sender.sent(),
            Self::TfrcReceiver(_) | Self::SrtReceiver(_) => 0,
        }
    }

    /// Returns the repairs among them.
    pub fn repeated(&self) -> u64 {
        match self {
            Self::SrtSender(sender) => sender.repeated(),
            _ => 0,
        }
    }

    /// Returns the packets that are kept: by a sender that repairs, until they are acknowledged or too old; by a receiver that
    /// releases in time, until then.
    pub fn kept(&self) -> usize {
        match self {
            Self::SrtSender(sender) => sender.kept(),
            Self::SrtReceiver(receiver) => receiver.kept(),
            _ => 0,
        }
    }

    /// Returns the payload bytes that arrived so far; over SRT, those that were released.
    pub fn received(&self) -> u64 {
        match self {
            Self::Udp(udp) => udp.received(),
            Self::TfrcSender(_) | Self::SrtSender(_) => 0,
            Self::TfrcReceiver(receiver) => receiver.received(),
            Self::SrtReceiver(receiver) => receiver.received(),
        }
    }

    /// Returns the state of a sender with a rate of its own.
    pub fn gauges(&self) -> Option<Gauges> {
        match self {
            Self::TfrcSender(sender) => Some(sender.gauges()),
            Self::Udp(_) | Self::TfrcReceiver(_) | Self::SrtSender(_) | Self::SrtReceiver(_) => None,
        }
    }
}
