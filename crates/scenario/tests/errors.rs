//! Every mistake gives one paragraph that names the key, the value, what is allowed, and a hint.

use earlybird_scenario::{canonical_json, resolve, schema, transport_names};
use rstest::rstest;
use serde_json::Value;

const DUMBBELL: &str = include_str!("../../../scenarios/dumbbell.toml");
const CHAIN: &str = r#"
duration = "10s"
parameters = { drops = [], rate = "8Mb/s" }
[[network.links]]
from = "a"
to = "b"
rate = "$rate"
delay = "0ms"
[[network.links]]
from = "b"
to = "c"
rate = "800kb/s"
delay = "100ms"
loss = [{ list = { packets = "$drops" } }]
[[flows]]
name = "clip"
from = "a"
to = "c"
application = { media = { times = [0, 0.5], sizes = [100, 200], length = 1 } }
"#;

const TIMES: &str = "a number with one of the units ns, us, ms, s, min, h, such as 26.7ms or 50s";
const RATES: &str = "a number above 0 with one of the units b/s, kb/s, Mb/s, Gb/s (bits, not bytes; also kbit/s or kbps), \
                     such as 300kb/s or 25Mb/s";
const SHARES: &str = "a number from 0 to 1, or in percent, such as 0.01 or 1%";
const QUEUES: &str = "unlimited, { packets = … }, { bytes = … }, { head-drop = … }, { red = … }, { codel = … }, { pie = … }, \
                      { fq-codel = … }, { dualpi2 = … }";
const ROOT: &str = "duration, endpoint, flows, measure, network, sweep, title";

/// Gives the message for a text with one override, `key=value`; none if it is empty.
fn message(text: &str, change: &str) -> String {
    let change = change.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
    match resolve(text, change.as_slice()) {
        Ok(scenario) => panic!("no error: {}", canonical_json(&scenario)),
        Err(error) => error.to_string(),
    }
}

/// Puts the long lists in the place of their names in braces.
fn expand(message: &str) -> String {
    let lists = [("{TIMES}", TIMES), ("{RATES}", RATES), ("{SHARES}", SHARES), ("{ROOT}", ROOT), ("{QUEUES}", QUEUES)];
    let message = lists.iter().fold(message.to_owned(), |message, (name, list)| message.replace(name, list));
    message.replace("{ENDPOINT}", &endpoint_keys()).replace("{TRANSPORTS}", &transports())
}

fn endpoint_keys() -> String {
    let schema: Value = serde_json::from_str(&schema()).expect("a schema is JSON");
    let mut keys: Vec<_> =
        schema["$defs"]["Endpoint"]["properties"].as_object().expect("a table").keys().cloned().collect();
    keys.sort();
    keys.join(", ")
}

fn transports() -> String {
    let names = transport_names();
    let is_timed = |name: &&String| names.contains(&format!("{name}-fg"));
    let (timed, untimed): (Vec<_>, Vec<_>) = names.iter().filter(|name| !name.ends_with("-fg")).partition(is_timed);
    let [timed, untimed] = [timed, untimed].map(|part| part.into_iter().cloned().collect::<Vec<_>>().join(", "));
    format!("{timed}, each also with -fg; {untimed}")
}

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
    "endpoint: `3` is not a table; allowed: a table with the keys {ENDPOINT}. hint: Settings of every endpoint unless a flow says otherwise."
)]
#[case(
    "endpoint.rto=3",
    "endpoint.rto: `3` is not a table; allowed: a table with the keys ceiling, clock-phase, floor, initial, restart-on-duplicate, tick. hint: The retransmission timer."
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
    "flows.web.application.foo: `foo` is not a key here; allowed: cbr, bulk, webtraf, mah, surge, http-simple, media, frames."
)]
#[case(
    "flows.web.name.first=1",
    "flows.web.name.first: `first` is not a key: `flows.web.name` is a value, not a table; allowed: `flows.web.name` itself, which is a text."
)]
#[case("flows=[]", "flows: `[]` is too short; allowed: a list of at least 1. hint: The traffic.")]
#[case("flows=3", "flows: `3` is not a list; allowed: a list of at least 1. hint: The traffic.")]
#[case(
    "flows=[3]",
    "flows.0: `3` is not a table; allowed: a table with the keys access-delay, application, client, count, endpoint, from, lead-time, name, start, to, transport. hint: A group of like flows."
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

#[rstest]
#[case("tahoe", "sack", "needs a window that begins again at one segment after every loss")]
#[case("newreno", "sack", "does without SACK")]
#[case("sack1", "reno", "is not the recovery that this transport is named after")]
#[case("reno", "newreno-er", "is not the recovery that this transport is named after")]
fn recoveries_that_do_not_go_with_a_transport(#[case] recovery: &str, #[case] transport: &str, #[case] reason: &str) {
    let text = CHAIN.replace("[[flows]]", &format!("[endpoint]\ntransport = \"{transport}\"\n[[flows]]"));
    let hint = "name the transport after the recovery, or leave the recovery out.";
    let allowed = format!("what goes with transport `{transport}`");
    let expected = format!("endpoint.recovery: `{recovery}` {reason}; allowed: {allowed}. hint: {hint}");
    assert_eq!(message(&text, &format!("endpoint.recovery={recovery}")), expected);
}

#[rstest]
#[case(
    "endpoint.transport=sak",
    "endpoint.transport: `sak` is not a transport; allowed: {TRANSPORTS}. hint: did you mean `sack`?"
)]
#[case(
    "flows.video.transport=carrier-pigeon",
    "flows.video.transport: `carrier-pigeon` is not a transport; allowed: {TRANSPORTS}. hint: The transport, in place of `endpoint.transport`."
)]
#[case(
    "endpoint.transport=3",
    "endpoint.transport: `3` is not a transport; allowed: {TRANSPORTS}. hint: Congestion control and loss repair by name (default `sack`; `linux`: `cubic`); `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` has the fine-grained RTO."
)]
#[case(
    "transport=sak",
    "flows.video.transport: `sak` is not a transport; allowed: {TRANSPORTS}. hint: did you mean `sack`? The value is that of parameter `transport`."
)]
#[case(
    "pairs=0",
    "flows.video.count: `0` is too small; allowed: a whole number of at least 1. hint: Number of flows (default 1). The value is that of parameter `pairs`."
)]
#[case(
    "pairs=x",
    "flows.video.count: `x` is not a whole number; allowed: a whole number of at least 1. hint: Number of flows (default 1). The value is that of parameter `pairs`."
)]
#[case(
    "endpoint.profile=ns3",
    "endpoint.profile: `ns3` is not one of the choices; allowed: ns2, rfc, linux. hint: did you mean `ns2`?"
)]
#[case(
    "endpoint.pert.preset=flatt",
    "endpoint.pert.preset: `flatt` is not one of the choices; allowed: default, text, guarded, port, flat, h, pi. hint: did you mean `flat`?"
)]
#[case(
    "endpoint.window=0",
    "endpoint.window: `0` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else as many as the receive buffer holds, or 6 MiB if that is smaller or not given)."
)]
#[case(
    "endpoint.window=-3",
    "endpoint.window: `-3` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else as many as the receive buffer holds, or 6 MiB if that is smaller or not given)."
)]
#[case(
    "endpoint.window=1.5",
    "endpoint.window: `1.5` is not a whole number; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else as many as the receive buffer holds, or 6 MiB if that is smaller or not given)."
)]
#[case(
    "endpoint.window=99999999999",
    "endpoint.window: `99999999999` is too large; allowed: a whole number up to 4294967295. hint: Largest window in segments (`ns2`: 64; else as many as the receive buffer holds, or 6 MiB if that is smaller or not given)."
)]
#[case(
    "endpoint.receive-buffer=0",
    "endpoint.receive-buffer: `0` is too small; allowed: a whole number of at least 1. hint: Bytes that the receiver holds for an application that does not read (default: as many as `window` offers; `linux`: 64 kB at first, and up to 32 MB as the application reads)."
)]
#[case(
    "endpoint.initial-window=0",
    "endpoint.initial-window: `0` is too small; allowed: a whole number of at least 1. hint: Window after the handshake in segments (`ns2`: 2, `rfc`: RFC 3390, `linux`: 10)."
)]
#[case(
    "endpoint.mss=0",
    "endpoint.mss: `0` is too small; allowed: a whole number from 1 to 65495. hint: Payload bytes of a full segment (`ns2`: 1000; else what Ethernet's 1500 leave beside headers: 1448 with timestamps, 1460 without)."
)]
#[case(
    "endpoint.mss=65496",
    "endpoint.mss: `65496` is too large; allowed: a whole number from 1 to 65495. hint: Payload bytes of a full segment (`ns2`: 1000; else what Ethernet's 1500 leave beside headers: 1448 with timestamps, 1460 without)."
)]
#[case(
    "endpoint.timestamps=1",
    "endpoint.timestamps: `1` is neither true nor false; allowed: true or false. hint: RFC 7323 timestamps (`ns2`: false, `rfc` and `linux`: true)."
)]
#[case(
    "endpoint.pacing=true",
    "endpoint.pacing: `true` does not go with recovery `sack1`, which forgets a retransmission that has to wait; allowed: \
     false. hint: `endpoint.recovery = \"rfc6675\"` can wait."
)]
#[case(
    "endpoint={profile='rfc',transport='bbr',pacing=false}",
    "endpoint.pacing: `false` does not go with `bbr`, which always sends at a rate of its own; allowed: true."
)]
#[case(
    "endpoint={profile='ns2',transport='vegas',early-retransmit=true}",
    "endpoint.early-retransmit: `true` does not go with ns-2's Vegas, which has a fine timer of its own; allowed: false. \
     hint: profile `rfc` repairs by SACK."
)]
#[case(
    "endpoint.transport=bbr",
    "endpoint.transport: `bbr` does not go with recovery `sack1`, which forgets a retransmission that has to wait; \
     allowed: what goes with recovery `sack1`. hint: `endpoint.recovery = \"rfc6675\"` can wait."
)]
#[case(
    "endpoint.cubic={ version = 'v21', slow-start = 'hystart-plus-plus' }",
    "endpoint.cubic.slow-start: `hystart-plus-plus` does not go with Linux's whole segments; allowed: standard, hystart, hystart-linux. \
     hint: `endpoint.cubic.version = \"rfc9438\"` counts in fractions."
)]
#[case("endpoint.pert.pi.rtt=0s", "endpoint.pert.pi.rtt: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    "endpoint={transport='sack-rack',recovery='rfc6675'}",
    "endpoint.recovery: `rfc6675` is not what the transport's name says; allowed: rack-tlp. hint: leave out `-rack`, or the key."
)]
#[case(
    "endpoint={profile='ns2',window-reduction='prr'}",
    "endpoint.window-reduction: `prr` needs a recovery that knows what is in the network; allowed: immediate. hint: recovery `rfc6675` or `rack-tlp` knows."
)]
#[case(
    "endpoint={profile='rfc',transport='bbr',window-reduction='prr'}",
    "endpoint.window-reduction: `prr` does not go with `bbr`, which has a window of its own in recovery; allowed: immediate. hint: recovery `rfc6675` or `rack-tlp` knows."
)]
#[case(
    "endpoint={profile='rfc',transport='sack-rack',early-retransmit=true}",
    "endpoint.early-retransmit: `true` does not go with `rack-tlp`, which counts no duplicate ACKs; allowed: false. hint: it is early itself."
)]
#[case(
    "endpoint={profile='rfc',transport='sack-er',early-retransmit=true}",
    "endpoint.early-retransmit: `true` is another rule than the one that `-er` selects; allowed: false. hint: leave out `-er`, or the key."
)]
#[case(
    "endpoint={profile='ns2',spurious-rto-detection=true}",
    "endpoint.spurious-rto-detection: `true` does not go with ns-2's senders, which take nothing back; allowed: false. hint: set `recovery` to `rfc6675` or `rack-tlp`."
)]
#[case(
    "endpoint={profile='rfc',transport='tahoe',undo='eifel'}",
    "endpoint.undo: `eifel` does not go with `tahoe`, which begins again after every loss; allowed: none. hint: transport `newreno` can do it."
)]
#[case(
    "endpoint={profile='rfc',timestamps=false,undo='eifel'}",
    "endpoint.undo: `eifel` reads timestamps, which are off; allowed: none, dsack. hint: set `timestamps = true`."
)]
#[case(
    "endpoint={profile='ns2',recovery='rfc6675',undo='dsack'}",
    "endpoint.undo: `dsack` reads DSACKs, which ns-2's receivers do not send; allowed: none, eifel. hint: the `rfc` profile's do."
)]
#[case(
    "endpoint={profile='rfc',transport='newreno',undo='dsack'}",
    "endpoint.undo: `dsack` reads DSACKs, which need SACK; allowed: none, eifel. hint: transport `sack` asks for it."
)]
#[case(
    "endpoint={transport='sack-er',recovery='rack-tlp'}",
    "endpoint.recovery: `rack-tlp` counts no duplicate ACKs, which early retransmission needs; allowed: sack1, rfc6675. hint: leave out `-er`: RACK-TLP itself is early."
)]
#[case("endpoint.rto.tick=0s", "endpoint.rto.tick: `0s` is no time at all; allowed: a duration above 0s.")]
#[case("endpoint.rto.initial=0s", "endpoint.rto.initial: `0s` is no time at all; allowed: a duration above 0s.")]
#[case(
    "endpoint.rto.floor=2min",
    "endpoint.rto.floor: `120s` is above the largest timeout; allowed: a duration up to 60s. hint: raise `endpoint.rto.ceiling`."
)]
#[case(
    "flows.file.endpoint.window=0",
    "flows.file.endpoint.window: `0` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else as many as the receive buffer holds, or 6 MiB if that is smaller or not given)."
)]
#[case(
    "flows.file.endpoint.rto.floor=61s",
    "flows.file.endpoint.rto.floor: `61s` is above the largest timeout; allowed: a duration up to 60s. hint: raise `flows.file.endpoint.rto.ceiling`."
)]
#[case(
    "flows.file.endpoint.transport=sak",
    "flows.file.endpoint.transport: `sak` is not a transport; allowed: {TRANSPORTS}. hint: did you mean `sack`?"
)]
#[case(
    "flows.file.endpoint=3",
    "flows.file.endpoint: `3` is not a table; allowed: a table with the keys {ENDPOINT}. hint: Endpoint settings that differ from the scenario's, given as the keys of `endpoint`."
)]
#[case(
    "flows.video.endpoint.transport=pert",
    "flows.video.endpoint.transport: is given twice; allowed: `flows.video.transport`, or this key, not both."
)]
#[case("duration=0s", "duration: `0s` is no time at all; allowed: a duration above 0s.")]
#[case("duration=10", "duration: `10` has no unit; allowed: {TIMES}. hint: did you mean `10s`?")]
#[case(
    "duration=ten ms",
    "duration: `ten ms` is not a duration; allowed: {TIMES}. hint: Simulated time from start to end."
)]
#[case("duration=-5s", "duration: `-5s` is negative; allowed: {TIMES}. hint: Simulated time from start to end.")]
#[case("duration=[1]", "duration: `[1]` is not a duration; allowed: {TIMES}. hint: Simulated time from start to end.")]
#[case("title=5", "title: `5` is not a text; allowed: a text. hint: What this experiment shows, in one line.")]
#[case("title=inf", "title: `inf` is not finite; allowed: a finite number.")]
#[case(
    "network.dumbbell.access.rate=0Mb/s",
    "network.dumbbell.access.rate: `0Mb/s` is zero; allowed: {RATES}. hint: How fast the link sends, in bits per second."
)]
#[case(
    "network.dumbbell.access.rate=-1Mb/s",
    "network.dumbbell.access.rate: `-1Mb/s` is negative; allowed: {RATES}. hint: How fast the link sends, in bits per second."
)]
#[case(
    "network.dumbbell.access.rate=25 MB/s",
    "network.dumbbell.access.rate: `25 MB/s` is not a rate: `MB/s` is not a unit; allowed: {RATES}. hint: did you mean `200Mb/s`?"
)]
#[case(
    "network.dumbbell.bottleneck.queue.packets=0",
    "network.dumbbell.bottleneck.queue.packets: `0` is too small; allowed: a whole number of at least 1. hint: Limit in packets."
)]
#[case(
    "network.dumbbell.bottleneck.queue.bytes=0",
    "network.dumbbell.bottleneck.queue.bytes: `0` is too small; allowed: a whole number of at least 1. hint: Limit in bytes."
)]
#[case(
    "network.dumbbell.bottleneck.queue=unlimitd",
    "network.dumbbell.bottleneck.queue: `unlimitd` is not one of the choices; allowed: {QUEUES}. hint: did you mean `unlimited`?"
)]
#[case(
    "network.dumbbell.bottleneck.queue=5",
    "network.dumbbell.bottleneck.queue: `5` is not one of the choices; allowed: {QUEUES}. hint: The queue in front."
)]
#[case(
    "buffer=0",
    "network.dumbbell.bottleneck.queue.packets: `0` is too small; allowed: a whole number of at least 1. hint: Limit in packets. The value is that of parameter `buffer`."
)]
#[case(
    "flows.web.application.webtraf.sessions=0",
    "flows.web.application.webtraf.sessions: `0` is too small; allowed: a whole number of at least 1. hint: Sessions of each flow of the group (default 200)."
)]
#[case(
    "flows.web.application.webtraf.object-packets=0",
    "flows.web.application.webtraf.object-packets: `0` is too small; allowed: a number above 0. hint: Mean object size in packets (default 12)."
)]
#[case(
    "flows.web.application.webtraf.object-shape=1",
    "flows.web.application.webtraf.object-shape: `1` is too small; allowed: a number above 1. hint: Shape of the Lomax distribution of object sizes (default 1.2)."
)]
#[case(
    "flows.web.application.webtraf.object-shape=x",
    "flows.web.application.webtraf.object-shape: `x` is not a number; allowed: a number above 1. hint: Shape of the Lomax distribution of object sizes (default 1.2)."
)]
#[case(
    "flows.video.application.cbr.packet=0",
    "flows.video.application.cbr.packet: `0` is too small; allowed: a whole number from 1 to 1000000000. hint: Payload bytes of one write."
)]
#[case(
    "flows.file.application.bulk.bytes=0",
    "flows.file.application.bulk.bytes: `0` is too small; allowed: a whole number of at least 1. hint: Bytes to send (default: without end)."
)]
fn values_out_of_range(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(DUMBBELL, change), expand(expected));
}

#[rstest]
#[case(
    "measure.warm-up=1000s",
    "measure.warm-up: `1000s` leaves nothing of a run of 1000s; allowed: a duration shorter than 1000s. hint: shorten it, or lengthen `duration`."
)]
#[case(
    "measure.bursts={ count = 0 }",
    "measure.bursts.count: `0` is too small; allowed: a whole number of at least 1. hint: Bursts to measure (default: all). Where fewer can be told apart because a recovery lasts into the next burst, the run is made again with the first burst of the bottleneck's `periodic` rule alone, and without the packets of the others."
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
    "network.dumbbell.bottleneck.loss.0.gilbert-elliott.r: is missing; allowed: {SHARES}. hint: Probability r of turning good again."
)]
#[case(
    r#"network.dumbbell.bottleneck.loss=[{ gilbert-elliott = { p = 0.1, r = 0.5, flow = "vidoe" } }]"#,
    "network.dumbbell.bottleneck.loss.0.gilbert-elliott.flow: `vidoe` is neither a flow nor a group of flows; allowed: video, file, web. hint: did you mean `video`?"
)]
#[case(
    "network.dumbbell.bottleneck.loss=[{ gilbert-eliot = { p = 0.1, r = 0.5 } }]",
    "network.dumbbell.bottleneck.loss.0.gilbert-eliot: `gilbert-eliot` is not a key here; allowed: list, bernoulli, periodic, gilbert-elliott, gilbert, four-state, fading. hint: did you mean `gilbert-elliott`?"
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
    "network.dumbbell.bottleneck.loss.0.fading.mean-fade: `3` has no unit; allowed: {TIMES}. hint: did you mean `3s`?"
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
    "network.dumbbell.bottleneck.reorder.delay: is missing; allowed: {TIMES}. hint: How much later a kept packet arrives; the most if `packets` is given."
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
    "network.links.a-b.rate: `0b/s` is zero; allowed: {RATES}. hint: How fast the link sends, in bits per second. The value is that of parameter `rate`."
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
    "flows.clip.application.media.times: `0.5, 0` goes back in time; allowed: times that never fall."
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
    "flows.clip.application.media.length: `0` is too small; allowed: a number above 0. hint: Length of the clip in seconds, after which it starts again."
)]
#[case(
    r#"flows.clip.endpoint={ profile = "ns2", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` does not go with the ns2 profile: ns-2's sender lets marks change when it may repair a loss; allowed: off. hint: `flows.clip.endpoint.profile = \"rfc\"` follows RFC 3168."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "newreno", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: `classic` goes with a recovery by SACK, which does not move the window that a mark has reduced; allowed: off."
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
    "flows.clip.endpoint.ecn: `off` leaves prague without the marks it lives by; allowed: accurate."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "cubic", ecn = "accurate" }"#,
    "flows.clip.endpoint.ecn: `accurate` is read by prague only, which answers shares of marks; allowed: off, classic."
)]
#[case(
    r#"flows.clip.endpoint={ profile = "ns2", transport = "prague" }"#,
    "flows.clip.endpoint.transport: `prague` does not go with the ns2 profile, whose receivers count no marks; allowed: what goes with profile `ns2`. hint: `flows.clip.endpoint.profile = \"rfc\"` follows RFC 9768."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "prague", recovery = "newreno" }"#,
    "flows.clip.endpoint.transport: `prague` does not go with recovery `newreno`, which forgets a retransmission that has to wait; allowed: what goes with recovery `newreno`. hint: `flows.clip.endpoint.recovery = \"rfc6675\"` can wait."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "udp", ecn = "classic" }"#,
    "flows.clip.endpoint.ecn: is of no use to udp; allowed: mss, profile, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
#[case(
    r#"flows.clip.endpoint={ transport = "udp", rto = { floor = "1s" } }"#,
    "flows.clip.endpoint.rto: is of no use to udp; allowed: mss, profile, transport. hint: what `endpoint` sets for all flows may stay there: those that can use it read it."
)]
fn topologies_and_media(#[case] change: &str, #[case] expected: &str) {
    assert_eq!(message(CHAIN, change), expand(expected));
}

#[rstest]
#[case::broken_toml(
    "duration = \"10s\"\nflows == 3\n",
    "line 2, column 8: `flows == 3` is not TOML: extra `=`, expected nothing; allowed: TOML, or JSON in a text that starts with `{`."
)]
#[case::broken_toml_twice("duration = \"10s\"\nduration = \"11s\"\n", r#"line 2, column 1: `duration = "11s"` is not TOML: duplicate key; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::broken_toml_end("duration = \"10s", r#"line 1, column 16: `duration = "10s` is not TOML: invalid basic string, expected `"`; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::broken_json("{\n  \"duration\": \"10s\",\n  \"flows\": [}\n", r#"line 3, column 13: `"flows": [}` is not JSON: expected value; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::cut_json("{\"duration\": \"10s\"", r#"line 1, column 18: `{"duration": "10s"` is not JSON: EOF while parsing an object; allowed: TOML, or JSON in a text that starts with `{`."#)]
#[case::empty("", "duration: is missing; allowed: {TIMES}. hint: Simulated time from start to end.")]
#[case::nothing_but_a_key(
    "duraton = \"1s\"",
    "duraton: `duraton` is not a key here; allowed: duration, endpoint, flows, measure, network, parameters, resolved, sweep, title, variants. hint: did you mean `duration`?"
)]
#[case::null(
    "{\"duration\": null, \"network\": 3, \"flows\": []}",
    "duration: `null` is not a duration; allowed: {TIMES}. hint: Simulated time from start to end."
)]
#[case::date(
    "duration = 1979-05-27\nflows = []\nnetwork = 3",
    "duration: `1979-05-27` is not a duration; allowed: {TIMES}. hint: Simulated time from start to end."
)]
#[case::nan(
    "duration = \"1s\"\n[network.dumbbell]\nbottleneck = [nan]",
    "network.dumbbell.bottleneck.0: `NaN` is not finite; allowed: a finite number."
)]
#[case::undeclared(
    "title = \"$name\"",
    "title: `$name` is not a parameter; allowed: no name, as [parameters] is empty."
)]
#[case::undeclared_near(
    "title = \"$nam\"\n[parameters]\nname = 3",
    "title: `$nam` is not a parameter; allowed: $name. hint: did you mean `$name`?"
)]
#[case::undeclared_in_list(
    "flows = [{ name = \"x\" }, { name = \"y\", count = \"$n\" }]",
    "flows.y.count: `$n` is not a parameter; allowed: no name, as [parameters] is empty."
)]
#[case::unused("[parameters]\nname = 3", r#"parameters.name: `name` is declared but never used; allowed: parameters that a value or a variant refers to. hint: write "$name" where its value belongs, or take it out."#)]
#[case::bad_name(
    "title = \"$n.m\"\n[parameters]\n\"n.m\" = 3",
    "parameters.n.m: `n.m` is not a name for a parameter; allowed: a letter followed by letters, digits, `-` and `_`."
)]
#[case::chained(
    "title = \"$a\"\n[parameters]\na = \"$b\"\nb = \"x\"",
    "parameters.a: `$b` refers to another parameter, `b`; allowed: a value."
)]
#[case::parameters_no_table(
    "parameters = 3",
    "duration: is missing; allowed: {TIMES}. hint: Simulated time from start to end."
)]
#[case::variants_no_table(
    "variants = 3",
    "variants: `3` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_undeclared(
    "[variants.option.x]\n[parameters]\noptions = 3\n[variants.options.3]",
    "variants.option: `option` is not a parameter; allowed: options. hint: did you mean `options`?"
)]
#[case::variants_list(
    "variants.o = [1]\nparameters.o = 1",
    "variants.o: `[1]` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_overlay(
    "variants.o.1 = 5\nparameters.o = 1",
    "variants.o.1: `5` is not a table; allowed: tables [variants.PARAMETER.VALUE] with the keys to change."
)]
#[case::variants_parameters(
    "variants.o.1.parameters.o = 5\nparameters.o = 1",
    "variants.o.1.parameters: `parameters` cannot depend on a parameter; allowed: the other keys of a scenario."
)]
#[case::variants_value(
    "variants.o.fall96.title = \"x\"\nparameters.o = \"fall95\"",
    "o: `fall95` is not among its variants; allowed: fall96. hint: did you mean `fall96`?"
)]
#[case::variants_key(
    "variants.o.1.titel = \"x\"\nparameters.o = 1\n",
    "titel: `titel` is not a key here; allowed: duration, endpoint, flows, measure, network, parameters, resolved, sweep, title, variants. hint: did you mean `title`?"
)]
#[case::variants_element(
    "flows = [{name = \"x\"}]\nvariants.o.1.flows.y.count = 3\nparameters.o = 1\n",
    "flows.y: `y` is not in the list; allowed: x, or a number from 0 to 1."
)]
fn broken_texts(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(message(text, ""), expand(expected));
}

#[rstest]
#[case(
    "flows.clip.client={ deadline = { playback-delay = \"0s\" } }",
    "flows.clip.client.deadline.playback-delay: `0s` is no time at all; allowed: a duration above 0s."
)]
#[case(
    "flows.clip.client={ deadline = { adaptive = { least = \"2s\" } } }",
    "flows.clip.client.deadline.adaptive.least: `2s` is above the playback delay; allowed: a duration up to 250ms."
)]
#[case(
    "flows.clip.client={ rebuffer = { resume = 0 } }",
    "flows.clip.client.rebuffer.resume: `0` is too small; allowed: a whole number of at least 1. hint: Units that must be there before it goes on after a stall (default 1)."
)]
#[case(
    "flows.clip.endpoint={ real-time = { delivery = \"in-order\" } }",
    "flows.clip.endpoint.real-time: is read by transports of the real-time mode only; allowed: nothing with this transport. hint: `flows.clip.transport = \"mtcp\"` has this mode; every policy of it can be changed."
)]
#[case("endpoint={ real-time = { delivery = { skip-at-deadline = \"0ms\" } } }", "")]
#[case(
    "endpoint={ real-time = { backlog = { discard-past-deadline = \"1s\" }, send-limit = \"unlimited\" } }",
    "endpoint.real-time.send-limit: has no effect where only age decides; allowed: nothing, or another `backlog`."
)]
#[case(
    "endpoint={ transport = \"mtcp\", real-time = { backlog = \"drop\" } }",
    "endpoint.real-time.backlog: `drop` is not one of the choices; allowed: block, discard-oldest, { discard-past-deadline = … }, { discard-hopeless = … }. hint: What the sender does about old data that it still holds."
)]
fn real_time_modes_and_clients_that_make_no_sense(#[case] change: &str, #[case] expected: &str) {
    if expected.is_empty() {
        resolve(CHAIN, &[change.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap()])
            .unwrap();
    } else {
        assert_eq!(message(CHAIN, change), expected);
    }
}

#[test]
fn the_real_time_mode_carries_frames_and_a_client_listens_to_media() {
    let bulk = CHAIN.replace("media = { times = [0, 0.5], sizes = [100, 200], length = 1 }", "bulk = {}");
    assert_eq!(
        message(&bulk, "flows.clip.transport=mtcp"),
        "flows.clip.application.bulk: has no frames, which mtcp carries; allowed: cbr, frames, media."
    );
    assert_eq!(
        message(&bulk, "flows.clip.client={ deadline = {} }"),
        "flows.clip.client: listens to media, which bulk is not; allowed: a client for an application of the kind cbr, frames or media."
    );
}
