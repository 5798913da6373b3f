//! Rules that choose the rate of the next segment.

mod bola;
mod learn_to_adapt;
mod throughput;

pub use bola::Bola;
pub use learn_to_adapt::LearnToAdapt;
pub use throughput::Throughput;

use super::{Outlook, Player};

/// Chooses the rate of the next segment.
#[derive(Clone, Debug)]
pub enum RateRule {
    /// By the throughput of the latest segments.
    Throughput(Throughput),
    /// By the buffer.
    Bola(Bola),
    /// By learning from both, for low latency.
    LearnToAdapt(LearnToAdapt),
    /// As a player does, which abandons segments.
    Player(Player),
}

impl RateRule {
    /// Returns the number of the rate.
    pub(crate) fn choose(&mut self, outlook: Outlook<'_>) -> usize {
        match self {
            Self::Throughput(rule) => rule.choose(outlook),
            Self::Bola(rule) => rule.choose(outlook),
            Self::LearnToAdapt(rule) => rule.choose(outlook),
            // Players choose with what they see themselves.
            Self::Player(_) => outlook.last,
        }
    }
}
