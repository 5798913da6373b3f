//! Random numbers against the moments and quantiles of their distributions.

use earlybird_units::{Random, SeedTree};

const COUNT: usize = 200_000;

fn draws(draw: impl Fn(&mut Random) -> f64) -> Vec<f64> {
    let mut random = SeedTree::new(11).random();
    let mut draws: Vec<f64> = (0..COUNT).map(|_| draw(&mut random)).collect();
    draws.sort_by(f64::total_cmp);
    draws
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * sorted.len() as f64) as usize]
}

fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() < tolerance, "{value} instead of {expected}");
}

/// Mean kα/(α − 1), deviation of α = 4: k·√(α/(α − 2))/(α − 1); above x with probability (k/x)^α.
#[test]
fn pareto() {
    let draws = draws(|random| random.pareto(3.0, 4.0));
    assert!(draws[0] >= 3.0);
    assert_near(mean(&draws), 4.0, 0.02);
    assert_near(deviation(&draws), 2.0_f64.sqrt(), 0.1);
    for share in [0.1, 0.5, 0.9, 0.99] {
        let expected = 3.0 * (1.0_f64 - share).powf(-0.25);
        assert_near(quantile(&draws, share) / expected, 1.0, 0.01);
    }
}

/// Shape 2: mean λ·√π/2, deviation λ·√(1 − π/4). Shape 1 is exponential.
#[test]
fn weibull() {
    let rayleigh = draws(|random| random.weibull(5.0, 2.0));
    let pi = std::f64::consts::PI;
    assert_near(mean(&rayleigh), 5.0 * pi.sqrt() / 2.0, 0.03);
    assert_near(deviation(&rayleigh), 5.0 * (1.0 - pi / 4.0).sqrt(), 0.03);
    let exponential = draws(|random| random.weibull(5.0, 1.0));
    assert_near(mean(&exponential), 5.0, 0.06);
    assert_near(deviation(&exponential), 5.0, 0.1);
    let heavy = draws(|random| random.weibull(1.46, 0.382));
    assert_near(quantile(&heavy, 0.5), 1.46 * 2.0_f64.ln().powf(1.0 / 0.382), 0.02);
}

#[test]
fn normal() {
    let draws = draws(Random::normal);
    assert_near(mean(&draws), 0.0, 0.012);
    assert_near(deviation(&draws), 1.0, 0.01);
    for (share, expected) in [(0.158_655, -1.0), (0.5, 0.0), (0.975, 1.959_964), (0.998_65, 3.0)] {
        assert_near(quantile(&draws, share), expected, 0.06);
    }
}

/// Median exp(µ), mean exp(µ + σ²/2).
#[test]
fn lognormal() {
    let draws = draws(|random| random.lognormal(9.357, 1.318));
    assert_near(quantile(&draws, 0.5) / 9.357_f64.exp(), 1.0, 0.015);
    assert_near(mean(&draws) / (9.357_f64 + 1.318 * 1.318 / 2.0).exp(), 1.0, 0.03);
}
