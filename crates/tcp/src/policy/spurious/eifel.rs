//! The Eifel detection algorithm (RFC 3522): the first ACK that goes forward after a retransmission echoes the time of what
//! it acknowledges – the first transmission or the second.

use crate::board::Acknowledgement;
use crate::board::clock::timestamp;
use earlybird_units::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Eifel {
    is_armed: bool,
    /// The timestamp of the first retransmission (`RetransmitTS`).
    sent_again_at: Option<u32>,
}

impl Eifel {
    pub(super) fn armed() -> Self {
        Self { is_armed: true, sent_again_at: None }
    }

    /// Says whether a retransmission waits for its ACK.
    fn is_waiting(&self) -> bool {
        self.is_armed && self.sent_again_at.is_some()
    }

    /// Later retransmissions do not replace the first (RFC 3522 §3.2, step 2).
    pub(super) fn on_sent_again(&mut self, now: Instant) {
        self.sent_again_at.get_or_insert(timestamp(now));
    }

    /// Says whether the ACK answers a transmission before the retransmission (RFC 3522 §3.2, steps 4 and 5).
    pub(super) fn on_ack(&mut self, ack: &Acknowledgement) -> bool {
        if !self.is_waiting() || ack.advanced == 0 {
            return false;
        }
        self.is_armed = false;
        let is_older = |(echo, stamp): (u32, u32)| echo.wrapping_sub(stamp).cast_signed() < 0;
        ack.echo.zip(self.sent_again_at).is_some_and(is_older)
    }
}
