//! Writes to a full send buffer.

use earlybird_units::Duration;

/// The treatment of a write to a full send buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Backlog {
    /// Rejects the write: ordinary TCP.
    Block(SendBufferLimit),
    /// Abandons the oldest frames, sent or not, and accepts the write (TCP-RTM; MTCP paper).
    AbandonOldest(SendBufferLimit),
    /// Accepts every write, and abandons frames that were written longer ago than this (TLTCP).
    AbandonPastDeadline(Duration),
    /// Accepts every write, and abandons frames that could not arrive within this time of their write even if sent now: half an RTT
    /// earlier than [`Self::AbandonPastDeadline`].
    AbandonUndeliverable(Duration),
}

/// Limit of data that is written and not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SendBufferLimit {
    /// Without bound.
    #[default]
    Unlimited,
    /// A number of frames or segments.
    Segments(u32),
    /// `per_window`·`cwnd` + min(`extra`, `cwnd`) segments (Goel, Krasic and Walpole: A = 1, B = 0 or 3).
    Window {
        /// A of the paper.
        per_window: f64,
        /// B of the paper.
        extra: u32,
    },
}

impl Default for Backlog {
    fn default() -> Self {
        Self::Block(SendBufferLimit::Unlimited)
    }
}

impl SendBufferLimit {
    /// Returns the limit in segments for a congestion window `cwnd`; at least one.
    pub fn segments(self, cwnd: f64) -> u64 {
        match self {
            Self::Unlimited => u64::MAX,
            // A limit of zero would block the sender for ever.
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
    fn send_limit_is_a_function_of_cwnd() {
        let limit = SendBufferLimit::Window { per_window: 1.0, extra: 3 };
        assert_eq!([0.5, 2.0, 10.0].map(|cwnd| limit.segments(cwnd)), [1, 4, 13]);
        assert_eq!(SendBufferLimit::Segments(0).segments(9.0), 1, "a sender that may hold nothing could send nothing");
    }
}
