//! Stacks from outside: what the simulator asks of one to have its connections among its own.

use earlybird_tcp::Statistics;
use earlybird_units::{Duration, Instant, SeedTree};
use earlybird_wire::Ecn;
use std::fmt::Debug;

/// Makes the connections of a stack from outside, whose packets are datagrams of UDP with real payload.
///
/// The same stack means the same behaviour: its [`Debug`] form is what runs are compared by.
pub trait ExternalStack: Debug + Sync {
    /// Makes both ends of a connection: the one that opens, now, and the one that waits for it. All that is random comes from
    /// the seeds.
    fn pair(&self, now: Instant, seeds: SeedTree) -> [Box<dyn ExternalConnection>; 2];
}

/// One end of a connection of such a stack: no clock but the world's, no IO.
///
/// After every call that may change something, the world drains [`Self::poll_event`], then [`Self::poll_transmit`], and then
/// asks for [`Self::poll_timeout`].
pub trait ExternalConnection: Debug + Send {
    /// Takes the payload of a datagram from the network.
    fn on_datagram(&mut self, now: Instant, ecn: Ecn, payload: Vec<u8>);
    /// Acts on whatever deadline has come.
    fn on_timeout(&mut self, now: Instant);
    /// Returns the time at which to call [`Self::on_timeout`].
    fn poll_timeout(&mut self) -> Option<Instant>;
    /// Returns the next datagram to send, if there is one.
    fn poll_transmit(&mut self, now: Instant) -> Option<ExternalDatagram>;
    /// Returns the next thing that the application or an observer should know.
    fn poll_event(&mut self) -> Option<ExternalEvent>;
    /// Writes bytes that are no unit, to be sent as the network lets them.
    fn write(&mut self, bytes: u64);
    /// Writes a unit of media.
    fn write_unit(&mut self, bytes: u64);
    /// Returns the payload bytes of the application that have come.
    fn received(&self) -> u64;
    /// Returns those of them that are a stream in order, which was read up to there; none where units come by themselves.
    fn in_order(&self) -> u64;
    /// Says where the connection stands.
    fn state(&self) -> ExternalState;
}

/// A datagram that a guest wants to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalDatagram {
    /// What follows UDP's header.
    pub payload: Vec<u8>,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether there is something of the application in it.
    pub is_data: bool,
}

/// What a guest wants to be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalEvent {
    /// More of the stream is there in order.
    Readable,
    /// All of a unit that comes by itself is there.
    Delivered(u32),
    /// Nothing came back for so long that a timer expired.
    Timeout {
        /// The timer's length.
        timer: Duration,
        /// From the last sign of progress, or the expiry before, to this one.
        freeze: Duration,
    },
}

/// What a guest tells of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ExternalState {
    /// What it counted; what it does not count is 0.
    pub statistics: Statistics,
    /// Congestion window in full packets.
    pub cwnd: f64,
    /// Smoothed round-trip time, once there was a sample.
    pub srtt: Option<Duration>,
    /// The shortest one.
    pub min_rtt: Option<Duration>,
}
