//! Values out of their range, or that go with no other.

use crate::{DUMBBELL, expand, message};
use rstest::rstest;

#[rstest]
#[case(
    "endpoint.transport=sak",
    "endpoint.transport: `sak` is not a transport; allowed: {TRANSPORTS}. hint: did you mean `sack`?"
)]
#[case(
    "flows.video.transport=carrier-pigeon",
    "flows.video.transport: `carrier-pigeon` is not a transport; allowed: {TRANSPORTS}. hint: The transport, instead of `endpoint.transport`."
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
    "pairs=1000000000",
    "flows.video.count: `1000000000` is too large; allowed: 1 to 100000. hint: The value is that of parameter `pairs`."
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
    "endpoint.window: `0` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more)."
)]
#[case(
    "endpoint.window=-3",
    "endpoint.window: `-3` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more)."
)]
#[case(
    "endpoint.window=1.5",
    "endpoint.window: `1.5` is not a whole number; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more)."
)]
#[case(
    "endpoint.window=99999999999",
    "endpoint.window: `99999999999` is too large; allowed: a whole number up to 4294967295. hint: Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more)."
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
    "endpoint.mss: `0` is too small; allowed: a whole number from 1 to 65495. hint: Payload bytes of a full segment (`ns2`: 1000; else Ethernet's 1500 minus headers: 1448 with timestamps, 1460 without)."
)]
#[case(
    "endpoint.mss=65496",
    "endpoint.mss: `65496` is too large; allowed: a whole number from 1 to 65495. hint: Payload bytes of a full segment (`ns2`: 1000; else Ethernet's 1500 minus headers: 1448 with timestamps, 1460 without)."
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
     allowed: what is compatible with recovery `sack1`. hint: `endpoint.recovery = \"rfc6675\"` can wait."
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
    "endpoint.window-reduction: `prr` needs a recovery that estimates the pipe (RFC 6675); allowed: immediate. hint: recovery `rfc6675` or `rack-tlp` does."
)]
#[case(
    "endpoint={profile='rfc',transport='bbr',window-reduction='prr'}",
    "endpoint.window-reduction: `prr` does not go with `bbr`, which has a window of its own in recovery; allowed: immediate. hint: recovery `rfc6675` or `rack-tlp` does."
)]
#[case(
    "endpoint={profile='rfc',transport='sack-rack',early-retransmit=true}",
    "endpoint.early-retransmit: `true` does not go with `rack-tlp`, which counts no duplicate ACKs; allowed: false. hint: it is early itself."
)]
#[case(
    "endpoint={profile='rfc',transport='sack-rack',thin-duplicates=true}",
    "endpoint.thin-duplicates: `true` does not go with `rack-tlp`, which counts no duplicate ACKs; allowed: false. hint: it is early itself."
)]
#[case(
    "endpoint={profile='rfc',transport='sack-er',thin-duplicates=true}",
    "endpoint.thin-duplicates: `true` is another rule than the one that `-er` selects; allowed: false. hint: leave out `-er`, or the key."
)]
#[case(
    "endpoint={profile='rfc',transport='sack',early-retransmit=true,thin-duplicates=true}",
    "endpoint.thin-duplicates: `true` is another rule than `early-retransmit`; allowed: false. hint: leave out one of the two."
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
    "endpoint.undo: `dsack` reads DSACKs, which need SACK; allowed: none, eifel. hint: transport `sack` enables it."
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
    "flows.file.endpoint.window: `0` is too small; allowed: a whole number of at least 1. hint: Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more)."
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
    "duration: `ten ms` is not a duration; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case(
    "duration=-5s",
    "duration: `-5s` is negative; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case(
    "duration=[1]",
    "duration: `[1]` is not a duration; allowed: {TIMES}. hint: Time from start to end, simulated or real."
)]
#[case("title=5", "title: `5` is not a text; allowed: a text. hint: Subject of the experiment, in one line.")]
#[case("title=inf", "title: `inf` is not finite; allowed: a finite number.")]
#[case(
    "network.dumbbell.access.rate=0Mb/s",
    "network.dumbbell.access.rate: `0Mb/s` is zero; allowed: {RATES}. hint: Rate of the link in bits per second."
)]
#[case(
    "network.dumbbell.access.rate=-1Mb/s",
    "network.dumbbell.access.rate: `-1Mb/s` is negative; allowed: {RATES}. hint: Rate of the link in bits per second."
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
    "network.dumbbell.bottleneck.queue: `5` is not one of the choices; allowed: {QUEUES}. hint: The queue in front (default: `\"unlimited\"`, which never drops)."
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
    "endpoint.copa.delta=11",
    "endpoint.copa.delta: `11` is too large; allowed: a number above 0, at most 10. hint: The weight of delay against throughput in the default mode: a flow has about 1.25 / delta packets in the queue (the paper's δ; default 0.5)."
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
