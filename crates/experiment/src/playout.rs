//! Playout statistics of a flow's viewer.

use crate::recorder::FlowRecord;
use crate::table::Table;
use earlybird_scenario::{Application, Client, Flow, Kind};
use earlybird_tcp::RealTimeStatistics;
use earlybird_traffic::Playout;
use earlybird_units::{Duration, Instant};

/// The playout log of one flow's viewer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlayoutLog {
    pub(crate) played: u64,
    pub(crate) lost: u64,
    /// Units among the lost ones that were whole later.
    pub(crate) late: u64,
    pub(crate) stalls: u64,
    stalled: Duration,
    /// From the writing of the first unit to its playing.
    pub(crate) start_up: Option<Duration>,
    heartbeats: u64,
    reports: u64,
    /// Playback delays, each weighed by the units that were due under it.
    delay: Duration,
    delay_sum: f64,
    stalled_since: Option<Instant>,
}

impl PlayoutLog {
    /// Returns the log of a flow's viewer, if it has one.
    pub(crate) fn of(flow: &Flow, kind: Kind) -> Option<Self> {
        let delay = match (flow.listener(kind), &flow.application) {
            (Some(Client::Deadline(client)), _) => client.playback_delay.duration(),
            (Some(Client::Rebuffer(_)), _) | (None, Application::Segments(_)) => Duration::ZERO,
            (None, _) => return None,
        };
        Some(Self { delay, ..Self::default() })
    }

    pub(crate) fn take(&mut self, at: Instant, event: Playout) {
        match event {
            Playout::Played(_) => self.on_due(true),
            Playout::Lost(_) => self.on_due(false),
            Playout::Late(_) => self.late += 1,
            Playout::Started(delay) => self.start_up = Some(delay),
            // A stall has no length until it ends.
            Playout::Stalled => {
                self.stalls += 1;
                self.stalled_since = Some(at);
            }
            Playout::Resumed(stall) => {
                self.stalled += stall;
                self.stalled_since = None;
            }
            Playout::Delayed(delay) => self.delay = delay,
            Playout::Heartbeat(_) => self.heartbeats += 1,
            Playout::Report(_) => self.reports += 1,
        }
    }

    fn on_due(&mut self, is_whole: bool) {
        self.played += u64::from(is_whole);
        self.lost += u64::from(!is_whole);
        // Weighted by units: an adaptive viewer changes its delay between them.
        self.delay_sum += self.delay.as_secs_f64();
    }

    /// Returns the share of the units due so far that were not there.
    pub(crate) fn lost_share(&self) -> f64 {
        self.lost as f64 / (self.played + self.lost) as f64
    }

    /// Returns the mean playback delay in seconds; not a number for a viewer who waits for what is missing.
    pub(crate) fn mean_delay(&self) -> f64 {
        // Viewers that rebuffer have no fixed playback delay.
        // Viewers that stall have no fixed delay, which their log has as zero.
        if self.delay == Duration::ZERO { f64::NAN } else { self.delay_sum / (self.played + self.lost) as f64 }
    }

    /// Returns how long it stalled in all; the last stall may have lasted to the end of the run.
    fn stalled(&self, end: Instant) -> Duration {
        self.stalled + self.stalled_since.map_or(Duration::ZERO, |since| end - since)
    }
}

/// Adds the counters of the real-time mode, which are 0 in other flows.
pub(crate) fn real_time_columns(table: Table, records: &[FlowRecord]) -> Table {
    let of_sender = |value: fn(&RealTimeStatistics) -> u64| {
        records.iter().map(move |flow| value(&flow.real_time[0])).collect::<Vec<_>>()
    };
    let of_receiver = |value: fn(&RealTimeStatistics) -> u64| {
        records.iter().map(move |flow| value(&flow.real_time[1])).collect::<Vec<_>>()
    };
    table
        .integer("frames_written", of_sender(|counts| counts.frames_written))
        .integer("frames_abandoned", of_sender(|counts| counts.frames_discarded))
        .integer("frames_delivered", of_receiver(|counts| counts.frames_delivered))
        .integer("segments_skipped", of_receiver(|counts| counts.segments_skipped))
        .integer("late_after_skip", of_receiver(|counts| counts.late_after_skip))
        .integer("snacks_sent", of_receiver(|counts| counts.notices_sent))
        .integer("snacks_received", of_sender(|counts| counts.notices_received))
        .integer("invalid_snacks", of_sender(|counts| counts.bad_notices))
        .integer("skip_reductions", of_sender(|counts| counts.skip_reductions))
}

/// Adds the counters of viewers: 0 or NaN in a flow without one.
pub(crate) fn columns(table: Table, records: &[FlowRecord], end: Instant) -> Table {
    let of = |value: fn(&PlayoutLog) -> u64| {
        records.iter().map(move |flow| flow.playout.as_ref().map_or(0, value)).collect::<Vec<_>>()
    };
    let real = |value: fn(&PlayoutLog) -> f64| {
        records.iter().map(move |flow| flow.playout.as_ref().map_or(f64::NAN, value)).collect::<Vec<_>>()
    };
    let stalled = |log: &PlayoutLog| log.stalled(end).as_secs_f64();
    table
        .integer("units_played", of(|log| log.played))
        .integer("units_lost", of(|log| log.lost))
        .integer("units_late", of(|log| log.late))
        .float("lost_share", real(PlayoutLog::lost_share))
        .float("playback_delay_s", real(PlayoutLog::mean_delay))
        .float("startup_delay_s", real(|log| log.start_up.map_or(f64::NAN, Duration::as_secs_f64)))
        .integer("stalls", of(|log| log.stalls))
        .float("stalled_s", records.iter().map(|flow| flow.playout.as_ref().map_or(f64::NAN, stalled)))
        .integer("heartbeats", of(|log| log.heartbeats))
        .integer("reports", of(|log| log.reports))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_at_the_end_counts_until_the_end() {
        let mut log = PlayoutLog::default();
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        log.take(at(1), Playout::Stalled);
        log.take(at(2), Playout::Resumed(Duration::from_secs(1)));
        log.take(at(7), Playout::Stalled);
        assert_eq!((log.stalls, log.stalled(at(10))), (2, Duration::from_secs(4)));
    }

    #[test]
    fn the_mean_delay_weighs_by_units() {
        let mut log = PlayoutLog::default();
        log.take(Instant::ZERO, Playout::Delayed(Duration::from_millis(100)));
        (0..3).for_each(|unit| log.take(Instant::ZERO, Playout::Played(unit)));
        log.take(Instant::ZERO, Playout::Delayed(Duration::from_millis(200)));
        log.take(Instant::ZERO, Playout::Lost(3));
        assert!((log.mean_delay() - 0.125).abs() < 1e-12);
        assert!((log.lost_share() - 0.25).abs() < 1e-12);
    }
}
