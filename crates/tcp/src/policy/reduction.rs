//! Reduction of the window during recovery: at once, or by proportional rate reduction (RFC 9937).

/// The reduction of the window during recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowReduction {
    /// At once; nothing is sent until enough has left the network (RFC 6675 §5).
    #[default]
    Immediate,
    /// In proportion to delivered data (PRR, RFC 9937).
    Proportional,
}

/// Proportional rate reduction in whole segments (RFC 9937 §6). It lasts as long as a recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProportionalRate {
    /// The target of the window (`ssthresh`).
    ssthresh: f64,
    /// Segments in flight when recovery began (`RecoverFS`).
    recover_fs: f64,
    /// Segments delivered since then (`prr_delivered`).
    prr_delivered: f64,
    /// Segments sent since then (`prr_out`).
    prr_out: f64,
    cwnd: f64,
}

/// The state of the network after an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrAck {
    /// Segments that the ACK delivered (`DeliveredData`).
    pub(crate) delivered: u64,
    /// Segments still in flight (`inflight`).
    pub(crate) in_flight: u64,
    /// Whether the ACK advances SND.UNA and indicates no further loss (`SafeACK`).
    pub(crate) is_safe: bool,
}

/// Tolerance of the division, which may miss whole results by less.
const ROUNDING: f64 = 1e-9;

impl ProportionalRate {
    /// Starts with the ACK that revealed the loss. Segments `SACKed` before it will not be delivered again, so `RecoverFS` counts
    /// the others: `not_sacked` are outstanding after it (RFC 9937 §6.1).
    pub(crate) fn new(ssthresh: f64, not_sacked: u64, ack: &PrrAck) -> Self {
        let recover_fs = (not_sacked + ack.delivered).max(1) as f64;
        let mut rate = Self { ssthresh, recover_fs, prr_delivered: 0.0, prr_out: 0.0, cwnd: 0.0 };
        rate.allow(ack);
        rate
    }

    pub(crate) fn on_ack(&mut self, ack: &PrrAck) {
        if ack.delivered > 0 {
            self.allow(ack);
        }
    }

    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1.0;
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn allow(&mut self, ack: &PrrAck) {
        self.prr_delivered += ack.delivered as f64;
        let in_flight = ack.in_flight as f64;
        // RFC 9937 §6.2: proportional while the flight exceeds ssthresh, then grow back to it.
        let allowance = if in_flight > self.ssthresh { self.proportional() } else { self.catch_up(in_flight, ack) };
        // RFC 9937 §6.2: fast retransmit sends one segment in any case.
        let is_forced = self.prr_out < 1.0 && allowance < 1.0;
        self.cwnd = in_flight + if is_forced { 1.0 } else { allowance.max(0.0) };
    }

    fn proportional(&self) -> f64 {
        libm::ceil(self.prr_delivered * self.ssthresh / self.recover_fs - ROUNDING) - self.prr_out
    }

    /// Returns the allowance below `ssthresh`: no more than was delivered (`PRR-CRB`), and one segment more for a safe ACK, as in slow
    /// start (`PRR-SSRB`).
    fn catch_up(&self, in_flight: f64, ack: &PrrAck) -> f64 {
        let conserved = (self.prr_delivered - self.prr_out).max(ack.delivered as f64);
        let bound = if ack.is_safe { conserved + 1.0 } else { conserved };
        // Never beyond ssthresh: recovery must not probe for bandwidth.
        bound.min(self.ssthresh - in_flight)
    }
}
