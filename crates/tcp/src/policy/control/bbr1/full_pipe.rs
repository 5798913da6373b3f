//! Detection of a full pipe (`bbr_check_full_bw_reached`).

/// `bbr_full_bw_thresh`.
const GROWTH: f64 = 1.25;
/// `bbr_full_bw_cnt`.
const ROUNDS: u32 = 3;

/// Detects three rounds without a bandwidth larger by 25 %.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// `full_bw_reached`: never revoked.
    pub(super) was_reached: bool,
    /// `full_bw`.
    pub(super) baseline: f64,
    rounds: u32,
}

impl FullPipe {
    /// Restarts the detection.
    pub(super) fn restart(&mut self) {
        (self.baseline, self.rounds) = (0.0, 0);
    }

    /// Processes the bandwidth after an ACK.
    pub(super) fn on_sample(&mut self, max_bw: f64, is_round_start: bool, is_app_limited: bool) {
        if self.was_reached || !is_round_start || is_app_limited {
            return;
        }
        if max_bw >= self.baseline * GROWTH {
            (self.baseline, self.rounds) = (max_bw, 0);
            return;
        }
        self.rounds += 1;
        self.was_reached = self.rounds >= ROUNDS;
    }
}
