//! Delays of the units of a media flow.

use earlybird_units::{Duration, Instant};
use std::collections::VecDeque;

/// A unit that was written and is not delivered.
#[derive(Clone, Copy, Debug)]
struct Pending {
    unit: u64,
    end: u64,
    written: Instant,
}

/// Record of a unit, kept on request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) bytes: u64,
    pub(crate) written: Instant,
    pub(crate) delivered: Option<Instant>,
}

/// Every unit of one media flow: packets of a constant-rate source, or frames.
#[derive(Clone, Debug)]
pub(crate) struct MediaLog {
    end_of_run: Instant,
    startup_delays: Vec<Duration>,
    pending: VecDeque<Pending>,
    written_bytes: u64,
    written_units: u64,
    /// Delay of each delivered unit from its writing, in order of delivery.
    delays: Vec<Duration>,
    /// Per startup delay, the units whose deadline lies within the run.
    due: Vec<u64>,
    /// Per startup delay, how many of the delivered units were late.
    late: Vec<u64>,
    spacing: Spacing,
    pub(crate) deliveries: Option<Vec<Delivery>>,
}

/// Lateness at one startup delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lateness {
    pub(crate) startup_delay: Duration,
    pub(crate) due: u64,
    pub(crate) late: u64,
}

/// The share of late units below which a stream succeeds (ER-PERT paper).
const LATE_SHARE_ALLOWED: f64 = 1e-4;

impl Lateness {
    pub(crate) fn is_on_time(&self) -> bool {
        (self.late as f64) < LATE_SHARE_ALLOWED * self.due as f64
    }
}

impl MediaLog {
    pub(crate) fn new(end_of_run: Instant, startup_delays: &[Duration], keeps_deliveries: bool) -> Self {
        Self {
            end_of_run,
            startup_delays: startup_delays.to_vec(),
            pending: VecDeque::new(),
            written_bytes: 0,
            written_units: 0,
            delays: Vec::new(),
            due: vec![0; startup_delays.len()],
            late: vec![0; startup_delays.len()],
            spacing: Spacing::default(),
            deliveries: keeps_deliveries.then(Vec::new),
        }
    }

    pub(crate) fn on_written(&mut self, at: Instant, bytes: u64) {
        self.written_bytes += bytes;
        // Units are delivered in any order, but written in one.
        self.pending.push_back(Pending { unit: self.written_units, end: self.written_bytes, written: at });
        self.written_units += 1;
        for (delay, due) in self.startup_delays.iter().zip(&mut self.due) {
            // Units whose deadline is after the end are not counted: they could still arrive in time.
            *due += u64::from(at + *delay <= self.end_of_run);
        }
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.push(Delivery { bytes, written: at, delivered: None });
        }
    }

    /// Records that the last unit is abandoned, and that its last `bytes` bytes are not sent. It is neither delivered nor late.
    pub(crate) fn on_abandoned(&mut self, bytes: u64) {
        self.written_bytes -= bytes;
        let is_last = |unit: &mut Pending| unit.unit + 1 == self.written_units;
        // One that had arrived whole stays delivered.
        let Some(unit) = self.pending.pop_back_if(is_last) else { return };
        for (delay, due) in self.startup_delays.iter().zip(&mut self.due) {
            *due -= u64::from(unit.written + *delay <= self.end_of_run);
        }
    }

    /// Records that the first `bytes` bytes of the stream can be read.
    pub(crate) fn on_delivered(&mut self, at: Instant, bytes: u64) {
        while let Some(unit) = self.pending.pop_front_if(|unit| unit.end <= bytes) {
            self.take(at, unit);
        }
    }

    /// Records that a unit arrived on its own. Duplicates do not count.
    pub(crate) fn on_unit_delivered(&mut self, at: Instant, number: u64) {
        // Pending units are in order of writing, so their numbers rise.
        let index = self.pending.binary_search_by_key(&number, |unit| unit.unit);
        // A unit that is not pending was delivered before: a duplicate.
        if let Some(unit) = index.ok().and_then(|index| self.pending.remove(index)) {
            self.take(at, unit);
        }
    }

    fn take(&mut self, at: Instant, unit: Pending) {
        let delay = at - unit.written;
        self.spacing.on_delivery(at);
        self.count_late(unit.written, delay);
        self.delays.push(delay);
        if let Some(delivery) = self.deliveries.as_mut().and_then(|all| all.get_mut(unit.unit as usize)) {
            delivery.delivered = Some(at);
        }
    }

    fn count_late(&mut self, written: Instant, delay: Duration) {
        for (startup_delay, late) in self.startup_delays.iter().zip(&mut self.late) {
            *late += u64::from(delay > *startup_delay && written + *startup_delay <= self.end_of_run);
        }
    }

    pub(crate) fn units_written(&self) -> u64 {
        self.written_units
    }

    pub(crate) fn units_delivered(&self) -> u64 {
        self.delays.len() as u64
    }

    /// Returns when the last unit so far was delivered.
    pub(crate) const fn last_delivery(&self) -> Option<Instant> {
        self.spacing.last
    }

    /// Returns lateness at each startup delay. Units that never arrived are late if their deadline has passed.
    pub(crate) fn lateness(&self) -> impl Iterator<Item = Lateness> + '_ {
        let rows = self.startup_delays.iter().zip(&self.due).zip(&self.late);
        rows.map(|((delay, due), late)| {
            let missing = self.pending.iter().filter(|unit| unit.written + *delay <= self.end_of_run).count() as u64;
            Lateness { startup_delay: *delay, due: *due, late: late + missing }
        })
    }

    /// Returns the population standard deviation of the spacing between deliveries, in seconds.
    pub(crate) fn spacing_deviation(&self) -> f64 {
        self.spacing.deviation()
    }

    /// Returns the delays in increasing order; the delay of a unit that never arrived is its age at the end.
    pub(crate) fn sorted_delays(&self) -> Vec<Duration> {
        let waiting = self.pending.iter().map(|unit| self.end_of_run - unit.written);
        // Leaving undelivered units out would reward losing them.
        let mut delays: Vec<Duration> = self.delays.iter().copied().chain(waiting).collect();
        delays.sort_unstable();
        delays
    }
}

/// Returns the delay that a share of the units does not exceed; `None` without units.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> Option<Duration> {
    // The nearest-rank definition: the result is a delay that occurred.
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Returns the smallest startup delay at which the stream succeeds: ⌈n·10⁻⁴⌉ − 1 units may come later.
pub(crate) fn required_startup_delay(sorted: &[Duration]) -> Option<Duration> {
    let allowed = ((sorted.len() as f64 * LATE_SHARE_ALLOWED).ceil() as usize).saturating_sub(1);
    sorted.get(sorted.len().checked_sub(allowed + 1)?).copied()
}

/// Running moments of the time between deliveries.
#[derive(Clone, Copy, Debug, Default)]
struct Spacing {
    last: Option<Instant>,
    count: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Spacing {
    fn on_delivery(&mut self, at: Instant) {
        if let Some(last) = self.last.replace(at) {
            let spacing = (at - last).as_secs_f64();
            self.count += 1;
            self.sum += spacing;
            self.sum_of_squares += spacing * spacing;
        }
    }

    fn deviation(&self) -> f64 {
        let count = self.count as f64;
        let mean = self.sum / count;
        // Rounding can make the variance slightly negative.
        (self.sum_of_squares / count - mean * mean).max(0.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn log() -> MediaLog {
        let mut log = MediaLog::new(at(10_000), &[Duration::from_secs(1), Duration::from_secs(5)], false);
        for unit in 0..4 {
            log.on_written(at(unit * 2_000), 100);
        }
        log.on_delivered(at(500), 100);
        log.on_delivered(at(5_500), 300);
        log
    }

    #[test]
    fn units_are_late_against_their_time_of_writing_and_only_judged_within_the_run() {
        let rows: Vec<_> = log().lateness().collect();
        // Units 1 and 2 took 3.5 s and 1.5 s; unit 3, written at 6 s, never came: its 5 s deadline is after the end.
        assert_eq!((rows[0].due, rows[0].late, rows[1].due, rows[1].late), (4, 3, 3, 0));
        assert!(!rows[0].is_on_time() && rows[1].is_on_time());
    }

    #[test]
    fn units_that_come_one_by_one_leave_the_lost_ones_behind() {
        let mut log = MediaLog::new(at(10_000), &[Duration::from_secs(1)], true);
        for unit in 0..4 {
            log.on_written(at(unit * 1_000), 100);
        }
        for (time, unit) in [(100, 0), (2_100, 2), (2_200, 1), (2_300, 2)] {
            log.on_unit_delivered(at(time), unit);
        }
        let row = log.lateness().next().unwrap();
        // Unit 1 took 1.2 s, unit 3 never came, unit 2 came twice.
        assert_eq!((log.units_delivered(), row.due, row.late), (3, 4, 2));
        let delivered: Vec<_> = log.deliveries.unwrap().iter().map(|unit| unit.delivered).collect();
        assert_eq!(delivered, [Some(at(100)), Some(at(2_200)), Some(at(2_100)), None]);
    }

    #[test]
    fn an_abandoned_unit_was_late() {
        let mut log = log();
        // Unit 3 is abandoned with 60 of its 100 bytes unsent, and another one follows it.
        log.on_abandoned(60);
        log.on_written(at(6_000), 100);
        log.on_delivered(at(6_100), 340);
        assert_eq!((log.units_written(), log.units_delivered()), (5, 3));
        log.on_delivered(at(6_200), 440);
        let row = log.lateness().next().unwrap();
        assert_eq!((log.units_delivered(), row.due, row.late), (4, 4, 2));
        // One that has arrived is not taken back.
        log.on_abandoned(0);
        assert_eq!(log.units_delivered(), 4);
    }

    #[test]
    fn a_stream_was_a_success_with_one_late_unit_too_many() {
        let is_on_time = |due, late| Lateness { startup_delay: Duration::from_secs(1), due, late }.is_on_time();
        // Fewer than 0.01 %: of 10,000 not a single one, of 10,001 one, of 20,000 one, of 20,001 two.
        for (due, most) in [(1, 0), (9_999, 0), (10_000, 0), (10_001, 1), (20_000, 1), (20_001, 2)] {
            assert!(is_on_time(due, most), "{most} of {due}");
            assert!(!is_on_time(due, most + 1), "{} of {due}", most + 1);
        }
    }

    #[test]
    fn the_required_startup_delay_allowed_other_late_units_than_success() {
        for units in [1, 9_999, 10_000, 10_001, 20_000, 20_001] {
            let delays: Vec<Duration> = (1..=units).map(Duration::from_millis).collect();
            let required = required_startup_delay(&delays).unwrap();
            let is_on_time = |startup_delay| {
                let late = delays.iter().filter(|delay| **delay > startup_delay).count() as u64;
                Lateness { startup_delay, due: units, late }.is_on_time()
            };
            assert!(is_on_time(required), "{units} units");
            assert!(!is_on_time(required.saturating_sub(Duration::from_millis(1))), "{units} units");
        }
    }

    #[test]
    fn the_required_startup_delay_of_a_few_units_is_the_largest_delay() {
        assert_eq!(required_startup_delay(&log().sorted_delays()), Some(Duration::from_millis(4_000)));
    }

    #[test]
    fn twenty_thousand_units_may_have_one_that_is_later() {
        let delays: Vec<Duration> = (0..20_000).map(Duration::from_millis).collect();
        assert_eq!(required_startup_delay(&delays), Some(Duration::from_millis(19_998)));
    }

    #[test]
    fn units_released_together_have_spacing_zero() {
        // Spacings 5 s and 0 s: mean 2.5, deviation 2.5.
        assert!((log().spacing_deviation() - 2.5).abs() < 1e-9);
    }
}
