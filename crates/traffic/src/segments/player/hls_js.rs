use super::ewma::{Ewma, FastAndSlow};
use super::{Download, View};
use earlybird_units::{Duration, Instant};

/// The adaptation of hls.js (`abr-controller.ts`, `ewma-bandwidth-estimator.ts` and the defaults of `config.ts` in 1.7). Playlists are known
/// from the beginning, and parsing takes no time.
#[derive(Clone, Debug)]
pub struct HlsJs {
    throughput: FastAndSlow,
    /// Seconds from a request to its first bytes.
    first_byte: Ewma,
    /// The estimate in bits per second before there are samples.
    default_estimate: f64,
    /// The rate of the segment that arrived last.
    last: Option<usize>,
    /// The rate for the next request, after a segment was abandoned.
    forced: Option<usize>,
    is_live: bool,
}

/// `abrEwmaFastVoD`, `abrEwmaFastLive`, and `abrEwmaSlowVoD`, `abrEwmaSlowLive`, in seconds.
const FAST: f64 = 3.0;
const SLOW: f64 = 9.0;
/// `abrEwmaDefaultEstimate` in bits per second.
const DEFAULT_ESTIMATE: f64 = 5e5;
/// `abrBandWidthFactor`, and `abrBandWidthUpFactor` for a higher rate than the last one.
const FACTOR: f64 = 0.95;
const UP_FACTOR: f64 = 0.7;
/// `maxStarvationDelay` in seconds.
const MAX_STARVATION: f64 = 4.0;
/// `defaultTTFB_`, and the least that `sampleTTFB` takes, in seconds.
const DEFAULT_FIRST_BYTE: f64 = 0.1;
const LEAST_FIRST_BYTE: f64 = 0.005;
/// `minWeight_`: seconds of samples from which on there is an estimate.
const LEAST_WEIGHT: f64 = 0.001;
/// `minDelayMs_` in seconds; with few bytes less: their number ÷ 100,000, in milliseconds.
const LEAST_SAMPLE: f64 = 0.05;
const BYTES_PER_LEAST_MILLISECOND: f64 = 1e5;
/// The period of `_abandonRulesCheck`.
const CHECK_PERIOD: Duration = Duration::from_millis(100);
/// A segment that takes longer than this multiple of its playing time at the new rate is not worth the change.
const UNREASONABLE: f64 = 10.0;

/// Returns the next time of the interval that starts with the request.
pub(super) fn next_check(now: Instant, download: &Download) -> Instant {
    let periods = (now - download.requested).as_nanos() / CHECK_PERIOD.as_nanos();
    download.requested + CHECK_PERIOD * (periods + 1)
}

/// The factors of the throughput for rates up to the last one, and above it.
type Factors = (f64, f64);
const CAUTIOUS: Factors = (FACTOR, UP_FACTOR);
const EXACT: Factors = (1.0, 1.0);

impl HlsJs {
    pub(super) fn new(is_live: bool) -> Self {
        Self {
            throughput: FastAndSlow::new(FAST, SLOW),
            first_byte: Ewma::new(SLOW),
            default_estimate: DEFAULT_ESTIMATE,
            last: None,
            forced: None,
            is_live,
        }
    }

    fn can_estimate(&self) -> bool {
        self.throughput.total_weight() >= LEAST_WEIGHT
    }

    fn estimate(&self) -> f64 {
        if self.can_estimate() { self.throughput.get() } else { self.default_estimate }
    }

    fn first_byte(&self) -> f64 {
        if self.first_byte.total_weight() >= LEAST_WEIGHT { self.first_byte.get() } else { DEFAULT_FIRST_BYTE }
    }

    fn sample_first_byte(&mut self, seconds: f64) {
        // "longer times have less weight with expected input under 1 second"
        let weight = core::f64::consts::SQRT_2 * libm::exp(-seconds * seconds / 2.0);
        self.first_byte.sample(weight, seconds.max(LEAST_FIRST_BYTE));
    }

    fn sample(&mut self, seconds: f64, bytes: u64) {
        let bytes = bytes as f64;
        let least = LEAST_SAMPLE.min(bytes / BYTES_PER_LEAST_MILLISECOND / 1e3);
        let seconds = seconds.max(least);
        if bytes > 0.0 {
            self.throughput.sample(seconds, 8.0 * bytes / seconds);
        }
    }

    /// `resetEstimator`.
    fn reset(&mut self, estimate: f64) {
        *self = Self { default_estimate: estimate, last: self.last, forced: self.forced, ..Self::new(self.is_live) };
    }

    /// `getTimeToLoadFrag`: seconds to load this many bits. The playlist of a live film is loaded before.
    fn time_to_load(&self, bits: f64, throughput: f64) -> f64 {
        let playlist = if self.is_live { self.first_byte() } else { 0.0 };
        self.first_byte() + bits / throughput + playlist
    }

    /// `findBestLevel`: the highest rate up to `top` whose segment arrives within `patience` seconds.
    fn find(&self, view: View<'_>, top: usize, throughput: f64, patience: f64, factors: Factors) -> Option<usize> {
        (0..=top).rev().find(|rung| {
            let factor = if *rung > self.last.unwrap_or(0) { factors.1 } else { factors.0 };
            let adjusted = factor * throughput;
            let time = self.time_to_load(view.rates[*rung] * view.segment, adjusted);
            adjusted >= view.rates[*rung] && (self.is_live || time < patience || time <= self.first_byte())
        })
    }

    pub(super) fn choose(&mut self, view: View<'_>) -> usize {
        if let Some(forced) = self.forced {
            return forced;
        }
        if !self.can_estimate() || self.last.is_none() {
            return self.first_choice(view);
        }
        let (top, estimate) = (view.rates.len() - 1, self.estimate());
        let without_stall = (view.buffer > 0.0).then(|| self.find(view, top, estimate, view.buffer, CAUTIOUS));
        // No rate does without a stall: one with a short stall, else the lowest.
        let patience = view.buffer + view.segment.min(MAX_STARVATION);
        without_stall.flatten().or_else(|| self.find(view, top, estimate, patience, CAUTIOUS)).unwrap_or(0)
    }

    /// `firstAutoLevel`. The first rendition of the playlist is the lowest here.
    fn first_choice(&self, view: View<'_>) -> usize {
        let patience = view.buffer / 2.0 + MAX_STARVATION;
        // No segment was chosen before, whose playing time `findBestLevel` would take: it assumes a second.
        let view = if self.last.is_none() { View { segment: 1.0, ..view } } else { view };
        self.find(view, view.rates.len() - 1, self.estimate(), patience, EXACT).unwrap_or(0)
    }

    pub(super) fn on_loaded(&mut self, view: View<'_>, download: &Download) {
        let first = download.time_to_first_byte().unwrap_or_else(|| download.age(view.now));
        self.sample_first_byte(first);
        self.forced = self.forced.filter(|forced| *forced != download.rung);
        self.last = Some(download.rung);
        self.sample(download.age(view.now) - first.min(self.first_byte()), download.loaded);
    }

    /// `_abandonRulesCheck`.
    pub(super) fn check(&mut self, view: View<'_>, download: &Download) -> Option<usize> {
        if download.rung == 0 {
            self.forced = None;
            return None;
        }
        let age = download.age(view.now);
        // Half of the segment's playing time must have passed.
        if !view.is_playing || age <= self.first_byte().max(view.segment / 2.0) {
            return None;
        }
        let rate = self.rate_of(download, age);
        let rest = 8.0 * (download.total - download.loaded) as f64;
        let left = rate.map_or_else(|| rest / self.estimate() + self.first_byte(), |rate| rest / rate);
        if left <= view.buffer {
            return None;
        }
        let (rung, time) = self.lower(view, download.rung, rate.unwrap_or_else(|| self.estimate()));
        if time >= left || time > UNREASONABLE * view.segment {
            return None;
        }
        Some(self.abandon(view, download, rung))
    }

    /// Returns the bits per second at which the segment arrives, if it has begun to.
    fn rate_of(&self, download: &Download, age: f64) -> Option<f64> {
        let bits = 8.0 * download.loaded as f64;
        let mut streaming = age - download.time_to_first_byte()?;
        // Within a millisecond of the first bytes hls.js takes the estimate.
        if streaming < 0.001 {
            streaming = age.min(bits / self.estimate());
        }
        Some(bits / streaming)
    }

    /// Returns the highest lower rate whose segment arrives in time, else the lowest one, and the seconds that it takes.
    fn lower(&self, view: View<'_>, rung: usize, throughput: f64) -> (usize, f64) {
        let enough = view.buffer.min(view.segment + self.first_byte());
        let time = |rung: usize| self.time_to_load(view.rates[rung] * view.segment, throughput);
        let found = (1..rung).rev().find(|lower| time(*lower) < enough).unwrap_or(0);
        // The lowest rate is not tried: the time is that of the last one above it.
        let tried = if found > 0 { found } else { 1 };
        (found, if rung > 1 { time(tried) } else { f64::INFINITY })
    }

    fn abandon(&mut self, view: View<'_>, download: &Download, rung: usize) -> usize {
        let age = download.age(view.now);
        match download.time_to_first_byte() {
            Some(first) => self.sample(age - first.min(self.first_byte()), download.loaded),
            None => self.sample_first_byte(age),
        }
        let rate = view.rates[rung];
        if self.estimate() * UP_FACTOR > rate {
            self.reset(rate);
        }
        let rung = self.find(view, rung, rate, view.buffer, EXACT).unwrap_or(rung);
        self.forced = Some(rung);
        rung
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SIX, at, download, view};
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "hls.js 1.7.1 at afe5b8b (2026-08-20), src/controller/abr-controller.ts";

    /// A segment of a rate that arrived within a second, with the sizes of the tests of hls.js.
    fn loaded(player: &mut HlsJs, rung: usize, bytes: u64) {
        let download =
            Download { segment: 0, rung, requested: at(0.0), first: Some(at(0.0)), loaded: bytes, total: bytes };
        player.on_loaded(View { rates: &SIX, ..view(1.0, 8.0) }, &download);
    }

    #[test]
    fn the_level_was_another_than_in_the_tests_of_hls_js() {
        // They have no media element, so that no buffer runs out.
        let endless = View { rates: &SIX, segment: 10.0, ..view(1.0, f64::INFINITY) };
        let mut player = HlsJs::new(false);
        assert_eq!(player.choose(endless), 2, "firstAutoLevel with 500 kb/s");
        loaded(&mut player, 0, ((460_560.0 / 0.7 + 1.0) / 8.0) as u64 + 1);
        assert_eq!(player.choose(endless), 2, "nextAutoLevel with 658 kb/s");
        let mut player = HlsJs::new(false);
        loaded(&mut player, 1, 5_000_000);
        assert_eq!(player.choose(endless), 5, "nextAutoLevel with 40 Mb/s");
        let source = "hls.js 1.7.1 at afe5b8b (2026-08-20), tests/unit/controller/abr-controller.ts";
        let compared = "firstAutoLevel, and nextAutoLevel after a fragment, for the six levels of its tests";
        conforms(Area::Traffic, "Segments: hls.js", source, compared, "three of three");
    }

    /// Returns for which rate a segment is abandoned after some seconds with so many bytes and a buffer, worked out by hand from `_abandonRulesCheck`.
    fn check(seconds: f64, rung: usize, loaded: u64, buffer: f64) -> Option<usize> {
        HlsJs::new(false).check(view(seconds, buffer), &download(rung, loaded))
    }

    #[test]
    fn a_segment_was_abandoned_at_another_time_than_by_hls_js() {
        let cases = [
            // Half of the playing time must have passed.
            (check(3.0, 3, 150_000, 5.0), None),
            // 400 kb/s: 42 s are left; 1.6 Mb/s would take 24.1 s and 800 kb/s 12.1 s, more than the buffer.
            (check(3.1, 3, 150_000, 5.0), Some(0)),
            (check(3.1, 3, 150_000, 13.0), Some(0)),
            (check(3.1, 3, 150_000, 43.0), None),
            // 2.4 Mb/s: 4.5 s are left.
            (check(3.1, 3, 900_000, 5.0), None),
            (check(3.1, 3, 900_000, 4.4), Some(1)),
            // 1.6 Mb/s: 8.25 s are left, and 800 kb/s takes 3.1 s; with its own rate as the estimate 6.1 s, 400 kb/s 3.1 s.
            (check(3.1, 3, 600_000, 5.0), Some(0)),
            (check(3.1, 3, 600_000, 7.0), Some(1)),
            // Nothing yet: 36.1 s with the estimate of 500 kb/s, 800 kb/s takes 9.7 s.
            (check(3.1, 3, 0, 5.0), Some(0)),
            // From the second rate the lowest is never tried: the loop ends above it.
            (check(5.0, 1, 1_000, 0.5), None),
            (check(5.0, 0, 1_000, 0.5), None),
            // 4 kb/s: 800 kb/s would take more than ten times its playing time.
            (check(3.1, 3, 1_500, 5.0), None),
        ];
        for (place, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found, expected, "case {place}");
        }
        let compared = "which rate a segment of 6 s is abandoned for, by hand from `_abandonRulesCheck`";
        conforms(Area::Traffic, "Segments: hls.js", SOURCE, compared, "twelve of twelve cases");
    }

    #[test]
    fn the_next_request_was_for_another_rate_than_the_abandoned_one() {
        let mut player = HlsJs::new(false);
        assert_eq!(player.check(view(3.1, 5.0), &download(3, 150_000)), Some(0));
        assert_eq!(player.choose(view(3.1, 5.0)), 0);
        // Once it has arrived, the estimate decides again: 400 kb/s for 3 s and 24 Mb/s for 0.1 s are 1.25 Mb/s in the slow average.
        player
            .on_loaded(view(3.3, 5.0), &Download { requested: at(3.1), first: Some(at(3.2)), ..download(0, 300_000) });
        assert_eq!((player.forced, player.choose(view(3.3, 11.0))), (None, 1));
        assert!((player.estimate() - 1.252e6).abs() < 2e3, "{}", player.estimate());
    }

    #[test]
    fn checks_are_a_tenth_of_a_second_apart() {
        let download = download(3, 1_000);
        assert_eq!(next_check(at(0.0), &download), at(0.1));
        assert_eq!(next_check(at(0.55), &download), at(0.6));
        assert_eq!(next_check(at(0.6), &download), at(0.7));
    }

    #[test]
    fn nothing_is_abandoned_before_playback() {
        let waiting = View { is_playing: false, ..view(3.1, 5.0) };
        assert_eq!(HlsJs::new(false).check(waiting, &download(3, 150_000)), None);
    }
}
