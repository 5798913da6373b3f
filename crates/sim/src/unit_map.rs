//! What the payload of a flow would tell its reader: which unit is where. Segments in the simulator carry lengths only.

use crate::endpoint::Agent;
use crate::udp_agent::UdpAgent;
use earlybird_tcp::{Connection, Cx, Delivery, RealTime, SegmentMeta};
use earlybird_traffic::{Completion, Part, cut};
use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

/// The units that were written to a connection and not read from it.
#[derive(Debug, Default)]
pub(crate) struct UnitMap {
    /// How the opener writes …
    writes_frames: bool,
    /// … and the listener reads, which may also step over something.
    reads_frames: bool,
    skips: bool,
    /// … and get frames in any order.
    is_unordered: bool,
    /// Units written so far.
    units: u64,
    /// Frames written and not yet sent: they have no place in the stream before, and those given up get none.
    unsent: VecDeque<(u64, Part)>,
    /// Where in the stream the parts are, in order.
    places: VecDeque<(Range<u64>, Part)>,
    /// Where the last one of them ends.
    end: u64,
    /// Up to where the stream was read, or stepped over.
    read: u64,
    /// Where the last hole ends that was stepped over, and those in front of what is to be read next.
    lost_to: u64,
    holes: VecDeque<Range<u64>>,
    completion: Completion,
    /// Units that came as datagrams, complete.
    arrived: VecDeque<Part>,
}

fn place_start((place, _): &(Range<u64>, Part)) -> u64 {
    place.start
}

impl UnitMap {
    pub(crate) fn new(writer: &RealTime, reader: &RealTime) -> Self {
        let (writes_frames, reads_frames) = (writer.framing, reader.framing);
        let is_unordered = reads_frames && reader.delivery == Delivery::Unordered;
        Self { writes_frames, reads_frames, skips: reader.delivery.skips(), is_unordered, ..Self::default() }
    }

    /// Returns whether this is a plain stream: how many bytes the listener got says which units.
    pub(crate) fn is_plain(&self) -> bool {
        !self.writes_frames && !self.reads_frames && !self.skips
    }

    /// Writes a unit; gives the bytes for which there is no room yet.
    pub(crate) fn write_unit(&mut self, agent: &mut Agent, cx: &mut Cx<'_>, bytes: u64, mss: u64) -> u64 {
        let refused = match agent {
            Agent::Tcp(connection) if self.writes_frames => {
                self.write_frames(connection, cx, bytes, mss);
                0
            }
            agent => {
                self.put(bytes, Part::whole(self.units));
                agent.write_unit(bytes)
            }
        };
        self.units += 1;
        refused
    }

    fn put(&mut self, bytes: u64, part: Part) {
        self.places.push_back((self.end..self.end + bytes, part));
        self.end += bytes;
    }

    /// Where one is refused, the rest of the unit is worthless.
    fn write_frames(&mut self, connection: &mut Connection, cx: &mut Cx<'_>, bytes: u64, mss: u64) {
        for (part, size) in cut(self.units, bytes, mss) {
            let Ok(frame) = connection.write_frame(cx, size, part.unit) else { break };
            self.unsent.push_back((frame, part));
        }
        while let Some(frame) = connection.poll_abandoned() {
            if let Ok(index) = self.unsent.binary_search_by_key(&frame, |(number, _)| *number) {
                self.unsent.remove(index);
            }
        }
    }

    /// Learns that a segment carries this frame.
    pub(crate) fn on_carried(&mut self, frame: u64, carried: &SegmentMeta) {
        let place = &carried.data;
        if carried.is_retransmission {
            self.on_sent_again(frame, place.start);
        } else {
            self.on_sent(frame, place.end - place.start);
        }
    }

    /// A frame that has no place yet takes that of another, which was given up. If the reader had that one, it gets neither; and a
    /// first sending that is only late is taken for the second one, as places are known here and not packets.
    fn on_sent_again(&mut self, frame: u64, position: u64) {
        let Ok(index) = self.unsent.binary_search_by_key(&frame, |(number, _)| *number) else { return };
        let newer = self.unsent.remove(index);
        if let (Some((_, newer)), Ok(index)) = (newer, self.places.binary_search_by_key(&position, place_start)) {
            self.places[index].1 = newer;
        }
    }

    /// A frame is sent for the first time: now it has a place.
    fn on_sent(&mut self, frame: u64, bytes: u64) {
        while let Some((number, part)) = self.unsent.pop_front_if(|(number, _)| *number <= frame) {
            if number == frame {
                self.put(bytes, part);
            }
        }
    }

    /// Reads the next part, if need be with the will to step over what is missing.
    pub(crate) fn read(&mut self, agent: &mut Agent, cx: &mut Cx<'_>, may_skip: bool) -> Option<Part> {
        let connection = match agent {
            Agent::Tcp(connection) => connection,
            Agent::Udp(agent) => return self.read_over_udp(agent),
        };
        if self.is_unordered {
            return self.read_unordered(connection, cx);
        }
        loop {
            if let Some(part) = self.next_whole() {
                return Some(part);
            }
            if !may_skip && connection.unread() == 0 {
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
        self.read = agent.in_order();
        self.next_whole().or_else(|| self.arrived.pop_front())
    }

    /// Returns the part that would be read next if the reader stepped over what is missing; of frames only.
    pub(crate) fn peek(&self, agent: &Agent) -> Option<Part> {
        let Agent::Tcp(connection) = agent else { return None };
        let position = connection.peek_frame()?.position;
        let index = self.places.binary_search_by_key(&position, place_start).ok()?;
        Some(self.places[index].1)
    }

    /// Takes out the next part that was read, if nothing of it was stepped over.
    fn next_whole(&mut self) -> Option<Part> {
        while let Some((place, part)) = self.places.pop_front_if(|(place, _)| place.end <= self.read) {
            if self.lost_to <= place.start {
                return Some(part);
            }
        }
        None
    }

    /// Reads the next frame, whatever is missing before it, and takes out its part.
    fn read_unordered(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> Option<Part> {
        let position = connection.read_frame(cx)?.position;
        let index = self.places.binary_search_by_key(&position, place_start).ok()?;
        self.places.remove(index).map(|(_, part)| part)
    }

    fn read_frame(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> bool {
        let Some(frame) = connection.read_frame(cx) else { return false };
        if frame.position > self.read {
            self.lost_to = frame.position;
        }
        self.read = frame.position + u64::from(frame.bytes);
        true
    }

    /// Reads on in a stream, up to the end of a part or to where something is missing, or steps over that.
    fn read_bytes(&mut self, connection: &mut Connection) -> bool {
        self.holes.extend(iter::from_fn(|| connection.poll_skipped()));
        if let Some(hole) = self.holes.pop_front_if(|hole| hole.start <= self.read) {
            (self.read, self.lost_to) = (hole.end, hole.end);
            return true;
        }
        let hole = self.holes.front().map(|hole| hole.start);
        let limit = self.places.front().map(|(place, _)| place.end.min(hole.unwrap_or(u64::MAX)));
        let read = limit.map_or(0, |limit| connection.read(limit - self.read));
        self.read += read;
        read > 0
    }

    /// Makes the reader of a stream wait; says whether something is there now.
    fn wait(&mut self, connection: &mut Connection, cx: &mut Cx<'_>) -> bool {
        connection.wait(cx);
        self.read_bytes(connection)
    }

    /// Learns that a part was read, and gives the unit of which it was the last one missing.
    pub(crate) fn complete(&mut self, part: Part) -> Option<u64> {
        self.completion.take(part)
    }

    /// Learns that a unit came by itself.
    pub(crate) fn on_arrival(&mut self, unit: u64) {
        self.arrived.push_back(Part::whole(unit));
    }
}
