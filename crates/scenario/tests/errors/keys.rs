//! Keys that are not there, or are missing.

use crate::{DUMBBELL, expand, message};
use rstest::rstest;

#[rstest]
#[case(
    "endpoint.windw=1",
    "endpoint.windw: `windw` is not a key here; allowed: {ENDPOINT}. hint: did you mean `window`?"
)]
#[case(
    "flows.video.endpoint.windw=1",
    "flows.video.endpoint.windw: `windw` is not a key here; allowed: {ENDPOINT}. hint: did you mean `window`?"
)]
#[case(
    "windw=3",
    "windw: `windw` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}. hint: did you mean `endpoint.window` or `flows.NAME.endpoint.window`?"
)]
#[case(
    "window=3",
    "window: `window` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}. hint: did you mean `endpoint.window` or `flows.NAME.endpoint.window`?"
)]
#[case(
    "parsi=3",
    "parsi: `parsi` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}. hint: did you mean `pairs`?"
)]
#[case(
    "queue.packets=3",
    "queue.packets: `queue` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}. hint: did you mean `network.dumbbell.access.queue.packets` or `network.dumbbell.bottleneck.queue.packets`?"
)]
#[case(
    "parameters.x=3",
    "parameters.x: `parameters` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}."
)]
#[case(
    "resolved=true",
    "resolved: `resolved` is neither a parameter nor a key; allowed: parameters (buffer, pairs, transport), and paths that start with {ROOT}."
)]
#[case(
    "endpoint=3",
    "endpoint: `3` is not a table; allowed: a table with the keys {ENDPOINT}. hint: Settings of every endpoint; a flow may override them."
)]
#[case(
    "endpoint.rto=3",
    "endpoint.rto: `3` is not a table; allowed: a table with the keys ceiling, clock-phase, floor, initial, linear-when-thin, restart-on-duplicate, tick. hint: The retransmission timer."
)]
#[case(
    "flows.vdeo.count=3",
    "flows.vdeo: `vdeo` is not in the list; allowed: video, file, web, or a number from 0 to 3. hint: did you mean `video`?"
)]
#[case("flows.9.count=3", "flows.9: `9` is not in the list; allowed: video, file, web, or a number from 0 to 3.")]
#[case(
    "flows.web.count.x=3",
    "flows.web.count.x: `x` is not a key: `flows.web.count` is a value, not a table; allowed: `flows.web.count` itself, which is a whole number of at least 1."
)]
#[case(
    "flows.video.count.x=3",
    "flows.video.count.x: `x` lies within the value of parameter `pairs`; allowed: the key `flows.video.count` as a whole, or the parameter. hint: set `pairs`."
)]
#[case(
    "flows.web.application.foo=1",
    "flows.web.application.foo: `foo` is not a key here; allowed: cbr, bulk, webtraf, mah, surge, http-simple, media, frames, ingest, segments."
)]
#[case(
    "flows.web.name.first=1",
    "flows.web.name.first: `first` is not a key: `flows.web.name` is a value, not a table; allowed: `flows.web.name` itself, which is a text."
)]
#[case("flows=[]", "flows: `[]` is too short; allowed: a list of at least 1. hint: The traffic.")]
#[case("flows=3", "flows: `3` is not a list; allowed: a list of at least 1. hint: The traffic.")]
#[case(
    "flows=[3]",
    "flows.0: `3` is not a table; allowed: a table with the keys access-delay, application, client, count, endpoint, from, lead-time, name, start, to, transport. hint: A group of flows with equal settings."
)]
#[case(
    r#"flows=[{ name = "x" }]"#,
    "flows.x.from: is missing; allowed: a text. hint: The sending node (`left` in a dumbbell)."
)]
#[case("flows.3.name=x", "flows.x.from: is missing; allowed: a text. hint: The sending node (`left` in a dumbbell).")]
#[case(
    "network={}",
    "network: `{}` does not choose exactly one; allowed: { dumbbell = … }, { links = … }. hint: The links and nodes."
)]
#[case(
    "network={ dumbell = {} }",
    "network.dumbell: `dumbell` is not a key here; allowed: dumbbell, links. hint: did you mean `dumbbell`?"
)]
#[case("network={ links = [], dumbbell = {} }", r#"network: `{"dumbbell":{},"links":[]}` does not choose exactly one; allowed: { dumbbell = … }, { links = … }. hint: The links and nodes."#)]
#[case(
    "network={ links = [] }",
    "network.links: `[]` is too short; allowed: a list of at least 1. hint: Any nodes and links; routes take the fewest links."
)]
#[case(
    "network=links",
    "network: `links` is not one of the choices; allowed: { dumbbell = … }, { links = … }. hint: did you mean `{ links = … }`?"
)]
#[case(
    "network=3",
    "network: `3` is not one of the choices; allowed: { dumbbell = … }, { links = … }. hint: The links and nodes."
)]
fn unknown_and_missing_keys(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(DUMBBELL, change), expand(expected));
}
