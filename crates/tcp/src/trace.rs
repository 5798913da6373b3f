//! Trace events and counters of a connection.

use earlybird_units::{Duration, Instant};

/// The context of every call: the current time, and the trace.
pub struct Cx<'a> {
    /// The current time.
    pub now: Instant,
    /// The receiver of trace events.
    pub trace: &'a mut dyn Trace,
}

/// Receives the trace events of a connection; `()` ignores them.
pub trait Trace {
    /// Records an event.
    fn record(&mut self, at: Instant, event: TraceEvent);
}

impl Trace for () {
    fn record(&mut self, _at: Instant, _event: TraceEvent) {}
}

/// A decision of the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// The retransmission timer expired with data outstanding.
    Timeout {
        /// The time from the last start of the timer to its expiry.
        timer: Duration,
        /// The time from the last progress, or the previous expiry, to this one: this expiry's part of the frozen time.
        frozen_for: Duration,
    },
    /// A recovery began: duplicate ACKs, or what the scheme uses instead, indicated loss.
    FastRetransmit,
    /// A duplicate ACK was counted outside recovery.
    Duplicate {
        /// The number of duplicate ACKs for the same packet.
        count: u32,
        /// Time since the missing packet was last sent.
        age: Duration,
        /// The threshold of early retransmission, if it is on.
        threshold: Option<Duration>,
    },
    /// An intermediate value of the window: ns-2 sets it more than once per event, and its traces show each.
    Window {
        /// The congestion window in segments.
        cwnd: f64,
        /// The slow-start threshold in segments.
        ssthresh: f64,
    },
    /// The round-trip time was measured.
    RttSample(RttSample),
}

/// A sample of the round-trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// The time from sending to the acknowledgement; in milliseconds where an echoed timestamp (RFC 7323 §4) tells it.
    pub rtt: Duration,
    /// The timeout that follows from all samples, before floor and back-off.
    pub base_rto: Duration,
}

/// Counters of a sender over its whole life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Segments sent, retransmissions and the opening one included.
    pub segments_sent: u64,
    /// Segments sent more than once.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data outstanding.
    pub timeouts: u64,
    /// Timeouts before which the missing segment had not been retransmitted: fewer than three duplicate ACKs arrived, or recovery
    /// was not allowed.
    pub timeouts_untriggered: u64,
    /// Recoveries entered on the third duplicate ACK.
    pub fast_retransmits: u64,
    /// Recoveries entered on the first duplicate ACK.
    pub early_on_first: u64,
    /// Recoveries entered on the second duplicate ACK.
    pub early_on_second: u64,
    /// Reductions undone because the retransmission was spurious.
    pub reductions_undone: u64,
    /// Reductions of the window because of ECN marks.
    pub mark_responses: u64,
    /// Probes of a closed window that were sent. They count neither as timeouts nor as retransmissions.
    pub window_probes: u64,
    /// Session frozen time: the time before expiries since the last progress.
    pub frozen: Duration,
    /// Sum of the expired timers' own lengths.
    pub frozen_timers: Duration,
}

impl core::ops::AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.timeouts_untriggered += other.timeouts_untriggered;
        self.fast_retransmits += other.fast_retransmits;
        self.early_on_first += other.early_on_first;
        self.early_on_second += other.early_on_second;
        self.reductions_undone += other.reductions_undone;
        self.mark_responses += other.mark_responses;
        self.window_probes += other.window_probes;
        self.frozen += other.frozen;
        self.frozen_timers += other.frozen_timers;
    }
}
