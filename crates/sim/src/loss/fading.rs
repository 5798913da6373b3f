use earlybird_units::{Duration, Instant, Random};

/// The channel of Gilbert (1960) in continuous time: nothing gets through while it is bad.
///
/// Good and bad spells follow each other, their lengths exponential. They are drawn without regard to the packets, so with
/// equal seeds every traffic meets the same spells. A packet dt after one that was lost thus is lost with probability
/// P + (1 − P)·exp(−dt/τ), where P is the share of bad time and 1/τ the sum of the rates at which the states end. The
/// channel is good at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Seconds that a good spell lasts on average.
    pub mean_good: f64,
    /// Seconds that a bad spell lasts on average.
    pub mean_bad: f64,
    is_bad: bool,
    /// The end of the present spell; before the first packet that of a bad one without length.
    until: Instant,
}

/// The largest number of mean times between two packets that are drawn. More are left out: exponential times have no memory, so that the
/// state after them does not depend on the one before.
pub(crate) const MOST_DRAWN: f64 = 1e6;

impl Fading {
    /// Makes the channel that is bad for `ratio` of the time, below 1, in spells of `mean_bad`, above zero.
    pub fn new(ratio: f64, mean_bad: Duration) -> Self {
        let mean_bad = mean_bad.as_secs_f64();
        // From the long-run share of bad time: ratio = bad / (good + bad).
        Self { mean_good: mean_bad * (1.0 - ratio) / ratio, mean_bad, is_bad: true, until: Instant::ZERO }
    }

    /// Returns whether the channel is bad at a time, which must not go back from call to call.
    pub(crate) fn is_bad_at(&mut self, now: Instant, random: &mut Random) -> bool {
        self.leave_out(now, random);
        // Spells are drawn from their own stream, not per packet: equal seeds give equal spells to any traffic.
        while self.until <= now {
            self.is_bad = !self.is_bad;
            let mean = if self.is_bad { self.mean_bad } else { self.mean_good };
            self.until += Duration::from_secs_f64(random.exponential(mean));
        }
        self.is_bad
    }

    /// Leaves out spells between two packets that are too many to draw: the state after them is that of any time.
    fn leave_out(&mut self, now: Instant, random: &mut Random) {
        let cycle = self.mean_good + self.mean_bad;
        if self.until < now && now.since(self.until).as_secs_f64() > MOST_DRAWN * cycle {
            self.until = now;
            // The spell that begins now is of the other kind.
            self.is_bad = random.unit() * cycle < self.mean_good;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_units::SeedTree;

    /// The symptom: a run whose packets paused for a billion seconds did not end.
    #[test]
    fn after_long_pauses_the_channel_is_bad_for_its_share_of_the_time() {
        let (mut channel, mut random) = (Fading::new(0.3, Duration::from_micros(1)), SeedTree::new(7).random());
        let pause = Duration::from_secs(1_000_000);
        let bad = (1..=5000).filter(|index| channel.is_bad_at(Instant::ZERO + pause * *index, &mut random)).count();
        assert!((1400..1600).contains(&bad), "{bad} of 5000");
    }
}
