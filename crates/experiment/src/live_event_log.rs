//! Trace files of runs in real time.

use crate::outputs::{self, Files};
use crate::sequence::Sequence;
use crate::{Outputs, RunError, RunSetup};
use earlybird_sim::{Content, EndpointId, FlowId, HeaderSize, Observer, Packet, PacketEvent};
use earlybird_tcp::{Connection, SegmentMeta, TraceEvent};
use earlybird_units::Instant;
use earlybird_wire::{Segment, SeqNum};
use std::collections::BTreeMap;

/// Writes the trace files of a run in real time. Its inputs are the packets on the links, as their observer, and the events that
/// openers report. Openers that report none (the kernel's) are followed by their segments on the links. Each flow has one connection.
#[derive(Debug)]
pub struct LiveEventLog {
    files: Files,
    outputs: Outputs,
    /// Both streams of each flow: the opener's and the listener's.
    streams: Vec<[Stream; 2]>,
    has_opener_events: bool,
    end: Instant,
}

/// Numbers of a stream's segments by their start.
#[derive(Clone, Debug, Default)]
struct Stream {
    sequence: Sequence,
    numbers: BTreeMap<u64, u32>,
    acknowledged: Option<u32>,
}

impl Stream {
    /// Records a segment that is sent. Returns its number, if it carries data, and whether it is a retransmission. Data that were cut
    /// otherwise before have the number of the segment in which they began.
    fn send(&mut self, segment: &Segment) -> (Option<u32>, bool) {
        // As on the wire: a segment that starts before the highest sent byte is a retransmission.
        let is_new = self.sequence.range(segment).0 >= self.sequence.highest;
        if is_new {
            let next = self.numbers.last_key_value().map_or(0, |(_, last)| last + 1);
            self.enter(segment, next);
        }
        (self.number_of(segment), !is_new)
    }

    fn enter(&mut self, segment: &Segment, number: u32) {
        let (start, end) = self.sequence.range(segment);
        if start < end {
            self.numbers.insert(start, number);
            self.sequence.reach(end);
        }
    }

    fn number_of(&self, segment: &Segment) -> Option<u32> {
        let start = self.sequence.place(segment.seq).filter(|_| segment.takes_sequence_space())?;
        self.numbers.range(..=start).next_back().map(|(_, number)| *number)
    }

    /// Records an acknowledgement. Returns the number of the last segment that arrived in order.
    fn acknowledge(&mut self, upto: SeqNum) -> Option<u32> {
        let last = self.sequence.place(upto).and_then(|end| self.numbers.range(..end).next_back());
        // ACKs may be reordered on the links.
        self.acknowledged = self.acknowledged.max(last.map(|(_, number)| *number));
        self.acknowledged
    }
}

impl LiveEventLog {
    /// Opens the requested files except a capture. `None` if there are none. `has_opener_events`: whether the methods
    /// of this will be called, or those of [`Observer`] alone.
    ///
    /// # Errors
    ///
    /// If a named flow does not exist.
    pub fn open(setup: &RunSetup<'_>, outputs: &Outputs, has_opener_events: bool) -> Result<Option<Self>, RunError> {
        let outputs = Outputs { capture: None, ..outputs.clone() };
        if !outputs.any() {
            return Ok(None);
        }
        let mut files = outputs::open(&setup.plan, &outputs)?;
        // The kernel does not report its state after each segment: the trace has no columns for it.
        if let Some(trace) = files.0.0.as_mut().filter(|_| !has_opener_events) {
            trace.leave_states_out();
        }
        let streams = vec![<[Stream; 2]>::default(); setup.plan.flows.len()];
        Ok(Some(Self { files, outputs, streams, has_opener_events, end: setup.plan.end }))
    }

    /// Writes the files.
    ///
    /// # Errors
    ///
    /// If one cannot be written.
    pub fn finish(self, setup: &RunSetup<'_>) -> Result<(), RunError> {
        outputs::finish(self.files, &setup.plan, &self.outputs)
    }

    /// Records a segment that an opener sent.
    pub fn on_departure(&mut self, at: Instant, flow: FlowId, segment: &Segment, carried: &SegmentMeta) {
        let number = carried.number.map(|number| number as u32);
        if let Some(number) = number {
            self.streams[flow.0 as usize][0].enter(segment, number);
        }
        let event = if carried.is_retransmission { PacketEvent::Retransmitted } else { PacketEvent::Sent };
        self.record(at, |files| files.on_packet(at, event, &packet(flow, false, segment, number)));
    }

    /// Records a segment that arrived at an opener, before the opener handles it.
    pub fn on_arrival(&mut self, at: Instant, flow: FlowId, segment: &Segment) {
        self.record(at, |files| files.on_packet(at, PacketEvent::Arrived, &packet(flow, true, segment, None)));
    }

    /// Records the state of an opener after an event: after `arrived`, if present.
    pub fn on_state(&mut self, at: Instant, flow: FlowId, arrived: Option<&Segment>, connection: &Connection) {
        let arrived = arrived.map(|segment| packet(flow, true, segment, None));
        self.record(at, |files| files.on_state(at, flow, arrived.as_ref(), connection));
    }

    /// Records a decision of an opener.
    pub fn on_trace(&mut self, at: Instant, flow: FlowId, event: TraceEvent) {
        self.record(at, |files| files.on_trace(at, flow, event));
    }

    /// Records an acknowledgement for an opener that reports no events.
    fn on_acknowledgement(&mut self, at: Instant, flow: FlowId, segment: &Segment) {
        let number = self.streams[flow.0 as usize][0].acknowledge(segment.ack).map(u64::from);
        self.record(at, |((trace, _), _)| trace.iter_mut().for_each(|trace| trace.acknowledge(at, flow, number)));
    }

    /// Calls the files, unless the run is over: links and hosts go on for a short time after its end.
    fn record(&mut self, at: Instant, record: impl FnOnce(&mut Files)) {
        // Events after the end are not part of the run that the scenario describes.
        if at < self.end {
            record(&mut self.files);
        }
    }
}

/// Makes the packet that observers get for a segment.
fn packet(flow: FlowId, is_to_opener: bool, segment: &Segment, number: Option<u32>) -> Packet {
    let bytes = HeaderSize::Real.packet_bytes(segment);
    let to = EndpointId(flow.0 * 2 + u32::from(!is_to_opener));
    Packet::observed(to, flow, bytes, number.unwrap_or(Packet::PURE_ACK), Content::Segment(*segment))
}

impl Observer for LiveEventLog {
    const PACKETS: bool = true;

    fn on_packet(&mut self, at: Instant, event: PacketEvent, packet: &Packet) {
        let Some(segment) = packet.segment().copied() else { return };
        let is_to_opener = packet.to.is_opener();
        let stream = &mut self.streams[packet.flow.0 as usize][usize::from(is_to_opener)];
        let (number, is_retransmission) = match event {
            PacketEvent::Sent => stream.send(&segment),
            _ => (stream.number_of(&segment), false),
        };
        let is_of_opener = if is_to_opener { event == PacketEvent::Arrived } else { event == PacketEvent::Sent };
        // The opener has reported this packet itself, with its exact time.
        if self.has_opener_events && is_of_opener {
            return;
        }
        let event = if is_retransmission { PacketEvent::Retransmitted } else { event };
        let packet = Packet { number: number.unwrap_or(Packet::PURE_ACK), ..*packet };
        self.record(at, |files| files.on_packet(at, event, &packet));
        if is_to_opener && is_of_opener {
            self.on_acknowledgement(at, packet.flow, &segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_wire::Flags;

    fn segment(seq: u32, len: u16) -> Segment {
        let flags = if seq == 100 { Flags::SYN } else { Flags::ACK };
        Segment { seq: SeqNum(seq), len, flags, ..Segment::default() }
    }

    #[test]
    fn segments_are_numbered_by_where_they_begin() {
        let mut stream = Stream::default();
        assert_eq!(stream.send(&segment(100, 0)), (Some(0), false));
        assert_eq!(stream.send(&segment(101, 0)), (None, false));
        assert_eq!(stream.send(&segment(101, 1000)), (Some(1), false));
        assert_eq!(stream.send(&segment(1101, 1000)), (Some(2), false));
        assert_eq!(stream.send(&segment(101, 1000)), (Some(1), true));
        // LossReaction otherwise than before.
        assert_eq!(stream.send(&segment(1601, 500)), (Some(2), true));
        assert_eq!(stream.send(&segment(2101, 1)), (Some(3), false));
    }

    #[test]
    fn an_acknowledgement_names_the_last_segment_that_has_come_and_none_before_it() {
        let mut stream = Stream::default();
        assert_eq!(stream.acknowledge(SeqNum(7)), None);
        for (seq, len) in [(100, 0), (101, 1000), (1101, 1000)] {
            stream.send(&segment(seq, len));
        }
        assert_eq!(stream.acknowledge(SeqNum(101)), Some(0));
        assert_eq!(stream.acknowledge(SeqNum(2101)), Some(2));
        assert_eq!(stream.acknowledge(SeqNum(1101)), Some(2));
    }
}
