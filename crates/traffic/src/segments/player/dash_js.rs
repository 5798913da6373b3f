use super::ewma::FastAndSlow;
use super::{Download, View};
use earlybird_units::{Duration, Instant};

/// The adaptation of dash.js (`ThroughputRule.js`, `ThroughputModel.js`, `AbandonRequestsRule.js`, `AbrController.js` and the defaults of
/// `Settings.js` in 5.1). Its rules by the buffer (`BolaRule`, `InsufficientBufferRule`) and by the history of switches are left out.
#[derive(Clone, Debug)]
pub struct DashJs {
    throughput: FastAndSlow,
    /// The rate of the last request.
    rung: usize,
    /// No other rate is chosen before.
    held_until: Instant,
    /// The segment that was abandoned last: none is abandoned twice.
    abandoned: Option<u64>,
    progress: Progress,
}

/// `throughputFastHalfLifeSeconds`, `throughputSlowHalfLifeSeconds`.
const FAST: f64 = 3.0;
const SLOW: f64 = 8.0;
/// `weightDownloadTimeMultiplicationFactor`, per millisecond.
const WEIGHT: f64 = 0.0015;
/// `bandwidthSafetyFactor`.
const SAFETY: f64 = 0.9;
/// `bufferTimeDefault`: with more film no segment is abandoned.
const STABLE_BUFFER: f64 = 18.0;
/// `minThroughputSamplesThreshold`, `minSegmentDownloadTimeThresholdInMs` and `abandonDurationMultiplier`.
const LEAST_SAMPLES: u64 = 6;
const LEAST_TIME: Duration = Duration::from_millis(500);
const TOO_LONG: f64 = 1.8;
/// `abandonLoadTimeout`.
const HOLD: Duration = Duration::from_secs(10);
/// The least time between two `progress` events of an `XMLHttpRequest` (XHR Standard, §3.7: "50 ms").
const PROGRESS: Duration = Duration::from_millis(50);

/// The `progress` events of a request.
#[derive(Clone, Copy, Debug)]
struct Progress {
    request: Instant,
    events: u64,
    /// The first event, and the bytes that were there then.
    first: (Instant, u64),
    last: Instant,
}

impl Default for DashJs {
    fn default() -> Self {
        let progress = Progress { request: Instant::NEVER, events: 0, first: (Instant::ZERO, 0), last: Instant::ZERO };
        let throughput = FastAndSlow::new(FAST, SLOW);
        Self { throughput, rung: 0, held_until: Instant::ZERO, abandoned: None, progress }
    }
}

impl DashJs {
    pub(super) fn choose(&mut self, view: View<'_>) -> usize {
        if view.now >= self.held_until && self.throughput.total_weight() > 0.0 {
            self.rung = view.highest_within(SAFETY * self.throughput.get());
        }
        self.rung
    }

    pub(super) fn on_loaded(&mut self, view: View<'_>, download: &Download) {
        // From `responseStart` to `responseEnd` of the Resource Timing API.
        let time = view.now - download.first.unwrap_or(view.now);
        // All in one look: no rate can be measured.
        if time > Duration::ZERO {
            let seconds = time.as_secs_f64();
            self.throughput.sample(WEIGHT * 1e3 * seconds, 8.0 * download.loaded as f64 / seconds);
        }
    }

    /// `shouldAbandon`, which is called for each `progress` event.
    pub(super) fn check(&mut self, view: View<'_>, download: &Download) -> Option<usize> {
        if !self.take_progress(view.now, download) || self.abandoned == Some(download.segment) {
            return None;
        }
        let is_early = view.now - download.first? <= LEAST_TIME || self.progress.events < LEAST_SAMPLES;
        if is_early || view.buffer > STABLE_BUFFER || download.rung == 0 {
            return None;
        }
        let throughput = self.progress.throughput(download.loaded);
        let total = download.total as f64;
        if 8.0 * total / throughput < TOO_LONG * view.segment {
            return None;
        }
        let rung = view.highest_within(throughput);
        let rest = (download.total - download.loaded) as f64;
        // The rest must be more than the whole segment at the other rate.
        (rest > total * view.rates[rung] / view.rates[download.rung]).then(|| {
            (self.abandoned, self.held_until, self.rung) = (Some(download.segment), view.now + HOLD, rung);
            rung
        })
    }

    /// Returns whether a `progress` event is due.
    fn take_progress(&mut self, now: Instant, download: &Download) -> bool {
        if download.loaded == 0 {
            return false;
        }
        if self.progress.request != download.requested {
            let first = (now, download.loaded);
            self.progress = Progress { request: download.requested, events: 1, first, last: now };
            return true;
        }
        let is_due = now - self.progress.last >= PROGRESS;
        if is_due {
            self.progress.events += 1;
            self.progress.last = now;
        }
        is_due
    }
}

impl Progress {
    /// Returns the bits per second since the first event, whose bytes contain the latency of the request.
    fn throughput(&self, loaded: u64) -> f64 {
        // At least a millisecond, as in dash.js.
        let seconds = (self.last - self.first.0).as_secs_f64().max(1e-3);
        8.0 * (loaded - self.first.1) as f64 / seconds
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, download, view};
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "dash.js at ccf3b95 (2025-12-22), AbandonRequestsRule.js, ThroughputModel.js, Settings.js";

    /// Lets a segment arrive with so many bytes every tenth of a second. Returns when it is abandoned, in tenths, and for which rate.
    fn run(player: &mut DashJs, rung: usize, bytes: u64, buffer: f64) -> Option<(u64, usize)> {
        (1..=20).find_map(|tenth| {
            let found = player.check(view(tenth as f64 / 10.0, buffer), &download(rung, tenth * bytes));
            found.map(|rung| (tenth, rung))
        })
    }

    #[test]
    fn a_segment_was_abandoned_at_another_time_than_by_dash_js() {
        // More than half a second after the first bytes 800 kb/s are measured: 22.5 s are more than 1.8·6 s, and 2.18 MB are left, more
        // than the 0.6 MB of the second rate.
        assert_eq!(run(&mut DashJs::default(), 3, 10_000, 5.0), Some((7, 1)));
        // 1.68 Mb/s: 10.7 s.
        assert_eq!(run(&mut DashJs::default(), 3, 21_000, 5.0), None);
        assert_eq!(run(&mut DashJs::default(), 3, 10_000, 18.1), None, "the buffer is stable");
        assert_eq!(run(&mut DashJs::default(), 0, 100, 5.0), None, "there is no lower rate");
        // 8 kb/s: the lowest rate.
        assert_eq!(run(&mut DashJs::default(), 1, 100, 5.0), Some((7, 0)));
        let mut player = DashJs::default();
        assert!(run(&mut player, 3, 10_000, 5.0).is_some());
        assert_eq!(run(&mut player, 3, 10_000, 5.0), None, "none is abandoned twice");
        let compared = "when and for which rate a segment of 6 s is abandoned, by hand from `shouldAbandon`";
        conforms(Area::Traffic, "Segments: dash.js", SOURCE, compared, "six of six cases");
    }

    #[test]
    fn little_was_left_and_it_was_abandoned() {
        let mut player = DashJs::default();
        // 90 % are there when the line falls: what is left is less than a segment of the rate that it carries.
        let total = download(3, 0).total;
        assert_eq!(player.check(view(0.1, 5.0), &download(3, total * 9 / 10)), None);
        let found = (2..=20).find_map(|tenth| {
            player.check(view(tenth as f64 / 10.0, 5.0), &download(3, total * 9 / 10 + tenth * 10_000))
        });
        assert_eq!(found, None);
    }

    #[test]
    fn the_rate_is_held_for_ten_seconds() {
        let mut player = DashJs::default();
        assert!(run(&mut player, 3, 10_000, 5.0).is_some());
        let fast = Download { first: Some(at(0.8)), ..download(1, 600_000) };
        // 4.8 Mb in 0.2 s are 24 Mb/s.
        player.on_loaded(view(1.0, 5.0), &fast);
        assert_eq!((player.choose(view(10.6, 5.0)), player.choose(view(10.8, 5.0))), (1, 3));
    }

    #[test]
    fn the_rate_is_within_nine_tenths_of_the_smaller_average() {
        let mut player = DashJs::default();
        assert_eq!(player.choose(view(0.0, 0.0)), 0);
        // 2.4 Mb in 1.4 s are 1.714 Mb/s, of which nine tenths are 1.543; with 1.3 s they are 1.66.
        for (seconds, expected) in [(1.4, 1), (1.3, 2)] {
            let mut player = DashJs::default();
            player.on_loaded(view(0.1 + seconds, 6.0), &download(0, 300_000));
            assert_eq!(player.choose(view(2.0, 6.0)), expected, "{seconds} s");
        }
    }
}
