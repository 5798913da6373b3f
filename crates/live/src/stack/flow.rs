//! A connection with all that a driver keeps beside it.

use super::form::Form;
use super::frames::Frames;
use super::watching::Teller;
use crate::device::{Outbox, Path};
use crate::event::{Kind, Untold};
use earlybird_tcp as tcp;
use earlybird_tcp::{AcceptedRange, Assembler, Connection, Cx, RfcState, Ring, SegmentMeta};
use earlybird_units::Instant;
use earlybird_wire::{Addresses, Segment};
use std::collections::VecDeque;
use std::ops::Range;

/// A connection, its bytes, and where it stands in the stack's lists.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) connection: Box<Connection>,
    /// As they stand in what arrives.
    pub(super) addresses: Addresses,
    pub(super) path: Path,
    outgoing: Ring,
    incoming: Assembler,
    /// What the reader stepped over, and has not come to.
    holes: VecDeque<Range<u64>>,
    /// Present where one write is one segment.
    pub(super) frames: Option<Box<Frames>>,
    /// The earliest entry in the heap of deadlines.
    pub(super) queued: Instant,
    /// It is in the list of those that may have to send.
    pub(super) is_due: bool,
    pub(super) untold: Untold,
    /// It is in the list of those that have something to tell.
    pub(super) is_telling: bool,
    /// The application has closed it, and will ask no more.
    pub(super) is_released: bool,
    /// It was opened by data on a SYN, at a listener that waits to hear of the end of its handshake.
    pub(super) is_early: bool,
    /// The peer opened a new connection in its place.
    pub(super) has_made_way: bool,
}

impl Flow {
    pub(super) fn new(connection: Box<Connection>, addresses: Addresses, path: Path, has_frames: bool) -> Self {
        // The connection bounds both: what it takes, it has room for.
        let (outgoing, incoming) = (Ring::new(usize::MAX), Assembler::new(usize::MAX));
        Self {
            connection,
            addresses,
            path,
            outgoing,
            incoming,
            holes: VecDeque::new(),
            frames: has_frames.then(Box::default),
            queued: Instant::NEVER,
            is_due: false,
            untold: Untold::default(),
            is_telling: false,
            is_released: false,
            is_early: false,
            has_made_way: false,
        }
    }

    /// Keeps what the connection took of a segment's payload.
    pub(super) fn keep(&mut self, taken: AcceptedRange, payload: &[u8]) {
        if !taken.stream.is_empty() && !self.is_released {
            self.incoming.put(taken.stream, &payload[usize::from(taken.skip)..]);
        }
        self.forget();
    }

    /// Forgets what is acknowledged, and what was given up.
    fn forget(&mut self) {
        let acknowledged = self.connection.acknowledged();
        match &mut self.frames {
            Some(frames) => frames.forget_below(acknowledged),
            None => self.outgoing.forget_below(acknowledged),
        }
    }

    /// Collects what the connection tells.
    pub(super) fn listen(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            self.has_made_way |= event == tcp::Event::TimeWaitReused;
            if self.connection.ending().is_some() {
                // Nothing of it leaves again; TIME-WAIT lasts a minute, and need not hold its room.
                self.outgoing = Ring::new(usize::MAX);
            }
            if let Some(kind) = Kind::of(event) {
                self.untold.add(kind);
            }
        }
    }

    /// Writes what fits.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<usize, tcp::WriteError> {
        let taken = self.connection.write(bytes.len() as u64)? as usize;
        Ok(self.outgoing.append(&bytes[..taken]))
    }

    pub(super) fn write_frame(&mut self, cx: &mut Cx<'_>, bytes: &[u8], unit: u64) -> Result<u64, tcp::WriteError> {
        let number = self.connection.write_frame(cx, bytes.len() as u64, unit)?;
        if let Some(frames) = &mut self.frames {
            frames.put(bytes);
        }
        self.note_discards();
        Ok(number)
    }

    fn note_discards(&mut self) {
        let Some(frames) = &mut self.frames else { return };
        while let Some(number) = self.connection.poll_abandoned() {
            frames.discard(number);
        }
        frames.forget_below(self.connection.acknowledged());
    }

    /// Reads what there is; behind what was stepped over it goes on.
    pub(super) fn read(&mut self, into: &mut [u8]) -> usize {
        while let Some(hole) = self.connection.poll_skipped() {
            self.holes.push_back(hole);
        }
        let mut count = 0;
        loop {
            let before =
                self.holes.front().map_or(u64::MAX, |hole| hole.start.saturating_sub(self.incoming.position()));
            let most = (into.len() - count).min(usize::try_from(before).unwrap_or(usize::MAX));
            count += self.incoming.read(&mut into[count..count + most]);
            match self.holes.pop_front_if(|hole| hole.start <= self.incoming.position()) {
                Some(hole) => self.incoming.skip_to(hole.end),
                None => break,
            }
        }
        self.connection.read(count as u64);
        count
    }

    /// Reads the frame that waits next; the connection says where it stands, if there is one.
    pub(super) fn read_frame(&mut self, cx: &mut Cx<'_>, into: &mut [u8]) -> Result<Option<usize>, usize> {
        let next = self.connection.peek_frame();
        if let Some(frame) = next.filter(|frame| usize::from(frame.bytes) > into.len()) {
            return Err(frame.bytes.into());
        }
        let Some(frame) = self.connection.read_frame(cx) else { return Ok(None) };
        let count = self.copy(frame, into);
        self.incoming.skip_to(self.connection.read_below());
        Ok(Some(count))
    }

    /// Copies the frame that waits next, behind a hole or not.
    pub(super) fn peek_frame(&self, into: &mut [u8]) -> Option<usize> {
        self.connection.peek_frame().map(|frame| self.copy(frame, into))
    }

    /// Copies the highest frame that waits.
    pub(super) fn newest_frame(&self, into: &mut [u8]) -> Option<usize> {
        self.connection.newest_frame().map(|frame| self.copy(frame, into))
    }

    fn copy(&self, frame: tcp::Frame, into: &mut [u8]) -> usize {
        self.incoming.peek(frame.position..frame.position + u64::from(frame.bytes), into)
    }

    /// Puts what is to be sent into the outbox, until that is full; says whether nothing is left.
    pub(super) fn speak(&mut self, teller: &mut Teller<'_>, form: Form, outbox: &mut Outbox) -> bool {
        let mut segment = Segment::default();
        while !outbox.is_full() {
            let Some(carried) = self.connection.poll_transmit_into(&mut teller.cx(), &mut segment) else {
                self.note_discards();
                return true;
            };
            teller.on_departure(&segment, &carried);
            let payload = payload_of(&carried, &self.outgoing, self.frames.as_deref_mut());
            form.put(outbox, self.path, &self.addresses.reversed(), &segment, payload);
        }
        false
    }

    /// Returns whether nothing will ever come of it again, and nobody asks for it.
    pub(super) fn is_over(&self) -> bool {
        self.connection.state() == RfcState::Closed && self.is_released && !self.is_due
    }

    /// Lets go of what nobody will read.
    pub(super) fn release(&mut self) {
        self.is_released = true;
        self.incoming = Assembler::new(usize::MAX);
    }
}

fn payload_of<'a>(carried: &SegmentMeta, outgoing: &'a Ring, frames: Option<&'a mut Frames>) -> [&'a [u8]; 2] {
    match (carried.frame, frames) {
        (Some(number), Some(frames)) => [frames.send(number, carried.data.end), &[]],
        _ => outgoing.slices(carried.data.clone()).unwrap_or_default(),
    }
}
