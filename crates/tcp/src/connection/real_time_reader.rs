//! What an application of the real-time mode reads from a connection.

use super::Connection;
use super::events::Event;
use crate::real_time::{Frame, RealTimeStatistics};
use crate::trace::Cx;
use core::ops::Range;
use earlybird_units::Instant;

const fn frame_at(range: Range<u64>) -> Frame {
    Frame { position: range.start - 1, bytes: (range.end - range.start) as u16 }
}

impl Connection {
    /// Reads one frame, which is one segment as the peer wrote it; needs [`RealTime::framing`](crate::RealTime::framing).
    ///
    /// With `None` nothing is there, and the reader *waits* until a frame was handed over or
    /// [`stop_waiting`](Self::stop_waiting): with [`Delivery::SkipWhenWaiting`](crate::Delivery::SkipWhenWaiting) it gets
    /// the next frame that arrives, whatever is missing before it (MTCP paper, rules R2 and R3). So when an application
    /// reads decides what it loses: a frame may be repaired as long as nobody asks for it. Where only the end of the
    /// stream is left to come, it is stepped to as well: [`Event::PeerClosed`] tells.
    ///
    /// A peer that is no sender of frames, and cuts differently what it sends again, is read in the pieces that came.
    pub fn read_frame(&mut self, cx: &mut Cx<'_>) -> Option<Frame> {
        let frame = self.receiver.read_frame().or_else(|| {
            self.receiver.wait();
            self.close_if_finished(cx.now);
            self.receiver.read_frame()
        });
        frame.map(frame_at)
    }

    /// Returns the frame that [`read_frame`](Self::read_frame) would give, without reading it: an application that knows
    /// from its payload when it is due need not step over a hole before, in which frames may be missing that are due
    /// later than the first.
    pub fn peek_frame(&self) -> Option<Frame> {
        self.receiver.peek_frame().map(frame_at)
    }

    /// Returns the highest frame that came and was not read, behind holes or not, without reading it: how long it took says how long
    /// the way is, where those before it may have waited for a repair.
    pub fn newest_frame(&self) -> Option<Frame> {
        self.receiver.newest_frame().map(frame_at)
    }

    /// Returns the bytes that can be read without stepping over anything.
    pub fn unread(&self) -> u64 {
        self.receiver.readable()
    }

    /// Returns the place in the stream before which no frame is left to be read: a driver need keep nothing of it.
    pub fn read_below(&self) -> u64 {
        self.receiver.read_below().saturating_sub(1)
    }

    /// Makes the reader wait, as a [`read_frame`](Self::read_frame) without result does: for connections without framing,
    /// whose [`read`](Self::read) gave nothing. It ends with a read that finds something. Tells [`Event::Readable`] if
    /// there is something at once; a reader that has something to read does not wait.
    pub fn wait(&mut self, cx: &mut Cx<'_>) {
        let readable = self.receiver.wait();
        self.on_stepped(cx.now, readable);
    }

    /// Ends the wait for a frame: what is missing may be repaired again.
    pub fn stop_waiting(&mut self) {
        self.receiver.stop_waiting();
    }

    /// Returns the next part of the stream that the reader stepped over, by positions as in [`Frame::position`]. Without
    /// framing it is how a reader learns where in what [`read`](Self::read) gave a part is missing.
    ///
    /// The last 256 are kept for a reader that does not ask.
    pub fn poll_skipped(&mut self) -> Option<Range<u64>> {
        let skipped = self.receiver.poll_skipped()?;
        Some(skipped.start - 1..skipped.end - 1)
    }

    /// Returns the counters of the real-time mode.
    pub fn real_time_statistics(&self) -> RealTimeStatistics {
        let mut statistics = self.receiver.real_time_statistics();
        self.sender.add_to(&mut statistics);
        statistics
    }

    /// A skip may have led to something readable, or to the end of the stream.
    pub(crate) fn on_stepped(&mut self, now: Instant, readable: u64) {
        if readable > 0 {
            self.events.tell(Event::Readable);
        }
        self.close_if_finished(now);
    }
}
