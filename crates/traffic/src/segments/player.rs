//! Players of segmented films: how they choose the rendition of a segment, and when they abandon one that is on its way.

mod dash_js;
mod ewma;
mod hls_js;
mod shaka;

use dash_js::DashJs;
use earlybird_units::Instant;
use hls_js::HlsJs;
use shaka::Shaka;

/// A player's adaptation with its own constants. All three throughputs are the smaller of a fast and a slow average.
#[derive(Clone, Debug)]
pub enum Player {
    /// hls.js.
    HlsJs(HlsJs),
    /// dash.js.
    DashJs(DashJs),
    /// Shaka Player.
    Shaka(Shaka),
}

impl Player {
    /// Returns that of hls.js 1.7.
    pub fn hls_js(is_live: bool) -> Self {
        Self::HlsJs(HlsJs::new(is_live))
    }

    /// Returns that of dash.js 5, without BOLA.
    pub fn dash_js() -> Self {
        Self::DashJs(DashJs::default())
    }

    /// Returns that of Shaka Player 5.
    pub fn shaka() -> Self {
        Self::Shaka(Shaka::default())
    }

    /// Returns the number of the rate for a segment that is requested now.
    pub(crate) fn choose(&mut self, view: View<'_>) -> usize {
        match self {
            Self::HlsJs(player) => player.choose(view),
            Self::DashJs(player) => player.choose(view),
            Self::Shaka(player) => player.choose(view),
        }
    }

    /// Looks at a segment that is on its way. Returns the rate at which it is requested anew if it is abandoned.
    pub(crate) fn check(&mut self, view: View<'_>, download: &Download) -> Option<usize> {
        match self {
            Self::HlsJs(player) => player.check(view, download),
            Self::DashJs(player) => player.check(view, download),
            Self::Shaka(player) => player.check(view, download),
        }
    }

    /// Records that a segment has arrived.
    pub(crate) fn on_loaded(&mut self, view: View<'_>, download: &Download) {
        match self {
            Self::HlsJs(player) => player.on_loaded(view, download),
            Self::DashJs(player) => player.on_loaded(view, download),
            Self::Shaka(player) => player.on_loaded(view, download),
        }
    }

    /// Returns when [`Self::check`] is to be called although nothing arrives.
    pub(crate) fn next_check(&self, now: Instant, download: &Download) -> Option<Instant> {
        match self {
            Self::HlsJs(_) => Some(hls_js::next_check(now, download)),
            // Both look when something arrives.
            Self::DashJs(_) | Self::Shaka(_) => None,
        }
    }
}

/// The state of playback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    pub(crate) now: Instant,
    /// The rates in bits per second, rising.
    pub(crate) rates: &'a [f64],
    /// Seconds of film that wait.
    pub(crate) buffer: f64,
    /// Seconds of film in a segment.
    pub(crate) segment: f64,
    /// Whether playback has started.
    pub(crate) is_playing: bool,
}

impl View<'_> {
    /// Returns the highest rate that is not above this one, else the lowest.
    fn highest_within(&self, limit: f64) -> usize {
        self.rates.iter().rposition(|rate| *rate <= limit).unwrap_or(0)
    }
}

/// A segment that was requested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Download {
    /// Number of the segment, counted from 0.
    pub(crate) segment: u64,
    pub(crate) rung: usize,
    pub(crate) requested: Instant,
    /// The time at which its first bytes arrived.
    pub(crate) first: Option<Instant>,
    /// Bytes that have arrived, and all.
    pub(crate) loaded: u64,
    pub(crate) total: u64,
}

impl Download {
    pub(crate) fn new(segment: u64, rung: usize, requested: Instant, total: u64) -> Self {
        Self { segment, rung, requested, first: None, loaded: 0, total }
    }

    /// Records how much has arrived.
    pub(crate) fn see(&mut self, now: Instant, loaded: u64) {
        self.loaded = loaded.min(self.total);
        if self.loaded > 0 {
            self.first.get_or_insert(now);
        }
    }

    /// Returns the seconds since the request.
    fn age(&self, now: Instant) -> f64 {
        (now - self.requested).as_secs_f64()
    }

    /// Returns the seconds from the request to the first bytes.
    fn time_to_first_byte(&self) -> Option<f64> {
        self.first.map(|first| self.age(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates of the tests, and those of the tests of hls.js.
    pub(super) const RATES: [f64; 4] = [4e5, 8e5, 1.6e6, 3e6];
    pub(super) const SIX: [f64; 6] = [105_000.0, 246_440.0, 460_560.0, 836_280.0, 2_149_280.0, 6_221_600.0];

    pub(super) fn at(seconds: f64) -> Instant {
        Instant::from_nanos((1e9 * seconds).round() as u64)
    }

    /// Segments of six seconds, in the middle of a film.
    pub(super) fn view(seconds: f64, buffer: f64) -> View<'static> {
        View { now: at(seconds), rates: &RATES, buffer, segment: 6.0, is_playing: true }
    }

    /// A segment that was requested at time 0 and whose first bytes arrived after a tenth of a second.
    pub(super) fn download(rung: usize, loaded: u64) -> Download {
        let total = (RATES[rung] * 6.0 / 8.0) as u64;
        let first = (loaded > 0).then(|| at(0.1));
        Download { segment: 0, rung, requested: Instant::ZERO, first, loaded, total }
    }

    #[test]
    fn bytes_beyond_the_segment_counted() {
        let mut seen = download(0, 0);
        seen.see(at(0.2), 0);
        assert_eq!((seen.first, seen.loaded), (None, 0));
        seen.see(at(0.3), 1_000_000);
        seen.see(at(0.4), 1_000_000);
        assert_eq!((seen.first, seen.loaded), (Some(at(0.3)), 300_000));
    }
}
