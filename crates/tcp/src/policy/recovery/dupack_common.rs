//! Rules shared by the schemes that count duplicate ACKs.

use super::SendAllowance;
use crate::scoreboard::Scoreboard;

/// Whose rules a sender without SACK follows where they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryRules {
    /// ns-2.35: the windows are halved, not the flight; nothing but limited transmit is sent on the first two duplicates.
    Ns2,
    /// RFC 5681 and RFC 6582.
    Rfc,
}

/// Returns the next segment in sequence if it fits into `window` segments: a retransmission after a timeout, or a new one.
#[inline]
pub(super) fn next_in_window(scoreboard: &Scoreboard, allowance: &SendAllowance, window: u64) -> Option<u64> {
    next_sendable(scoreboard, allowance).filter(|next| next - scoreboard.una() < window)
}

/// Returns the next segment in sequence if it fits into the usable window.
#[inline]
pub(super) fn next_in_usable_window(scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
    next_sendable(scoreboard, allowance).filter(|next| allowance.has_room_after(next - scoreboard.una()))
}

#[inline]
fn next_sendable(scoreboard: &Scoreboard, allowance: &SendAllowance) -> Option<u64> {
    (scoreboard.nxt() < scoreboard.snd_max() || allowance.has_new).then(|| scoreboard.nxt())
}

/// Returns the new segment of limited transmit (RFC 3042; ns-2's `send_one`).
pub(super) fn limited_transmit(scoreboard: &Scoreboard, allowance: &SendAllowance, duplicates: u32) -> Option<u64> {
    let next = next_in_window(scoreboard, allowance, allowance.wnd)?;
    // RFC 3042 §2: one segment beyond cwnd per duplicate; the receiver's window is never exceeded.
    ((next - scoreboard.una() + 1) as f64 <= allowance.cwnd + f64::from(duplicates)).then_some(next)
}

/// Returns whether the segment `due` after the `duplicates`-th duplicate may be sent: a retransmission regardless of the window; a
/// new one, by limited transmit, if it fits into the window, which the same ACK may have shrunk (RFC 3042 §2, second condition).
#[inline(never)]
pub(super) fn may_leave(due: u64, scoreboard: &Scoreboard, allowance: &SendAllowance, duplicates: u32) -> bool {
    due < scoreboard.snd_max() || limited_transmit(scoreboard, allowance, duplicates) == Some(due)
}

/// Returns whether the last reduction, at which `recover` was SND.MAX, belongs to an earlier window (RFC 6582 §3.2 step 2). The
/// first data packet is exempt (ns-2's `bugfix_ss_`).
pub(super) fn is_new_window(recover: Option<u64>, scoreboard: &Scoreboard) -> bool {
    recover.is_none_or(|recover| scoreboard.una() > recover) || scoreboard.una() == 1
}
