//! Loss models with a memory against what theory says about them.

use crate::losses::{loss, lost_among};
use earlybird_conformance::{Area, conforms};
use earlybird_sim::{FourState, GilbertElliott, LossRule};

pub(crate) const PACKETS: u64 = 1_000_000;

/// Returns how many packets a rule loses.
fn losses_of(rule: LossRule, seed: u64) -> f64 {
    lost_among(PACKETS, loss(rule, seed)).len() as f64
}

/// Returns the lengths of the runs of losses.
fn bursts(rule: LossRule, seed: u64) -> Vec<usize> {
    let lost = lost_among(PACKETS, loss(rule, seed));
    lost.chunk_by(|one, next| next - one == 1).map(<[u64]>::len).collect()
}

pub(crate) fn mean(lengths: &[usize]) -> f64 {
    lengths.iter().sum::<usize>() as f64 / lengths.len() as f64
}

/// Returns chi-square of the lengths against the geometric distribution: classes 1 … 9 and the rest, 9 degrees of freedom.
pub(crate) fn chi_square(lengths: &[usize], end: f64) -> f64 {
    let count = lengths.len() as f64;
    let geometric = |length: u16| end * (1.0 - end).powi(i32::from(length) - 1);
    let class = |length: u16| lengths.iter().filter(|one| **one == usize::from(length)).count() as f64;
    let rest = lengths.iter().filter(|one| **one > 9).count() as f64;
    let classes = (1..=9).map(|length| (class(length), count * geometric(length)));
    let all = classes.chain([(rest, count * (1.0 - end).powi(9))]);
    all.map(|(observed, expected)| (observed - expected).powi(2) / expected).sum()
}

/// The value that chi-square of 9 degrees of freedom exceeds once in 1000 samples.
pub(crate) const CRITICAL: f64 = 27.877;

pub(crate) fn assert_close(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
}

#[test]
fn a_share_of_losses_and_a_burst_length_give_the_probabilities_of_the_gilbert_channel() {
    let vectors = [(0.01, 3.0, 0.003_367_00, 0.333_333, 2.97), (0.02, 2.0, 0.010_204_08, 0.5, 1.96)];
    for (ratio, burst, p, r, burst_ratio) in vectors {
        let channel = GilbertElliott::with_bursts(ratio, burst);
        assert!((channel.to_bad - p).abs() < 5e-9 && (channel.to_good - r).abs() < 5e-7);
        assert!((channel.burst_ratio() - burst_ratio).abs() < 1e-12 && (channel.loss_ratio() - ratio).abs() < 1e-12);
    }
    conforms(
        Area::Network,
        "gilbert",
        "ITU-T G.107 §3.5; r = 1/L, p = rP/(1 − P)",
        "p, r and burst ratio at P = 1 %, L = 3 and P = 2 %, L = 2 (V16)",
        "6 of 6 to the printed digits",
    );
}

/// The variance of the share of losses of a Markov chain exceeds the binomial's by (1 + λ)/(1 − λ), λ = 1 − p − r.
pub(crate) fn tolerance(ratio: f64, lambda: f64) -> f64 {
    5.0 * (ratio * (1.0 - ratio) * (1.0 + lambda) / (1.0 - lambda) / PACKETS as f64).sqrt() / ratio
}

#[test]
fn the_gilbert_channel_loses_its_share_in_bursts_of_geometric_length() {
    for (seed, burst) in [(1, 1.5), (2, 2.0), (3, 3.0), (4, 5.0)] {
        let channel = GilbertElliott::with_bursts(0.01, burst);
        let rule = || LossRule::GilbertElliott(channel);
        assert_close(losses_of(rule(), seed) / PACKETS as f64, 0.01, tolerance(0.01, 1.0 - 1.0 / burst));
        let lengths = bursts(rule(), seed);
        assert_close(mean(&lengths), burst, 0.05);
        let fit = chi_square(&lengths, 1.0 / burst);
        assert!(fit < CRITICAL, "chi-square {fit} at bursts of {burst}");
    }
    conforms(
        Area::Network,
        "gilbert",
        "Gilbert 1960; geometric sojourn in the bad state",
        "share and burst lengths of 10⁶ packets at 1 %, mean bursts 1.5, 2, 3, 5",
        "shares within 5 σ; mean lengths within 5 %; chi-square of the lengths (9 degrees of freedom) below its 99.9 % point",
    );
}

#[test]
fn the_gilbert_elliott_channel_loses_in_both_states_by_the_shares_of_the_states() {
    for (seed, [p, r, bad, good]) in
        [(1, [0.01, 0.2, 0.8, 0.02]), (2, [0.05, 0.5, 1.0, 0.0]), (3, [0.2, 0.1, 0.3, 0.1])]
    {
        let channel = GilbertElliott::new(p, r, bad, good);
        let expected = (good * r + bad * p) / (p + r);
        assert_close(channel.loss_ratio(), expected, 1e-12);
        let lost = losses_of(LossRule::GilbertElliott(channel), seed) / PACKETS as f64;
        assert_close(lost, expected, tolerance(expected, 1.0 - p - r));
    }
    conforms(
        Area::Network,
        "gilbert-elliott",
        "Elliott 1963: (1 − k)·r/(p + r) + (1 − h)·p/(p + r)",
        "share lost of 10⁶ packets for three sets of p, r, 1−h, 1−k",
        "3 of 3 within 5 σ",
    );
}

/// netem's default for p31, 1 − p13, forgets the state: the channel of Bernoulli.
#[test]
fn four_states_whose_burst_ends_as_it_began_lose_independently() {
    let rule = || LossRule::FourState(FourState::new(0.3, 0.7, 0.0, 1.0, 0.0));
    assert_close(losses_of(rule(), 1) / PACKETS as f64, 0.3, tolerance(0.3, 0.0));
    let fit = chi_square(&bursts(rule(), 1), 0.7);
    assert!(fit < CRITICAL, "chi-square {fit}");
}

#[test]
fn four_states_without_holes_and_single_losses_are_the_gilbert_channel() {
    let four = FourState::new(0.003_367, 1.0 / 3.0, 0.0, 1.0, 0.0);
    assert_close(four.loss_ratio(), 0.01, 1e-5);
    let lengths = bursts(LossRule::FourState(four), 5);
    assert_close(mean(&lengths), 3.0, 0.05);
    let fit = chi_square(&lengths, 1.0 / 3.0);
    assert!(fit < CRITICAL, "chi-square {fit}");
}

/// Without bursts, with losses alone, and with holes. Runs of losses end with p31 + p32 after state 3, and after one loss in
/// state 4, which is never followed by another.
#[test]
fn four_states_lose_the_share_that_the_balance_between_them_gives() {
    let bursty = FourState::new(0.01, 0.2, 0.3, 0.4, 0.02);
    // Shares in units of state 3: gap 0.2/0.01 = 20, received in bursts 0.3/0.4 = 0.75, alone 0.02·20 = 0.4.
    assert_close(bursty.loss_ratio(), 1.4 / 22.15, 1e-12);
    let single_losses = FourState::new(0.0, 1.0, 0.0, 1.0, 0.05);
    for (seed, channel, expected) in [(1, bursty, 1.4 / 22.15), (2, single_losses, 0.05 / 1.05)] {
        assert_close(losses_of(LossRule::FourState(channel), seed) / PACKETS as f64, expected, 0.03);
    }
    assert!(bursts(LossRule::FourState(single_losses), 3).iter().all(|length| *length == 1));
    let lengths = bursts(LossRule::FourState(bursty), 4);
    // Per unit of state 3: 0.5 runs begin there, after 0.01·20 entries from the gap and 0.3 from holes; 0.4 runs of one.
    assert_close(mean(&lengths), 1.4 / 0.9, 0.03);
    conforms(
        Area::Network,
        "four-state",
        "Salsano, Ludovici and Ordine 2009; netem `loss state`",
        "share lost and mean run of losses of 10⁶ packets; p32 = p14 = 0 as Gilbert; p31 = 1 − p13 as Bernoulli",
        "shares and means within 3 %; chi-square of the run lengths below its 99.9 % point",
    );
}
