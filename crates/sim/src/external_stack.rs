//! The interface to protocol stacks of other projects, such as quinn.

use earlybird_tcp::Statistics;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::Ecn;
use std::fmt::Debug;

/// Makes connections of an external stack. Their packets are UDP datagrams with real payload.
///
/// Runs with equal [`Debug`] forms of their stacks behave equally.
pub trait ExternalStack: Debug + Sync {
    /// Creates both ends of a connection: the opener, at the present time, and the listener. All random numbers come from
    /// the seeds.
    fn pair(&self, now: Instant, seeds: SeedTree) -> [Box<dyn ExternalConnection>; 2];
}

/// One end of an external connection. It does no IO, and its only clock is the simulator's.
///
/// After every call that may change something, the world drains [`Self::poll_event`], then [`Self::poll_transmit`], and then
/// asks for [`Self::poll_timeout`].
pub trait ExternalConnection: Debug + Send {
    /// Takes the payload of a datagram from the network.
    fn on_datagram(&mut self, now: Instant, ecn: Ecn, payload: Vec<u8>);
    /// Handles an expired timer.
    fn on_timeout(&mut self, now: Instant);
    /// Returns the time at which to call [`Self::on_timeout`].
    fn poll_timeout(&mut self) -> Option<Instant>;
    /// Returns the next datagram to send, if there is one.
    fn poll_transmit(&mut self, now: Instant) -> Option<ExternalDatagram>;
    /// Returns the next event, if there is one.
    fn poll_event(&mut self) -> Option<ExternalEvent>;
    /// Writes bytes that are no unit, to be sent as the network lets them.
    fn write(&mut self, bytes: u64);
    /// Writes a unit of media.
    fn write_unit(&mut self, bytes: u64);
    /// Returns the payload bytes received for the application.
    fn received(&self) -> u64;
    /// Returns how many of them are a stream in order that was read. Zero if units arrive one by one.
    fn in_order(&self) -> u64;
    /// Returns the connection's state for observers.
    fn state(&self) -> ExternalState;
}

/// A datagram that an external connection sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalDatagram {
    /// UDP payload.
    pub payload: Vec<u8>,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether it carries application data.
    pub is_data: bool,
}

/// An event of an external connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalEvent {
    /// More of the stream was received in order.
    Readable,
    /// A unit that is delivered independently of the others is complete.
    Delivered(u32),
    /// A loss timer expired.
    Timeout {
        /// The timer's length.
        timer: Duration,
        /// The time from the last progress, or the previous expiry, to this one.
        frozen_for: Duration,
    },
}

/// Counters and state of an external connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalState {
    /// Counters. A counter that the stack does not have is 0.
    pub statistics: Statistics,
    /// Congestion window in full packets.
    pub cwnd: f64,
    /// Smoothed round-trip time, once there was a sample.
    pub srtt: Option<Duration>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Duration>,
}
