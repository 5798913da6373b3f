//! Writing and reading units of media at a connection whose segments carry lengths only.

use crate::agent::Agent;
use crate::udp_agent::UdpAgent;
use earlybird_tcp::{Connection, Cx, Delivery, RealTime, SegmentMeta};
use earlybird_traffic::{Part, UnitMap, cut};
use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

/// The units that were written to a connection and not read from it.
#[derive(Debug, Default)]
pub(crate) struct UnitIo {
    /// Whether the opener writes frames, not a stream.
    writes_frames: bool,
    /// Whether the opener writes frames of HTTP/2 to a stream.
    writes_in_frames: bool,
    /// Whether the listener reads frames, may skip, and takes frames in any order.
    reads_frames: bool,
    skips: bool,
    is_unordered: bool,
    map: UnitMap,
    /// Frames written and not yet sent. They get a stream position when they are sent first; abandoned ones get none.
    unsent: VecDeque<(u64, Part)>,
    /// Skipped ranges that lie ahead of the reader.
    holes: VecDeque<Range<u64>>,
    /// Units received complete as datagrams.
    arrived: VecDeque<Part>,
}

impl UnitIo {
    pub(crate) fn new(writer: &RealTime, reader: &RealTime) -> Self {
        let (writes_frames, reads_frames) = (writer.framing, reader.framing);
        let is_unordered = reads_frames && reader.delivery == Delivery::Unordered;
        Self { writes_frames, reads_frames, skips: reader.delivery.skips(), is_unordered, ..Self::default() }
    }

    /// Returns whether this is a plain stream. Then the number of bytes received determines which units are complete.
    pub(crate) fn is_plain(&self) -> bool {
        !self.writes_frames && !self.reads_frames && !self.skips
    }

    /// Writes a unit. Returns the bytes for which the send buffer has no room.
    pub(crate) fn write_unit(&mut self, agent: &mut Agent, cx: &mut Cx<'_>, bytes: u64, mss: u64) -> u64 {
        match agent {
            Agent::Tcp(connection) if self.writes_frames => {
                self.write_frames(connection, cx, bytes, mss);
                0
            }
            agent => {
                self.map.push_unit(bytes);
                agent.write_unit(bytes)
            }
        }
    }

    /// Adds a unit whose bytes the endpoint writes in frames of HTTP/2.
    pub(crate) fn push_in_frames(&mut self, bytes: u64) {
        self.writes_in_frames = true;
        self.map.push_unit(bytes);
    }

    /// Returns whether the endpoint writes in frames of HTTP/2.
    pub(crate) fn writes_in_frames(&self) -> bool {
        self.writes_in_frames
    }

    /// Takes bytes off the end of the last unit, which were not sent.
    pub(crate) fn shorten(&mut self, bytes: u64) {
        self.map.shorten(bytes);
    }

    /// Returns the position in the stream up to which units were read.
    pub(crate) fn position(&self) -> u64 {
        self.map.position()
    }

    fn write_frames(&mut self, connection: &mut Connection, cx: &mut Cx<'_>, bytes: u64, mss: u64) {
        for (part, size) in cut(self.map.allocate_unit(), bytes, mss) {
            // Without this part the rest of the unit is worthless.
            let Ok(frame) = connection.write_frame(cx, size, part.unit) else { break };
            self.unsent.push_back((frame, part));
        }
        // A new frame may have displaced older ones from a bounded send buffer.
        while let Some(frame) = connection.poll_abandoned() {
            if let Ok(index) = self.unsent_index(frame) {
                self.unsent.remove(index);
            }
        }
    }

    fn unsent_index(&self, frame: u64) -> Result<usize, usize> {
        self.unsent.binary_search_by_key(&frame, |(number, _)| *number)
    }

    /// Records that a segment carries this frame.
    pub(crate) fn on_carried(&mut self, frame: u64, carried: &SegmentMeta) {
        let range = &carried.data;
        if carried.is_retransmission {
            self.on_resent(frame, range.start);
        } else {
            self.on_sent(frame, range.end - range.start);
        }
    }

    /// Assigns a frame that was not sent before the stream position of an abandoned one (TCP Hollywood's replacement).
    // The map knows positions, not packets: if the reader has taken the old frame, neither gets the position, and an old
    // packet that arrives late is counted as the new frame.
    fn on_resent(&mut self, frame: u64, position: u64) {
        let Ok(index) = self.unsent_index(frame) else { return };
        if let Some((_, newer)) = self.unsent.remove(index) {
            self.map.replace_at(position, newer);
        }
    }

    /// Assigns a frame its stream position when it is sent for the first time. Unsent frames before it were abandoned.
    fn on_sent(&mut self, frame: u64, bytes: u64) {
        while let Some((number, part)) = self.unsent.pop_front_if(|(number, _)| *number <= frame) {
            if number == frame {
                self.map.push(bytes, part);
            }
        }
    }

    /// Reads the next part. With `may_skip`, the transport may skip missing data.
    pub(crate) fn read(&mut self, agent: &mut Agent, cx: &mut Cx<'_>, may_skip: bool) -> Option<Part> {
        let connection = match agent {
            Agent::Tcp(connection) => connection,
            Agent::Udp(agent) => return self.read_over_udp(agent),
        };
        if self.is_unordered {
            return self.read_unordered(connection, cx);
        }
        loop {
            if let Some(part) = self.map.pop_complete() {
                return Some(part);
            }
            if !may_skip && connection.readable() == 0 {
                return None;
            }
            let has_more = if self.reads_frames {
                self.read_frame(connection, cx)
            } else {
                self.read_bytes(connection) || may_skip && self.wait(connection, cx)
            };
            if !has_more {
                return None;
            }
        }
    }

    #[cold]
    fn read_over_udp(&mut self, agent: &UdpAgent) -> Option<Part> {
        self.map.read_to(agent.in_order());
        self.map.pop_complete().or_else(|| self.arrived.pop_front())
    }

    /// Returns the part that would be read next if the reader skipped missing data. Only frames can be peeked.
    pub(crate) fn peek(&self, agent: &Agent) -> Option<Part> {
        let Agent::Tcp(connection) = agent else { return None };
        self.map.part_at(connection.peek_frame()?.position)
    }

    /// Reads the next frame, even behind a hole.
    fn read_unordered(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> Option<Part> {
        self.map.take_at(connection.read_frame(cx)?.position)
    }

    fn read_frame(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> bool {
        let Some(frame) = connection.read_frame(cx) else { return false };
        if frame.position > self.map.position() {
            self.map.skip_to(frame.position);
        }
        self.map.read_to(frame.position + u64::from(frame.bytes));
        true
    }

    /// Reads a stream up to the end of a part or to a hole, or skips a hole.
    fn read_bytes(&mut self, connection: &mut Connection) -> bool {
        self.holes.extend(iter::from_fn(|| connection.poll_skipped()));
        let position = self.map.position();
        if let Some(hole) = self.holes.pop_front_if(|hole| hole.start <= position) {
            self.map.skip_to(hole.end);
            return true;
        }
        let hole = self.holes.front().map_or(u64::MAX, |hole| hole.start);
        let read = self.map.next_end().map_or(0, |end| connection.read(end.min(hole) - position));
        self.map.read_to(position + read);
        read > 0
    }

    /// Makes the reader of a stream wait, which lets the transport skip. Returns whether there is something to read now.
    fn wait(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> bool {
        connection.wait(cx);
        self.read_bytes(connection)
    }

    /// Records that a part was read. Returns its unit if that is complete now.
    pub(crate) fn complete(&mut self, part: Part) -> Option<u64> {
        self.map.complete(part)
    }

    /// Records that a unit arrived as datagrams.
    pub(crate) fn on_arrival(&mut self, unit: u64) {
        self.arrived.push_back(Part::whole(unit));
    }
}
