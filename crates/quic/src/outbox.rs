//! Data that the application wrote and quinn has not taken yet.

use crate::Carriage;
use bytes::Bytes;
use quinn_proto::{Connection, Dir, StreamId};
use std::collections::VecDeque;

/// Payload is zeros; this much is handed over at once.
// Payload content does not matter: one static block serves all writes without a copy.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Which part of which unit a datagram carries, in its first bytes: number of the unit, of the part, and of all parts. They count
/// among the payload, as RTP's header does.
pub(crate) const LABEL: usize = 8;

/// One side's application.
#[derive(Debug)]
pub(crate) struct Outbox {
    carriage: Carriage,
    units: VecDeque<u64>,
    next_unit: u32,
    /// Bytes that are no unit, or all units one behind the other, and the stream they go into.
    stream: u64,
    stream_id: Option<StreamId>,
    /// The unit that a stream of its own is being filled with.
    filling: Option<(StreamId, u64)>,
}

impl Outbox {
    pub(crate) const fn new(carriage: Carriage) -> Self {
        Self { carriage, units: VecDeque::new(), next_unit: 0, stream: 0, stream_id: None, filling: None }
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.stream = self.stream.saturating_add(bytes);
    }

    pub(crate) fn write_unit(&mut self, bytes: u64) {
        if self.carriage == Carriage::Stream { self.write(bytes) } else { self.units.push_back(bytes) }
    }

    /// Hands over what quinn takes.
    pub(crate) fn hand_over(&mut self, connection: &mut Connection) {
        match self.carriage {
            Carriage::Stream => self.fill_stream(connection),
            Carriage::Streams => {
                self.fill_stream(connection);
                self.fill_streams(connection);
            }
            Carriage::Datagrams => {
                while let Some(bytes) = self.units.pop_front() {
                    self.send_unit(connection, bytes);
                }
                self.send_bulk(connection);
            }
        }
    }

    fn fill_stream(&mut self, connection: &mut Connection) {
        if self.stream == 0 {
            return;
        }
        let Some(id) = self.stream_id.or_else(|| connection.streams().open(Dir::Uni)) else { return };
        self.stream_id = Some(id);
        fill(connection, id, &mut self.stream);
    }

    fn fill_streams(&mut self, connection: &mut Connection) {
        while let Some((id, mut rest)) = self.filling.or_else(|| self.begin_stream(connection)) {
            fill(connection, id, &mut rest);
            self.filling = (rest > 0).then_some((id, rest));
            if rest > 0 {
                break;
            }
            // Nobody stops or resets streams here, and only one that is closed already cannot be finished.
            let _ = connection.send_stream(id).finish();
        }
    }

    /// Opens a stream for the next unit, as soon as the peer allows another one.
    fn begin_stream(&mut self, connection: &mut Connection) -> Option<(StreamId, u64)> {
        let bytes = *self.units.front()?;
        let id = connection.streams().open(Dir::Uni)?;
        self.units.pop_front();
        Some((id, bytes))
    }

    /// Sends all parts of a unit; where quinn's buffer is full, the oldest datagrams in it are let go, as its `send_datagram`
    /// does.
    fn send_unit(&mut self, connection: &mut Connection, bytes: u64) {
        let unit = self.next_unit;
        self.next_unit += 1;
        // Both ends are ours and take datagrams.
        let Some(most) = connection.datagrams().max_size() else { return };
        let parts = bytes.div_ceil(most as u64).max(1) as u16;
        let mut rest = bytes;
        for part in 0..parts {
            let len = rest.min(most as u64);
            rest -= len;
            // It fits, and it may drop others: there is nothing else that quinn could refuse.
            let _ = connection.datagrams().send(labelled(unit, part, parts, len as usize), true);
        }
    }

    /// Sends bytes that are no unit, each datagram as a unit of its own, as far as quinn's buffer takes them.
    fn send_bulk(&mut self, connection: &mut Connection) {
        while self.stream > 0 {
            let Some(most) = connection.datagrams().max_size() else { return };
            let len = self.stream.min(most as u64);
            if connection.datagrams().send(labelled(self.next_unit, 0, 1, len as usize), false).is_err() {
                return;
            }
            self.stream -= len;
            self.next_unit += 1;
        }
    }
}

/// Writes zeros into a stream until it has them all, or quinn takes no more.
fn fill(connection: &mut Connection, id: StreamId, rest: &mut u64) {
    while *rest > 0 {
        let len = ZEROS.len().min(usize::try_from(*rest).unwrap_or(usize::MAX));
        let mut chunk = [Bytes::from_static(&ZEROS[..len])];
        let Ok(written) = connection.send_stream(id).write_chunks(&mut chunk) else { return };
        *rest -= written.bytes as u64;
    }
}

fn labelled(unit: u32, part: u16, parts: u16, len: usize) -> Bytes {
    let mut payload = Vec::with_capacity(len.max(LABEL));
    payload.extend(unit.to_be_bytes());
    payload.extend(part.to_be_bytes());
    payload.extend(parts.to_be_bytes());
    payload.resize(len.max(LABEL), 0);
    payload.into()
}
