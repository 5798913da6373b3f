//! What becomes of the window while nothing is sent: what it says of the path grows old (RFC 5681 §4.1).

use super::sender::Sender;
use crate::policy::control::Window;
use earlybird_units::Instant;

/// What the threshold remembers of a window that decays (RFC 2861 §3; Linux's `tcp_current_ssthresh`).
const REMEMBERED: f64 = 0.75;

impl Sender {
    /// Halves the window for each timeout in which nothing was sent, down to the restart window, as Linux does in place of
    /// RFC 5681's one step (`tcp_cwnd_restart`). A control that models the path has its own idea of idle times.
    #[inline(never)]
    pub(super) fn restart_after_idle(&mut self, now: Instant) {
        let (idle, timeout) = (now - self.watch.last_sent, self.timer.value().timeout);
        if idle <= timeout || self.sampler.is_some() || self.new_segment().is_none() {
            return;
        }
        self.watch.last_sent = now;
        let before = self.control.cwnd();
        let smallest = self.initial_window.min(before);
        let timeouts = (idle.as_nanos() - 1) / timeout.as_nanos().max(1);
        let cwnd = libm::floor(libm::ldexp(before, -(timeouts.min(LARGEST_EXPONENT) as i32))).max(smallest);
        if cwnd < before {
            let ssthresh = self.control.ssthresh().max(REMEMBERED * before);
            self.control.on_idle(&Window::new(cwnd, ssthresh));
        }
    }
}

/// So many halvings leave nothing of any window.
const LARGEST_EXPONENT: u64 = 64;
