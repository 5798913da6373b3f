//! A connection between two relays: messages over frames, or over a stream.

use crate::message::{Message, PART_HEADER};
use earlybird_live::{Clock, Error, Id, Stack, device::Device};
use earlybird_units::Instant;
use std::collections::VecDeque;

/// A connection with what waits on either side of it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: Id,
    channel: Channel,
    buffer: Vec<u8>,
    /// When something last came.
    pub(crate) heard: Instant,
}

#[derive(Debug)]
enum Channel {
    /// One message is one frame.
    Frames,
    /// Messages stand behind their lengths.
    Stream(Stream),
}

#[derive(Debug, Default)]
struct Stream {
    /// What could not be written yet.
    outgoing: VecDeque<u8>,
    /// What was read and is no whole message yet.
    incoming: Vec<u8>,
}

/// Longer than any frame, and any message of a stream.
const LONGEST: usize = 1 << 16;
/// Bytes of a message's length in a stream.
const LENGTH: usize = 2;

impl Session {
    pub(crate) fn new(id: Id, has_frames: bool, now: Instant) -> Self {
        let channel = if has_frames { Channel::Frames } else { Channel::Stream(Stream::default()) };
        Self { id, channel, buffer: vec![0; LONGEST], heard: now }
    }

    /// Says something: as a unit of its own, or with others of the unit that this number belongs to.
    pub(crate) fn say<D: Device, C: Clock>(
        &mut self,
        stack: &mut Stack<D, C>,
        message: &Message<'_>,
        unit: u64,
    ) -> Result<(), Error> {
        let mut bytes = Vec::with_capacity(PART_HEADER);
        message.write(&mut bytes);
        match &mut self.channel {
            Channel::Frames => {
                stack.write_frame(self.id, &bytes, unit)?;
                Ok(())
            }
            Channel::Stream(stream) => {
                stream.outgoing.extend((bytes.len() as u16).to_be_bytes());
                stream.outgoing.extend(&bytes);
                self.flush(stack)
            }
        }
    }

    /// Writes what there is room for.
    pub(crate) fn flush<D: Device, C: Clock>(&mut self, stack: &mut Stack<D, C>) -> Result<(), Error> {
        let Channel::Stream(stream) = &mut self.channel else { return Ok(()) };
        while !stream.outgoing.is_empty() {
            let written = stack.write(self.id, stream.outgoing.as_slices().0)?;
            if written == 0 {
                return Ok(());
            }
            stream.outgoing.drain(..written);
        }
        Ok(())
    }

    /// Returns whether more may be said: frames may be at any time, as old ones make room for them.
    pub(crate) fn has_room(&self) -> bool {
        match &self.channel {
            Channel::Frames => true,
            Channel::Stream(stream) => stream.outgoing.is_empty(),
        }
    }

    /// Returns the most bytes of media that fit into one message.
    pub(crate) fn largest_part<D: Device, C: Clock>(&self, stack: &Stack<D, C>) -> usize {
        match &self.channel {
            Channel::Frames => {
                let segment = stack.connection(self.id).map_or(0, earlybird_tcp::Connection::effective_mss);
                (segment as usize).saturating_sub(PART_HEADER).max(1)
            }
            Channel::Stream(_) => LONGEST - LENGTH - PART_HEADER - 1,
        }
    }

    /// Hears the next message, and gives it to `act`. Behind a hole only one that `is_due`: up to then what is missing may come.
    /// Returns whether there was one.
    pub(crate) fn hear<D: Device, C: Clock, R>(
        &mut self,
        stack: &mut Stack<D, C>,
        is_due: impl Fn(&Message<'_>) -> bool,
        act: impl FnOnce(Option<Message<'_>>) -> R,
    ) -> Result<Option<R>, Error> {
        match &mut self.channel {
            Channel::Frames => {
                let Some(count) = stack.peek_frame(self.id, &mut self.buffer)? else { return Ok(None) };
                let is_behind_hole = stack.connection(self.id)?.unread() == 0;
                if is_behind_hole && !Message::read(&self.buffer[..count]).is_none_or(|message| is_due(&message)) {
                    return Ok(None);
                }
                let Some(count) = stack.read_frame(self.id, &mut self.buffer)? else { return Ok(None) };
                self.heard = stack.now();
                Ok(Some(act(Message::read(&self.buffer[..count]))))
            }
            Channel::Stream(stream) => {
                let count = stack.read(self.id, &mut self.buffer)?;
                stream.incoming.extend(&self.buffer[..count]);
                if count > 0 {
                    self.heard = stack.now();
                }
                Ok(stream.take(&mut self.buffer).map(|length| act(Message::read(&self.buffer[..length]))))
            }
        }
    }

    /// Returns the message that waits behind a hole, if it can be read.
    pub(crate) fn behind_hole<D: Device, C: Clock, R>(
        &mut self,
        stack: &Stack<D, C>,
        read: impl FnOnce(&Message<'_>) -> R,
    ) -> Option<R> {
        self.look(read, |id, into| stack.peek_frame(id, into))
    }

    /// Returns the message that came last, if it can be read, be others missing before it.
    pub(crate) fn newest<D: Device, C: Clock, R>(
        &mut self,
        stack: &Stack<D, C>,
        read: impl FnOnce(&Message<'_>) -> R,
    ) -> Option<R> {
        self.look(read, |id, into| stack.newest_frame(id, into))
    }

    fn look<R>(
        &mut self,
        read: impl FnOnce(&Message<'_>) -> R,
        copy: impl FnOnce(Id, &mut [u8]) -> Result<Option<usize>, Error>,
    ) -> Option<R> {
        let Channel::Frames = self.channel else { return None };
        let count = copy(self.id, &mut self.buffer).ok()??;
        Message::read(&self.buffer[..count]).map(|message| read(&message))
    }
}

impl Stream {
    /// Takes the first message if all of it is there; gives its length.
    fn take(&mut self, into: &mut [u8]) -> Option<usize> {
        let length = usize::from(u16::from_be_bytes(*self.incoming.first_chunk()?));
        let message = self.incoming.get(LENGTH..LENGTH + length)?;
        into[..length].copy_from_slice(message);
        self.incoming.drain(..LENGTH + length);
        Some(length)
    }
}
