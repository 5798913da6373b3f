//! What happens to a write when the sender already holds much.

use earlybird_units::Duration;

/// What a full send buffer does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backlog {
    /// Refuses the write while full: ordinary TCP.
    Block(SendLimit),
    /// Abandons the oldest frames it still holds, sent or not, and takes the write (TCP-RTM; MTCP paper).
    DiscardOldest(SendLimit),
    /// Takes every write, and gives up what was written longer ago than this (TLTCP).
    DiscardPastDeadline(Duration),
    /// Takes every write, and gives up what could not be there within this time of its writing, even if it left now: half a
    /// round trip earlier than [`Self::DiscardPastDeadline`].
    DiscardHopeless(Duration),
}

/// How much a sender may hold: written, and not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SendLimit {
    /// Without bound.
    #[default]
    Unlimited,
    /// So many frames or segments.
    Segments(u32),
    /// `per_window`·`cwnd` + min(`extra`, `cwnd`) segments (Goel, Krasic and Walpole: A = 1, B = 0 or 3).
    Window {
        /// Their A.
        per_window: f64,
        /// Their B.
        extra: u32,
    },
}

impl Default for Backlog {
    fn default() -> Self {
        Self::Block(SendLimit::Unlimited)
    }
}

impl SendLimit {
    /// Returns the most segments that may be held while the congestion window is `cwnd`; never less than one.
    pub fn segments(self, cwnd: f64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            Self::Segments(segments) => u64::from(segments.max(1)),
            Self::Window { per_window, extra } => {
                let limit = per_window * cwnd + f64::from(extra).min(cwnd);
                (limit as u64).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goels_limit_follows_the_window() {
        let limit = SendLimit::Window { per_window: 1.0, extra: 3 };
        assert_eq!([0.5, 2.0, 10.0].map(|cwnd| limit.segments(cwnd)), [1, 4, 13]);
        assert_eq!(SendLimit::Segments(0).segments(9.0), 1, "a sender that may hold nothing could send nothing");
    }
}
