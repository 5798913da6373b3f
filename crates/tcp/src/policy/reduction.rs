//! How the window falls to its new size when losses are repaired: at once, or by proportional rate reduction (RFC 9937).

/// How the window falls while losses are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowReduction {
    /// At once; nothing is sent until enough has left the network (RFC 6675 §5).
    #[default]
    Immediate,
    /// In proportion to what arrives (PRR, RFC 9937).
    Proportional,
}

/// Proportional rate reduction in whole segments (RFC 9937 §6.2). It lasts as long as a recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProportionalRate {
    /// The window to arrive at (`ssthresh`).
    target: f64,
    /// Segments in flight when recovery began (`RecoverFS`).
    flight: f64,
    /// Segments that arrived since (`prr_delivered`).
    delivered: f64,
    /// Segments sent since (`prr_out`).
    sent: f64,
    cwnd: f64,
}

/// The state of the network after an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    /// Segments that the ACK delivered.
    pub(crate) delivered: u64,
    /// Segments still in flight.
    pub(crate) in_flight: u64,
    /// The ACK moves the window forward and tells of no further loss (`SafeACK`).
    pub(crate) is_safe: bool,
}

/// Shares of whole numbers miss whole results by less.
const ROUNDING: f64 = 1e-9;

impl ProportionalRate {
    /// Begins a recovery with the ACK that revealed the loss. What was `SACKed` before it is not delivered any more, so
    /// `not_sacked` counts all other outstanding segments after it.
    pub(crate) fn new(target: f64, not_sacked: u64, arrived: &Arrived) -> Self {
        let flight = (not_sacked + arrived.delivered).max(1) as f64;
        let mut rate = Self { target, flight, delivered: 0.0, sent: 0.0, cwnd: 0.0 };
        rate.allow(arrived);
        rate
    }

    pub(crate) fn on_ack(&mut self, arrived: &Arrived) {
        if arrived.delivered > 0 {
            self.allow(arrived);
        }
    }

    pub(crate) fn on_sent(&mut self) {
        self.sent += 1.0;
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn allow(&mut self, arrived: &Arrived) {
        self.delivered += arrived.delivered as f64;
        let in_flight = arrived.in_flight as f64;
        let allowance = if in_flight > self.target { self.proportion() } else { self.catch_up(in_flight, arrived) };
        // The first retransmission always goes.
        let is_forced = self.sent < 1.0 && allowance < 1.0;
        self.cwnd = in_flight + if is_forced { 1.0 } else { allowance.max(0.0) };
    }

    fn proportion(&self) -> f64 {
        libm::ceil(self.delivered * self.target / self.flight - ROUNDING) - self.sent
    }

    /// The conservative bound sends no more than arrived (`PRR-CRB`); a safe ACK adds one segment as in slow start
    /// (`PRR-SSRB`).
    fn catch_up(&self, in_flight: f64, arrived: &Arrived) -> f64 {
        let conserved = (self.delivered - self.sent).max(arrived.delivered as f64);
        let bound = if arrived.is_safe { conserved + 1.0 } else { conserved };
        bound.min(self.target - in_flight)
    }
}
