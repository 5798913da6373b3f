//! The congestion window after an idle period, in which the state of the path may have changed (RFC 5681 §4.1).

use crate::policy::control::Window;
use earlybird_units::Duration;

/// The share of the window that the slow-start threshold keeps (RFC 2861 §3; Linux's `tcp_current_ssthresh`).
const REMEMBERED_SHARE: f64 = 0.75;

/// The number of halvings that leave nothing of any window: larger exponents need not be computed.
const MAX_HALVINGS: u64 = 64;

/// Returns the window after `idle` without sending, if it is smaller than `before`.
///
/// As in Linux (`tcp_cwnd_restart`) it is halved for each timeout, where RFC 5681 reduces it in one step.
pub(super) fn decayed(before: Window, restart_window: f64, idle: Duration, timeout: Duration) -> Option<Window> {
    let smallest = restart_window.min(before.cwnd);
    let timeouts = (idle.as_nanos() - 1) / timeout.as_nanos().max(1);
    let cwnd = libm::floor(libm::ldexp(before.cwnd, -(timeouts.min(MAX_HALVINGS) as i32))).max(smallest);
    let ssthresh = before.ssthresh.max(REMEMBERED_SHARE * before.cwnd);
    (cwnd < before.cwnd).then(|| Window::new(cwnd, ssthresh))
}
