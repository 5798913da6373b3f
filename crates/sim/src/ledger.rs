//! What the payload of a flow would tell its reader: which unit is where. Segments in the simulator carry lengths only.

use earlybird_tcp::Connection;
use earlybird_traffic::Part;
use std::collections::VecDeque;

/// The units that were written to a connection and not read from it.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Units written so far.
    units: u64,
    /// Where the units of a stream end, and where the last one does.
    ends: VecDeque<(u64, Part)>,
    end: u64,
    /// Bytes of the stream that were read.
    read: u64,
    /// Units that came as datagrams, complete.
    arrived: VecDeque<Part>,
}

impl Ledger {
    /// Learns that a unit was written to a stream.
    pub(crate) fn on_written(&mut self, bytes: u64) {
        self.end += bytes;
        self.ends.push_back((self.end, Part::whole(self.units)));
        self.units += 1;
    }

    /// Reads on in a stream, and gives the unit that this completes.
    pub(crate) fn read_stream(&mut self, connection: &mut Connection) -> Option<Part> {
        let (end, _) = *self.ends.front()?;
        self.read += connection.read(end - self.read);
        self.ends.pop_front_if(|_| self.read == end).map(|(_, part)| part)
    }

    /// Learns that a unit came by itself.
    pub(crate) fn on_arrival(&mut self, unit: u64) {
        self.arrived.push_back(Part::whole(unit));
    }

    /// Gives the next one that did.
    pub(crate) fn take_arrived(&mut self) -> Option<Part> {
        self.arrived.pop_front()
    }
}
