//! Received data on its way to the application.

use crate::Carriage;
use crate::outbox::LABEL;
use earlybird_sim::ExternalEvent;
use quinn_proto::{Connection, Dir, ReadError, StreamEvent, StreamId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Units of several datagrams that are remembered at a time, complete or not, as by our other transports of datagrams.
const REMEMBERED: usize = 64;

/// One side's application, which reads at once what there is.
#[derive(Debug)]
pub(crate) struct Inbox {
    carriage: Carriage,
    pub(crate) received: u64,
    /// Parts that came of units of several datagrams.
    parts: BTreeMap<u32, BTreeSet<u16>>,
    pub(crate) events: VecDeque<ExternalEvent>,
}

impl Inbox {
    pub(crate) const fn new(carriage: Carriage) -> Self {
        Self { carriage, received: 0, parts: BTreeMap::new(), events: VecDeque::new() }
    }

    /// Handles an event of streams.
    pub(crate) fn on_stream(&mut self, connection: &mut Connection, event: &StreamEvent) {
        match event {
            StreamEvent::Opened { dir: Dir::Uni } => {
                // One event may announce several streams.
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    self.read(connection, id);
                }
            }
            StreamEvent::Readable { id } => self.read(connection, *id),
            _ => {}
        }
    }

    fn read(&mut self, connection: &mut Connection, id: StreamId) {
        let mut stream = connection.recv_stream(id);
        // The stream may have been reset or read to its end.
        let Ok(mut chunks) = stream.read(true) else { return };
        let before = self.received;
        let is_whole = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.received += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(ReadError::Blocked | ReadError::Reset(_)) => break false,
            }
        };
        // Its result, that limits were raised, has its effect at the next poll for packets.
        let _ = chunks.finalize();
        // A stream that has ended is a complete unit.
        if self.carriage == Carriage::Streams && is_whole {
            self.events.push_back(ExternalEvent::Delivered(id.index() as u32));
        } else if self.carriage == Carriage::Stream && self.received > before {
            self.events.push_back(ExternalEvent::Readable);
        }
    }

    /// Reads the datagrams that are there.
    pub(crate) fn read_datagrams(&mut self, connection: &mut Connection) {
        while let Some(datagram) = connection.datagrams().recv() {
            self.received += datagram.len() as u64;
            let Some(label) = datagram.first_chunk::<LABEL>() else { continue };
            let unit = u32::from_be_bytes([label[0], label[1], label[2], label[3]]);
            let [part, parts] = [[label[4], label[5]], [label[6], label[7]]].map(u16::from_be_bytes);
            if parts == 1 || self.completes(unit, part, parts) {
                self.events.push_back(ExternalEvent::Delivered(unit));
            }
        }
    }

    /// Returns whether this part is the last one missing of its unit. No datagram comes twice.
    fn completes(&mut self, unit: u32, part: u16, parts: u16) -> bool {
        let arrived = self.parts.entry(unit).or_default();
        arrived.insert(part);
        let is_whole = arrived.len() == usize::from(parts);
        if is_whole {
            self.parts.remove(&unit);
        } else if self.parts.len() > REMEMBERED {
            // Units whose datagrams were lost would stay for ever.
            self.parts.pop_first();
        }
        is_whole
    }
}
