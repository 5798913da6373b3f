//! A congestion control for earlybird: additive increase, multiplicative decrease (RFC 5681). Begin here.

mod abi;
mod glue;

use abi::{Event, Setup};
use glue::Control;

export!(Aimd, "NAME", "Additive increase, multiplicative decrease");

/// The window of one connection, in segments.
struct Aimd {
    cwnd: f64,
    ssthresh: f64,
}

impl Control for Aimd {
    fn new(setup: &Setup) -> Self {
        Self { cwnd: setup.initial_window, ssthresh: f64::INFINITY }
    }

    fn on_ack(&mut self, sample: &Event) {
        // RFC 5681 §3.1: in slow start by the acknowledged segments, then by one segment per round trip.
        self.cwnd += if self.cwnd < self.ssthresh { sample.growth } else { sample.growth / self.cwnd };
    }

    fn on_loss(&mut self, event: &Event) {
        // RFC 5681 equation 4: half of what was in flight, and two segments at least.
        self.ssthresh = (event.in_flight.min(self.cwnd) / 2.0).max(2.0);
        self.cwnd = self.ssthresh;
    }

    fn on_rto(&mut self, _event: &Event) {
        // A second timeout of the same segment holds the threshold.
        if self.cwnd > 1.0 {
            self.ssthresh = (self.cwnd / 2.0).max(2.0);
        }
        self.cwnd = 1.0;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }
}
