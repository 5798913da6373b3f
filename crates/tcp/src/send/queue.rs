//! What was written, and how it is cut into segments.

use super::frames::Frames;
use super::sender::Sender;
use alloc::boxed::Box;
use earlybird_wire::Flags;

/// What was written and not yet cut into segments.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Bytes.
    pub(crate) unsent: u64,
    /// A FIN waits behind them.
    pub(crate) fin_queued: bool,
    /// Stream position of the FIN, once it was cut.
    pub(crate) fin_at: Option<u64>,
    /// Present if one write is one segment.
    pub(super) frames: Option<Box<Frames>>,
    /// Largest payload of a segment.
    pub(crate) mss: u64,
    /// The next new segment is what the receiver's window holds, one byte at least.
    pub(super) probes_window: bool,
}

impl Queue {
    pub(super) fn new(mss: u16, frames: Option<Box<Frames>>) -> Self {
        Self { unsent: 0, fin_queued: false, fin_at: None, frames, mss: u64::from(mss), probes_window: false }
    }
}

impl Queue {
    /// Says whether a FIN was written: nothing may follow it.
    pub(crate) fn ends(&self) -> bool {
        self.fin_queued || self.fin_at.is_some()
    }
}

impl Sender {
    /// Gives the length and flags of the next new segment, if there is one and the receiver has room for it.
    #[inline]
    pub(super) fn new_segment(&self) -> Option<(u64, Flags)> {
        let room = self.room();
        let len = self.new_len(room);
        if len > 0 {
            (len <= room || self.queue.probes_window).then_some((len, Flags::ACK))
        } else {
            self.queue.fin_queued.then_some((0, Flags::ACK | Flags::FIN))
        }
    }

    /// Gives the length of the next new segment if the receiver's window leaves so much room.
    ///
    /// A frame is never split: what probes a closed window is a whole one (RFC 9293 §3.8.6.1 asks for one byte at least).
    #[inline]
    fn new_len(&self, room: u64) -> u64 {
        match &self.queue.frames {
            Some(frames) => frames.next_bytes().unwrap_or(0),
            None if self.queue.probes_window => self.queue.unsent.min(room.clamp(1, self.queue.mss)),
            None if self.queue.unsent.min(self.queue.mss) > room && self.must_make_do(room) => room,
            None => self.queue.unsent.min(self.queue.mss),
        }
    }

    /// Gives the bytes that the receiver's window leaves for new data.
    pub(super) fn room(&self) -> u64 {
        (self.board.acknowledged() + self.peer_window.size).saturating_sub(self.board.end_position())
    }

    /// Says whether a part of a segment must do: nothing is outstanding whose ACK could open the window, and half the largest
    /// one is open (RFC 9293 §3.8.6.2.1, rule 3).
    fn must_make_do(&self, room: u64) -> bool {
        room > 0 && 2 * room >= self.peer_window.largest && self.board.outstanding() == 0
    }

    pub(super) fn cut_segment(&mut self) -> Option<()> {
        let (len, flags) = self.new_segment()?;
        self.queue.probes_window = false;
        let end = self.board.end_position() + len + u64::from(flags.contains(Flags::FIN));
        self.queue.unsent -= len;
        if flags.contains(Flags::FIN) {
            self.queue.fin_queued = false;
            self.queue.fin_at = Some(end - 1);
        }
        if let Some(frames) = self.queue.frames.as_mut().filter(|_| len > 0) {
            frames.on_cut();
        }
        self.board.push(end, flags);
        Some(())
    }
}
