//! The window of the first round trip of media.

use super::super::path::RateSample;

/// The first round trip in which the application uses more than the initial window.
///
/// Slow start from ten segments (RFC 6928) takes several round trips to the rate at which a source writes from its first packet on, and
/// what waits meanwhile is late. So one round trip of the source is sent at the source's rate, as Jump Start does (Liu, Allman, Jin
/// and Wang, "Congestion Control Without a Startup Phase", `PFLDnet` 2007); the flight then is the window that was validated
/// (`pipeACK`, RFC 7661 §4.2). A loss that counts as congestion ends it at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Opening {
    /// The application has not used the initial window yet. It ends unused once the segments of an initial window have arrived.
    #[default]
    Unused,
    /// Ends when everything below this number is acknowledged.
    Until(u64),
    Over,
}

/// The largest window of the first round trip: 27 Mb/s at 200 ms. A limit for sources without a rate of their own, such as files.
pub(super) const LARGEST: f64 = 512.0;

impl Opening {
    pub(super) fn end(&mut self) {
        *self = Self::Over;
    }

    /// Processes an ACK. Returns the flight that was validated, at the end.
    pub(super) fn on_sample(&mut self, sample: &RateSample, initial_window: f64) -> Option<u64> {
        match *self {
            Self::Unused if sample.prior_in_flight as f64 > initial_window => *self = Self::Until(sample.snd_max),
            // Segments are numbered from 1 on: an initial window has arrived, and no more was needed.
            Self::Unused if sample.una as f64 > initial_window + 1.0 => {
                self.end();
                return Some(sample.prior_in_flight);
            }
            Self::Until(end) if sample.una >= end => {
                self.end();
                return Some(sample.prior_in_flight);
            }
            _ => {}
        }
        None
    }
}
