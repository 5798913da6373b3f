//! Tables of encoders, by flow and in time.

use crate::encoder::EncoderLog;
use crate::plan::Plan;
use crate::recorder::{FlowRecord, Recorder};
use crate::table::Table;
use earlybird_traffic::Picture;
use earlybird_units::Instant;

/// Adds the counters of encoders: 0 or NaN in a flow without one.
pub(super) fn columns(table: Table, records: &[FlowRecord], end: Instant) -> Table {
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
pub(super) fn table(plan: &Plan, recorder: &Recorder) -> Option<Table> {
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
