//! The time without progress before a probe timeout (PTO).

use earlybird_sim::ExternalEvent;
use earlybird_units::{Duration, Instant};
use quinn_proto::FrameStats;

/// Watches a sender for what its probe timeouts (RFC 9002 §6.2) last.
#[derive(Debug, Default)]
pub(crate) struct ProbeTimeouts {
    /// The time of the last ack-eliciting packet.
    asked: Instant,
    /// The time of the last arrival or expiry of the timer.
    progress: Instant,
    /// Frames that ask for one, sent so far.
    frames: u64,
    /// Probe timeouts so far, the silence before them since the last progress, and the lengths of their timers.
    pub(crate) timeouts: u64,
    pub(crate) frozen: Duration,
    pub(crate) frozen_timers: Duration,
}

impl ProbeTimeouts {
    /// Processes the arrival of a datagram.
    pub(crate) fn on_datagram(&mut self, now: Instant) {
        self.progress = now;
    }

    /// Processes the departure of a packet; `sent` counts all frames sent so far.
    pub(crate) fn on_sent(&mut self, now: Instant, sent: &FrameStats) {
        let frames = asking(sent);
        if frames > self.frames {
            if self.frames == 0 {
                // Nothing was missing before the first packet.
                self.progress = now;
            }
            (self.frames, self.asked) = (frames, now);
        }
    }

    /// Processes an expiry of the probe timer, which starts with the last ack-eliciting packet (RFC 9002 §6.2.1).
    pub(crate) fn on_timeout(&mut self, now: Instant) -> ExternalEvent {
        let timer = now - self.asked;
        // Measured from the last progress, as the TCP endpoints measure it.
        let frozen_for = now - std::mem::replace(&mut self.progress, now);
        self.timeouts += 1;
        self.frozen += frozen_for;
        self.frozen_timers += timer;
        ExternalEvent::Timeout { timer, frozen_for }
    }
}

/// Counts frames that ask for an acknowledgement, of those that quinn sends in a connection that stays where it is.
fn asking(sent: &FrameStats) -> u64 {
    let data = sent.stream + sent.datagram + sent.crypto + sent.ping + u64::from(sent.handshake_done);
    let limits = sent.max_data + sent.max_stream_data + sent.max_streams_uni;
    let blocked = sent.data_blocked + sent.stream_data_blocked + sent.streams_blocked_uni;
    data + limits + blocked + sent.new_connection_id + sent.retire_connection_id + sent.immediate_ack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_began_late_was_frozen_since_the_start_of_the_run() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        let mut timeouts = ProbeTimeouts::default();
        let mut sent = FrameStats::default();
        sent.crypto = 1;
        timeouts.on_sent(at(1500), &sent);
        timeouts.on_timeout(at(2500));
        assert_eq!(timeouts.frozen, Duration::from_millis(1000));
    }
}
