//! Parts of a scenario that do not fit together.

use crate::{DUMBBELL, expand, message};
use rstest::rstest;

#[rstest]
#[case(
    "measure.warm-up=1000s",
    "measure.warm-up: `1000s` leaves nothing of a run of 1000s; allowed: a duration shorter than 1000s. hint: shorten it, or lengthen `duration`."
)]
#[case(
    "measure.bursts={ count = 0 }",
    "measure.bursts.count: `0` is too small; allowed: a whole number of at least 1. hint: Bursts to measure (default: all). If fewer can be distinguished because a recovery lasts into the next burst, the run is repeated with only the first burst of the bottleneck's `periodic` rule, and without the packets of the others."
)]
#[case(
    "measure.bursts={ counts = 10 }",
    "measure.bursts.counts: `counts` is not a key here; allowed: count, pause, tolerance. hint: did you mean `count`?"
)]
#[case("measure.series=0s", "measure.series: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    "measure.bottleneck=left-rigth",
    "measure.bottleneck: `left-rigth` is not a link; allowed: left-right, right-left. hint: did you mean `left-right`?"
)]
#[case(
    r#"flows.web.start.uniform=["3s", "2s"]"#,
    "flows.web.start.uniform: `3s … 2s` ends before it begins; allowed: two durations, the shorter one first."
)]
#[case(
    r#"flows.web.start.uniform=["3s"]"#,
    r#"flows.web.start.uniform: `["3s"]` is too short; allowed: a list of 2. hint: At a random time between two."#
)]
#[case(
    r#"flows.web.access-delay.uniform=["15ms", "5ms"]"#,
    "flows.web.access-delay.uniform: `15ms … 5ms` ends before it begins; allowed: two durations, the shorter one first."
)]
#[case(r#"flows.web.start.each=["1s", "2s"]"#, r#"flows.web.start.each: `["1s","2s"]` does not have one time per flow; allowed: a list of 1, which is `flows.web.count`."#)]
#[case(
    "flows.web.name=",
    "flows.2.name: is not a name for flows; allowed: letters, digits, `-` and `_`, with no digit at the end. hint: the flows of the group are numbered: name0, name1, …"
)]
#[case(
    "flows.web.name=we.b",
    "flows.2.name: `we.b` is not a name for flows; allowed: letters, digits, `-` and `_`, with no digit at the end. hint: the flows of the group are numbered: name0, name1, …"
)]
#[case(
    "flows.web.name=web1",
    "flows.2.name: `web1` is not a name for flows; allowed: letters, digits, `-` and `_`, with no digit at the end. hint: the flows of the group are numbered: name0, name1, …"
)]
#[case(
    "flows.web.name=file",
    "flows.2.name: `file` is already the name of other flows; allowed: a name of its own. hint: for several flows of a kind use `count`."
)]
#[case("flows.web.from=lft", "flows.web.from: `lft` is not a node; allowed: left, right. hint: did you mean `left`?")]
#[case("flows.web.to=left", "flows.web.to: `left` is also where the flow begins; allowed: right.")]
#[case(
    "network.dumbbell.bottleneck.loss=[{ periodic = { period = 5, burst = 5 } }]",
    "network.dumbbell.bottleneck.loss.0.periodic.burst: `5` is not shorter than the period; allowed: a whole number below 5."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ periodic = { period = 0 } }]",
    "network.dumbbell.bottleneck.loss.0.periodic.period: `0` is too small; allowed: a whole number of at least 1. hint: Packets from the start of one burst to the start of the next."
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ bernoulli = { probability = 1.1 } }]",
    "network.dumbbell.bottleneck.loss.0.bernoulli.probability: `1.1` is not a share; allowed: {SHARES}. hint: did you mean `1.1%`?"
)]
#[case(
    "network.dumbbell.access.loss=[{ list = { packets = [3, 3] } }]",
    "network.dumbbell.access.loss.0.list.packets: `3, 3` is not in rising order; allowed: packet numbers in rising order, each once."
)]
#[case(
    r#"network.dumbbell.access.loss=[{ bernoulli = { probability = 0.1, flow = "video28" } }]"#,
    "network.dumbbell.access.loss.0.bernoulli.flow: `video28` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    r#"network.dumbbell.access.loss=[{ list = { packets = [3], flow = "vidio" } }]"#,
    "network.dumbbell.access.loss.0.list.flow: `vidio` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    "sweep.seeds=0",
    "sweep.seeds: `0` does not fit; allowed: a whole number of at least 1, or a list of at least 1. hint: Number of seeds (1 … n) or a list of seeds (default 1)."
)]
#[case(
    "sweep.seeds=x",
    "sweep.seeds: `x` does not fit; allowed: a whole number of at least 1, or a list of at least 1. hint: Number of seeds (1 … n) or a list of seeds (default 1)."
)]
#[case(
    "flows.file.transport=udp",
    "flows.file.application.bulk: sends as fast as the transport lets it, and udp sets no limit; allowed: cbr, media. hint: tfrc finds a rate by itself; or choose a transport of TCP for this flow."
)]
#[case(
    "flows.web.transport=tfrc",
    "flows.web.application.webtraf: needs every byte to arrive, and tfrc repairs nothing; allowed: bulk, cbr, media. hint: choose a transport of TCP for this flow."
)]
#[case(
    "flows.web.transport=udp",
    "flows.web.application.webtraf: needs every byte to arrive, and udp repairs nothing; allowed: cbr, media. hint: choose a transport of TCP for this flow."
)]
#[case(
    "flows.web.transport=srt",
    "flows.web.application.webtraf: needs every byte to arrive, and srt gives up what is late; allowed: cbr, media. hint: choose a transport of TCP for this flow."
)]
#[case(
    "flows.file.transport=srt",
    "flows.file.application.bulk: sends as fast as the transport lets it, and srt sets no limit; allowed: cbr, media. hint: tfrc finds a rate by itself; or choose a transport of TCP for this flow."
)]
#[case(
    r#"endpoint.srt={ latency = "120ms", latency-round-trips = 4 }"#,
    "endpoint.srt.latency-round-trips: stands beside `latency`, which says the same in another way; allowed: one of the two."
)]
#[case(
    "endpoint.srt.latency-round-trips=0.5",
    "endpoint.srt.latency-round-trips: `0.5` is too small; allowed: a number from 1 to 1000. hint: The same in round trips, as the receiver measures the first one; the draft recommends three to four."
)]
#[case("sweep.seeds=[]", "sweep.seeds: `[]` is too short; allowed: a list of at least 1. hint: These seeds.")]
#[case("sweep.seeds=[1, -2]", "sweep.seeds.1: `-2` is too small; allowed: a whole number of at least 0.")]
#[case("sweep.seeds=[1, 2, 1]", "sweep.seeds: `1` is listed twice; allowed: a list of different seeds.")]
#[case("sweep.grid.pairs=[]", "sweep.grid.pairs: is an empty list; allowed: a list of at least 1.")]
#[case("sweep.grid.pairs=3", "sweep.grid.pairs: `3` is not a list; allowed: a list.")]
#[case(
    "sweep.grid.pars=[3]",
    "sweep.grid.pars: `pars` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}. hint: did you mean `pairs`?"
)]
#[case(
    "sweep.grid.endpoint.windw=[3]",
    "sweep.grid.endpoint.windw: `windw` is not a key here; allowed: {ENDPOINT}. hint: did you mean `window`?"
)]
#[case(
    "sweep.grid.resolved=[true]",
    "sweep.grid.resolved: `resolved` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}."
)]
fn parts_that_do_not_fit(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(DUMBBELL, change), expand(expected));
}
