//! What an application writes and reads.

use super::Connection;
use super::state::{SendSide, State};
use crate::real_time::WriteError;
use crate::trace::Cx;

impl Connection {
    /// Queues `bytes` for sending, and gives how many of them were taken; the queue has no limit.
    ///
    /// # Errors
    ///
    /// If this side has closed; if one write is one segment: there is [`Self::write_frame`] for that.
    pub fn write(&mut self, bytes: u64) -> Result<u64, WriteError> {
        if self.config.real_time.framing {
            return Err(WriteError::Framed);
        }
        if !self.is_open_for_writing() {
            return Err(WriteError::Closed);
        }
        self.sender.note_gap();
        self.sender.queue.unsent = self.sender.queue.unsent.saturating_add(bytes);
        self.sender.recovery.on_write();
        Ok(bytes)
    }

    pub(super) fn is_open_for_writing(&self) -> bool {
        match self.state {
            State::Transfer(sides) => sides.send == SendSide::Open,
            State::Listen | State::SynSent | State::SynReceived => !self.sender.queue.ends(),
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

    /// Gives the number of the next frame that was given up: before it was sent, or while it may still arrive. Frames that the
    /// peer is known to have are not among them. Who never asks finds the newest ones only; all are counted.
    pub fn poll_discarded(&mut self) -> Option<u64> {
        self.sender.poll_discarded()
    }

    /// Reads up to `bytes` of what arrived in order, and gives how many there were; with framing, of whole frames.
    ///
    /// Where the reader stepped over something, the bytes before and behind it follow one another:
    /// [`poll_skipped`](Self::poll_skipped) tells where.
    #[inline]
    pub fn read(&mut self, bytes: u64) -> u64 {
        self.receiver.read(bytes)
    }
}
