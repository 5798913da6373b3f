//! Conversations with another implementation, smoltcp, in memory: every byte arrives and both sides close, whoever opens, over
//! IPv4 and IPv6, whatever the network does.

mod cases;
mod network;
mod ours;
mod smol;

use earlybird_units::Instant;

/// One end, whoever wrote it.
pub(crate) trait Host {
    /// Takes a packet.
    fn receive(&mut self, now: Instant, packet: Vec<u8>);
    /// Does everything that is due, and gives the packets that leave.
    fn serve(&mut self, now: Instant) -> Vec<Vec<u8>>;
    /// Returns the time at which to serve it again.
    fn next(&mut self, now: Instant) -> Option<Instant>;
    /// Returns its application.
    fn application(&self) -> &Application;
    /// Returns whether the connection is over: closed, or waiting out TIME-WAIT.
    fn is_over(&mut self) -> bool;
}

/// The data that an application writes and has read.
#[derive(Debug, Default)]
pub(crate) struct Application {
    pub(crate) text: Vec<u8>,
    pub(crate) written: usize,
    pub(crate) received: Vec<u8>,
    /// It does not read before.
    pub(crate) reads_from: Instant,
    /// It closes only after the other side has.
    pub(crate) closes_second: bool,
}

impl Application {
    pub(crate) fn reads(&self, now: Instant) -> bool {
        now >= self.reads_from
    }

    /// Returns whether it is time to close, `peer_closed` being whether the other side has.
    pub(crate) fn closes(&self, peer_closed: bool) -> bool {
        self.written == self.text.len() && (peer_closed || !self.closes_second)
    }
}
