//! Nodes, links, and what is sent over them.

use crate::{CHAIN, expand, message};
use rstest::rstest;

#[rstest]
#[case(
    "drops=[3, 1]",
    "network.links.b-c.loss.0.list.packets: `3, 1` is not in rising order; allowed: packet numbers in rising order, each once. hint: The value is that of parameter `drops`."
)]
#[case(
    "drops=3",
    "network.links.b-c.loss.0.list.packets: `3` is not a list; allowed: a list. hint: The numbers, in rising order; the opening packet of a lone flow has number 0. The value is that of parameter `drops`."
)]
#[case(
    "drops=[-1]",
    "network.links.b-c.loss.0.list.packets.0: `-1` is too small; allowed: a whole number of at least 0. hint: The value is that of parameter `drops`."
)]
#[case(
    "rate=0b/s",
    "network.links.a-b.rate: `0b/s` is zero; allowed: {RATES}. hint: Rate of the link in bits per second. The value is that of parameter `rate`."
)]
#[case(
    "network.links.0.to=x",
    "flows.clip.to: `c` cannot be reached: there is no route between `a` and `c`; allowed: x. hint: add a link to `network.links`."
)]
#[case(
    "flows.clip.access-delay.same=5ms",
    "flows.clip.access-delay: has no effect: the network has no access links; allowed: nothing here. hint: only a `dumbbell` gives every flow its own hosts."
)]
#[case("network.links.0.to=a", "network.links.0.to: `a` is also where the link begins; allowed: another node.")]
#[case("network.links.0.to=", "network.links.0.to: is not a name for a node; allowed: a text without dots, not empty.")]
#[case(
    "network.links.0.to=n.1",
    "network.links.0.to: `n.1` is not a name for a node; allowed: a text without dots, not empty."
)]
#[case(
    r#"network.links.1={ from = "b", to = "a", rate = "1Mb/s", delay = "0s" }"#,
    "network.links.1: `b-a` joins two nodes that are already joined; allowed: one link for every two nodes, with names `from-to` that differ. hint: a link runs in both directions; `reverse` describes the opposite one."
)]
#[case(
    "network.links.a-b.reverse.rate=1Mb/s",
    "network.links.a-b.reverse.delay: is missing; allowed: {TIMES}. hint: Propagation time of the link."
)]
#[case(
    r#"network.links.a-b.reverse={ rate = "1Mb/s", delay = "0s", loss = [{ list = { packets = [2, 1] } }] }"#,
    "network.links.a-b.reverse.loss.0.list.packets: `2, 1` is not in rising order; allowed: packet numbers in rising order, each once."
)]
#[case(
    "network.links.b-a.delay=1ms",
    "network.links.b-a: `b-a` is not in the list; allowed: a-b, b-c, or a number from 0 to 2. hint: did you mean `b-c`?"
)]
#[case(
    "measure.bottleneck=a-c",
    "measure.bottleneck: `a-c` is not a link; allowed: a-b, b-a, b-c, c-b. hint: did you mean `a-b`?"
)]
#[case("flows.clip.to=d", "flows.clip.to: `d` is not a node; allowed: a, b, c.")]
#[case(
    "flows.clip.application.media.times=[0.5, 0]",
    "flows.clip.application.media.times: `0.5, 0` decreases; allowed: times that never fall."
)]
#[case(
    "flows.clip.application.media.times=[]",
    "flows.clip.application.media.times: `[]` is too short; allowed: a list of at least 1. hint: Time of each frame from the start of the clip, in seconds, never falling."
)]
#[case(
    "flows.clip.application.media.times=[-1, 0]",
    "flows.clip.application.media.times.0: `-1` is too small; allowed: a number of at least 0."
)]
#[case(
    "flows.clip.application.media.sizes=[1]",
    "flows.clip.application.media.sizes: `[1]` does not have one size per frame; allowed: a list of 2, as `flows.clip.application.media.times`."
)]
#[case(
    "flows.clip.application.media.sizes=[1, 0]",
    "flows.clip.application.media.sizes.1: `0` is too small; allowed: a whole number of at least 1."
)]
#[case(
    "flows.clip.application.media.length=0.4",
    "flows.clip.application.media.length: `0.4` is shorter than the frames last; allowed: a number of at least 0.5, the time of the last frame."
)]
#[case(
    "flows.clip.application.media.length=0",
    "flows.clip.application.media.length: `0` is too small; allowed: a number above 0. hint: Length of the clip in seconds, after which it is repeated."
)]
#[case(
    r#"flows.clip.endpoint={ profile = "ns2", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` does not go with the ns2 profile: ns-2's sender lets marks change when it may repair a loss; allowed: off. hint: `flows.clip.endpoint.profile = \"rfc\"` follows RFC 3168."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "newreno", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` needs a recovery with SACK, which does not move the window that a mark has reduced; allowed: off."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "bbr", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` does not go with bbr, whose model answers no marks; allowed: off."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "srt", window = 20 }"#,
    "flows.clip.endpoint.window: is of no use to srt; allowed: mss, profile, srt, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "srt", srt = { latency = "1s", latency-round-trips = 4 } }"#,
    "flows.clip.endpoint.srt.latency-round-trips: stands beside `latency`, which says the same in another way; allowed: one of the two."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "prague", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` tells prague of one mark per round trip only; allowed: accurate."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "prague", ecn = "off" }"#,
    "flows.clip.endpoint.ecn: `off` leaves prague without the marks that it needs; allowed: accurate."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "cubic", ecn = "accurate" }"#,
    "flows.clip.endpoint.ecn: `accurate` is read by prague only, which answers shares of marks; allowed: off, classic."
)]
#[case(
    r#"flows.clip.endpoint={ profile = "ns2", transport = "prague" }"#,
    "flows.clip.endpoint.transport: `prague` does not go with the ns2 profile, whose receivers count no marks; allowed: what is compatible with profile `ns2`. hint: `flows.clip.endpoint.profile = \"rfc\"` follows RFC 9768."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "prague", recovery = "newreno" }"#,
    "flows.clip.endpoint.transport: `prague` does not go with recovery `newreno`, which forgets a retransmission that has to wait; allowed: what is compatible with recovery `newreno`. hint: `flows.clip.endpoint.recovery = \"rfc6675\"` can wait."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "udp", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: is of no use to udp; allowed: mss, profile, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "udp", rto = { floor = "1s" } }"#,
    "flows.clip.endpoint.rto: is of no use to udp; allowed: mss, profile, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "quic", rto = { floor = "1s" } }"#,
    "flows.clip.endpoint.rto: is of no use to quic; allowed: ecn, profile, quic, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "quic-streams", early-retransmit = true }"#,
    "flows.clip.endpoint.early-retransmit: is of no use to quic-streams; allowed: ecn, profile, quic, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "quic-datagrams", ecn = "accurate" }"#,
    "flows.clip.endpoint.ecn: `accurate` is read by prague only, which answers shares of marks; allowed: off, classic."
)]
fn topologies_and_media(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(CHAIN, change), expand(expected));
}
