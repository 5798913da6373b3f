//! The Eifel detection algorithm (RFC 3522): the first ACK that goes forward after a retransmission echoes the time of what
//! it acknowledges – the first transmission or the second.

use crate::scoreboard::Acknowledgement;
use crate::scoreboard::clock::timestamp;
use earlybird_units::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eifel {
    is_armed: bool,
    /// The timestamp of the first retransmission of which not everything is acknowledged (`RetransmitTS`), be it from before the
    /// reduction: the next ACK may answer that one, and echo a time that is older than the reduction, and no sign of anything.
    /// Linux keeps its `retrans_stamp` as long (`tcp_any_retrans_done`).
    sent_again_at: Option<u32>,
    /// Where in the stream ends what was sent again.
    end: u64,
}

impl Eifel {
    /// Waits for the first ACK that goes forward.
    pub(super) fn arm(&mut self) {
        self.is_armed = true;
    }

    /// Later retransmissions do not replace the first (RFC 3522 §3.2, step 2).
    pub(super) fn on_retransmission(&mut self, now: Instant, end: u64) {
        self.sent_again_at.get_or_insert(timestamp(now));
        self.end = self.end.max(end);
    }

    /// Returns whether the ACK, which acknowledges what is in front of `una`, answers a transmission before the retransmission (RFC
    /// 3522 §3.2, steps 4 and 5).
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement, una: u64) -> bool {
        let Some(stamp) = self.sent_again_at.filter(|_| ack.advanced > 0) else { return false };
        if una >= self.end {
            self.sent_again_at = None;
        }
        let is_older = |echo: u32| echo.wrapping_sub(stamp).cast_signed() < 0;
        core::mem::take(&mut self.is_armed) && ack.echo.is_some_and(is_older)
    }
}
