//! Logs of encoders: frames of live streams that were dropped before they were sent, and the rates of films in segments that were
//! sent.

use crate::plan::Plan;
use crate::recorder::{FlowRecord, Recorder};
use crate::table::Table;
use earlybird_scenario::{Application, Flow};
use earlybird_traffic::{Encoding, Picture};
use earlybird_units::Instant;

/// The frames of one flow, and the rate at which they are encoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncoderLog {
    pub(crate) coded: u64,
    /// Moments and kinds of those that were dropped.
    drops: Vec<(Instant, Picture)>,
    /// Moments and bits per second of the rate's changes; the first one is where it began.
    rates: Vec<(Instant, f64)>,
}

impl EncoderLog {
    /// Makes the log of a flow whose film has a rate that changes.
    pub(crate) fn of(flow: &Flow, start: Instant) -> Option<Self> {
        let rate = match &flow.application {
            Application::Ingest(ingest) => ingest.picture_rate(),
            Application::Segments(film) => film.lowest(),
            _ => return None,
        };
        // The initial rate counts as the first entry, so that the mean covers the whole run.
        Some(Self { rates: vec![(start, rate)], ..Self::default() })
    }

    pub(crate) fn take(&mut self, at: Instant, event: Encoding) {
        match event {
            Encoding::Coded(_) => self.coded += 1,
            Encoding::Dropped(kind) => self.drops.push((at, kind)),
            Encoding::Bitrate(rate) => self.rates.push((at, rate as f64)),
            Encoding::BitrateFrom(at, rate) => self.rates.push((at, rate as f64)),
        }
    }

    fn dropped(&self) -> u64 {
        self.drops.len() as u64
    }

    fn dropped_of(&self, kind: Picture) -> u64 {
        self.drops.iter().filter(|(_, dropped)| *dropped == kind).count() as u64
    }

    /// Returns the share of the pictures that was dropped.
    pub(crate) fn dropped_share(&self) -> f64 {
        self.dropped() as f64 / self.coded as f64
    }

    fn changes(&self) -> u64 {
        self.rates.len() as u64 - 1
    }

    /// Returns the rate over the time to the end of the run, in bits per second.
    fn mean_rate(&self, end: Instant) -> f64 {
        // Each rate holds until the next change, the last one until the end.
        let ends = self.rates.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let spans = self.rates.iter().zip(ends).map(|((at, rate), end)| (rate, (end - *at).as_secs_f64()));
        let (bits, seconds) = spans.fold((0.0, 0.0), |(bits, time), (rate, span)| (bits + rate * span, time + span));
        bits / seconds
    }
}

/// Adds the counters of encoders: 0 or NaN in a flow without one.
pub(crate) fn columns(table: Table, records: &[FlowRecord], end: Instant) -> Table {
    let of = |value: fn(&EncoderLog) -> u64| {
        records.iter().map(move |flow| flow.encoder.as_ref().map_or(0, value)).collect::<Vec<_>>()
    };
    let real = |value: &dyn Fn(&EncoderLog) -> f64| {
        records.iter().map(|flow| flow.encoder.as_ref().map_or(f64::NAN, value)).collect::<Vec<_>>()
    };
    table
        .integer("frames_encoded", of(|log| log.coded))
        .integer("frames_dropped", of(EncoderLog::dropped))
        .integer("b_frames_dropped", of(|log| log.dropped_of(Picture::Both)))
        .integer("p_frames_dropped", of(|log| log.dropped_of(Picture::Earlier)))
        .float("frames_dropped_share", real(&EncoderLog::dropped_share))
        .integer("bitrate_changes", of(EncoderLog::changes))
        .float("encoder_bps", real(&|log| log.mean_rate(end)))
}

/// Lists by flow and time which pictures were dropped, and at which rate they are coded from when on; `None` if no flow
/// has such a film.
pub(crate) fn table(plan: &Plan, recorder: &Recorder) -> Option<Table> {
    let logs = plan
        .flows
        .iter()
        .zip(&recorder.flows)
        .filter_map(|(flow, record)| Some((&flow.name, record.encoder.as_ref()?)));
    let mut rows = Vec::new();
    let mut has_any = false;
    for (name, log) in logs {
        has_any = true;
        let drops = log.drops.iter().map(|(at, kind)| (*at, letter(*kind), f64::NAN));
        let mut own: Vec<_> = drops.chain(log.rates.iter().map(|(at, rate)| (*at, "", *rate))).collect();
        // Stable: a drop and a change of rate at one time stay in this order.
        own.sort_by_key(|(at, ..)| *at);
        rows.extend(own.into_iter().map(|(at, kind, rate)| (name.clone(), at.as_secs_f64(), kind.to_owned(), rate)));
    }
    has_any.then(|| {
        Table::default()
            .string("flow", rows.iter().map(|row| row.0.clone()))
            .float("time_s", rows.iter().map(|row| row.1))
            .string("dropped_frame_type", rows.iter().map(|row| row.2.clone()))
            .float("bitrate_bps", rows.iter().map(|row| row.3))
    })
}

const fn letter(kind: Picture) -> &'static str {
    match kind {
        Picture::Both => "B",
        Picture::Earlier => "P",
        Picture::Key => "I",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_weighs_by_time() {
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        let mut log = EncoderLog { rates: vec![(at(2), 6e6)], ..EncoderLog::default() };
        log.take(at(4), Encoding::Bitrate(3_000_000));
        log.take(at(8), Encoding::Bitrate(4_500_000));
        // 2 s at 6, 4 s at 3 and 2 s at 4.5 Mb/s.
        assert!((log.mean_rate(at(10)) - 33e6 / 8.0).abs() < 1.0);
        assert_eq!(log.changes(), 2);
    }
}
