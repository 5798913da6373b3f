//! Losses and other impairments of links.

use crate::{DUMBBELL, expand, message};
use rstest::rstest;

#[rstest]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert = { ratio = 1.5, mean-burst = 2 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert.ratio: `1.5` is not a share; allowed: {SHARES}. hint: did you mean `1.5%`?"
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert = { ratio = 1, mean-burst = 2 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert.ratio: `1` is too large; allowed: a number from 0 to below 1."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert = { ratio = 0.1, mean-burst = 0.5 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert.mean-burst: `0.5` is too small; allowed: a number of at least 1. hint: Mean length L of a burst in packets; 1/(1 − P) means independent losses."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert = { ratio = 0.75, mean-burst = 2 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert.mean-burst: `2` is too short for so many losses; allowed: a number of at least 3. hint: at a `ratio` P of 0.75 bursts of P/(1 − P) packets leave one packet between them."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert-elliott = { p = 0, r = 0 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert-elliott.p: `0` never lets the channel turn bad, as `r` is 0 too; allowed: a number above 0. hint: `bernoulli` loses without states."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert-elliott = { p = 0.1 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert-elliott.r: is missing; allowed: {SHARES}. hint: Probability r of the change to the good state."
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ gilbert-elliott = { p = 0.1, r = 0.5, flow = "vidoe" } }]"#,
    "network.dumbbell.bottleneck.loss.0.gilbert-elliott.flow: `vidoe` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert-eliot = { p = 0.1, r = 0.5 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert-eliot: `gilbert-eliot` is not a key here; allowed: list, bernoulli, periodic, gilbert-elliott, gilbert, four-state, fading, policer. hint: did you mean `gilbert-elliott`?"
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ four-state = { p13 = 0.5, p14 = 0.6 } }]",
    "network.dumbbell.bottleneck.loss.0.four-state.p14: `0.6` and `p13`, which is 0.5, are more than 1 together; allowed: two probabilities of at most 1 together."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ four-state = { p13 = 0.1, p32 = 0.2 } }]",
    "network.dumbbell.bottleneck.loss.0.four-state.p32: `0.2` and `p31`, which is 0.9, are more than 1 together; allowed: two probabilities of at most 1 together."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ four-state = { p13 = 0.1, p31 = 0.5, p32 = 0.2, p23 = 0 } }]",
    "network.dumbbell.bottleneck.loss.0.four-state.p23: `0` leaves the channel in state 2 forever; allowed: a number above 0."
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ fading = { ratio = 1, mean-fade = "60ms" } }]"#,
    "network.dumbbell.bottleneck.loss.0.fading.ratio: `1` is too large; allowed: a number from 0 to below 1."
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ fading = { ratio = 0.1, mean-fade = "0s" } }]"#,
    "network.dumbbell.bottleneck.loss.0.fading.mean-fade: `0s` is too short; allowed: a duration of at least 1us."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ fading = { ratio = 0.1, mean-fade = 3 } }]",
    "network.dumbbell.bottleneck.loss.0.fading.mean-fade: `3` has no unit; allowed: {TIMES}. hint: did you mean `3ms`?"
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ fading = { ratio = 0.1, mean-fade = "60ms", flow = "vidoe" } }]"#,
    "network.dumbbell.bottleneck.loss.0.fading.flow: `vidoe` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    "network.dumbbell.reverse.loss=[{ bernoulli = { probability = 2 } }]",
    "network.dumbbell.reverse.loss.0.bernoulli.probability: `2` is not a share; allowed: {SHARES}. hint: did you mean `2%`?"
)]
#[case(
    "network.dumbbell.reverse.loss=[{ periodic = { period = 5, burst = 5 } }]",
    "network.dumbbell.reverse.loss.0.periodic.burst: `5` is not shorter than the period; allowed: a whole number below 5."
)]
#[case(
    r#"network.dumbbell.bottleneck.reorder={ probability = 0.1, delay = "0s" }"#,
    "network.dumbbell.bottleneck.reorder.delay: `0s` is no time at all; allowed: a duration above 0s."
)]
#[case(
    "network.dumbbell.bottleneck.reorder={ probability = 0.1 }",
    "network.dumbbell.bottleneck.reorder.delay: is missing; allowed: {TIMES}. hint: Additional delay of a held packet; the largest one if `packets` is given."
)]
#[case(
    r#"network.dumbbell.bottleneck.reorder={ probability = -0.1, delay = "1s" }"#,
    "network.dumbbell.bottleneck.reorder.probability: `-0.1` is not a share; allowed: {SHARES}. hint: Share of the packets to keep back."
)]
#[case(
    r#"network.dumbbell.access.reorder={ probability = 0.1, delay = "1s", packets = 0 }"#,
    "network.dumbbell.access.reorder.packets: `0` is too small; allowed: a whole number of at least 1. hint: Packets that pass a kept one before it arrives."
)]
#[case(
    r"network.dumbbell.bottleneck.jitter={}",
    "network.dumbbell.bottleneck.jitter: delays nothing; allowed: `distribution`, `spikes`, or both."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { uniform = "0s" } }"#,
    "network.dumbbell.bottleneck.jitter.distribution.uniform: `0s` is no time at all; allowed: a duration above 0s."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { pareto = { mean = "5ms", shape = 1 } } }"#,
    "network.dumbbell.bottleneck.jitter.distribution.pareto.shape: `1` leaves no mean; allowed: a number above 1."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { quantiles = ["1ms", "3ms", "2ms"] } }"#,
    "network.dumbbell.bottleneck.jitter.distribution.quantiles.2: `2ms` is below the quantile before; allowed: durations that never fall."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { exponential = "5ms" }, correlation = 1 }"#,
    "network.dumbbell.bottleneck.jitter.correlation: `1` is too large; allowed: a number from 0 to below 1."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { exponential = "5ms" }, correlation = 0.5, correlation-time = "50ms" }"#,
    "network.dumbbell.bottleneck.jitter.correlation-time: `50ms` stands beside `correlation`; allowed: one of the two keys."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { exponential = "5ms" }, correlation-time = "1ns" }"#,
    "network.dumbbell.bottleneck.jitter.correlation-time: `1ns` is too short; allowed: a duration of at least 1us."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ spikes = { ratio = 0, mean-duration = "300ms", delay = "400ms" } }"#,
    "network.dumbbell.bottleneck.jitter.spikes.ratio: `0` leaves no spikes; allowed: a number above 0 and below 1."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ spikes = { ratio = 0.1, mean-duration = "300ms", delay = "0s" } }"#,
    "network.dumbbell.bottleneck.jitter.spikes.delay: `0s` is no time at all; allowed: a duration above 0s."
)]
#[case(
    r#"network.dumbbell.bottleneck.jitter={ distribution = { uniform = "5ms" }, flow = "vidoe" }"#,
    "network.dumbbell.bottleneck.jitter.flow: `vidoe` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    r"network.dumbbell.bottleneck.loss=[{ bernoulli = { probability = 1 } }]",
    "network.dumbbell.bottleneck.loss.0.bernoulli.probability: `1` loses every packet; allowed: a number from 0 to below 1, or in percent. hint: did you mean `1%`? `outages` lose every packet for a time."
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ policer = { rate = "5Mb/s", burst = 100 } }]"#,
    "network.dumbbell.bottleneck.loss.0.policer.burst: `100` is too small; allowed: a whole number of at least 1500. hint: Size of the bucket in bytes, at least a packet. A smaller one than the rate times a round-trip time lets a TCP sender have much less than the rate."
)]
#[case(
    r"network.dumbbell.bottleneck.loss=[{ policer = { rate = 0, burst = 15000 } }]",
    "network.dumbbell.bottleneck.loss.0.policer.rate: `0` is zero; allowed: {RATES}. hint: Rate up to which packets pass."
)]
#[case(
    r#"network.dumbbell.bottleneck.outages=[{ start = "3s", duration = "2s", period = "2s" }]"#,
    "network.dumbbell.bottleneck.outages.0.period: `2s` is not longer than the outage; allowed: a duration above 2s."
)]
#[case(
    r#"network.dumbbell.bottleneck.outages=[{ start = "3s", duration = "0s" }]"#,
    "network.dumbbell.bottleneck.outages.0.duration: `0s` is too short; allowed: a duration of at least 1us."
)]
#[case(
    r#"network.dumbbell.bottleneck.arq={ loss = 1, delay = "8ms" }"#,
    "network.dumbbell.bottleneck.arq.loss: `1` is too large; allowed: a number from 0 to below 1."
)]
#[case(
    r"network.dumbbell.bottleneck.arq={ loss = 0.1, delay = 8 }",
    "network.dumbbell.bottleneck.arq.delay: `8` has no unit; allowed: {TIMES}. hint: did you mean `8ms`?"
)]
#[case(
    r#"network.dumbbell.bottleneck.arq={ loss = 0.1, retries = 101, delay = "8ms" }"#,
    "network.dumbbell.bottleneck.arq.retries: `101` is too large; allowed: a whole number from 0 to 100. hint: Greatest number n of retransmissions of a packet, up to 100 (default 3)."
)]
#[case(
    "network.dumbbell.bottleneck.duplicate={ probability = 0.1, correlation = 1 }",
    "network.dumbbell.bottleneck.duplicate.correlation: `1` is too large; allowed: a number from 0 to below 1."
)]
#[case(
    r#"network.dumbbell.bottleneck.duplicate={ probability = 0.1, flow = "nobody" }"#,
    "network.dumbbell.bottleneck.duplicate.flow: `nobody` is neither a flow nor a group of flows; allowed: video, file, web."
)]
fn impairments(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(DUMBBELL, change), expand(expected));
}
