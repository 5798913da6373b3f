//! Logs of encoders: frames of live streams that were dropped before they were sent, and the rates of films in segments that were
//! sent.

use earlybird_scenario::{Application, Flow};
use earlybird_traffic::{Encoding, Picture};
use earlybird_units::Instant;

/// The frames of one flow, and the rate at which they are encoded.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncoderLog {
    pub(crate) coded: u64,
    /// Moments and kinds of those that were dropped.
    pub(crate) drops: Vec<(Instant, Picture)>,
    /// Moments and bits per second of the rate's changes; the first one is where it began.
    pub(crate) rates: Vec<(Instant, f64)>,
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

    pub(crate) fn dropped(&self) -> u64 {
        self.drops.len() as u64
    }

    pub(crate) fn dropped_of(&self, kind: Picture) -> u64 {
        self.drops.iter().filter(|(_, dropped)| *dropped == kind).count() as u64
    }

    /// Returns the share of the pictures that was dropped.
    pub(crate) fn dropped_share(&self) -> f64 {
        self.dropped() as f64 / self.coded as f64
    }

    pub(crate) fn changes(&self) -> u64 {
        self.rates.len() as u64 - 1
    }

    /// Returns the rate over the time to the end of the run, in bits per second.
    pub(crate) fn mean_rate(&self, end: Instant) -> f64 {
        // Each rate holds until the next change, the last one until the end.
        let ends = self.rates.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let spans = self.rates.iter().zip(ends).map(|((at, rate), end)| (rate, (end - *at).as_secs_f64()));
        let (bits, seconds) = spans.fold((0.0, 0.0), |(bits, time), (rate, span)| (bits + rate * span, time + span));
        bits / seconds
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
