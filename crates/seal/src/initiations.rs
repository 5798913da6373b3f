//! The initiations that a listener has accepted: each is accepted once.

use earlybird_units::{Duration, Instant};
use std::collections::{BTreeSet, VecDeque};

/// The time for which an initiation is remembered: it is accepted within two minutes before and after its own time, and with a cookie for
/// four minutes after that was made.
const LIFETIME: Duration = Duration::from_secs(240);
/// The largest number that is remembered (6 MB). Only who knows the key can fill it.
const LIMIT: usize = 1 << 16;

/// The ephemeral keys of accepted initiations.
#[derive(Debug, Default)]
pub(crate) struct Initiations {
    known: BTreeSet<[u8; 32]>,
    by_age: VecDeque<(Instant, [u8; 32])>,
}

impl Initiations {
    pub(crate) fn contains(&self, ephemeral: &[u8; 32]) -> bool {
        self.known.contains(ephemeral)
    }

    /// Remembers an initiation. Returns whether it is new and there is room for it.
    pub(crate) fn insert(&mut self, ephemeral: [u8; 32], now: Instant) -> bool {
        while let Some((since, oldest)) = self.by_age.front()
            && now - *since > LIFETIME
        {
            self.known.remove(oldest);
            self.by_age.pop_front();
        }
        let is_accepted = self.known.len() < LIMIT && self.known.insert(ephemeral);
        if is_accepted {
            self.by_age.push_back((now, ephemeral));
        }
        is_accepted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_initiation_is_remembered_for_four_minutes_and_memory_is_bounded() {
        let mut initiations = Initiations::default();
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert!(initiations.insert([7; 32], at(0)) && !initiations.insert([7; 32], at(240)));
        assert!(initiations.insert([7; 32], at(241)));
        for number in 0..LIMIT as u64 - 1 {
            let ephemeral = std::array::from_fn(|index| number.to_le_bytes()[index % 8]);
            assert!(initiations.insert(ephemeral, at(242)));
        }
        assert!(!initiations.insert([9; 32], at(243)) && initiations.known.len() == LIMIT);
        assert!(initiations.insert([9; 32], at(483)));
    }
}
