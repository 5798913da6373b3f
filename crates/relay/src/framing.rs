//! Messages on a connection: one message per frame in real-time mode, length-prefixed on a byte stream.

use crate::message::{FRAGMENT_HEADER, Message};
use earlybird_live::{Clock, Error, Id, Stack, device::Device};
use earlybird_units::Instant;
use std::collections::VecDeque;

/// A connection that carries messages.
#[derive(Debug)]
pub(crate) struct MessageChannel {
    pub(crate) id: Id,
    framing: Framing,
    /// Received message; reused.
    rx: Vec<u8>,
    /// Message to send; reused.
    tx: Vec<u8>,
    /// Time of the last received bytes.
    pub(crate) last_recv: Instant,
}

#[derive(Debug)]
enum Framing {
    /// One message is one frame.
    Frames,
    /// Each message is preceded by its length.
    Stream(StreamBuffers),
}

#[derive(Debug, Default)]
struct StreamBuffers {
    /// Bytes that the connection had no room for.
    tx: VecDeque<u8>,
    /// Received bytes that are not a complete message.
    rx: Vec<u8>,
}

/// The length prefix has 16 bits; no frame is longer either.
const MAX_MESSAGE: usize = 1 << 16;
/// The initial size of buffers: a frame is no longer than a packet of Ethernet. Longer messages of a stream let them grow, so that a
/// peer that sends nothing holds hardly any memory.
const BUFFER: usize = 2048;
/// Bytes of the length prefix.
const LENGTH_BYTES: usize = 2;

impl MessageChannel {
    pub(crate) fn new(id: Id, has_frames: bool, now: Instant) -> Self {
        let framing = if has_frames { Framing::Frames } else { Framing::Stream(StreamBuffers::default()) };
        Self { id, framing, rx: vec![0; BUFFER], tx: Vec::new(), last_recv: now }
    }

    /// Sends a message. In real-time mode it belongs to a unit: frames of one unit are abandoned together.
    pub(crate) fn send<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        message: &Message<'_>,
        unit: u64,
    ) -> Result<(), Error> {
        self.tx.clear();
        message.write(&mut self.tx);
        match &mut self.framing {
            Framing::Frames => stack.write_frame(self.id, &self.tx, unit).map(drop),
            Framing::Stream(stream) => {
                stream.tx.extend((self.tx.len() as u16).to_be_bytes());
                stream.tx.extend(&self.tx);
                self.flush(stack)
            }
        }
    }

    /// Writes buffered bytes of a stream as far as the connection has room.
    pub(crate) fn flush<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        let Framing::Stream(stream) = &mut self.framing else { return Ok(()) };
        while !stream.tx.is_empty() {
            let written = stack.write(self.id, stream.tx.as_slices().0)?;
            if written == 0 {
                return Ok(());
            }
            stream.tx.drain(..written);
        }
        Ok(())
    }

    /// Returns whether another message may be sent. Frames may always be written, as old ones are abandoned for them. A stream
    /// must be flushed first: units that wait outside can still be dropped, bytes of a stream cannot.
    pub(crate) fn is_writable(&self) -> bool {
        match &self.framing {
            Framing::Frames => true,
            Framing::Stream(stream) => stream.tx.is_empty(),
        }
    }

    /// Returns the largest number of media bytes per message.
    pub(crate) fn max_fragment<D: Device, C: Clock>(&self, stack: &Stack<D, C>) -> usize {
        match &self.framing {
            Framing::Frames => {
                let segment = stack.connection(self.id).map_or(0, earlybird_tcp::Connection::effective_mss);
                // At least one byte, so that a unit can always be divided.
                (segment as usize).saturating_sub(FRAGMENT_HEADER).max(1)
            }
            Framing::Stream(_) => MAX_MESSAGE - LENGTH_BYTES - FRAGMENT_HEADER - 1,
        }
    }

    /// Receives the next message and passes it to `act`; `None` stands for an invalid message. A message behind a hole is read only
    /// if it `is_due`, as reading it skips the hole: until then the missing data may still arrive. Returns `None` if there is no
    /// message.
    pub(crate) fn recv<D: Device, C: Clock, R>(
        &mut self,
        stack: &mut Stack<D, C>,
        is_due: impl Fn(&Message<'_>) -> bool,
        act: impl FnOnce(Option<Message<'_>>) -> R,
    ) -> Result<Option<R>, Error> {
        match &mut self.framing {
            Framing::Frames => {
                let Some(count) = stack.peek_frame(self.id, &mut self.rx)? else { return Ok(None) };
                // A frame exists, but nothing is readable in order: a hole precedes it.
                let is_behind_hole = stack.connection(self.id)?.readable() == 0;
                if is_behind_hole && !Message::read(&self.rx[..count]).is_none_or(|message| is_due(&message)) {
                    return Ok(None);
                }
                let Some(count) = stack.read_frame(self.id, &mut self.rx)? else { return Ok(None) };
                self.last_recv = stack.now();
                Ok(Some(act(Message::read(&self.rx[..count]))))
            }
            Framing::Stream(stream) => {
                while !stream.has_message() {
                    let count = stack.read(self.id, &mut self.rx)?;
                    if count == 0 {
                        return Ok(None);
                    }
                    stream.rx.extend(&self.rx[..count]);
                    self.last_recv = stack.now();
                }
                Ok(stream.take(&mut self.rx).map(|length| act(Message::read(&self.rx[..length]))))
            }
        }
    }

    /// Reads the next message without consuming it, even behind a hole. Returns `None` for a stream.
    pub(crate) fn peek_next<D: Device, C: Clock, R>(
        &mut self,
        stack: &Stack<D, C>,
        read: impl FnOnce(&Message<'_>) -> R,
    ) -> Option<R> {
        self.peek(read, |id, into| stack.peek_frame(id, into))
    }

    /// Reads the newest message without consuming it. Returns `None` for a stream.
    pub(crate) fn peek_newest<D: Device, C: Clock, R>(
        &mut self,
        stack: &Stack<D, C>,
        read: impl FnOnce(&Message<'_>) -> R,
    ) -> Option<R> {
        self.peek(read, |id, into| stack.newest_frame(id, into))
    }

    fn peek<R>(
        &mut self,
        read: impl FnOnce(&Message<'_>) -> R,
        copy: impl FnOnce(Id, &mut [u8]) -> Result<Option<usize>, Error>,
    ) -> Option<R> {
        let Framing::Frames = self.framing else { return None };
        let count = copy(self.id, &mut self.rx).ok()??;
        Message::read(&self.rx[..count]).map(|message| read(&message))
    }
}

impl StreamBuffers {
    fn first_length(&self) -> Option<usize> {
        self.rx.first_chunk().map(|length| usize::from(u16::from_be_bytes(*length)))
    }

    /// Returns whether the first message is complete.
    fn has_message(&self) -> bool {
        self.first_length().is_some_and(|length| self.rx.len() >= LENGTH_BYTES + length)
    }

    /// Moves the first message into `into` if it is complete. Returns its length.
    fn take(&mut self, into: &mut Vec<u8>) -> Option<usize> {
        let length = self.first_length()?;
        into.resize(into.len().max(length), 0);
        let message = self.rx.get(LENGTH_BYTES..LENGTH_BYTES + length)?;
        into[..length].copy_from_slice(message);
        self.rx.drain(..LENGTH_BYTES + length);
        Some(length)
    }
}
