//! A connection with its buffers and its position in the queues of the stack.

use super::encapsulation::Encapsulator;
use super::frames::FrameStore;
use super::observer::TraceAdapter;
use crate::device::{Path, TxQueue};
use crate::event::{EventKind, PendingEvents};
use earlybird_tcp as tcp;
use earlybird_tcp::{AcceptedRange, Assembler, Connection, Cx, RfcState, Ring, SegmentMeta};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, Segment};
use std::collections::VecDeque;
use std::ops::Range;

/// A connection, its buffers and its state in the queues of the stack.
#[derive(Debug)]
pub(super) struct ConnectionEntry {
    // Boxed, so that slots of the table stay small and do not move the connection.
    pub(super) connection: Box<Connection>,
    /// The addresses as in received packets: the peer is the source.
    pub(super) addresses: Addresses,
    pub(super) path: Path,
    send_buffer: Ring,
    receive_buffer: Assembler,
    /// Skipped ranges that the reader has not reached.
    holes: VecDeque<Range<u64>>,
    /// Present in real-time mode, where one write is one segment.
    pub(super) frames: Option<Box<FrameStore>>,
    /// The time at which the last segment arrived; at which the connection was inserted, if none has.
    pub(super) last_received: Instant,
    /// The deadline of the valid entry in the heap of timers.
    pub(super) timer_at: Instant,
    /// Whether it is in the queue of connections that may transmit.
    pub(super) is_tx_queued: bool,
    pub(super) pending_events: PendingEvents,
    /// Whether it is in the queue of connections with events.
    pub(super) is_event_queued: bool,
    /// Whether the application has closed it, and will not call again.
    pub(super) is_released: bool,
    /// Whether it was opened by data on a SYN, and the listener waits for the end of its handshake.
    pub(super) is_fast_open: bool,
    /// Whether the peer opened a new connection with the same ports.
    pub(super) is_time_wait_reused: bool,
}

impl ConnectionEntry {
    pub(super) fn new(connection: Box<Connection>, addresses: Addresses, path: Path, has_frames: bool) -> Self {
        // Unlimited, as the connection enforces the limits of both buffers before bytes get here.
        let (send_buffer, receive_buffer) = (Ring::new(usize::MAX), Assembler::new(usize::MAX));
        Self {
            connection,
            addresses,
            path,
            send_buffer,
            receive_buffer,
            holes: VecDeque::new(),
            frames: has_frames.then(Box::default),
            last_received: Instant::ZERO,
            timer_at: Instant::NEVER,
            is_tx_queued: false,
            pending_events: PendingEvents::default(),
            is_event_queued: false,
            is_released: false,
            is_fast_open: false,
            is_time_wait_reused: false,
        }
    }

    /// Stores the payload that the connection accepted from a segment.
    pub(super) fn store_payload(&mut self, taken: AcceptedRange, payload: &[u8]) {
        if !taken.stream.is_empty() && !self.is_released {
            self.receive_buffer.put(taken.stream, &payload[usize::from(taken.skip)..]);
        }
        self.discard_acknowledged();
    }

    /// Frees the bytes that are acknowledged or abandoned.
    fn discard_acknowledged(&mut self) {
        // Before their bytes are freed: the unit of an abandoned frame is stored beside them.
        self.collect_abandoned();
        let acknowledged = self.connection.acknowledged();
        match &mut self.frames {
            Some(frames) => frames.forget_below(acknowledged),
            None => self.send_buffer.forget_below(acknowledged),
        }
    }

    /// Moves events from the connection to the set of pending events.
    pub(super) fn drain_events(&mut self) {
        // Writes and timers cause events too, hence after every change and not only after a segment.
        while let Some(event) = self.connection.poll_event() {
            self.is_time_wait_reused |= event == tcp::Event::TimeWaitReused;
            if self.connection.ending().is_some() {
                // Nothing is sent again. TIME-WAIT lasts for a minute, and should not hold the memory.
                self.send_buffer = Ring::new(usize::MAX);
            }
            if let Some(kind) = EventKind::of(event) {
                self.pending_events.add(kind);
            }
        }
    }

    /// Writes as many bytes as the send buffer has room for. Returns their number.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, tcp::WriteError> {
        let taken = self.connection.write(bytes.len() as u64)? as usize;
        Ok(self.send_buffer.append(&bytes[..taken]))
    }

    pub(super) fn write_frame(&mut self, cx: &mut Cx<'_>, bytes: &[u8], unit: u64) -> Result<u64, tcp::WriteError> {
        let number = self.connection.write_frame(cx, bytes.len() as u64, unit)?;
        if let Some(frames) = &mut self.frames {
            frames.push(bytes, unit);
        }
        self.collect_abandoned();
        Ok(number)
    }

    fn collect_abandoned(&mut self) {
        let Some(frames) = &mut self.frames else { return };
        while let Some(number) = self.connection.poll_abandoned() {
            frames.abandon(number);
        }
        frames.forget_below(self.connection.acknowledged());
    }

    /// Reads available bytes in order and continues behind skipped ranges.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        // Holes arrive in order of the stream. A hole counts as read as soon as the reader reaches its start.
        while let Some(hole) = self.connection.poll_skipped() {
            self.holes.push_back(hole);
        }
        let mut count = 0;
        loop {
            let until_hole =
                self.holes.front().map_or(u64::MAX, |hole| hole.start.saturating_sub(self.receive_buffer.position()));
            let most = (into.len() - count).min(usize::try_from(until_hole).unwrap_or(usize::MAX));
            count += self.receive_buffer.read(&mut into[count..count + most]);
            match self.holes.pop_front_if(|hole| hole.start <= self.receive_buffer.position()) {
                Some(hole) => self.receive_buffer.skip_to(hole.end),
                None => break,
            }
        }
        // The connection is notified last: it may send a window update for the freed space.
        self.connection.read(count as u64);
        count
    }

    /// Reads the next frame. Returns its length as an error if `into` is too small; the frame stays then.
    pub(super) fn read_frame(&mut self, cx: &mut Cx<'_>, into: &mut [u8]) -> Result<Option<usize>, usize> {
        // The check precedes `read_frame`, which consumes the frame.
        let next = self.connection.peek_frame();
        if let Some(frame) = next.filter(|frame| usize::from(frame.bytes) > into.len()) {
            return Err(frame.bytes.into());
        }
        let Some(frame) = self.connection.read_frame(cx) else { return Ok(None) };
        let count = self.copy(frame, into);
        self.receive_buffer.skip_to(self.connection.read_below());
        Ok(Some(count))
    }

    /// Copies the next frame, even behind a hole, without consuming it.
    pub(super) fn peek_frame(&self, into: &mut [u8]) -> Option<usize> {
        self.connection.peek_frame().map(|frame| self.copy(frame, into))
    }

    /// Copies the newest frame without consuming it.
    pub(super) fn newest_frame(&self, into: &mut [u8]) -> Option<usize> {
        self.connection.newest_frame().map(|frame| self.copy(frame, into))
    }

    fn copy(&self, frame: tcp::Frame, into: &mut [u8]) -> usize {
        self.receive_buffer.peek(frame.position..frame.position + u64::from(frame.bytes), into)
    }

    /// Moves segments to the transmit queue until it is full. Returns whether the connection has nothing left to send.
    pub(super) fn transmit_from(
        &mut self,
        trace_adapter: &mut TraceAdapter<'_>,
        encapsulator: Encapsulator,
        tx: &mut TxQueue,
    ) -> bool {
        let mut segment = Segment::default();
        while !tx.is_full() {
            let Some(carried) = self.connection.poll_transmit_into(&mut trace_adapter.cx(), &mut segment) else {
                self.collect_abandoned();
                return true;
            };
            trace_adapter.on_transmit(&segment, &carried);
            let payload = payload_slices(&carried, &self.send_buffer, self.frames.as_deref_mut());
            encapsulator.emit(tx, self.path, &self.addresses.reversed(), &segment, payload);
        }
        false
    }

    /// Returns whether the entry can be removed: the connection is closed, the application has released it, and nothing is left
    /// to send.
    pub(super) fn is_finished(&self) -> bool {
        self.connection.state() == RfcState::Closed && self.is_released && !self.is_tx_queued
    }

    /// Marks the connection as closed by the application, and frees unread bytes.
    pub(super) fn release(&mut self) {
        // From here on `store_payload` drops what arrives; the connection answers it with a reset.
        self.is_released = true;
        self.receive_buffer = Assembler::new(usize::MAX);
    }
}

fn payload_slices<'a>(
    carried: &SegmentMeta,
    send_buffer: &'a Ring,
    frames: Option<&'a mut FrameStore>,
) -> [&'a [u8]; 2] {
    match (carried.frame, frames) {
        // A frame is looked up by number: after a frame was abandoned, offsets of later frames in the stream change until they
        // are sent.
        (Some(number), Some(frames)) => [frames.send(number, carried.data.clone()), &[]],
        _ => send_buffer.slices(carried.data.clone()).unwrap_or_default(),
    }
}
