//! Counters of viewers and of the real-time mode, by flow.

use crate::plan::Plan;
use crate::playout::PlayoutLog;
use crate::recorder::FlowRecord;
use crate::table::Table;
use earlybird_tcp::RealTimeStatistics;
use earlybird_units::{Duration, Instant};

/// Adds the counters of the real-time mode, which are 0 in other flows.
pub(super) fn real_time_columns(table: Table, records: &[FlowRecord]) -> Table {
    let of_sender = |value: fn(&RealTimeStatistics) -> u64| {
        records.iter().map(move |flow| value(&flow.real_time[0])).collect::<Vec<_>>()
    };
    let of_receiver = |value: fn(&RealTimeStatistics) -> u64| {
        records.iter().map(move |flow| value(&flow.real_time[1])).collect::<Vec<_>>()
    };
    table
        .integer("frames_written", of_sender(|counts| counts.frames_written))
        .integer("frames_abandoned", of_sender(|counts| counts.frames_abandoned))
        .integer("frames_delivered", of_receiver(|counts| counts.frames_delivered))
        .integer("segments_skipped", of_receiver(|counts| counts.segments_skipped))
        .integer("late_after_skip", of_receiver(|counts| counts.late_after_skip))
        .integer("snacks_sent", of_receiver(|counts| counts.notices_sent))
        .integer("snacks_received", of_sender(|counts| counts.notices_received))
        .integer("invalid_snacks", of_sender(|counts| counts.bad_notices))
        .integer("skip_reductions", of_sender(|counts| counts.skip_reductions))
}

/// Adds the counters of viewers: 0 or NaN in a flow without one.
pub(super) fn columns(table: Table, records: &[FlowRecord], end: Instant) -> Table {
    let of = |value: fn(&PlayoutLog) -> u64| {
        records.iter().map(move |flow| flow.playout.as_ref().map_or(0, value)).collect::<Vec<_>>()
    };
    let real = |value: fn(&PlayoutLog) -> f64| {
        records.iter().map(move |flow| flow.playout.as_ref().map_or(f64::NAN, value)).collect::<Vec<_>>()
    };
    let at_end = |value: fn(&PlayoutLog, Instant) -> f64| {
        records
            .iter()
            .map(move |flow| flow.playout.as_ref().map_or(f64::NAN, |log| value(log, end)))
            .collect::<Vec<_>>()
    };
    table
        .integer("units_played", of(|log| log.played))
        .integer("units_lost", of(|log| log.lost))
        .integer("units_late", of(|log| log.late))
        .float("lost_share", real(PlayoutLog::lost_share))
        .float("playback_delay_s", real(PlayoutLog::mean_delay))
        .float("startup_delay_s", real(|log| log.startup_delay.map_or(f64::NAN, Duration::as_secs_f64)))
        .integer("stalls", of(PlayoutLog::stalls))
        .float("stalled_s", at_end(|log, end| log.stalled(end).as_secs_f64()))
        .float("mean_stall_s", at_end(PlayoutLog::mean_stall))
        .float("longest_stall_s", at_end(|log, end| log.longest_stall(end).map_or(f64::NAN, Duration::as_secs_f64)))
        .integer("heartbeats", of(|log| log.heartbeats))
        .integer("reports", of(|log| log.reports))
}

/// Returns the table of stalls, if some viewer stalls.
pub(super) fn stalls_table(plan: &Plan, records: &[FlowRecord]) -> Option<Table> {
    let flows = || plan.flows.iter().zip(records);
    if !flows().any(|(_, record)| record.playout.as_ref().is_some_and(PlayoutLog::may_stall)) {
        return None;
    }
    let rows: Vec<_> = flows()
        .flat_map(|(flow, record)| record.playout.iter().map(move |log| (flow, log)))
        .flat_map(|(flow, log)| log.stalls_until(plan.end).map(move |stall| (&flow.name, stall)))
        .collect();
    let table = Table::default()
        .string("flow", rows.iter().map(|(flow, _)| (*flow).clone()))
        .float("time_s", rows.iter().map(|(_, (since, _))| since.as_secs_f64()))
        .float("stalled_s", rows.iter().map(|(_, (_, length))| length.as_secs_f64()));
    Some(table)
}

/// Returns the table of rates, if some film is in segments.
pub(super) fn renditions_table(plan: &Plan, records: &[FlowRecord]) -> Option<Table> {
    let films: Vec<_> = plan
        .flows
        .iter()
        .zip(records)
        .filter_map(|(flow, record)| Some((&flow.name, record.playout.as_ref()?.renditions.as_ref()?)))
        .collect();
    let rows = || films.iter().flat_map(|(name, film)| film.rows.iter().map(move |row| (*name, row, film.played())));
    let table = Table::default()
        .string("flow", rows().map(|(name, ..)| name.clone()))
        .float("bitrate_bps", rows().map(|(_, row, _)| row.bits_per_second as f64))
        .integer("segments_requested", rows().map(|(_, row, _)| row.requested))
        .integer("segments_abandoned", rows().map(|(_, row, _)| row.abandoned))
        .float("played_s", rows().map(|(_, row, _)| row.played.as_secs_f64()))
        // Not a number if nothing was played.
        .float("time_share", rows().map(|(_, row, played)| row.played.as_secs_f64() / played.as_secs_f64()));
    (!films.is_empty()).then_some(table)
}
