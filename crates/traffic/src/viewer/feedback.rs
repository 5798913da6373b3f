use crate::{Playout, ReceiverIo, Reception};
use earlybird_units::{Duration, Instant};

/// Messages from a viewer to the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// After so long without data a heartbeat is sent, and again after as long, until data come. It repairs the case that
    /// a retransmission arrived and its ACK was lost. The MTCP paper takes three periods of the stream.
    pub heartbeat: Option<Duration>,
    /// Reports are sent at this distance: highest unit received, and units lost so far.
    pub report: Option<Duration>,
}

/// Payload of a heartbeat: highest frame received and frames lost so far, 32 bits each.
const HEARTBEAT_BYTES: u64 = 8;
/// Payload of a report: as a heartbeat's, and a 32-bit number of its own.
const REPORT_BYTES: u64 = 12;

/// Times of the feedback messages. It runs from the first data on: before them there may be no connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    feedback: Feedback,
    next_heartbeat: Option<Instant>,
    next_report: Option<Instant>,
}

impl Clock {
    pub(super) fn new(feedback: Feedback) -> Self {
        Self { feedback, ..Self::default() }
    }

    pub(super) fn on_data(&mut self, now: Instant) {
        // A heartbeat replaces the ACKs that missing data would have caused (MTCP).
        self.next_heartbeat = self.feedback.heartbeat.map(|interval| now + interval);
        self.next_report = self.next_report.or_else(|| self.feedback.report.map(|distance| now + distance));
    }

    pub(super) fn next_time(&self) -> Option<Instant> {
        self.next_heartbeat.into_iter().chain(self.next_report).min()
    }

    pub(super) fn send_due(&mut self, io: &mut dyn ReceiverIo, reception: Reception) {
        let now = io.now();
        if is_due(&mut self.next_heartbeat, self.feedback.heartbeat, now) {
            io.write(HEARTBEAT_BYTES);
            io.report(Playout::Heartbeat(reception));
        }
        if is_due(&mut self.next_report, self.feedback.report, now) {
            io.write(REPORT_BYTES);
            io.report(Playout::Report(reception));
        }
    }
}

/// Returns whether a time is due. If so, sets the next one.
fn is_due(next: &mut Option<Instant>, distance: Option<Duration>, now: Instant) -> bool {
    let has_come = next.is_some_and(|at| at <= now);
    if has_come {
        // At least 1 ns, so that a distance of zero cannot loop for ever.
        *next = distance.map(|distance| now + distance.max(Duration::from_nanos(1)));
    }
    has_come
}
