use crate::segments::Outlook;

/// The highest rate within nine tenths of the mean of the latest throughputs: `ThroughputRule` of dash.js with the arithmetic mean of
/// `ThroughputController` and the settings of `sampleSettings`. (By default dash.js 5 weighs throughputs by their age instead.)
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    samples: usize,
}

/// `bandwidthSafetyFactor`.
const SAFETY: f64 = 0.9;
/// `live`, and `vod`.
const SAMPLES_LIVE: usize = 3;
const SAMPLES_STORED: usize = 4;
/// A rate that changes by more than this from one segment to the next has the mean taken over one more:
/// `increaseScale`, `decreaseScale`.
const INCREASE: f64 = 1.3;
const DECREASE: f64 = 0.7;

impl Throughput {
    /// Makes the rule of films that are live, or are not.
    pub const fn new(is_live: bool) -> Self {
        Self { samples: if is_live { SAMPLES_LIVE } else { SAMPLES_STORED } }
    }

    /// Returns over how many throughputs the mean is taken, of those that there are.
    fn width(self, throughputs: &[f64]) -> usize {
        let mut width = self.samples;
        let newest_first = throughputs.iter().rev().zip(throughputs.iter().rev().skip(1));
        for (place, (newer, older)) in (1..).zip(newest_first) {
            if place >= width {
                break;
            }
            let ratio = newer / older;
            // A large change makes the mean unreliable: dash.js looks at one more sample then.
            width += usize::from(ratio >= INCREASE || ratio <= DECREASE);
        }
        width.min(throughputs.len())
    }

    pub(crate) fn choose(self, outlook: Outlook<'_>) -> usize {
        let all = outlook.throughputs;
        let latest = &all[all.len() - self.width(all)..];
        if latest.is_empty() {
            return outlook.last;
        }
        outlook.highest_within(SAFETY * latest.iter().sum::<f64>() / latest.len() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "dash.js at ccf3b95 (2025-12-22), ThroughputRule.js, ThroughputController.js, Settings.js";

    fn choose(is_live: bool, throughputs: &[f64]) -> usize {
        let rates = &[1e6, 2.5e6, 5e6];
        Throughput::new(is_live).choose(Outlook { rates, last: 0, throughputs, buffer: 0.0 })
    }

    #[test]
    fn the_rate_is_within_nine_tenths_of_the_mean() {
        // 0.9·5.6 = 5.04; 0.9·5.5 = 4.95.
        assert_eq!((choose(true, &[5.6e6; 3]), choose(true, &[5.5e6; 3])), (2, 1));
        assert_eq!((choose(true, &[]), choose(true, &[0.5e6])), (0, 0));
        let compared = "the rate chosen for four lists of throughputs, by hand from `bandwidthSafetyFactor` and the arithmetic mean";
        conforms(Area::Traffic, "Segments: throughput", SOURCE, compared, "four of four");
    }

    #[test]
    fn a_live_film_takes_the_mean_of_three_and_another_one_of_four() {
        // Of four 2.85·0.9 = 2.57 Mb/s, of three 2.77·0.9 = 2.49.
        let throughputs = [3.1e6, 2.8e6, 2.8e6, 2.7e6];
        assert_eq!((choose(true, &throughputs), choose(false, &throughputs)), (0, 1));
    }

    #[test]
    fn a_leap_is_averaged_over_one_more() {
        let rule = Throughput::new(true);
        assert_eq!(rule.width(&[6e6, 6e6, 6e6, 6e6, 2e6]), 4);
        assert_eq!(rule.width(&[6e6, 6e6, 2e6, 2e6, 2e6]), 3);
        assert_eq!(rule.width(&[1e6, 6e6, 1e6, 6e6, 1e6, 6e6]), 6);
        assert_eq!(rule.width(&[6e6, 2e6]), 2);
        let compared = "over how many throughputs the mean is taken, by hand from `_getAdjustedSampleSize`";
        conforms(Area::Traffic, "Segments: throughput", SOURCE, compared, "four of four lists");
    }
}
