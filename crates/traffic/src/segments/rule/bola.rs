use crate::segments::Outlook;
use earlybird_units::Duration;

/// BOLA-BASIC (Spiteri, Urgaonkar and Sitaraman, "BOLA: near-optimal bitrate adaptation for online videos", INFOCOM 2016):
/// the rate by the buffer alone.
///
/// Of each rate m with the utility υ = ln(rate ÷ lowest rate) the value is (V·(υ + γp) − buffer) ÷ rate, and the largest one
/// wins. V and γp are, as in `BolaRule` of dash.js, those with which the lowest rate is best at `low` and the highest at
/// `high`.
#[derive(Clone, Copy, Debug)]
pub struct Bola {
    low: f64,
    high: f64,
}

impl Bola {
    /// Makes the rule for these two levels of the buffer.
    pub fn new(low: Duration, high: Duration) -> Self {
        Self { low: low.as_secs_f64(), high: high.as_secs_f64() }
    }

    /// Returns V in seconds, and γp less one: dash.js's utilities begin with 1, and its `gp` counts from there.
    fn parameters(self, highest_utility: f64) -> (f64, f64) {
        // From BOLA's two conditions: lowest rate at `low`, highest at `high` (Spiteri et al. 2016, as dash.js derives
        // them).
        let gp = highest_utility / (self.high / self.low - 1.0);
        (self.low / gp, gp)
    }

    pub(crate) fn choose(self, outlook: Outlook<'_>) -> usize {
        let rates = outlook.rates;
        let utility = |rate: f64| libm::log(rate / rates[0]);
        let highest = utility(rates[rates.len() - 1]);
        // A ladder of one rate has no utility to compare.
        if highest <= 0.0 {
            return 0;
        }
        let (v, gp) = self.parameters(highest);
        let value = |rate: f64| (v * (1.0 + utility(rate) + gp) - outlook.buffer) / rate;
        let better = |best: usize, next: usize| if value(rates[next]) >= value(rates[best]) { next } else { best };
        (1..rates.len()).fold(0, better)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use earlybird_conformance::{Area, conforms};

    const SOURCE: &str = "dash.js at ccf3b95 (2025-12-22), BolaRule.js";

    fn choose(buffer: f64) -> usize {
        let rates = &[1e6, 2e6, 4e6];
        let rule = Bola::new(Duration::from_secs(10), Duration::from_secs(30));
        rule.choose(Outlook { rates, last: 0, throughputs: &[], buffer })
    }

    #[test]
    fn the_parameters_give_the_lowest_rate_at_the_low_level_and_the_highest_at_the_high_one() {
        let rule = Bola::new(Duration::from_secs(10), Duration::from_secs(30));
        let (v, gp) = rule.parameters(libm::log(4.0));
        // V·gp = 10 s and V·(ln 4 + gp) = 30 s: gp = ln 4 ÷ 2 = ln 2, V = 10 ÷ ln 2.
        assert!((gp - libm::log(2.0)).abs() < 1e-12);
        assert!((v - 10.0 / libm::log(2.0)).abs() < 1e-12);
        assert!((v * (libm::log(4.0) + gp) - 30.0).abs() < 1e-9);
        let compared =
            "Vp and gp of a ladder of 1, 2 and 4 Mb/s for 10 and 30 s with the formulas of `_calculateBolaParameters`";
        conforms(Area::Traffic, "Segments: BOLA", SOURCE, compared, "gp = ln 2, Vp = 10 s ÷ ln 2");
    }

    #[test]
    fn the_rate_rises_at_the_levels_worked_out_by_hand() {
        // Rates m and 2m are worth the same where V·(1 + υ + gp) − Q = (V·(1 + υ + ln 2 + gp) − Q) ÷ 2, so at
        // Q = V·(1 + υ + gp − ln 2) = V·(1 + υ), as gp = ln 2: 14.43 s for υ = 0 and 24.43 s for υ = ln 2.
        assert_eq!((choose(0.0), choose(14.42), choose(14.43)), (0, 0, 1));
        assert_eq!((choose(24.42), choose(24.43), choose(30.0)), (1, 2, 2));
        let compared = "the buffers at which the rate rises, by hand from `_getRepresentationFromBufferLevel`";
        conforms(Area::Traffic, "Segments: BOLA", SOURCE, compared, "14.43 and 24.43 s, to 10 ms");
    }

    #[test]
    fn one_rate_is_no_choice() {
        let rule = Bola::new(Duration::from_secs(1), Duration::from_secs(3));
        assert_eq!(rule.choose(Outlook { rates: &[1e6], last: 0, throughputs: &[], buffer: 3.0 }), 0);
    }
}
