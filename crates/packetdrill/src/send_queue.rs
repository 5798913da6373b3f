//! The write queue as in Linux: data is in chunks (`sk_buff`), which determine the position of PSH flags, the memory in use,
//! and the ends of records.

use std::collections::VecDeque;

/// Overhead of a chunk (`SKB_TRUESIZE`).
const OVERHEAD: u64 = 896;
/// The largest GSO packet (`sk_gso_max_size`), minus headers.
const LARGEST_CHUNK: u64 = 65_536 - 321;

/// A chunk of written data.
#[derive(Clone, Copy, Debug)]
struct Chunk {
    end: u64,
    /// Whether a write ended in it: its last segment carries PSH.
    pushes: bool,
    ends_record: bool,
    /// Whether it has the largest number of fragments, so that no data is appended.
    is_full: bool,
    /// Whether all of it was transmitted.
    is_sent: bool,
}

/// Written data that is not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    chunks: VecDeque<Chunk>,
    /// The offset of the first chunk: everything before is acknowledged.
    start: u64,
    written: u64,
    sent: u64,
    /// The offset of the last push (`pushed_seq`).
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

    /// Returns the bytes that were not transmitted.
    pub(crate) fn not_sent(&self) -> u64 {
        self.written - self.sent.min(self.written)
    }

    /// Returns the memory in use (`sk_wmem_queued`).
    pub(crate) fn memory(&self) -> u64 {
        self.written - self.start + OVERHEAD * self.chunks.len() as u64
    }

    /// Returns the space in the last chunk, if it may grow to `largest`.
    pub(crate) fn room_in_last(&self, largest: u64) -> u64 {
        let before = self.chunks.len().checked_sub(2).map_or(self.start, |index| self.chunks[index].end);
        self.chunks
            .back()
            // Data never joins a chunk that was transmitted: retransmissions keep their boundaries.
            .filter(|last| !last.is_sent && !last.ends_record && !last.is_full && last.end > self.sent)
            .map_or(0, |last| {
                // Only the unsent part of a chunk counts, as `tcp_write_xmit` splits off what it sends.
                let begin = before.max(self.sent);
                largest.saturating_sub(last.end - begin)
            })
    }

    /// Appends an empty chunk.
    pub(crate) fn begin_chunk(&mut self) {
        self.chunks.push_back(Chunk {
            end: self.written,
            pushes: false,
            ends_record: false,
            is_full: false,
            is_sent: false,
        });
    }

    /// Appends bytes to the last chunk.
    pub(crate) fn append(&mut self, bytes: u64) {
        self.written += bytes;
        if let Some(last) = self.chunks.back_mut() {
            last.end = self.written;
        }
    }

    /// Returns whether half a window was written since the last push (`forced_push`).
    pub(crate) fn is_push_due(&self, largest_window: u64) -> bool {
        self.written > self.pushed + largest_window / 2
    }

    /// Marks the end of the last chunk for PSH (`tcp_mark_push`).
    pub(crate) fn push(&mut self) {
        self.pushed = self.written;
        if let Some(last) = self.chunks.back_mut() {
            last.pushes = true;
        }
    }

    /// Ends a record (`MSG_EOR`): later data goes into another segment.
    pub(crate) fn end_record(&mut self) {
        if let Some(last) = self.chunks.back_mut() {
            last.ends_record = true;
        }
    }

    /// Marks the last chunk as full.
    pub(crate) fn mark_full(&mut self) {
        self.push();
        if let Some(last) = self.chunks.back_mut() {
            last.is_full = true;
        }
    }

    /// Returns the end of the continuous data after an offset, and whether a segment must end there.
    pub(crate) fn boundary_after(&self, place: u64) -> (u64, bool) {
        let found = self.chunks.iter().find(|chunk| chunk.end > place && (chunk.ends_record || chunk.is_full));
        found.map_or((self.written, false), |chunk| (chunk.end, true))
    }

    /// Records that bytes up to `end` were transmitted.
    pub(crate) fn on_sent(&mut self, end: u64) {
        self.sent = self.sent.max(end);
        for chunk in self.chunks.iter_mut().filter(|chunk| !chunk.is_sent && chunk.end <= end) {
            chunk.is_sent = true;
        }
    }

    /// Records that bytes up to `end` were acknowledged.
    pub(crate) fn on_acknowledged(&mut self, end: u64) {
        self.start = self.start.max(end.min(self.written));
        let start = self.start;
        while self.chunks.front().is_some_and(|chunk| chunk.end <= start) {
            self.chunks.pop_front();
        }
    }

    /// Returns whether a chunk with PSH ends here.
    pub(crate) fn pushes_at(&self, end: u64) -> bool {
        self.chunks.iter().any(|chunk| chunk.end == end && chunk.pushes)
    }

    /// Returns whether a chunk ends here: Linux never builds a segment from two chunks.
    pub(crate) fn ends_chunk_at(&self, end: u64) -> bool {
        self.chunks.iter().any(|chunk| chunk.end == end)
    }
}

/// Returns the size limit of a chunk (`tcp_xmit_size_goal`): whole segments, at most half of the largest window.
pub(crate) fn largest_chunk(mss: u64, largest_window: u64) -> u64 {
    // As `tcp_bound_to_half_wnd`: small windows (TCP_MSS_DEFAULT) are not halved.
    let half = if largest_window > 536 { largest_window / 2 } else { largest_window };
    let bound = if half > 0 { LARGEST_CHUNK.min(half) } else { LARGEST_CHUNK };
    // Whole segments; a chunk holds at least one.
    (bound / mss * mss).max(mss)
}
