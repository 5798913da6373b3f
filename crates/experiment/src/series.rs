//! Time series in long form: time, subject, quantity, value.

use crate::table::Table;
use earlybird_sim::FlowGauges;
use earlybird_units::{Duration, Instant};

#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    times: Vec<f64>,
    subjects: Vec<u32>,
    quantities: Vec<&'static str>,
    values: Vec<f64>,
}

impl Series {
    fn push(&mut self, at: Instant, subject: u32, quantity: &'static str, value: f64) {
        self.times.push(at.as_secs_f64());
        self.subjects.push(subject);
        self.quantities.push(quantity);
        self.values.push(value);
    }

    pub(crate) fn sample_flow(&mut self, at: Instant, flow: u32, gauges: &FlowGauges) {
        let seconds = |span: Option<Duration>| span.map(Duration::as_secs_f64);
        let control = &gauges.control;
        let values = [
            // The order of the rows is part of the table: new values go where they leave the others as they are.
            ("allowed_rate_bps", gauges.allowed_rate),
            ("loss_event_rate", gauges.loss_event_rate),
            ("cwnd", gauges.cwnd),
            ("ssthresh", gauges.ssthresh),
            ("in_flight", gauges.in_flight),
            ("srtt_s", seconds(gauges.srtt)),
            ("rto_s", seconds(gauges.rto)),
            ("er_threshold_s", seconds(gauges.early_threshold)),
            ("queueing_delay_s", seconds(control.queueing_delay)),
            ("pert_alpha", control.alpha),
            ("pert_response_probability", control.probability),
            ("mark_share", control.mark_share),
            ("pacing_bps", gauges.pacing),
            ("bandwidth_segments_per_s", control.bandwidth),
            ("bbr_state", control.bbr_state.map(|state| f64::from(state as u8))),
        ];
        for (quantity, value) in values {
            if let Some(value) = value {
                self.push(at, flow, quantity, value);
            }
        }
    }

    pub(crate) fn sample_link(&mut self, at: Instant, subject: u32, backlog: usize) {
        self.push(at, subject, "queue_packets", backlog as f64);
    }

    /// Puts samples that were not taken one after the other in order of time.
    pub(crate) fn put_in_order(&mut self) {
        let mut order: Vec<usize> = (0..self.times.len()).collect();
        // A stable sort keeps the order of subjects within a sample.
        order.sort_by(|one, other| self.times[*one].total_cmp(&self.times[*other]));
        let old = std::mem::take(self);
        self.times = order.iter().map(|index| old.times[*index]).collect();
        self.subjects = order.iter().map(|index| old.subjects[*index]).collect();
        self.quantities = order.iter().map(|index| old.quantities[*index]).collect();
        self.values = order.iter().map(|index| old.values[*index]).collect();
    }

    pub(crate) fn table(&self, name_of: impl Fn(u32) -> String) -> Table {
        Table::default()
            .float("time_s", self.times.iter().copied())
            .string("subject", self.subjects.iter().map(|subject| name_of(*subject)))
            .string("quantity", self.quantities.iter().map(|quantity| (*quantity).to_owned()))
            .float("value", self.values.iter().copied())
    }
}
