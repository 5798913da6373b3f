//! What a control that models the path is told, and when (draft-ietf-ccwg-bbr, "Algorithm Organization").

use super::sender::Sender;
use earlybird_units::{Duration, Instant};

impl Sender {
    /// The handshake is done, and took this round trip if that could be measured.
    pub(crate) fn open_path(&mut self, now: Instant, rtt: Option<Duration>) {
        if let Some(model) = self.control.path_model() {
            model.on_opened(now, rtt);
        }
    }

    /// The application writes, or a timer has run out: something may be sent again.
    pub(crate) fn note_gap(&mut self) {
        let has_data = self.queue.unsent > 0 || self.queue.fin_queued;
        if let Some(sampler) = &mut self.sampler {
            sampler.note_gap(has_data, || self.control.cwnd());
        }
    }

    /// Segment `number` is sent.
    #[inline(never)]
    pub(super) fn sample_sending(&mut self, now: Instant, number: u64) {
        let Some(sampler) = &mut self.sampler else { return };
        if sampler.in_flight() == 0
            && let Some(model) = self.control.path_model()
        {
            model.on_restart(now, sampler.is_app_limited());
        }
        sampler.on_sent(now, number, self.control.cwnd());
    }

    /// An ACK came, and recovery has read it.
    pub(crate) fn sample_ack(&mut self, now: Instant) {
        if self.sampler.is_none() {
            return;
        }
        self.note_gap();
        if let Some(sampler) = &mut self.sampler {
            sampler.on_ack(now, self.scoreboard.delivered(), self.scoreboard.una());
        }
        self.sample_path(now);
    }

    /// An ACK came of segments that were sent once, and told nothing else.
    pub(super) fn sample_progress(&mut self, now: Instant) {
        if self.sampler.is_none() {
            return;
        }
        self.note_gap();
        if let Some(sampler) = &mut self.sampler {
            sampler.on_progress(now, self.scoreboard.una());
        }
        self.sample_path(now);
    }

    /// Tells the control what the sampler read in an ACK, and what was lost.
    fn sample_path(&mut self, now: Instant) {
        self.sample_losses(now);
        let (Some(sampler), Some(model)) = (&mut self.sampler, self.control.path_model()) else { return };
        if let Some(sample) = sampler.sample(now, self.scoreboard.smax()) {
            model.on_sample(now, &sample);
        }
        if model.is_holding_back() {
            sampler.mark_app_limited();
        }
    }

    /// Recovery may have found losses.
    pub(crate) fn sample_losses(&mut self, now: Instant) {
        let (Some(sampler), Some(model)) = (&mut self.sampler, self.control.path_model()) else { return };
        self.recovery.visit_lost(&self.scoreboard, &mut |number| {
            if let Some(lost) = sampler.on_lost(number) {
                model.on_lost(now, &lost);
            }
        });
    }
}
