//! The short-term model: rate and volume delivered in the last round, after losses (draft-ietf-ccwg-bbr, "When not Probing for
//! Bandwidth").

use super::arithmetic::{Bounds, volume};
use crate::policy::control::path::RateSample;

/// The delivery of the last round, and the bounds that losses derive from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// `BBR.bw_shortterm`; infinite without losses.
    pub(super) bw: f64,
    /// `BBR.inflight_shortterm`; infinite without losses.
    pub(super) inflight: f64,
    bw_latest: f64,
    /// `BBR.inflight_latest`.
    pub(super) inflight_latest: f64,
    /// `BBR.is_loss_in_round`.
    pub(super) is_loss_in_round: bool,
    /// `BBR.loss_round_start`: whether the last ACK ended an RTT since a loss.
    pub(super) is_round_start: bool,
    loss_round_delivered: u64,
    /// Loss events (runs of consecutive lost segments) in this round.
    loss_runs: u32,
    /// The last lost segment.
    last_lost: Option<u64>,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self {
            bw: f64::INFINITY,
            inflight: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            is_round_start: false,
            loss_round_delivered: 0,
            loss_runs: 0,
            last_lost: None,
        }
    }
}

impl ShortTerm {
    /// `NoteLoss`. Returns whether it is the first loss of the round.
    pub(super) fn on_lost(&mut self, number: u64, delivered: u64) -> bool {
        let is_first = !self.is_loss_in_round;
        if is_first {
            // The round of losses starts at the first loss.
            self.loss_round_delivered = delivered;
        }
        self.is_loss_in_round = true;
        // Consecutive losses are one event: a burst must not end Startup alone.
        self.loss_runs += u32::from(self.last_lost.is_none_or(|last| last + 1 != number));
        self.last_lost = Some(number);
        is_first
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn on_sample(&mut self, sample: &RateSample) {
        self.bw_latest = self.bw_latest.at_least(sample.delivery_rate.unwrap_or(0.0));
        self.inflight_latest = self.inflight_latest.at_least(volume(sample.delivered));
        self.is_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.is_round_start {
            self.loss_round_delivered = sample.total_delivered;
        }
    }

    /// `AdaptLowerBoundsFromCongestion`: once per round with a loss, except while probing.
    pub(super) fn adapt(&mut self, is_probing: bool, max_bw: f64, cwnd: f64, beta: f64) {
        if !self.is_round_start {
            return;
        }
        if self.is_loss_in_round && !is_probing {
            // The first loss starts from the model, later ones from the bound of the round before.
            let bw = if self.bw.is_infinite() { max_bw } else { self.bw };
            let inflight = if self.inflight.is_infinite() { cwnd } else { self.inflight };
            // Never below what the last round delivered.
            self.bw = self.bw_latest.at_least(beta * bw);
            self.inflight = self.inflight_latest.at_least(beta * inflight);
        }
        self.is_loss_in_round = false;
    }

    /// `AdvanceLatestDeliverySignals`, after the signals of the last round were used.
    pub(super) fn advance(&mut self, sample: &RateSample) {
        if self.is_round_start {
            self.bw_latest = sample.delivery_rate.unwrap_or(0.0);
            self.inflight_latest = volume(sample.delivered);
            self.reset_loss_events();
        }
    }

    fn reset_loss_events(&mut self) {
        self.loss_runs = 0;
        self.last_lost = None;
    }

    /// Returns the number of loss events in the round.
    pub(super) fn loss_events(&self) -> u32 {
        self.loss_runs
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
        self.reset_loss_events();
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_shortterm_model(&mut self) {
        self.bw = f64::INFINITY;
        self.inflight = f64::INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    fn sample(rate: f64, delivered: u64, prior: u64, total: u64) -> RateSample {
        RateSample {
            delivery_rate: Some(rate),
            delivered,
            prior_delivered: prior,
            total_delivered: total,
            ..RateSample::default()
        }
    }

    /// One ACK: gives the bounds after it.
    fn see(model: &mut ShortTerm, sample: &RateSample) -> (f64, f64) {
        model.on_sample(sample);
        model.adapt(false, 1000.0, 80.0, 0.7);
        model.advance(sample);
        (model.bw, model.inflight)
    }

    fn assert_near((bw, inflight): (f64, f64), expected: (f64, f64)) {
        assert!((bw - expected.0).abs() < 1e-9 && (inflight - expected.1).abs() < 1e-9, "{bw}, {inflight}");
    }

    #[test]
    fn a_round_with_losses_bounds_by_what_it_delivered_or_by_seven_tenths() {
        let mut model = ShortTerm::default();
        assert!(model.on_lost(3, 100));
        assert!(!model.on_lost(4, 100), "not the first one");
        see(&mut model, &sample(600.0, 40, 90, 110));
        assert!(model.bw.is_infinite(), "the round is not over");
        assert_near(see(&mut model, &sample(500.0, 50, 100, 140)), (700.0, 56.0));
        assert_near(see(&mut model, &sample(650.0, 50, 140, 190)), (700.0, 56.0));
        model.on_lost(9, 190);
        assert_near(see(&mut model, &sample(650.0, 30, 190, 230)), (650.0, 50.0));
        conforms(
            Area::Control,
            "bbr",
            "draft-ietf-ccwg-bbr, When not Probing for Bandwidth",
            "bw_shortterm and inflight_shortterm over two rounds with losses",
            "6 of 6 values within 1e-9",
        );
    }

    #[test]
    fn neighbours_lost_are_one_run() {
        let mut model = ShortTerm::default();
        for number in [3, 4, 5, 9, 11] {
            model.on_lost(number, 0);
        }
        assert_eq!(model.loss_events(), 3);
    }
}
