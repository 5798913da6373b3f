//! What a connection tells about itself while it works.

use earlybird_units::{Duration, Instant};

/// What every hook is given: the time, and where to tell what happened.
pub struct Cx<'a> {
    /// The time.
    pub now: Instant,
    /// The listener.
    pub trace: &'a mut dyn Trace,
}

/// Listens to a connection's decisions; `()` listens to nothing.
pub trait Trace {
    /// Takes note of one event.
    fn record(&mut self, at: Instant, event: TraceEvent);
}

impl Trace for () {
    fn record(&mut self, _at: Instant, _event: TraceEvent) {}
}

/// A decision of the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TraceEvent {
    /// The retransmission timer ran out with data outstanding.
    Timeout {
        /// From the timer's last start to its end.
        timer: Duration,
        /// From the last sign of progress, or the expiry before, to this one (session frozen time, part of).
        freeze: Duration,
    },
    /// Duplicate ACKs, or whatever a scheme takes for them, meant loss: a recovery began.
    FastRetransmit,
    /// A duplicate ACK was counted outside recovery.
    Duplicate {
        /// How many there are now for the same packet.
        count: u32,
        /// Time since the missing packet was last sent.
        age: Duration,
        /// The early-retransmission threshold, if that rule is on.
        threshold: Option<Duration>,
    },
    /// The window on its way to what it is after the event: ns-2 sets it more than once, and its traces show it.
    Window {
        /// The congestion window in segments.
        cwnd: f64,
        /// The slow-start threshold in segments.
        ssthresh: f64,
    },
    /// The timeout was computed anew, before floor and back-off.
    BaseRto(Duration),
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
    /// Of these, those before which the missing segment had not been sent again: fewer than three duplicate ACKs came, or
    /// recovery was not allowed.
    pub timeouts_untriggered: u64,
    /// Recoveries entered on the third duplicate ACK.
    pub fast_retransmits: u64,
    /// Recoveries entered on the first duplicate ACK.
    pub early_on_first: u64,
    /// Recoveries entered on the second duplicate ACK.
    pub early_on_second: u64,
    /// Reductions taken back, because the retransmission proved needless.
    pub reductions_undone: u64,
    /// Reductions of the window that a queue's mark caused.
    pub mark_responses: u64,
    /// Probes of a closed window that left: neither timeouts nor, where the same one left again, retransmissions.
    pub window_probes: u64,
    /// Session frozen time: silence before expiries since the last progress.
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
