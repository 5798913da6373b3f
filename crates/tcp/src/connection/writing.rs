//! What an application writes and reads.

use super::Connection;
use super::events::Event;
use super::state::{SendSide, State};
use crate::real_time::WriteError;
use crate::trace::Cx;

impl Connection {
    /// Queues `bytes` for sending, and gives how many of them were taken: all, unless [`BufferConfig::send`] or
    /// [`BufferConfig::unsent_limit`] leaves less room. Then [`Event::Writable`] tells when there is room again.
    ///
    /// # Errors
    ///
    /// If this side has closed; if one write is one segment: there is [`Self::write_frame`] for that.
    ///
    /// [`BufferConfig::send`]: crate::BufferConfig::send
    /// [`BufferConfig::unsent_limit`]: crate::BufferConfig::unsent_limit
    pub fn write(&mut self, bytes: u64) -> Result<u64, WriteError> {
        if self.config.real_time.framing {
            return Err(WriteError::Framed);
        }
        if !self.is_open_for_writing() {
            return Err(WriteError::Closed);
        }
        let taken = bytes.min(self.room());
        self.wants_room |= taken < bytes;
        self.sender.write(taken);
        Ok(taken)
    }

    /// Returns how many bytes a [`write`](Self::write) would take.
    pub fn room(&self) -> u64 {
        let holds_unsent = self.config.buffers.unsent_limit.is_none_or(|limit| self.notsent() < limit);
        match self.config.buffers.send {
            _ if !holds_unsent => 0,
            Some(buffer) => buffer.saturating_sub(self.held()),
            None => u64::MAX - self.held(),
        }
    }

    /// Returns the bytes that were written and never sent.
    pub fn notsent(&self) -> u64 {
        self.sender.buffer().queue().unsent()
    }

    /// Returns the bytes that were written and not acknowledged.
    fn held(&self) -> u64 {
        let queue = self.sender.buffer().queue();
        let sent = queue.fin_at().unwrap_or(self.sender.buffer().scoreboard().end_position()).saturating_sub(1);
        (sent - self.acknowledged().min(sent)).saturating_add(queue.unsent())
    }

    /// Changes the limits of what is held: [`BufferConfig::send`](crate::BufferConfig::send) and
    /// [`BufferConfig::unsent_limit`](crate::BufferConfig::unsent_limit).
    pub fn set_send_limits(&mut self, send_buffer: Option<u64>, unsent_limit: Option<u64>) {
        self.config.buffers.send = send_buffer;
        self.config.buffers.unsent_limit = unsent_limit;
    }

    /// Says, once, that there is room again. A third of the buffer must be free (as in Linux, `sk_stream_is_writeable`), so that
    /// a writer is not woken for every segment.
    #[inline]
    pub(super) fn take_writable(&mut self) -> Option<Event> {
        if !self.wants_room {
            return None;
        }
        let enough = self.config.buffers.send.map_or(1, |buffer| buffer.div_ceil(3).max(1));
        self.wants_room = self.room() < enough;
        (!self.wants_room).then_some(Event::Writable)
    }

    /// Switches Nagle's algorithm on or off, as [`SegmentConfig::nagle`](crate::SegmentConfig::nagle) does. Switched off, what waits leaves at once.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.set_nagle(nagle);
    }

    /// Keeps back what does not fill a segment until more is written, the cork is taken off, this side closes, or 200 ms are
    /// over.
    pub fn cork(&mut self, is_corked: bool) {
        self.sender.set_corked(is_corked);
    }

    /// Ends a record: what is written later goes into segments of its own, and the last one of the record says PSH.
    pub fn end_record(&mut self) {
        self.sender.end_record();
    }

    pub(super) fn is_open_for_writing(&self) -> bool {
        match self.state {
            State::Transfer(sides) => sides.send == SendSide::Open,
            State::Listen | State::SynSent | State::SynReceived => !self.sender.buffer().queue().is_finished(),
            State::TimeWait | State::Closed => false,
        }
    }

    /// Queues one frame for sending and gives its number: 0, 1, 2 … in order of writing. It becomes one segment, never merged
    /// with others and never split, whenever it is sent.
    ///
    /// Frames written one after the other with the same `unit` belong together: with one of them all are given up, those to
    /// be written yet included.
    ///
    /// Before the handshake the limit is our own MSS. If the peer's proves smaller, frames that no longer fit are given up.
    ///
    /// # Errors
    ///
    /// If the frame is empty, longer than the MSS that both sides take, or the send buffer full with [`Backlog::Block`]; if
    /// this side has closed; if the connection is not one for frames.
    ///
    /// [`Backlog::Block`]: crate::Backlog::Block
    pub fn write_frame(&mut self, cx: &mut Cx<'_>, bytes: u64, unit: u64) -> Result<u64, WriteError> {
        match (self.config.real_time.framing, self.is_open_for_writing()) {
            (false, _) => Err(WriteError::Unframed),
            (true, false) => Err(WriteError::Closed),
            (true, true) => self.sender.write_frame(cx.now, bytes, unit),
        }
    }

    /// Returns the number of the next frame that was given up: before it was sent, or while it may still arrive. Frames that the
    /// peer is known to have are not among them. Who never asks finds the newest ones only; all are counted.
    pub fn poll_abandoned(&mut self) -> Option<u64> {
        self.sender.poll_abandoned()
    }

    /// Reads up to `bytes` of what arrived in order, and gives how many there were; with framing, of whole frames.
    ///
    /// Where the reader stepped over something, the bytes before and behind it follow one another:
    /// [`poll_skipped`](Self::poll_skipped) tells where.
    #[inline]
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }

    /// Reads everything that arrived in order, if [`Event::Readable`] is to be told, which then is not: for readers that take
    /// whatever comes, and only ask how much it was.
    #[inline]
    pub fn drain_readable(&mut self) {
        if self.events.forget(Event::Readable) {
            self.receiver.read(u64::MAX);
        }
    }
}
