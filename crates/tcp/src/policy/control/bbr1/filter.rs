//! The windowed maximum filter of Kathleen Nichols, which Linux keeps the bandwidth with (`lib/win_minmax.c`).

/// A sample and the time at which it was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Best {
    at: u64,
    value: f64,
}

/// The approximate maximum over the last `WINDOW` units of time. Time passes with samples only.
///
/// It keeps the largest sample, the largest since that one, and the largest since the second: three numbers where the exact
/// maximum would need all samples of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WindowedMax<const WINDOW: u64> {
    best: [Best; 3],
}

impl<const WINDOW: u64> WindowedMax<WINDOW> {
    pub(super) fn max(&self) -> f64 {
        self.best[0].value
    }

    pub(super) fn note(&mut self, at: u64, value: f64) {
        let new = Best { at, value };
        if value >= self.best[0].value || at - self.best[2].at > WINDOW {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1..].fill(new);
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.expire(new);
    }

    /// Drops samples that are too old, and sees to it that the second and the third are not all of one age.
    fn expire(&mut self, new: Best) {
        let [first, second, third] = self.best;
        if new.at - first.at > WINDOW {
            self.best = [second, third, new];
            // The second may be as old; the third is not, or `note` would have restarted.
            if new.at - second.at > WINDOW {
                self.best = [third, new, new];
            }
        } else if second.at == first.at && new.at - first.at > WINDOW / 4 {
            self.best[1..].fill(new);
        } else if third.at == second.at && new.at - first.at > WINDOW / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn maxima<const N: usize>(samples: [(u64, u32); N]) -> [u32; N] {
        let mut filter = WindowedMax::<10>::default();
        samples.map(|(at, value)| {
            filter.note(at, f64::from(value));
            filter.max() as u32
        })
    }

    #[test]
    fn a_maximum_counts_for_ten_rounds_after_its_own() {
        assert_eq!(maxima([(1, 9), (2, 7), (11, 5), (12, 5)]), [9, 9, 9, 5]);
        // A quarter of the window after the maximum the second is chosen anew, after half of it the third.
        assert_eq!(maxima([(1, 9), (4, 8), (7, 6), (12, 5), (15, 5)]), [9, 9, 9, 8, 6]);
    }

    #[test]
    fn without_samples_no_time_passes() {
        assert_eq!(maxima([(1, 9), (200, 1)]), [9, 1]);
    }

    proptest! {
        #[test]
        fn is_one_of_the_window_and_no_less_than_the_newest(values in proptest::collection::vec(0_u32..1000, 1..60)) {
            let mut filter = WindowedMax::<10>::default();
            for (round, value) in values.iter().enumerate() {
                filter.note(round as u64, f64::from(*value));
                let window = &values[round.saturating_sub(10)..=round];
                prop_assert!(window.contains(&(filter.max() as u32)) && filter.max() >= f64::from(*value));
            }
        }
    }
}
