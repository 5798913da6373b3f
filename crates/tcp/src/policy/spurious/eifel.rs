//! The Eifel detection algorithm (RFC 3522): the first ACK that advances SND.UNA after a retransmission echoes the timestamp of
//! the transmission that it acknowledges, the first or the second.

use crate::scoreboard::Acknowledgement;
use crate::scoreboard::clock::timestamp;
use earlybird_units::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eifel {
    is_armed: bool,
    /// The timestamp of the first retransmission that is not completely acknowledged (`RetransmitTS`), even if it is older than the
    /// reduction: the next ACK may acknowledge that one, and its echo, older than the reduction, proves nothing. Linux keeps
    /// `retrans_stamp` as long (`tcp_any_retrans_done`).
    retransmit_ts: Option<u32>,
    /// The end of the retransmitted data in the stream.
    end: u64,
}

impl Eifel {
    /// Starts to wait for the first ACK that advances SND.UNA.
    pub(super) fn arm(&mut self) {
        self.is_armed = true;
    }

    /// Records a retransmission. Later ones do not replace the first (RFC 3522 §3.2, step 2).
    pub(super) fn on_retransmission(&mut self, now: Instant, end: u64) {
        self.retransmit_ts.get_or_insert(timestamp(now));
        self.end = self.end.max(end);
    }

    /// Returns whether the ACK up to `una` echoes a timestamp from before the retransmission (RFC 3522 §3.2, steps 4 and 5).
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, una: u64) -> bool {
        let Some(stamp) = self.retransmit_ts.filter(|_| ack.advanced > 0) else { return false };
        // All retransmissions are acknowledged: the next one sets a new timestamp.
        if una >= self.end {
            self.retransmit_ts = None;
        }
        let is_older = |echo: u32| echo.wrapping_sub(stamp).cast_signed() < 0;
        // RFC 3522 §3.2 step 5: only the first acceptable ACK decides.
        core::mem::take(&mut self.is_armed) && ack.echo.is_some_and(is_older)
    }
}
