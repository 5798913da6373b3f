//! Probe timeouts, told from the outside: quinn counts them for itself alone.

use earlybird_sim::GuestEvent;
use earlybird_units::{Duration, Instant};
use quinn_proto::FrameStats;

/// Watches a sender for probe timeouts (RFC 9002 §6.2).
///
/// A timer after which something leaves that asks for an acknowledgement is a pacer's or the probe timer's, unless it found
/// losses by their time. The probe timer always waits longer than a round trip: that, four deviations of at least 1 ms, and the
/// peer's longest delay of ACKs. Quinn's pacer waits until ten packets may go, for 8/window round trips with a window in packets
/// (`pacing.rs`): less than one while the window is above eight. Below, a wait of the pacer may be taken for a timeout, so that
/// these counts are upper bounds.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// When something left that asks for an acknowledgement.
    asked: Instant,
    /// When something came, or the timer expired.
    progress: Instant,
    /// Frames that ask for one, sent so far.
    frames: u64,
    /// Probe timeouts so far, the silence before them since the last progress, and the lengths of their timers.
    pub(crate) timeouts: u64,
    pub(crate) frozen: Duration,
    pub(crate) frozen_timers: Duration,
}

impl Silence {
    /// Something came.
    pub(crate) fn on_datagram(&mut self, now: Instant) {
        self.progress = now;
    }

    /// A packet left, after so many frames in all.
    pub(crate) fn on_sent(&mut self, now: Instant, sent: &FrameStats) {
        let frames = asking(sent);
        if frames > self.frames {
            (self.frames, self.asked) = (frames, now);
        }
    }

    /// A timer has expired and found no losses: gives how long nothing has been asked, if it may have been the probe timer.
    pub(crate) fn lasts(&self, now: Instant, srtt: Duration) -> Option<Duration> {
        Some(now - self.asked).filter(|silence| *silence >= srtt)
    }

    /// A packet left after that: tells of the timeout if the packet asks for an acknowledgement.
    pub(crate) fn on_probe(&mut self, now: Instant, timer: Duration) -> Option<GuestEvent> {
        if self.asked != now {
            return None;
        }
        let freeze = now - std::mem::replace(&mut self.progress, now);
        self.timeouts += 1;
        self.frozen += freeze;
        self.frozen_timers += timer;
        Some(GuestEvent::Timeout { timer, freeze })
    }
}

/// Counts frames that ask for an acknowledgement, of those that quinn sends in a connection that stays where it is.
fn asking(sent: &FrameStats) -> u64 {
    let data = sent.stream + sent.datagram + sent.crypto + sent.ping + u64::from(sent.handshake_done);
    let limits = sent.max_data + sent.max_stream_data + sent.max_streams_uni;
    let blocked = sent.data_blocked + sent.stream_data_blocked + sent.streams_blocked_uni;
    data + limits + blocked + sent.new_connection_id + sent.retire_connection_id + sent.immediate_ack
}
