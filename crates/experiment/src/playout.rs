//! Playout statistics of a flow's viewer.

use crate::renditions::Renditions;
use earlybird_scenario::{Application, Client, Flow, Kind};
use earlybird_traffic::Playout;
use earlybird_units::{Duration, Instant};
use std::collections::BTreeSet;

/// The playout log of one flow's viewer.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlayoutLog {
    pub(crate) played: u64,
    pub(crate) lost: u64,
    /// Units among the lost ones that were whole later.
    pub(crate) late: u64,
    /// Lost units that have not become whole: copies that links make come of units that were played, too.
    missing: BTreeSet<u64>,
    /// Start of each stall, and its length once it has ended.
    stalls: Vec<(Instant, Option<Duration>)>,
    /// From the writing of the first unit to its playing.
    pub(crate) startup_delay: Option<Duration>,
    pub(crate) heartbeats: u64,
    pub(crate) reports: u64,
    /// Rates of a film in segments.
    // Boxed: few flows have it.
    pub(crate) renditions: Option<Box<Renditions>>,
    /// Playback delays, each weighed by the units that were due under it.
    delay: Duration,
    delay_sum: f64,
}

impl PlayoutLog {
    /// Returns the log of a flow's viewer, if it has one.
    pub(crate) fn of(flow: &Flow, kind: Kind) -> Option<Self> {
        let delay = match (flow.listener(kind), &flow.application) {
            (Some(Client::Deadline(client)), _) => client.playback_delay.duration(),
            (Some(Client::Rebuffer(_)), _) | (None, Application::Segments(_)) => Duration::ZERO,
            (None, _) => return None,
        };
        let renditions = match &flow.application {
            Application::Segments(film) => Some(Box::new(Renditions::of(film))),
            _ => None,
        };
        Some(Self { renditions, delay, ..Self::default() })
    }

    pub(crate) fn take(&mut self, at: Instant, event: Playout) {
        match event {
            Playout::Played(unit) => {
                self.on_due(true);
                if let Some(renditions) = &mut self.renditions {
                    renditions.on_played(unit);
                }
            }
            Playout::Requested(request) => {
                if let Some(renditions) = &mut self.renditions {
                    renditions.on_requested(request);
                }
            }
            Playout::Lost(unit) => {
                self.on_due(false);
                self.missing.insert(unit);
            }
            Playout::Late(unit) => self.late += u64::from(self.missing.remove(&unit)),
            Playout::Started(delay) => self.startup_delay = Some(delay),
            // A stall has no length until it ends.
            Playout::Stalled => self.stalls.push((at, None)),
            // A unit that arrives exactly at its time is in time, although the player's timer was first in the same nanosecond.
            Playout::Resumed(Duration::ZERO) => _ = self.stalls.pop(),
            Playout::Resumed(stall) => {
                if let Some((_, length)) = self.stalls.last_mut() {
                    *length = Some(stall);
                }
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

    /// Returns whether its viewer stalls for missing units.
    pub(crate) fn may_stall(&self) -> bool {
        self.delay == Duration::ZERO
    }

    /// Returns the share of the units due so far that were not there.
    pub(crate) fn lost_share(&self) -> f64 {
        self.lost as f64 / (self.played + self.lost) as f64
    }

    /// Returns the mean playback delay in seconds; NaN for a viewer that stalls for missing units.
    pub(crate) fn mean_delay(&self) -> f64 {
        // Viewers that stall have no fixed delay, which their log has as zero.
        if self.may_stall() { f64::NAN } else { self.delay_sum / (self.played + self.lost) as f64 }
    }

    /// Returns the number of stalls.
    pub(crate) fn stalls(&self) -> u64 {
        self.stalls.len() as u64
    }

    /// Returns start and length of each stall; the last one may have lasted to the end of the run.
    pub(crate) fn stalls_until(&self, end: Instant) -> impl Iterator<Item = (Instant, Duration)> {
        self.stalls.iter().map(move |(since, length)| (*since, length.unwrap_or(end - *since)))
    }

    /// Returns how long it stalled in all.
    pub(crate) fn stalled(&self, end: Instant) -> Duration {
        self.stalls_until(end).fold(Duration::ZERO, |sum, (_, length)| sum + length)
    }

    /// Returns the mean length of its stalls in seconds; not a number without any.
    pub(crate) fn mean_stall(&self, end: Instant) -> f64 {
        self.stalled(end).as_secs_f64() / self.stalls() as f64
    }

    /// Returns the length of its longest stall; nothing without any.
    pub(crate) fn longest_stall(&self, end: Instant) -> Option<Duration> {
        self.stalls_until(end).map(|(_, length)| length).max()
    }
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
        assert_eq!((log.stalls(), log.stalled(at(10))), (2, Duration::from_secs(4)));
        assert_eq!((log.mean_stall(at(10)), log.longest_stall(at(10))), (2.0, Some(Duration::from_secs(3))));
        log.take(at(8), Playout::Resumed(Duration::from_secs(1)));
        assert_eq!((log.mean_stall(at(10)), log.longest_stall(at(10))), (1.0, Some(Duration::from_secs(1))));
    }

    #[test]
    fn without_a_stall_there_is_neither_a_mean_nor_a_longest_one() {
        let log = PlayoutLog::default();
        assert!(log.mean_stall(Instant::ZERO).is_nan() && log.longest_stall(Instant::ZERO).is_none());
    }

    #[test]
    fn a_unit_that_came_at_its_time_was_a_stall_without_length() {
        let mut log = PlayoutLog::default();
        log.take(Instant::ZERO, Playout::Stalled);
        log.take(Instant::ZERO, Playout::Resumed(Duration::ZERO));
        assert_eq!((log.stalls(), log.stalled(Instant::NEVER)), (0, Duration::ZERO));
    }

    #[test]
    fn a_copy_of_a_unit_that_was_played_was_counted_as_late() {
        let mut log = PlayoutLog::default();
        for event in [Playout::Played(0), Playout::Lost(1), Playout::Late(0), Playout::Late(1), Playout::Late(1)] {
            log.take(Instant::ZERO, event);
        }
        assert_eq!((log.lost, log.late), (1, 1));
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
