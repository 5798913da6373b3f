use super::ewma::FastAndSlow;
use super::{Download, View};
use earlybird_units::{Duration, Instant};

/// The adaptation of Shaka Player (`simple_abr_manager.js`, `ewma_bandwidth_estimator.js`, `shouldAbortCurrentRequest_` of
/// `streaming_engine.js`, `http_fetch_plugin.js` and the defaults of `player_configuration.js` in 5.2). It has no rule to abandon slow
/// segments: it chooses a rate while a segment arrives, and abandons the segment if that is another one and the switch is safe or quick.
#[derive(Clone, Debug, Default)]
pub struct Shaka {
    estimator: Option<FastAndSlow>,
    sampled: u64,
    rung: Option<usize>,
    /// The time at which a rate was chosen last; `None` before the estimate is good.
    chosen: Option<Instant>,
    /// The request whose progress is seen, and the time and bytes of the last progress.
    progress: Option<(Instant, Instant, u64)>,
}

/// `fastHalfLife`, `slowHalfLife`, in seconds.
const FAST: f64 = 2.0;
const SLOW: f64 = 5.0;
/// `minTotalBytes`: with fewer the estimate is `defaultBandwidthEstimate`.
const LEAST_TOTAL: u64 = 128_000;
const DEFAULT_ESTIMATE: f64 = 1e6;
/// `minBytes` and `minBytesForProgressEvents`; the least time between two progress events, and `cacheLoadThreshold`.
const LEAST_BYTES: u64 = 16_000;
const PROGRESS: Duration = Duration::from_millis(100);
const CACHED: Duration = Duration::from_millis(5);
/// `switchInterval`.
const SWITCH_INTERVAL: Duration = Duration::from_secs(8);
/// `bandwidthDowngradeTarget`, `bandwidthUpgradeTarget`.
const DOWNGRADE: f64 = 0.95;
const UPGRADE: f64 = 0.85;

impl Shaka {
    fn estimate(&self) -> f64 {
        let good = self.estimator.filter(|_| self.sampled >= LEAST_TOTAL);
        good.map_or(DEFAULT_ESTIMATE, |estimator| estimator.get())
    }

    /// `chooseVariant`: the last rate within whose band the estimate lies, else the lowest.
    fn best(&self, rates: &[f64]) -> usize {
        let estimate = self.estimate();
        let next = |rung: usize| rates.get(rung + 1).copied().unwrap_or(f64::INFINITY);
        let fits = |rung: &usize| estimate >= rates[*rung] / DOWNGRADE && estimate <= next(*rung) / UPGRADE;
        (0..rates.len()).rev().find(fits).unwrap_or(0)
    }

    pub(super) fn choose(&mut self, view: View<'_>) -> usize {
        let best = self.best(view.rates);
        *self.rung.get_or_insert(best)
    }

    pub(super) fn on_loaded(&mut self, view: View<'_>, download: &Download) {
        if let Some((time, bytes)) = self.take_progress(view.now, download, true) {
            self.on_progress(view, time, bytes);
        }
    }

    /// Chooses a rate if progress is reported. Returns it if the segment is abandoned for it.
    pub(super) fn check(&mut self, view: View<'_>, download: &Download) -> Option<usize> {
        let (time, bytes) = self.take_progress(view.now, download, false)?;
        let before = self.rung;
        self.on_progress(view, time, bytes);
        // Only a switch decides about the segment, and only once.
        let rung = self.rung.filter(|rung| self.rung != before && *rung != download.rung)?;
        let bits = view.rates[rung] * view.segment;
        // `rebufferingGoal` is 0: there is no more safety than the buffer.
        let is_safe = bits / self.estimate() < view.buffer;
        let is_less = 8.0 * (download.total - download.loaded) as f64 > bits;
        (is_safe || is_less).then_some(rung)
    }

    /// Returns time and bytes since the last progress event if there is one now.
    fn take_progress(&mut self, now: Instant, download: &Download, is_over: bool) -> Option<(Duration, u64)> {
        let same = self.progress.filter(|(request, ..)| *request == download.requested);
        let (_, last, seen) = same.unwrap_or((download.requested, download.requested, 0));
        let (time, bytes) = (now - last, download.loaded - seen);
        (is_over || time > PROGRESS && bytes >= LEAST_BYTES).then(|| {
            self.progress = Some((download.requested, now, download.loaded));
            (time, bytes)
        })
    }

    /// `segmentDownloaded` and `suggestStreams_`.
    fn on_progress(&mut self, view: View<'_>, time: Duration, bytes: u64) {
        if time >= CACHED && bytes >= LEAST_BYTES {
            self.sampled += bytes;
            let seconds = time.as_secs_f64();
            let estimator = self.estimator.get_or_insert(FastAndSlow::new(FAST, SLOW));
            estimator.sample(seconds, 8.0 * bytes as f64 / seconds);
        }
        // `minTimeToSwitch` is 0: the first good estimate decides at once.
        let is_due = self.chosen.is_none_or(|chosen| view.now - chosen >= SWITCH_INTERVAL);
        if is_due && self.sampled >= LEAST_TOTAL {
            self.rung = Some(self.best(view.rates));
            self.chosen = Some(view.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, download, view};
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "Shaka Player 5.2.0 at 35b290e (2026-08-21), simple_abr_manager.js, streaming_engine.js";

    /// Lets a segment arrive with so many bytes every 110 ms. Returns at which of these times it is abandoned, and for which rate.
    fn run(player: &mut Shaka, rung: usize, bytes: u64, buffer: f64) -> Option<(u64, usize)> {
        (1..=6).find_map(|time| {
            let found = player.check(view(0.11 * time as f64, buffer), &download(rung, time * bytes));
            found.map(|rung| (time, rung))
        })
    }

    #[test]
    fn the_rate_was_outside_its_band() {
        // From 0.95 of a rate to 0.85 of the next one; below all bands the lowest.
        for (estimate, expected) in
            [(1e5, 0), (4.3e5, 0), (8.5e5, 1), (1.0e6, 1), (1.75e6, 2), (3.1e6, 2), (3.2e6, 3), (9e9, 3)]
        {
            let mut estimator = FastAndSlow::new(FAST, SLOW);
            estimator.sample(1.0, estimate);
            let player = Shaka { estimator: Some(estimator), sampled: LEAST_TOTAL, ..Shaka::default() };
            assert_eq!(player.best(view(0.0, 0.0).rates), expected, "{estimate} bit/s");
        }
        assert_eq!(Shaka::default().choose(view(0.0, 0.0)), 1, "a megabit per second before there is an estimate");
    }

    #[test]
    fn a_segment_was_abandoned_at_another_time_than_by_shaka() {
        // 150 kB are enough for an estimate, 3.64 Mb/s: the highest rate takes 4.95 s.
        assert_eq!(run(&mut Shaka::default(), 1, 50_000, 5.0), Some((3, 3)));
        assert_eq!(run(&mut Shaka::default(), 1, 50_000, 4.9), None);
        // 1.45 Mb/s: the second rate has 0.6 MB, and 2.1 MB are left.
        assert_eq!(run(&mut Shaka::default(), 3, 20_000, 0.0), None, "too few bytes for an estimate");
        let mut player = Shaka { sampled: 100_000, ..Shaka::default() };
        assert_eq!(run(&mut player, 3, 20_000, 0.0), Some((2, 1)));
        // No other rate is chosen within eight seconds.
        let slow = Download { requested: at(1.0), ..download(1, 20_000) };
        assert_eq!(player.check(view(2.0, 0.0), &slow), None);
        let compared = "when and for which rate a segment is abandoned, by hand from `shouldAbortCurrentRequest_`";
        conforms(Area::Traffic, "Segments: Shaka Player", SOURCE, compared, "five of five cases");
    }

    #[test]
    fn a_slow_segment_was_abandoned_without_another_rate() {
        let mut player = Shaka { sampled: 100_000, ..Shaka::default() };
        // 1.45 Mb/s are in the band of the rate that arrives, however long it takes.
        assert_eq!(run(&mut player, 1, 20_000, 0.0), None);
    }

    #[test]
    fn small_samples_counted() {
        let mut player = Shaka::default();
        player.on_loaded(view(0.2, 0.0), &download(0, 15_000));
        assert_eq!((player.sampled, player.estimator.is_none()), (0, true));
    }
}
