//! Time series in long form: time, subject, quantity, value.

use crate::table::Table;
use earlybird_datagram::tfrc;
use earlybird_tcp::Connection;
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

    pub(crate) fn sample_flow(&mut self, at: Instant, flow: u32, connection: &Connection) {
        let timer = connection.timer();
        let gauges = connection.gauges();
        let seconds = |span: Option<Duration>| span.map(Duration::as_secs_f64);
        let values = [
            ("cwnd", Some(connection.cwnd())),
            ("ssthresh", Some(connection.ssthresh())),
            ("in_flight", Some(connection.outstanding() as f64)),
            ("srtt_s", seconds(timer.smoothed)),
            ("rto_s", Some(timer.timeout.as_secs_f64())),
            ("er_threshold_s", seconds(connection.early_threshold())),
            ("queueing_delay_s", seconds(gauges.queueing_delay)),
            ("alpha", gauges.alpha),
            ("probability", gauges.probability),
            ("mark_share", gauges.mark_share),
            ("pacing_bps", connection.pacing_rate().map(|rate| rate.bits_per_second() as f64)),
            ("bandwidth_segments_per_s", gauges.bandwidth),
            ("bbr_state", gauges.bbr_state.map(|state| f64::from(state as u8))),
        ];
        for (quantity, value) in values {
            if let Some(value) = value {
                self.push(at, flow, quantity, value);
            }
        }
    }

    pub(crate) fn sample_rate(&mut self, at: Instant, flow: u32, gauges: &tfrc::Gauges) {
        self.push(at, flow, "allowed_rate_bps", gauges.rate * 8.0);
        self.push(at, flow, "loss_event_rate", gauges.loss_event_rate);
        if let Some(rtt) = gauges.rtt {
            self.push(at, flow, "srtt_s", rtt.as_secs_f64());
        }
    }

    pub(crate) fn sample_link(&mut self, at: Instant, subject: u32, backlog: usize) {
        self.push(at, subject, "queue_packets", backlog as f64);
    }

    pub(crate) fn table(&self, name_of: impl Fn(u32) -> String) -> Table {
        Table::default()
            .real("time_s", self.times.iter().copied())
            .text("subject", self.subjects.iter().map(|subject| name_of(*subject)))
            .text("quantity", self.quantities.iter().map(|quantity| (*quantity).to_owned()))
            .real("value", self.values.iter().copied())
    }
}
