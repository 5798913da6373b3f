//! Nagle's algorithm and the cork, which hold short segments back, and records, at whose ends a segment must end.

use alloc::collections::VecDeque;
use earlybird_units::{Duration, Instant};

/// The state of Nagle's algorithm, of a cork, and of the ends of records.
#[derive(Clone, Debug, Default)]
pub(crate) struct NagleCork {
    nagle: bool,
    is_corked: bool,
    /// Stream position up to which nothing is held back.
    pushed_to: u64,
    /// Stream position behind the last short segment that was sent.
    short_to: u64,
    /// The time at which data held by a cork is sent anyway.
    deadline: Option<Instant>,
    /// Stream positions behind records that are not cut yet.
    records: VecDeque<u64>,
}

/// The longest time that a cork holds (Linux, `TCP_CORK`): an override as RFC 9293 §3.8.6.2.1 requires, within its 0.1 to 1 s.
const CORK_LIMIT: Duration = Duration::from_millis(200);

impl NagleCork {
    pub(super) fn new(nagle: bool) -> Self {
        Self { nagle, ..Self::default() }
    }

    pub(super) fn set_nagle(&mut self, nagle: bool) {
        self.nagle = nagle;
    }

    pub(super) fn set_corked(&mut self, is_corked: bool) {
        self.is_corked = is_corked;
    }

    /// Ends a record at a stream position.
    pub(super) fn end_record(&mut self, end: u64) {
        if self.records.back() != Some(&end) {
            self.records.push_back(end);
        }
    }

    /// Returns the bytes of `len` at `position` that lie before the next end of a record.
    pub(super) fn within_record(&self, position: u64, len: u64) -> u64 {
        self.records.front().map_or(len, |end| len.min(end - position))
    }

    /// Returns whether a segment that ends at stream position `end` ends a record.
    pub(super) fn ends_record(&self, end: u64) -> bool {
        self.records.front().is_some_and(|record| *record == end)
    }

    /// Returns whether a short segment that ends at `end`, the last one of the written data, must wait.
    ///
    /// Nagle's algorithm (RFC 9293 §3.7.4, SHLD-7) in Minshall's variant, as in Linux.
    pub(super) fn holds(&self, una: u64, end: u64) -> bool {
        // Minshall: only a short segment that is outstanding holds the next one back, so that a writer of large blocks does not
        // wait for the peer's delayed ACK.
        end > self.pushed_to && (self.is_corked || (self.nagle && self.short_to > una))
    }

    /// Lets all data up to a stream position be sent.
    pub(super) fn push(&mut self, written: u64) {
        self.pushed_to = written;
        self.deadline = None;
    }

    /// Records a segment that was cut and ends at a stream position.
    pub(super) fn on_cut(&mut self, end: u64, is_short: bool) {
        if is_short {
            self.short_to = end;
        }
        self.deadline = None;
        self.forget_records(end);
    }

    /// Removes the records that end at this stream position or before.
    pub(super) fn forget_records(&mut self, cut: u64) {
        while self.records.pop_front_if(|record| *record <= cut).is_some() {}
    }

    /// Starts the limit of a cork that holds data back.
    pub(super) fn start_limit(&mut self, now: Instant) {
        if self.is_corked {
            self.deadline.get_or_insert(now + CORK_LIMIT);
        }
    }

    /// Returns the time at which corked data are sent; [`Instant::NEVER`] if none are held back.
    #[inline]
    pub(super) fn deadline(&self) -> Instant {
        self.deadline.unwrap_or(Instant::NEVER)
    }
}
