//! The send buffer as Linux keeps it: what was written lies in chunks, and chunks decide where a push flag stands, what
//! memory they take, and where records end.

use std::collections::VecDeque;

/// What a chunk takes beside its bytes: its structures and the room for headers (`SKB_TRUESIZE`).
const OVERHEAD: u64 = 896;
/// Linux's `sk_gso_max_size`: the largest packet that is cut up below TCP, less room for headers.
const LARGEST_CHUNK: u64 = 65_536 - 321;

/// A part of what was written.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    end: u64,
    /// A write ended in it: its last segment asks the receiver to hand the data over.
    pushes: bool,
    ends_record: bool,
    /// It has as many pieces as a packet may have: what follows lies in another.
    is_full: bool,
    /// It has left, all of it.
    is_sent: bool,
}

/// Everything written that is not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    chunks: VecDeque<Chunk>,
    /// Where the first chunk starts: everything before is acknowledged.
    start: u64,
    written: u64,
    sent: u64,
    /// Where the last push stood (`pushed_seq`).
    pushed: u64,
}

impl SendQueue {
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.start
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the bytes that have not left.
    pub(crate) fn not_sent(&self) -> u64 {
        self.written - self.sent.min(self.written)
    }

    /// Returns the memory that it takes (`sk_wmem_queued`).
    pub(crate) fn memory(&self) -> u64 {
        self.written - self.start + OVERHEAD * self.chunks.len() as u64
    }

    /// Returns the room that the last chunk has, if it may grow to `largest`.
    pub(crate) fn room_in_last(&self, largest: u64) -> u64 {
        let before = self.chunks.len().checked_sub(2).map_or(self.start, |index| self.chunks[index].end);
        self.chunks
            .back()
            .filter(|last| !last.is_sent && !last.ends_record && !last.is_full && last.end > self.sent)
            .map_or(0, |last| {
                let begin = before.max(self.sent);
                largest.saturating_sub(last.end - begin)
            })
    }

    /// Begins a chunk.
    pub(crate) fn begin(&mut self) {
        self.chunks.push_back(Chunk {
            end: self.written,
            pushes: false,
            ends_record: false,
            is_full: false,
            is_sent: false,
        });
    }

    /// Appends bytes to the last chunk.
    pub(crate) fn extend(&mut self, bytes: u64) {
        self.written += bytes;
        if let Some(last) = self.chunks.back_mut() {
            last.end = self.written;
        }
    }

    /// Returns whether so much was written since the last push that the next chunk is pushed anyway.
    pub(crate) fn is_push_due(&self, largest_window: u64) -> bool {
        self.written > self.pushed + largest_window / 2
    }

    /// The last chunk's end asks for a push.
    pub(crate) fn push(&mut self) {
        self.pushed = self.written;
        if let Some(last) = self.chunks.back_mut() {
            last.pushes = true;
        }
    }

    /// A record ends here: what follows goes into another segment.
    pub(crate) fn end_record(&mut self) {
        if let Some(last) = self.chunks.back_mut() {
            last.ends_record = true;
        }
    }

    /// The last chunk takes no more pieces.
    pub(crate) fn fill(&mut self) {
        self.push();
        if let Some(last) = self.chunks.back_mut() {
            last.is_full = true;
        }
    }

    /// Returns up to where what was written behind a place is in one piece, and whether a segment must end there at the latest.
    pub(crate) fn boundary_after(&self, place: u64) -> (u64, bool) {
        let found = self.chunks.iter().find(|chunk| chunk.end > place && (chunk.ends_record || chunk.is_full));
        found.map_or((self.written, false), |chunk| (chunk.end, true))
    }

    /// Bytes up to `end` have left.
    pub(crate) fn on_sent(&mut self, end: u64) {
        self.sent = self.sent.max(end);
        for chunk in self.chunks.iter_mut().filter(|chunk| !chunk.is_sent && chunk.end <= end) {
            chunk.is_sent = true;
        }
    }

    /// Bytes up to `end` are acknowledged.
    pub(crate) fn on_acknowledged(&mut self, end: u64) {
        self.start = self.start.max(end.min(self.written));
        let start = self.start;
        while self.chunks.front().is_some_and(|chunk| chunk.end <= start) {
            self.chunks.pop_front();
        }
    }

    /// Returns whether a chunk ends here that asks for a push.
    pub(crate) fn pushes_at(&self, end: u64) -> bool {
        self.chunks.iter().any(|chunk| chunk.end == end && chunk.pushes)
    }

    /// Returns whether a chunk ends here: Linux makes no packet of parts of two.
    pub(crate) fn ends_chunk_at(&self, end: u64) -> bool {
        self.chunks.iter().any(|chunk| chunk.end == end)
    }
}

/// Returns the size up to which a chunk grows (`tcp_xmit_size_goal`): whole segments, at most half the largest window seen.
pub(crate) fn largest_chunk(mss: u64, largest_window: u64) -> u64 {
    let half = if largest_window > 536 { largest_window / 2 } else { largest_window };
    let bound = if half > 0 { LARGEST_CHUNK.min(half) } else { LARGEST_CHUNK };
    (bound / mss * mss).max(mss)
}
