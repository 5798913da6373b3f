use super::Throughput;
use crate::segments::Outlook;
use alloc::vec::Vec;
use earlybird_units::Duration;

/// Learn2Adapt-LowLatency (Karagkioules, Mekuria, Griffioen and Wagenaar, "Online learning for low-latency adaptive streaming",
/// `MMSys` 2020), as in `L2ARule` of dash.js: gradient descent on the probabilities of the rates, with a multiplier
/// that grows while the buffer shrinks. It begins as the rule by throughput, until 1.5 s of film wait.
///
/// Rates and throughputs are in one unit here. In dash.js at ccf3b95 the multiplier and the step upwards divide, or compare, bits per
/// second by kilobits per second.
#[derive(Clone, Debug)]
pub struct LearnToAdapt {
    startup_rule: Throughput,
    /// Seconds of a segment.
    segment: f64,
    /// Of each rate, once the buffer was filled.
    probabilities: Option<Vec<f64>>,
    /// The variable Q of dash.js.
    multiplier: f64,
}

/// `horizon`: steps to converge.
const HORIZON: f64 = 4.0;
/// `react`: how strongly a rate above the throughput counts against the next choices.
const REACT: f64 = 2.0;
/// `B_target`, in seconds.
const TARGET: f64 = 1.5;

/// Returns `vl`, how cautious choices are.
fn caution() -> f64 {
    libm::pow(HORIZON, 0.99)
}

/// Returns `alpha`, how small the steps of the descent are.
fn step_size() -> f64 {
    HORIZON.max(caution() * libm::sqrt(HORIZON))
}

impl LearnToAdapt {
    /// Makes the rule for segments of this playing time.
    pub fn new(is_live: bool, segment: Duration) -> Self {
        let segment = segment.as_secs_f64();
        Self { startup_rule: Throughput::new(is_live), segment, probabilities: None, multiplier: 0.0 }
    }

    fn begin(&mut self, outlook: Outlook<'_>) -> usize {
        let choice = self.startup_rule.choose(outlook);
        if outlook.buffer >= TARGET {
            let certain = |rung| if rung == choice { 1.0 } else { 0.0 };
            self.probabilities = Some((0..outlook.rates.len()).map(certain).collect());
            self.multiplier = caution();
        }
        choice
    }

    /// Takes a step from the probabilities before, and gives those after it.
    fn descend(&mut self, before: &[f64], loads: &[f64]) -> Vec<f64> {
        let size = self.segment / (2.0 * step_size()) * (self.multiplier + caution());
        let step = |(probability, load): (&f64, &f64)| {
            let direction = if *load > 1.0 { -1.0 } else { 1.0 };
            probability + direction * size * load
        };
        // Projection onto the probability simplex, or the step would leave it.
        let after = project(before.iter().zip(loads).map(step).collect());
        // The new mean, and once more the way to it: dash.js adds both.
        let load = 2.0 * dot(loads, &after) - dot(loads, before);
        self.multiplier = (self.multiplier - self.segment + self.segment * load).max(0.0);
        after
    }

    pub(crate) fn choose(&mut self, outlook: Outlook<'_>) -> usize {
        let Some(throughput) = outlook.throughputs.last().copied() else { return outlook.last };
        let Some(before) = self.probabilities.take() else { return self.begin(outlook) };
        let throughput = throughput.max(1.0);
        let loads: Vec<f64> = outlook.rates.iter().map(|rate| rate / throughput).collect();
        let after = self.descend(&before, &loads);
        let mut choice = nearest(&loads, dot(&loads, &after));
        self.probabilities = Some(after);
        // Rise one rung at a time, as dash.js limits it.
        if choice > outlook.last && loads[outlook.last + 1] <= 1.0 {
            choice = outlook.last + 1;
        }
        // The choice is above the throughput: react strongly, before the buffer is empty.
        if loads[choice] >= 1.0 {
            self.multiplier = REACT * self.multiplier.max(caution());
        }
        choice
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// Returns the first of the values that are nearest.
fn nearest(values: &[f64], target: f64) -> usize {
    let distance = |index: usize| (values[index] - target).abs();
    (1..values.len()).fold(0, |best, next| if distance(next) < distance(best) { next } else { best })
}

/// Returns the nearest probabilities, which are not negative and make one together (Chen and Ye, arXiv:1101.6081).
fn project(values: Vec<f64>) -> Vec<f64> {
    let mut falling = values.clone();
    // The threshold of the projection is found on the values in falling order.
    falling.sort_by(|left, right| right.total_cmp(left));
    let mut sum = 0.0;
    let mut excess = 0.0;
    for (index, value) in falling.iter().enumerate() {
        sum += value;
        excess = (sum - 1.0) / (index + 1) as f64;
        if falling.get(index + 1).is_none_or(|next| excess >= *next) {
            break;
        }
    }
    values.into_iter().map(|value| (value - excess).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "dash.js at ccf3b95 (2025-12-22), L2ARule.js";
    const RATES: [f64; 3] = [1e6, 2.5e6, 5e6];

    fn choose(rule: &mut LearnToAdapt, last: usize, throughput: f64, buffer: f64) -> usize {
        rule.choose(Outlook { rates: &RATES, last, throughputs: &[throughput], buffer })
    }

    #[test]
    fn a_projection_is_the_nearest_distribution() {
        assert_eq!(project(alloc::vec![0.2, 0.3, 0.5]), [0.2, 0.3, 0.5]);
        assert_eq!(project(alloc::vec![3.0, 1.0, 0.0]), [1.0, 0.0, 0.0]);
        assert_eq!(project(alloc::vec![1.0, 1.0, -4.0]), [0.5, 0.5, 0.0]);
        let all = project(alloc::vec![1.0, 0.75, 0.5]);
        let expected = [1.0, 0.75, 0.5].map(|value: f64| value - 1.25 / 3.0);
        assert!(all.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-12), "{all:?}");
        let compared = "the projection of four vectors, by hand from `euclideanProjection`";
        conforms(Area::Traffic, "Segments: L2A-LL", SOURCE, compared, "within 1e-12");
    }

    #[test]
    fn it_goes_by_throughput_until_the_buffer_is_there() {
        let mut rule = LearnToAdapt::new(true, Duration::from_secs(2));
        assert_eq!(choose(&mut rule, 0, 3e6, 1.4), 1);
        assert!(rule.probabilities.is_none());
        assert_eq!(choose(&mut rule, 1, 3e6, 1.5), 1);
        assert_eq!(rule.probabilities.as_deref(), Some(&[0.0, 1.0, 0.0][..]));
        assert!((rule.multiplier - libm::pow(4.0, 0.99)).abs() < 1e-12);
    }

    #[test]
    fn a_step_is_the_one_worked_out_by_hand() {
        let mut rule = LearnToAdapt::new(true, Duration::from_secs(2));
        choose(&mut rule, 0, 3e6, 2.0);
        // vl = 4^0.99 = 3.9449, alpha = 7.8898, Q = vl: a step is 2 ÷ 15.7796 · 7.8898 = 1 times the load. Loads at 10 Mb/s are
        // 0.1, 0.25 and 0.5, so that w = (0.1, 1.25, 0.5), which the projection makes (0, 0.875, 0.125). The mean load is
        // 0.21875 + 0.0625 = 0.28125; Q = 3.9449 − 2 + 2·(0.28125 + 0.03125) = 2.5699. The nearest rate is the second.
        assert_eq!(choose(&mut rule, 1, 10e6, 2.0), 1);
        let after = rule.probabilities.clone().unwrap();
        assert!(
            after.iter().zip([0.0, 0.875, 0.125]).all(|(value, by_hand)| (value - by_hand).abs() < 1e-9),
            "{after:?}"
        );
        assert!((rule.multiplier - (libm::pow(4.0, 0.99) - 2.0 + 0.625)).abs() < 1e-9);
        let compared = "probabilities, multiplier and rate after a step, by hand from `_handleSteadyState`, with all rates in one unit";
        conforms(Area::Traffic, "Segments: L2A-LL", SOURCE, compared, "within 1e-9");
    }

    #[test]
    fn a_rate_above_the_throughput_makes_it_careful() {
        let mut rule = LearnToAdapt::new(true, Duration::from_secs(2));
        choose(&mut rule, 0, 6e6, 2.0);
        let choices: Vec<usize> = (0..4)
            .scan(2, |last, _| {
                *last = choose(&mut rule, *last, 2e6, 2.0);
                Some(*last)
            })
            .collect();
        assert!(choices.iter().all(|choice| *choice == 0), "{choices:?}");
    }

    #[test]
    fn it_climbs_one_rate_at_a_time() {
        let mut rule = LearnToAdapt::new(true, Duration::from_secs(2));
        choose(&mut rule, 0, 1.2e6, 2.0);
        let mut last = 0;
        for _ in 0..20 {
            let choice = choose(&mut rule, last, 20e6, 2.0);
            assert!(choice <= last + 1);
            last = choice;
        }
        assert_eq!(last, 2);
    }
}
