"""
A scenario as typed objects: the names of the TOML form with underscores for hyphens (and ``from_`` for ``from``).

Written by ``make schema`` from the JSON schema; change crates/scenario/src/model.rs instead. What is left out
(``None``) takes the default of the core. Where the TOML form has a table with one of several keys, such as
``application = { cbr = … }``, exactly one field is to be given: ``Application(cbr=Cbr(…))``.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias
from earlybird.parameter import Parameter
from dataclasses import dataclass


AgeReference: TypeAlias = Literal["missing", "last-in-order"] | Parameter
"""
The packet whose age the early-retransmission rule reads.
"""


AlphaRule: TypeAlias = Literal["direct", "ramped", "literal"] | Parameter
"""
The rule by which PERT's increase per round trip moves to its target.
"""


Backend: TypeAlias = Literal["sim", "live", "kernel"] | Parameter
"""
The backend that runs an experiment. The links are the same in all of them.
"""


@dataclass(kw_only=True)
class Bulk:
    """
    A transfer that always has data, or a given amount.
    """

    bytes: int | Parameter | None = None
    """
    Bytes to send (default: without end).
    """


CubicVersion: TypeAlias = Literal["rfc9438", "v21", "v23", "linux"] | Parameter
"""
Versions of CUBIC.
"""


CurveTail: TypeAlias = Literal["gentle", "flat"] | Parameter
"""
PERT's response curve above its second threshold.
"""


@dataclass(kw_only=True)
class DropList:
    """
    Packets to lose by number.
    """

    packets: list[int | Parameter] | Parameter
    """
    The numbers, in rising order; the opening packet of a lone flow has number 0.
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow (`video0`) or group (`video`).
    """


@dataclass(kw_only=True)
class EarlyRetransmission:
    """
    The early-retransmission rule's flags.
    """

    reference: AgeReference | None = None
    """
    Whose age is compared with the threshold (default `missing`).
    """


EcnMode: TypeAlias = Literal["off", "classic", "accurate"] | Parameter
"""
Explicit congestion notification: whether queues may mark packets instead of dropping them.
"""


Fraction: TypeAlias = float | str
"""
A share from 0 to 1, as a number or in percent: `0.01` or `"1%"`.
"""


@dataclass(kw_only=True)
class Gilbert:
    """
    Bursts of losses of random length: r = 1/L and p = r·P/(1 − P) for a share P in bursts of L packets.
    """

    mean_burst: float | Parameter
    """
    Mean length L of a burst in packets; 1/(1 − P) means independent losses.
    """
    ratio: Fraction
    """
    Share P of the packets to lose, below 1.
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """


@dataclass(kw_only=True)
class GilbertElliott:
    """
    A channel that is good or bad (Gilbert 1960, Elliott 1963). Its state decides about a packet, and may then change.
    """

    p: Fraction
    """
    Probability p of turning bad after a packet.
    """
    r: Fraction
    """
    Probability r of the change to the good state.
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """
    loss_in_bad: Fraction | None = None
    """
    Probability 1−h of losing a packet while bad (default 1).
    """
    loss_in_good: Fraction | None = None
    """
    Probability 1−k of losing a packet while good (default 0).
    """


LossFactor: TypeAlias = Literal["beta", "half"] | Parameter
"""
PERT's window reduction on loss.
"""


@dataclass(kw_only=True)
class Mah:
    """
    Web users as Mah measured them in 1995 (INFOCOM 1997): sizes, files per page, pages per server and pauses are drawn from
    the published quantiles.
    """

    pairs: int | Parameter | None = None
    """
    Pairs of hosts that the sessions share (default 20).
    """
    parallel: int | Parameter | None = None
    """
    The most requests of a session at a time (default 4).
    """
    persistent: bool | Parameter | None = None
    """
    Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    """
    sessions: int | Parameter | None = None
    """
    Sessions of each flow of the group (default 200).
    """


MaxDelay: TypeAlias = Literal["smoothed", "raw"] | Parameter
"""
The delay of which PERT's largest queueing delay is the maximum.
"""


@dataclass(kw_only=True)
class Media:
    """
    Frames of a film.
    """

    length: float | Parameter
    """
    Length of the clip in seconds, after which it is repeated.
    """
    sizes: list[int | Parameter] | Parameter
    """
    Bytes of each frame.
    """
    times: list[float | Parameter] | Parameter
    """
    Time of each frame from the start of the clip, in seconds, never falling.
    """


@dataclass(kw_only=True)
class NewReno:
    """
    `NewReno`'s flags (recovery `newreno`).
    """

    impatient: bool | Parameter | None = None
    """
    Only the first partial ACK restarts the retransmission timer: RFC 6582 §4 "impatient", ns-2's `newreno_changes1_`
    (default true).
    """
    partial_window_deflation: bool | Parameter | None = None
    """
    A partial ACK takes what it acknowledges from the inflated window: RFC 6582 §3.2, ns-2's
    `partial_window_deflation_` (default true; false ends the inflation).
    """


@dataclass(kw_only=True)
class Periodic:
    """
    Losses at regular distances.
    """

    period: int | Parameter
    """
    Packets from the start of one burst to the start of the next.
    """
    burst: int | Parameter | None = None
    """
    Packets lost in a row (default 1).
    """
    bursts: int | Parameter | None = None
    """
    Number of bursts (default: without end).
    """
    first: int | Parameter | None = None
    """
    Number of the first packet lost, counted from 0 (default: `period`).
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """
    random_start: bool | Parameter | None = None
    """
    Begin at any packet of the first period but its first, by the seed (default false).
    """


PertForm: TypeAlias = Literal["adaptive", "homogeneous"] | Parameter
"""
The forms of PERT.
"""


PertPreset: TypeAlias = Literal["default", "text", "guarded", "port", "flat", "h", "pi"] | Parameter
"""
Named sets of PERT flags.
"""


Profile: TypeAlias = Literal["ns2", "rfc", "linux"] | Parameter
"""
Whose rules an endpoint follows.
"""


QuicControl: TypeAlias = Literal["cubic", "new-reno"] | Parameter
"""
A congestion control of quinn. Its BBR is not offered: it draws from the machine's random numbers, so that equal seeds would not
give equal runs.
"""


Rate: TypeAlias = str
"""
A data rate above zero with its unit: b/s, kb/s, Mb/s or Gb/s (also bit/s or bps).
"""


RateRule: TypeAlias = Literal["throughput", "bola", "l2a", "hls.js", "dash.js", "shaka"] | Parameter
"""
Rate adaptation of a viewer.
"""


Recovery: TypeAlias = Literal["sack1", "rfc6675", "tahoe", "reno", "newreno", "rack-tlp"] | Parameter
"""
Loss detection and repair. The profile and the transport choose one if none is given.
"""


@dataclass(kw_only=True)
class Reno:
    """
    Reno's flags (recovery `reno`).
    """

    second_fast_retransmit: bool | Parameter | None = None
    """
    Any three duplicate ACKs begin a fast retransmit, even within a window that was already reduced: the Reno of 1990,
    ns-2's `bugFix_ 0` (default false, which leaves further losses of a window to the timer).
    """


Seeds: TypeAlias = int | Parameter | list[int | Parameter]
"""
A number of seeds, or the seeds themselves.
"""


SizeUnit: TypeAlias = Literal["bytes", "bits"] | Parameter
"""
The unit of a trace's sizes.
"""


SlowStart: TypeAlias = Literal["standard", "hystart", "hystart-linux", "hystart-plus-plus"] | Parameter
"""
The end of slow start.
"""


@dataclass(kw_only=True)
class Sound:
    """
    Packets of sound.
    """

    sizes: list[int | Parameter] | Parameter
    """
    Bytes of each.
    """
    times: list[float | Parameter] | Parameter
    """
    The time at which each is needed, in seconds from the start of the film, never falling.
    """


@dataclass(kw_only=True)
class Surge:
    """
    User equivalents of SURGE (Barford and Crovella, SIGMETRICS 1998): one object after the other, with pauses.
    """

    pairs: int | Parameter | None = None
    """
    Pairs of hosts that the sessions share (default 20).
    """
    persistent: bool | Parameter | None = None
    """
    Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    """
    request: int | Parameter | None = None
    """
    Bytes of each request, which SURGE leaves open (default 256).
    """
    sessions: int | Parameter | None = None
    """
    Sessions of each flow of the group (default 200).
    """


@dataclass(kw_only=True)
class Sweep:
    """
    The runs of a sweep: every combination of the grid's values with every seed.
    """

    grid: dict[str, list[Any] | Parameter] | None = None
    """
    Values for keys, as `--set` takes them.
    """
    seeds: Seeds | None = None
    """
    Number of seeds (1 … n) or a list of seeds (default 1).
    """


Time: TypeAlias = str
"""
A span of time with its unit: ns, us, ms, s, min or h.
"""


TimeUnit: TypeAlias = Literal["ms", "s"] | Parameter
"""
The unit of a trace's times.
"""


Trace: TypeAlias = str | list[int | Parameter] | Parameter
"""
Delivery opportunities of 1500 bytes, as mahimahi's: a file, or its contents. They repeat from the last time on.
"""


@dataclass(kw_only=True)
class TraceStart:
    """
    The place in a trace at which a run begins.
    """

    at: Time | None = None
    """
    At this time of the trace.
    """


Transport: TypeAlias = (
    Literal[
        "tahoe",
        "tahoe-fg",
        "reno",
        "reno-fg",
        "reno-er",
        "reno-er-fg",
        "newreno",
        "newreno-fg",
        "newreno-er",
        "newreno-er-fg",
        "sack",
        "sack-fg",
        "sack-er",
        "sack-er-fg",
        "sack-rack",
        "sack-rack-fg",
        "bbr",
        "bbr-fg",
        "bbr-er",
        "bbr-er-fg",
        "bbr-rack",
        "bbr-rack-fg",
        "vegas",
        "vegas-fg",
        "cubic",
        "cubic-fg",
        "cubic-er",
        "cubic-er-fg",
        "cubic-rack",
        "cubic-rack-fg",
        "pert",
        "pert-fg",
        "pert-er",
        "pert-er-fg",
        "pert-rack",
        "pert-rack-fg",
        "bbr3",
        "bbr3-fg",
        "bbr3-er",
        "bbr3-er-fg",
        "bbr3-rack",
        "bbr3-rack-fg",
        "bbr1",
        "bbr1-fg",
        "bbr1-er",
        "bbr1-er-fg",
        "bbr1-rack",
        "bbr1-rack-fg",
        "copa",
        "copa-fg",
        "copa-er",
        "copa-er-fg",
        "copa-rack",
        "copa-rack-fg",
        "prague",
        "prague-fg",
        "prague-er",
        "prague-er-fg",
        "prague-rack",
        "prague-rack-fg",
        "udp",
        "tfrc",
        "srt",
        "quic",
        "quic-streams",
        "quic-datagrams",
        "mtcp",
        "mtcp-fg",
        "mtcp-er",
        "mtcp-er-fg",
        "mtcp-rack",
        "mtcp-rack-fg",
        "tcp-rtm",
        "tcp-rtm-fg",
        "tcp-rtm-er",
        "tcp-rtm-er-fg",
        "tltcp",
        "tltcp-fg",
        "tltcp-er",
        "tltcp-er-fg",
        "tltcp-rack",
        "tltcp-rack-fg",
        "tcp-rc",
        "tcp-rc-fg",
        "tcp-rc-er",
        "tcp-rc-er-fg",
        "tcp-rc-rack",
        "tcp-rc-rack-fg",
        "mtp",
        "mtp-fg",
        "mtp-er",
        "mtp-er-fg",
        "mtp-rack",
        "mtp-rack-fg",
        "limited-buffer",
        "limited-buffer-fg",
        "limited-buffer-er",
        "limited-buffer-er-fg",
        "limited-buffer-rack",
        "limited-buffer-rack-fg",
        "hollywood",
        "hollywood-fg",
        "hollywood-er",
        "hollywood-er-fg",
        "hollywood-rack",
        "hollywood-rack-fg",
        "earlybird-rt",
        "earlybird-rt-fg",
    ]
    | Parameter
)
"""
Congestion control and loss repair by name; `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` selects the fine-grained retransmission timer.
"""


Undo: TypeAlias = Literal["none", "eifel", "dsack", "either"] | Parameter
"""
Detection of spurious retransmissions, after which the window reduction is undone.
"""


VegasPreset: TypeAlias = Literal["ns2", "linux"] | Parameter
"""
Named sets of Vegas' thresholds.
"""


@dataclass(kw_only=True)
class Webtraf:
    """
    ns-2's web traffic with the parameters of its large-scale example.
    """

    object_packets: float | Parameter | None = None
    """
    Mean object size in packets (default 12).
    """
    object_shape: float | Parameter | None = None
    """
    Shape of the Lomax distribution of object sizes (default 1.2).
    """
    pairs: int | Parameter | None = None
    """
    Pairs of hosts that the sessions share (default 20).
    """
    sessions: int | Parameter | None = None
    """
    Sessions of each flow of the group (default 200).
    """
    think: Time | None = None
    """
    Mean of the exponential pause between pages (default 15 s).
    """


@dataclass(kw_only=True)
class WindowLimit:
    """
    A send buffer that grows and shrinks with the congestion window (Goel, Krasic and Walpole): `factor`·`cwnd` +
    min(`extra`, `cwnd`) packets.
    """

    extra: int | Parameter | None = None
    """
    Their B (default 3).
    """
    factor: float | Parameter | None = None
    """
    Their A (default 1).
    """


WindowReduction: TypeAlias = Literal["immediate", "prr"] | Parameter
"""
The reduction of the window in recovery.
"""


@dataclass(kw_only=True)
class AccessDelay:
    """
    Propagation delay between the hosts of a group's flows and their routers in a dumbbell. Both hosts of a flow are equally far, and the
    round trip has this delay four times.
    """

    same: Time | None = None
    """
    All alike.
    """
    uniform: list[Time] | Parameter | None = None
    """
    Each flow at random between two; of web sessions, each server and the client of the same number.
    """
    spread: Fraction | None = None
    """
    The same, between `network.dumbbell.access.delay` less and plus this share of it.
    """


@dataclass(kw_only=True)
class AdaptiveDelay:
    """
    Adaptation of a playback delay to the network.
    """

    least: Time | None = None
    """
    Never shorter than this (default 40 ms).
    """
    talkspurt: int | Parameter | None = None
    """
    Units between two changes (default 50: one second of sound in packets of 20 ms).
    """


@dataclass(kw_only=True)
class Arq:
    """
    Retransmissions by the link layer (ARQ, RFC 3366): HARQ and RLC of LTE, retries of Wi-Fi. What they bring over arrives late, in
    order, and so makes jitter; what they give up is lost.

    They take no capacity: `rate` is what the link has beside them. A packet needs (1 − pⁿ⁺¹)/(1 − p) transmissions on average,
    and pⁿ⁺¹ of the packets are lost, at the entrance of the link as by the rules of `loss`.
    """

    delay: Time
    """
    Time from a transmission to the next one of the same packet: about 8ms in LTE.
    """
    loss: Fraction
    """
    Probability p that a transmission fails, below 1.
    """
    flow: str | None = None
    """
    Concerns only the packets of this flow or group; others are not lost.
    """
    reorder: bool | Parameter | None = None
    """
    Let packets pass those that are retransmitted (default false: they arrive in order).
    """
    retries: int | Parameter | None = None
    """
    Greatest number n of retransmissions of a packet, up to 100 (default 3).
    """


@dataclass(kw_only=True)
class Backlog:
    """
    The treatment of old data that the sender still holds.
    """

    discard_past_deadline: Time | None = None
    """
    Abandons data that was written longer ago than this.
    """
    discard_hopeless: Time | None = None
    """
    Abandons data that cannot arrive within this time after it was written even if it is sent now: half a round trip earlier.
    """


@dataclass(kw_only=True)
class Bbr1:
    """
    Parameters of BBR version 1 (defaults: Linux's constants).
    """

    min_rtt_window: Time | None = None
    """
    Time for which a minimum RTT sample is valid, and so between probes of the round trip (`bbr_min_rtt_win_sec`; default 10 s).
    """
    policer_detection: bool | Parameter | None = None
    """
    Whether it detects a policer by its losses, and paces at the policer's rate (`bbr_lt_bw_sampling`; default true).
    """
    probe_rtt_duration: Time | None = None
    """
    Time with four packets in flight in such a probe (`bbr_probe_rtt_mode_ms`; default 200 ms).
    """


@dataclass(kw_only=True)
class Bbr3:
    """
    Parameters of BBR version 3 (defaults: the draft).
    """

    beta: Fraction | None = None
    """
    The smallest factor by which a round trip with losses reduces bandwidth and inflight volume (`BBR.Beta`; default 0.7).
    """
    headroom: Fraction | None = None
    """
    The share of the volume known as safe that it leaves to others (`BBR.Headroom`; default 0.15).
    """
    loss_threshold: Fraction | None = None
    """
    The share of segments that may get lost in a round trip while it probes for bandwidth (`BBR.LossThresh`; default 0.02).
    """
    min_rtt_window: Time | None = None
    """
    Time for which a minimum RTT sample is valid (`BBR.MinRTTFilterLen`; default 10 s).
    """
    probe_rtt_duration: Time | None = None
    """
    Time with half a pipe in such a probe (`BBR.ProbeRTTDuration`; default 200 ms).
    """
    probe_rtt_interval: Time | None = None
    """
    Time between probes of the round trip (`BBR.ProbeRTTInterval`; default 5 s).
    """


@dataclass(kw_only=True)
class Bernoulli:
    """
    Independent losses.
    """

    probability: Fraction
    """
    Share of the packets to lose.
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """


@dataclass(kw_only=True)
class Bursts:
    """
    Bursts of losses, distinguished by the late units of media, and the effect of each (the burst-loss paper,
    "Receiver Playout Buffer Requirement for TCP Video Streaming in the presence of Burst Packet Drops").
    """

    count: int | Parameter | None = None
    """
    Bursts to measure (default: all). If fewer can be distinguished because a recovery lasts into the next burst, the run is
    repeated with only the first burst of the bottleneck's `periodic` rule, and without the packets of the others.
    """
    pause: int | Parameter | None = None
    """
    Largest number of units from the start of one late unit to the next of the same burst (default 300).
    """
    tolerance: Time | None = None
    """
    A unit is late if its delay exceeds the smallest after the warm-up by more than this (default 1 ms).
    """


@dataclass(kw_only=True)
class Cake:
    """
    The parameters of CAKE.

    The rate of the link takes the place of CAKE's shaper: for `bandwidth 19mbit` on a link of 20 Mb/s set the rate to 19 Mb/s.
    Every connection is a flow. Not modelled: tins (as `besteffort`), fairness between hosts (as `flows`), link-layer overhead,
    the ACK filter, `ingress`.
    """

    memory: int | Parameter | None = None
    """
    The most bytes in all queues together (default: what the link sends in four `rtt`, from 4 MiB to 15.5 MB).
    """
    rtt: Time | None = None
    """
    The longest usual round trip (default 100 ms, the `internet` of `tc-cake`; `metro` is 10 ms, `regional` 30 ms, `oceanic`
    300 ms, `satellite` 1 s). The acceptable queueing delay is a twentieth of it, or the time of 1.5 full packets.
    """


@dataclass(kw_only=True)
class Cbr:
    """
    A source of constant bit rate.
    """

    packet: int | Parameter
    """
    Payload bytes of one write.
    """
    rate: Rate
    """
    Payload bits per second.
    """
    interval: float | Parameter | None = None
    """
    Seconds between two packets (default: from `rate` and `packet`). Packet k is written at k·interval after the start in double
    precision, as in ns-2's scripts: this decides the order of the packet's ACK and a simultaneous timer.
    """
    packets: int | Parameter | None = None
    """
    Packets to write (default: without end).
    """


@dataclass(kw_only=True)
class Codel:
    """
    The parameters of `CoDel`.
    """

    ecn: bool | Parameter | None = None
    """
    Mark packets of ECN-capable senders instead of dropping them (default false).
    """
    interval: Time | None = None
    """
    Time for which the delay must exceed the target before anything is dropped: a long round trip (default 100 ms).
    """
    limit: int | Parameter | None = None
    """
    The most packets (default 1000).
    """
    mtu: int | Parameter | None = None
    """
    Nothing is dropped while no more bytes than these wait (default 1500).
    """
    target: Time | None = None
    """
    Acceptable queueing delay (default 5 ms).
    """


@dataclass(kw_only=True)
class Copa:
    """
    Copa's parameters (defaults: the paper).
    """

    compete: bool | Parameter | None = None
    """
    Whether it uses more of the queue in competition with flows that fill it (the paper's competitive mode; default true). Several flows of
    Copa then fill the buffer; use false if no other flows share their link.
    """
    delta: float | Parameter | None = None
    """
    The weight of delay against throughput in the default mode: a flow has about 1.25 / delta packets in the queue (the paper's δ;
    default 0.5).
    """
    min_rtt_window: Time | None = None
    """
    Time for which a minimum RTT sample is valid (default 10 s).
    """


@dataclass(kw_only=True)
class Cubic:
    """
    CUBIC's parameters.
    """

    fast_convergence: bool | Parameter | None = None
    """
    Lower the plateau too when the window shrinks below it, to give way to new flows, RFC 9438 §4.7 (default true).
    """
    slow_start: SlowStart | None = None
    """
    The end of slow start (`v23`: `hystart`, `linux`: `hystart-linux`, else `standard`).
    """
    version: CubicVersion | None = None
    """
    Which CUBIC (default `rfc9438`; profile `linux`: `linux`).
    """


@dataclass(kw_only=True)
class DeadlineClient:
    """
    A client whose playback never stops, as for a conversation.
    """

    adaptive: AdaptiveDelay | None = None
    """
    Shorten the playback delay as far as the network allows, talkspurt by talkspurt (Ramjee and others, INFOCOM 1994); it
    begins with `playback-delay` and is never longer.
    """
    heartbeat: Time | None = None
    """
    Send a small frame to the sender when no new data arrived for this long; `0s` is never (default: three periods with `mtcp`, `tcp-rtm`
    and `earlybird-rt`, else never).
    """
    patient: bool | Parameter | None = None
    """
    Skip a hole only when the data behind it is due, so that each of several missing units can arrive until its own playout
    time (default: with `earlybird-rt`; the MTCP paper skips the whole hole when the first unit is due).
    """
    playback_delay: Time | None = None
    """
    From the writing of a unit to its playing (default 250 ms). The MTCP paper requires at least 1.5 round trips and 3 periods.
    """
    reports: Time | None = None
    """
    Interval of reports of received and lost data to the sender (default: no reports).
    """


@dataclass(kw_only=True)
class DelaySpikes:
    """
    Times of random (exponential) length in which all packets are delayed further. They do not depend on the traffic: with
    equal seeds each transport meets the same ones.
    """

    delay: Time
    """
    Additional delay in such a time.
    """
    mean_duration: Time
    """
    Mean length L of such a time, at least 1us; L·(1 − P)/P pass on average between two.
    """
    ratio: Fraction
    """
    Share P of the time, below 1 and above 0.
    """


@dataclass(kw_only=True)
class Delivery:
    """
    The rule for the receiver to skip missing data.
    """

    skip_at_deadline: Time | None = None
    """
    Skips when the first packet behind the hole has waited this long.
    """


@dataclass(kw_only=True)
class DualPi2:
    """
    The parameters of `DualPI2`. It always marks: scalable senders need it.
    """

    alpha: float | Parameter | None = None
    """
    Gain for the distance from the target, in Hz (default 0.16).
    """
    beta: float | Parameter | None = None
    """
    Gain for the change of the waiting time, in Hz (default 3.2).
    """
    classic_share: Fraction | None = None
    """
    Share of the link that classic packets have at least while both queues hold packets (default 0.1).
    """
    coupling: float | Parameter | None = None
    """
    The factor k between the controller's probability and that of marks in the low-latency queue (default 2).
    """
    limit: int | Parameter | None = None
    """
    The most packets in both queues together (default 10000).
    """
    ramp: Time | None = None
    """
    … always, once packets wait so much longer; 0 makes it a step (default 0.4 ms).
    """
    ramp_start: Time | None = None
    """
    Queueing delay from which on the low-latency queue marks by itself (default 0.8 ms) …
    """
    target: Time | None = None
    """
    Target queueing delay of classic packets (default 15 ms).
    """
    update: Time | None = None
    """
    Time from one change of the probability to the next (default 16 ms).
    """


@dataclass(kw_only=True)
class Duplicate:
    """
    Packets that arrive twice, the copy right behind the original. Which ones is drawn as by netem.
    """

    probability: Fraction
    """
    Share of the packets to double.
    """
    correlation: Fraction | None = None
    """
    Weight of the last random number in the next one, below 1 (default 0): copies come in runs. As in netem, their share
    then moves away from one half.
    """
    flow: str | None = None
    """
    Doubles only the packets of this flow or group.
    """


@dataclass(kw_only=True)
class Encoder:
    """
    A made-up encoder: all pictures of a kind are alike.
    """

    audio: Rate | None = None
    """
    Rate of the sound, in packets of 1024 samples at 48 kHz (AAC; default 160kb/s, as in OBS Studio).
    """
    b_frame_size: float | Parameter | None = None
    """
    Size of a B picture ÷ that of a P picture (default 0.5).
    """
    b_frames: int | Parameter | None = None
    """
    B pictures between two others (default 2: `bf` of OBS Studio's NVENC encoder).
    """
    frame_rate: int | Parameter | None = None
    """
    Pictures per second (default 30).
    """
    key_frame_size: float | Parameter | None = None
    """
    Size of a key frame ÷ that of a P picture (default 5).
    """
    keyframe_interval: Time | None = None
    """
    From one key frame to the next (default 2 s, as streaming services ask for).
    """


@dataclass(kw_only=True)
class Fading:
    """
    Times of random (exponential) length in which all packets are lost. They do not depend on the traffic: with equal seeds
    each transport meets the same ones, and small packets between others do not shorten them.
    """

    mean_fade: Time
    """
    Mean length L of such a time, at least 1us; L·(1 − P)/P pass on average between two.
    """
    ratio: Fraction
    """
    Share P of the time in which all packets are lost, below 1.
    """
    flow: str | None = None
    """
    Loses only the packets of this flow or group.
    """


@dataclass(kw_only=True)
class Film:
    """
    Pictures and sound of a film.
    """

    kinds: str
    """
    A letter for each picture: I (key frame), P, or B (to which no other one refers, or few).
    """
    length: float | Parameter
    """
    Length of the film in seconds, after which it is repeated.
    """
    sizes: list[int | Parameter] | Parameter
    """
    Bytes of each picture.
    """
    times: list[float | Parameter] | Parameter
    """
    The times at which the decoder needs the pictures, in seconds from the start of the film, never falling.
    """
    audio: Sound | None = None
    """
    Its sound, packet by packet (default: none).
    """


@dataclass(kw_only=True)
class FourState:
    """
    The four states of Salsano, Ludovici and Ordine (2009): received in a gap (1), received in a burst (2), lost in a burst
    (3), single loss (4).
    """

    p13: Fraction
    """
    Probability of going from state 1 to 3: of a burst.
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """
    p14: Fraction | None = None
    """
    Probability of going from state 1 to 4: of a loss between bursts (default 0).
    """
    p23: Fraction | None = None
    """
    Probability of going from state 2 to 3: of the end of a hole (default 1).
    """
    p31: Fraction | None = None
    """
    Probability of going from state 3 to 1: of the end of a burst (default 1 − p13, which makes losses independent).
    """
    p32: Fraction | None = None
    """
    Probability of going from state 3 to 2: of a hole in a burst (default 0).
    """


@dataclass(kw_only=True)
class FqCodel:
    """
    The parameters of FQ-CoDel.
    """

    ecn: bool | Parameter | None = None
    """
    Mark packets of ECN-capable senders instead of dropping them (default true).
    """
    flows: int | Parameter | None = None
    """
    Number of queues among which connections are spread by a hash (default 1024).
    """
    interval: Time | None = None
    """
    Time for which the delay must exceed the target before anything is dropped (default 100 ms).
    """
    limit: int | Parameter | None = None
    """
    The most packets in all queues together (default 10240).
    """
    mtu: int | Parameter | None = None
    """
    Nothing is dropped from a queue in which no more bytes than these wait (default 1500).
    """
    quantum: int | Parameter | None = None
    """
    Bytes of a turn (default 1514).
    """
    target: Time | None = None
    """
    Acceptable queueing delay (default 5 ms).
    """


@dataclass(kw_only=True)
class Frames:
    """
    A film given by a file with a line for each frame, as the libraries of video traces in Berlin and Arizona publish them.

    A line has the size, or number, type, time and size, or number, time, type and size, and then any other fields,
    between spaces or tabs; `#` begins a comment. Frames of size 0 were skipped by the encoder and are not sent. The
    complete scenario has the frames instead of the file's name.
    """

    file: str
    """
    The file, seen from the folder of the scenario.
    """
    fps: float | Parameter | None = None
    """
    Frames per second: required if lines have only the size; else it replaces the times of the file.
    """
    size_unit: SizeUnit | None = None
    """
    Unit of sizes in the file (default bytes).
    """
    time_unit: TimeUnit | None = None
    """
    Unit of times in the file (default ms).
    """


@dataclass(kw_only=True)
class HttpSimple:
    """
    Pages that are all alike.
    """

    object: int | Parameter | None = None
    """
    Bytes of each object (default 8000).
    """
    objects: int | Parameter | None = None
    """
    Objects requested after it (default 4).
    """
    page: int | Parameter | None = None
    """
    Bytes of the page itself (default 4000).
    """
    pairs: int | Parameter | None = None
    """
    Pairs of hosts that the sessions share (default 20).
    """
    parallel: int | Parameter | None = None
    """
    The most requests of a session at a time (default 4).
    """
    persistent: bool | Parameter | None = None
    """
    Use connections for further objects of the page, as HTTP/1.1 does (default false: a new one for each).
    """
    request: int | Parameter | None = None
    """
    Bytes of each request (default 256).
    """
    sessions: int | Parameter | None = None
    """
    Sessions of each flow of the group (default 200).
    """
    think: Time | None = None
    """
    Mean of the exponential pause between pages (default 3 s).
    """


@dataclass(kw_only=True)
class Ingest:
    """
    A live stream from an encoder to a server over one TCP connection, as OBS Studio sends it over RTMP.

    Each packet of the encoder is written when the socket has accepted the previous one (`endpoint.send-buffer`, `endpoint.unsent-limit`); packets
    that are encoded meanwhile wait in a queue. Pictures in it are dropped by its playing time, or the encoder's rate follows
    (`plugins/obs-outputs/rtmp-stream.c` of OBS Studio).
    """

    drop_threshold: Time | None = None
    """
    Playing time in the queue beyond which pictures are dropped that no other one, or few, refer to (B), until the next one
    of another kind (default 700 ms: `drop_threshold_ms`).
    """
    dynamic_bitrate: bool | Parameter | None = None
    """
    Lower the encoder's rate instead of dropping when the queue has 200 ms, and raise it by a tenth of `rate` every 4 s (default
    false: "Dynamically change bitrate to manage congestion").
    """
    encoder: Encoder | None = None
    """
    The encoder, where no `media` is given.
    """
    media: Film | None = None
    """
    Pictures and sound (default: generated by `encoder`). The name of a video file may replace the table, relative to the
    scenario's folder: the Python package inserts its contents.
    """
    pframe_drop_threshold: Time | None = None
    """
    Playing time beyond which all pictures but key frames are dropped, until the next key frame (default 900 ms:
    `pframe_drop_threshold_ms`; OBS Studio takes at least 200 ms more than `drop-threshold`).
    """
    rate: Rate | None = None
    """
    Mean rate of the pictures (default: 6Mb/s, or that of the video file).
    """


@dataclass(kw_only=True)
class Measure:
    """
    The measurements.
    """

    bottleneck: str | None = None
    """
    The link that `drop-rate`, T/µ and the like refer to, as `from-to` (default: the dumbbell's bottleneck, else the
    slowest link on the paths of the flows' data).
    """
    bursts: Bursts | None = None
    """
    Measure the effect of single bursts of losses on the media flows (default: no).
    """
    deliveries: bool | Parameter | None = None
    """
    Record the delivery time of every unit of the media flows (default false).
    """
    duplicates: bool | Parameter | None = None
    """
    Record the age of every duplicate ACK of the media flows and the early-retransmission threshold (default false).
    """
    harm_by: str | None = None
    """
    Group of flows whose harm to the others is measured (default: none): the run is made again without it.
    """
    percentiles: bool | Parameter | None = None
    """
    Record every queueing delay and every RTT sample for their percentiles (default false): 8 bytes each.
    """
    queue_positions: bool | Parameter | None = None
    """
    Count by group how many packets its packets found waiting at the bottleneck in the measured interval (default false).
    """
    series: Time | None = None
    """
    Time between two samples of the time series (default: no series).
    """
    start_up_delays: list[Time] | Parameter | None = None
    """
    Startup delays at which lateness is judged (default 1 s … 20 s).
    """
    transmissions: bool | Parameter | None = None
    """
    Record the first and last transmission of every packet of the media flows that was lost or retransmitted (default false).
    """
    warm_up: Time | None = None
    """
    Start of the measured interval, which lasts to the end of the run: rates, shares of packets and means over time are
    measured in it, of flows and links alike (default 100 s, at most a tenth of a short run).
    """


@dataclass(kw_only=True)
class NormalDelay:
    """
    A normal distribution of delays.
    """

    deviation: Time
    """
    Standard deviation.
    """
    mean: Time
    """
    Mean of the distribution.
    """


@dataclass(kw_only=True)
class Outage:
    """
    A time in which a link carries nothing, once or again and again.
    """

    duration: Time
    """
    Length of each.
    """
    start: Time
    """
    Start of the first one, from the start of the run.
    """
    period: Time | None = None
    """
    Time from the start of one to the start of the next, longer than `duration` (default: there is one only).
    """
    wait: bool | Parameter | None = None
    """
    Let packets wait in the queue until it ends, as in a handover (default false: those that arrive meanwhile are lost).
    """


@dataclass(kw_only=True)
class ParetoDelay:
    """
    A Pareto distribution of delays.
    """

    mean: Time
    """
    Mean of the delays.
    """
    shape: float | Parameter | None = None
    """
    Exponent of the tail, above 1 (default 3); up to 2 the variance is infinite.
    """


@dataclass(kw_only=True)
class PiDesign:
    """
    The path for which PERT-PI's gains are computed (Hollot et al. 2001), and the delay it holds.
    """

    capacity: Rate | None = None
    """
    The bottleneck's rate (default 25 Mb/s).
    """
    flows: int | Parameter | None = None
    """
    Flows at the bottleneck (default 50).
    """
    frequency: int | Parameter | None = None
    """
    Samples per second (default 170).
    """
    packet: int | Parameter | None = None
    """
    Bytes of a packet, header included (default 1040).
    """
    reference: Time | None = None
    """
    The queueing delay to hold (default 7.5 ms).
    """
    rtt: Time | None = None
    """
    Their round-trip time (default 100 ms).
    """


@dataclass(kw_only=True)
class Pie:
    """
    The parameters of PIE.
    """

    alpha: float | Parameter | None = None
    """
    Gain for the distance from the target, in Hz (default 0.125).
    """
    beta: float | Parameter | None = None
    """
    Gain for the change of the waiting time, in Hz (default 1.25).
    """
    burst: Time | None = None
    """
    Time for which a burst after quiet times is not dropped from (default 150 ms).
    """
    ecn: bool | Parameter | None = None
    """
    Mark packets of ECN-capable senders instead of dropping them (default false) …
    """
    limit: int | Parameter | None = None
    """
    The most packets (default 1000).
    """
    mark_limit: Fraction | None = None
    """
    … up to this drop probability; above it they are dropped (default 0.1).
    """
    target: Time | None = None
    """
    Target queueing delay (default 15 ms).
    """
    update: Time | None = None
    """
    Time from one change of the drop probability to the next (default 15 ms).
    """


@dataclass(kw_only=True)
class Policer:
    """
    A token bucket that drops what it has no tokens for. It is full at first and fills with `rate` up to `burst`; a packet that
    passes takes its bytes. It counts packets that other rules lose as well.
    """

    burst: int | Parameter
    """
    Size of the bucket in bytes, at least a packet. A smaller one than the rate times a round-trip time lets a TCP sender have
    much less than the rate.
    """
    rate: Rate
    """
    Rate up to which packets pass.
    """
    flow: str | None = None
    """
    Counts and drops only the packets of this flow or group.
    """


@dataclass(kw_only=True)
class Prague:
    """
    Prague's parameters (defaults: the draft).
    """

    gain: Fraction | None = None
    """
    Weight of a round trip in the smoothed share of marked segments (the draft's `g`; default 0.0625).
    """
    virtual_rtt: Time | None = None
    """
    Flows with shorter round trips act as often and grow as fast as with this one (the draft's virtual RTT; default 25 ms;
    zero: no such help).
    """


@dataclass(kw_only=True)
class Quic:
    """
    QUIC's parameters; all other settings are the defaults of quinn.
    """

    congestion_control: QuicControl | None = None
    """
    Which of quinn's congestion controls decides (default `cubic`, as in quinn).
    """


@dataclass(kw_only=True)
class Rack:
    """
    RACK-TLP's parameters (defaults: RFC 8985).
    """

    adapt_window: bool | Parameter | None = None
    """
    Widen the reordering window when DSACKs report spurious retransmissions (default true; `earlybird-rt`: false).
    """
    expect_reordering: bool | Parameter | None = None
    """
    Whether a segment is given that time even before anything was ever reordered (default true; `earlybird-rt`: false).
    """
    longest_ack_delay: Time | None = None
    """
    Longest delay of the peer's ACKs, which the probe of a single segment waits for in addition (default 200 ms).
    """
    reordering_window: Fraction | None = None
    """
    The reordering window as a share of the smallest round-trip time (default 0.25).
    """
    tail_loss_probe: bool | Parameter | None = None
    """
    Probe a silent tail after two round trips (default true).
    """
    window_persistence: int | Parameter | None = None
    """
    Recoveries without a DSACK after which a widened window is forgotten (default 16).
    """


@dataclass(kw_only=True)
class RateStep:
    """
    A link's rate from a given time on.
    """

    at: Time
    """
    Time of the change, from the start of the run.
    """
    rate: Rate
    """
    Rate of the link from then on.
    """


@dataclass(kw_only=True)
class RebufferClient:
    """
    A client that stalls and waits, as for a film.
    """

    capacity: Time | None = None
    """
    The most playback time that the buffer holds (default 10 s).
    """
    resume: int | Parameter | None = None
    """
    Units that must be buffered before playback resumes after a stall (default 1).
    """
    start: int | Parameter | None = None
    """
    Units that must be there before playback begins (default 1).
    """


@dataclass(kw_only=True)
class Red:
    """
    The parameters of RED, measured in packets.
    """

    adaptive: bool | Parameter | None = None
    """
    Adaptive RED: move `max-probability` so that the average stays half way between the thresholds (default false).
    """
    ecn: bool | Parameter | None = None
    """
    Mark packets of ECN-capable senders while the average is below `max-threshold` (default false).
    """
    gentle: bool | Parameter | None = None
    """
    Let the probability rise to 1 at twice `max-threshold`, instead of a jump (default true).
    """
    limit: int | Parameter | None = None
    """
    The most packets (default: any number).
    """
    max_probability: Fraction | None = None
    """
    Probability of a drop at `max-threshold`; where an adaptive queue starts (default 0.1).
    """
    max_threshold: float | Parameter | None = None
    """
    Average queue in packets at which the probability is `max-probability` (default: three times `min-threshold`).
    """
    mean_packet: int | Parameter | None = None
    """
    Bytes of a usual packet, by which idle times and C are counted (default 1000).
    """
    min_threshold: float | Parameter | None = None
    """
    Average queue in packets from which on packets are dropped (default: half of what waits in `target-delay`, at least 5).
    """
    target_delay: Time | None = None
    """
    Average waiting time at which default thresholds aim (default 5 ms).
    """
    wait: bool | Parameter | None = None
    """
    Keep two drops at least 1/p packets apart (default true, as in ns-2).
    """
    weight: Fraction | None = None
    """
    Weight of one packet in the average (default: 1 − exp(−1/C) on a link of C packets per second).
    """


@dataclass(kw_only=True)
class Reorder:
    """
    Packets that a link keeps back while others pass. Which ones is drawn as by netem.

    netem's `delay D reorder P` sends a share P at once and delays the others: here `probability` 1 − P and `delay` D.
    """

    delay: Time
    """
    Additional delay of a held packet; the largest one if `packets` is given.
    """
    probability: Fraction
    """
    Share of the packets to keep back.
    """
    correlation: Fraction | None = None
    """
    Weight of the last random number in the next one, below 1 (default 0): kept packets come in runs. As in netem, the
    share of kept packets then moves away from one half.
    """
    flow: str | None = None
    """
    Keeps and counts only the packets of this flow or group.
    """
    packets: int | Parameter | None = None
    """
    Packets that pass a kept one before it arrives.
    """


@dataclass(kw_only=True)
class RetransmissionTimer:
    """
    The retransmission timer's parameters.
    """

    ceiling: Time | None = None
    """
    Largest timeout (60 s; `linux`: 120 s).
    """
    clock_phase: Time | None = None
    """
    Phase of the coarse clock at time zero; ns-2 draws it at random within a tick (default: drawn per flow).
    """
    floor: Time | None = None
    """
    Smallest timeout (`ns2`: 200 ms, `rfc`: 1 s, `linux`: 200 ms in addition to the smoothed RTT, fine-grained: 1 ms).
    """
    initial: Time | None = None
    """
    Timeout before the first round-trip sample (`ns2`: 3 s, `rfc` and `linux`: 1 s).
    """
    linear_when_thin: bool | Parameter | None = None
    """
    Do not double the timeout of a stream with less than four packets in flight, six times in a row at most: Linux's
    `tcp_thin_linear_timeouts` (default false).
    """
    restart_on_duplicate: bool | Parameter | None = None
    """
    Restart the timer on duplicate ACKs outside recovery (default false).
    """
    tick: Time | None = None
    """
    Clock tick (`ns2`: 10 ms, `rfc`: 1 ms, fine-grained: 1 ms; `linux`: none).
    """


@dataclass(kw_only=True)
class Segments:
    """
    A film in segments, each coded at every rate of a ladder (HLS, DASH), over one TCP connection from the server to the viewer.

    The viewer requests a segment when the previous one has arrived, chooses its rate by a rule, plays, and stalls when its buffer is empty. A
    live film begins when the flow starts (and `lead-time` is over): segment n is there at (n + 1)·`segment`.
    """

    ladder: list[Rate] | Parameter
    """
    The rates, from the lowest to the highest.
    """
    buffer: Time | None = None
    """
    The most playing time that the viewer holds, of a film that is not live (default 30 s; a live film's viewer never has more than
    `start-buffer`; with `hls.js` 30 s, with `dash.js` 18 s, with `shaka` 10 s, and a segment more). With `bola` the highest rate is best
    at this, and the lowest one at a third of it.
    """
    live: bool | Parameter | None = None
    """
    Is the film made while it is watched (default true)? If not, all of it is there from the beginning.
    """
    part: Time | None = None
    """
    Playing time of a part, of which a segment has a whole number: each is sent as soon as it is made (chunks of CMAF; default: no
    parts, segments are sent when they are complete).
    """
    request: int | Parameter | None = None
    """
    Bytes of a request (default 300).
    """
    rule: RateRule | None = None
    """
    Rate adaptation of the viewer (default `throughput`).
    """
    segment: Time | None = None
    """
    Playing time of a segment (default 2 s).
    """
    start_buffer: Time | None = None
    """
    Playing time that must be there before playback begins (default: of a live film three segments, or three parts, as HLS asks for,
    and with `l2a` 2 s at least; else one segment).
    """


@dataclass(kw_only=True)
class SendLimit:
    """
    The most data that a sender may hold: written and not acknowledged.
    """

    packets: int | Parameter | None = None
    """
    A number of packets.
    """
    cwnd: WindowLimit | None = None
    """
    By the congestion window.
    """


@dataclass(kw_only=True)
class Srt:
    """
    SRT's parameters (defaults: the draft).
    """

    fit_playback_delay: bool | Parameter | None = None
    """
    As long as the playback delay of the flow's client allows, less a millisecond (default false).
    """
    latency: Time | None = None
    """
    Time for which a packet is held after it would have arrived without queues (default 120 ms, unless
    `latency-round-trips` is given).
    """
    latency_round_trips: float | Parameter | None = None
    """
    The same in round trips, as the receiver measures the first one; the draft recommends three to four.
    """
    overhead: Fraction | None = None
    """
    Share of the measured input rate that retransmissions may use in addition (Haivision's implementation: 0.25). Left out: the
    limit is 1 Gb/s, the draft's default.
    """


@dataclass(kw_only=True)
class Start:
    """
    The start of a flow.
    """

    at: Time | None = None
    """
    At one time.
    """
    uniform: list[Time] | Parameter | None = None
    """
    At a random time between two.
    """
    each: list[Time] | Parameter | None = None
    """
    Each flow of the group at its own time.
    """


@dataclass(kw_only=True)
class Vegas:
    """
    Vegas' thresholds, in segments of this flow in the queue (defaults: the preset).
    """

    alpha: int | Parameter | None = None
    """
    The window grows below this many.
    """
    beta: int | Parameter | None = None
    """
    The window shrinks above this many.
    """
    gamma: int | Parameter | None = None
    """
    Slow start ends above this many.
    """
    preset: VegasPreset | None = None
    """
    The thresholds to start from (default `ns2`; profile `linux`: `linux`).
    """


@dataclass(kw_only=True)
class Application:
    """
    The application of a sender.
    """

    cbr: Cbr | None = None
    """
    One packet per period, like a camera with a constant bit rate; measured as media.
    """
    bulk: Bulk | None = None
    """
    As much data as the transport accepts.
    """
    webtraf: Webtraf | None = None
    """
    Web sessions: think, fetch one object over a new connection, think again.
    """
    mah: Mah | None = None
    """
    Web sessions with sizes and pauses measured by Mah (1997): a page, then its further files over parallel connections.
    """
    surge: Surge | None = None
    """
    Web sessions of SURGE (Barford and Crovella 1998): heavy-tailed files one after the other, with pauses.
    """
    http_simple: HttpSimple | None = None
    """
    Web sessions whose pages are all alike.
    """
    media: Media | None = None
    """
    Frames with given times and sizes; measured as media. The name of a video file may replace the table, relative to the
    scenario's folder (`media = "clip.mp4"`): the Python package puts its frames there, each with its sound.
    """
    frames: Frames | None = None
    """
    Frames from a file of their sizes; judged as media.
    """
    ingest: Ingest | None = None
    """
    A live stream to a server, with OBS Studio's rules for congestion; judged as media.
    """
    segments: Segments | None = None
    """
    A film in segments of several bit rates, of which the viewer chooses (HLS, DASH); judged as media.
    """


@dataclass(kw_only=True)
class Client:
    """
    The client of a media flow at the receiver.
    """

    deadline: DeadlineClient | None = None
    """
    Plays every unit at its time and never stalls: a unit that has not arrived by then is lost.
    """
    rebuffer: RebufferClient | None = None
    """
    Stops when the next unit is not there, and resumes when enough units are buffered.
    """


@dataclass(kw_only=True)
class JitterDistribution:
    """
    The distribution of additional delays.
    """

    uniform: Time | None = None
    """
    Equally likely from 0 to this maximum.
    """
    normal: NormalDelay | None = None
    """
    Normal; delays below 0 count as 0.
    """
    exponential: Time | None = None
    """
    Exponential with this mean.
    """
    pareto: ParetoDelay | None = None
    """
    Pareto distribution from 0 on (Lomax), with rare long delays.
    """
    quantiles: list[Time] | Parameter | None = None
    """
    Measured delays: quantiles at equal steps of probability from the least to the greatest, linear between two.
    """


@dataclass(kw_only=True)
class Loss:
    """
    A rule that loses packets at the entrance of a link.
    """

    list: DropList | None = None
    """
    Loses the packets with these numbers: counted per link in order of arrival from 0, retransmissions included.
    """
    bernoulli: Bernoulli | None = None
    """
    Loses each packet with the same probability, independently.
    """
    periodic: Periodic | None = None
    """
    Loses `burst` packets in a row once in every `period` packets.
    """
    gilbert_elliott: GilbertElliott | None = None
    """
    Loses packets by the state of a channel that is good or bad, with netem's parameters (`loss gemodel`).
    """
    gilbert: Gilbert | None = None
    """
    Loses packets in bursts of random length: the Gilbert–Elliott channel with 1−h = 1 and 1−k = 0, given by its loss rate and mean burst length.
    """
    four_state: FourState | None = None
    """
    Loses packets in bursts with gaps, and single packets between them, with netem's parameters (`loss state`).
    """
    fading: Fading | None = None
    """
    Loses every packet during fades of random length: Gilbert's channel over time instead of packets.
    """
    policer: Policer | None = None
    """
    Loses packets above a rate, as Linux' `tc … police`: a token bucket without a queue.
    """


@dataclass(kw_only=True)
class Pert:
    """
    PERT's flags (defaults: the preset).
    """

    alpha: AlphaRule | None = None
    """
    The rule by which the increase per round trip moves to its target.
    """
    curve_tail: CurveTail | None = None
    """
    The response curve above its second threshold.
    """
    form: PertForm | None = None
    """
    Which PERT (`h` and `pi`: homogeneous, else adaptive).
    """
    growth_on_response: bool | Parameter | None = None
    """
    Whether the ACK that causes an early response also adds the growth term.
    """
    guards: bool | Parameter | None = None
    """
    Rules that no paper prints: at most one early response per round trip, which leaves no fewer than two segments, and a largest
    queueing delay of at least 10 ms where it divides (`text`: false, else true).
    """
    loss_factor: LossFactor | None = None
    """
    The window reduction on loss.
    """
    max_delay: MaxDelay | None = None
    """
    The delay of which the largest queueing delay is the maximum.
    """
    pi: PiDesign | None = None
    """
    The path for which the PI controller is designed (preset `pi`).
    """
    preset: PertPreset | None = None
    """
    The set of flags to start from (default `default`).
    """


@dataclass(kw_only=True)
class Queue:
    """
    The queue in front of a link: the limit of a drop-tail queue, or a discipline with its parameters.

    Like ns-2's, a queue of `packets = L` lets L − 1 packets wait while one more is being sent; so do all limits here. With
    `packets = 1` a link holds one packet: it drops packets that arrive during a transmission.

    A link without a `queue` has one that never drops (`"unlimited"`).
    """

    packets: int | Parameter | None = None
    """
    Limit in packets.
    """
    bytes: int | Parameter | None = None
    """
    Limit in bytes.
    """
    head_drop: int | Parameter | None = None
    """
    Drops the packet that has waited longest if the queue is full: limit in packets.
    """
    red: Red | None = None
    """
    Random Early Detection (Floyd and Jacobson 1993; gentle; Adaptive RED 2001).
    """
    codel: Codel | None = None
    """
    Controlled Delay (RFC 8289).
    """
    pie: Pie | None = None
    """
    Proportional Integral controller Enhanced (RFC 8033).
    """
    fq_codel: FqCodel | None = None
    """
    A fair share for every connection, with `CoDel` for each (RFC 8290).
    """
    cake: Cake | None = None
    """
    CAKE: a fair share for every connection, with `CoDel` and BLUE for each (Høiland-Jørgensen, Täht and Morton 2018).
    """
    dualpi2: DualPi2 | None = None
    """
    A low-latency queue for scalable senders and a classic queue, with coupled marking (RFC 9332).
    """


@dataclass(kw_only=True)
class RealTime:
    """
    The policies of TCP's real-time mode. Default values come from the transport: ordinary TCP has none, `mtcp` and the other
    real-time transports have those that their authors describe.
    """

    backlog: Backlog | Literal["block", "discard-oldest"] | None = None
    """
    The treatment of old data that the sender still holds.
    """
    delivery: Delivery | Literal["in-order", "skip-when-waiting", "unordered"] | None = None
    """
    The rule for the receiver to skip missing data.
    """
    discard_keeps_flight: bool | Parameter | None = None
    """
    Count packets that were sent and abandoned as in flight until an ACK passes them or a timeout. Otherwise the window advances
    past them at once, as in the MTCP paper.
    """
    replace_late: bool | Parameter | None = None
    """
    Replace the contents of a retransmission that would arrive after the client's playback delay by the oldest waiting packet of
    its size that would not (TCP Hollywood's inconsistent retransmission).
    """
    retransmit: bool | Parameter | None = None
    """
    Retransmit lost packets.
    """
    send_limit: SendLimit | Literal["unlimited", "playback-delay"] | None = None
    """
    The most data that the sender may hold, with `block` and `discard-oldest`.
    """
    skip_notice: bool | Parameter | None = None
    """
    Offer the SNACK option, which reports skipped segments to the sender. A peer without it uses ordinary TCP.
    """
    skip_reduces: bool | Parameter | None = None
    """
    Reduce the window, at most once per round trip, when a lost packet was skipped that has not reduced it.
    """


@dataclass(kw_only=True)
class Endpoint:
    """
    A TCP endpoint: a transport by name, and all settings that the papers vary. Default values come from the profile.
    """

    bbr1: Bbr1 | None = None
    """
    Parameters of BBR version 1 (defaults: Linux's constants) (transports with `bbr1`).
    """
    bbr3: Bbr3 | None = None
    """
    Parameters of BBR version 3 (defaults: the draft) (transports with `bbr3`).
    """
    copa: Copa | None = None
    """
    Copa's parameters (defaults: the paper) (transports with `copa`).
    """
    cubic: Cubic | None = None
    """
    CUBIC's parameters (transports with `cubic`).
    """
    delayed_ack: Time | None = None
    """
    Longest delay of an ACK; more than a full segment (`ns2`: every second one) is acknowledged at once. Left out: every segment is
    (`linux`: at first every segment is, then each second full one, and the delay lies between 40 and 200 ms).
    """
    early_retransmission: EarlyRetransmission | None = None
    """
    The early-retransmission rule (transports with `-er`).
    """
    early_retransmit: bool | Parameter | None = None
    """
    Early Retransmit, RFC 5827: with two or three segments outstanding and nothing new to send, all but one arrived means
    loss (default false). Not the papers' early retransmission, which is `-er`.
    """
    ecn: EcnMode | None = None
    """
    Whether queues with `ecn` may mark packets instead of dropping them (default `off`; `classic` with the `rfc` and `linux` profiles
    and `tfrc`; `prague` always has `accurate`).
    """
    hold_new_data: bool | Parameter | None = None
    """
    Send no new data outside recovery while a hole is known from SACK, as ns-2's sender does (`ns2` only; default true).
    """
    initial_window: int | Parameter | None = None
    """
    Window after the handshake in segments (`ns2`: 2, `rfc`: RFC 3390, `linux`: 10).
    """
    limited_transmit: bool | Parameter | None = None
    """
    Send new data on the first two duplicate ACKs, RFC 3042 (default true).
    """
    mss: int | Parameter | None = None
    """
    Payload bytes of a full segment (`ns2`: 1000; else Ethernet's 1500 minus headers: 1448 with timestamps, 1460 without).
    """
    nagle: bool | Parameter | None = None
    """
    Nagle's algorithm: a short segment waits while another one is outstanding (default false: programs for media switch it
    off with `TCP_NODELAY`, whatever the profile).
    """
    newreno: NewReno | None = None
    """
    `NewReno`'s flags (transports with `newreno`, and recovery `newreno`).
    """
    pacing: bool | Parameter | None = None
    """
    Send at a rate instead of in bursts: 2·cwnd/SRTT below half the slow-start threshold, 1.2·cwnd/SRTT above, as Linux
    does (default false; a congestion control with a rate of its own always sends at that).
    """
    pert: Pert | None = None
    """
    PERT's flags (defaults: the preset) (transports with `pert`).
    """
    prague: Prague | None = None
    """
    Prague's parameters (defaults: the draft) (transports with `prague`).
    """
    precise_halving: bool | Parameter | None = None
    """
    Halve the window without rounding down to whole segments (default true).
    """
    profile: Profile | None = None
    """
    The rules of the endpoint: `rfc` (current standards, the default), `linux` (Linux 6.18) or `ns2` (ns-2.35, as in the papers).
    """
    quic: Quic | None = None
    """
    QUIC's parameters (transports `quic`, `quic-streams`, `quic-datagrams`).
    """
    rack: Rack | None = None
    """
    RACK-TLP's parameters (transports with `-rack`, and `recovery = "rack-tlp"`).
    """
    real_time: RealTime | None = None
    """
    The real-time mode (transports `mtcp`, `tcp-rtm`, `tltcp`, `tcp-rc`, `mtp`, `limited-buffer`, `hollywood`, `earlybird-rt`).
    """
    receive_buffer: int | Parameter | None = None
    """
    Bytes that the receiver holds for an application that does not read (default: as many as `window` offers; `linux`: 64 kB at
    first, and up to 32 MB as the application reads).
    """
    recovery: Recovery | None = None
    """
    Loss detection and repair (default by transport; with SACK `ns2`: `sack1`, `rfc`: `rfc6675`, `linux` and `-rack`: `rack-tlp`;
    `linux` with `-er`, which counts duplicate ACKs: `rfc6675`).
    """
    reno: Reno | None = None
    """
    Reno's flags (transports with `reno`, and recovery `reno`).
    """
    rto: RetransmissionTimer | None = None
    """
    The retransmission timer.
    """
    send_buffer: int | Parameter | None = None
    """
    Bytes written and not acknowledged that the socket holds, `SO_SNDBUF` (default: no limit; with `ingest` 128 KiB, the least
    write buffer of OBS Studio).
    """
    spurious_rto_detection: bool | Parameter | None = None
    """
    F-RTO, RFC 5682: send new data after a timeout, and undo its reduction if data sent before it is acknowledged (default
    false; `earlybird-rt`, and `linux` where it can be: true).
    """
    srt: Srt | None = None
    """
    SRT's parameters (transport `srt`).
    """
    thin_duplicates: bool | Parameter | None = None
    """
    Thin streams as in Linux 2.6.34 to 4.10 (`tcp_thin_dupack`): with fewer than four segments outstanding and nothing new to
    send, the first duplicate ACK means loss (default false). `linear-when-thin` of the table `rto` is its companion.
    """
    timestamps: bool | Parameter | None = None
    """
    RFC 7323 timestamps (`ns2`: false, `rfc` and `linux`: true).
    """
    transport: Transport | None = None
    """
    Congestion control and loss repair by name (default `sack`; `linux`: `cubic`); `-er` adds early retransmission, `-rack` repairs by RACK-TLP, `-fg` has the fine-grained RTO.
    """
    undo: Undo | None = None
    """
    Detection of spurious retransmissions, after which the window reduction is undone, RFC 4015 (default `none`; `linux` where
    it can be: `either`).
    """
    unsent_limit: int | Parameter | None = None
    """
    Bytes written and not sent from which on the socket accepts no more: `TCP_NOTSENT_LOWAT` (default: no limit; 128 KiB with
    `segments` whose viewer abandons some).
    """
    vegas: Vegas | None = None
    """
    Vegas' thresholds, in segments of this flow in the queue (defaults: the preset) (transports with `vegas`).
    """
    window: int | Parameter | None = None
    """
    Largest window in segments (`ns2`: 64; else the size of the receive buffer; without one 6 MiB, or twice the BDP of the path if that is more).
    """
    window_reduction: WindowReduction | None = None
    """
    The reduction of the window in recovery (default `immediate`; `earlybird-rt`, and `linux` where it can be: `prr`).
    """


@dataclass(kw_only=True)
class Flow:
    """
    A group of flows with equal settings.
    """

    application: Application
    """
    The application of the sender.
    """
    from_: str
    """
    The sending node (`left` in a dumbbell).
    """
    name: str
    """
    The group's name (letters, digits, `-`, `_`; no digit at the end); its flows are called name0, name1, …
    """
    to: str
    """
    The receiving node (`right` in a dumbbell).
    """
    access_delay: AccessDelay | None = None
    """
    Propagation time of the links between the flows' hosts and their routers (default: `network.dumbbell.access.delay`).
    """
    client: Client | None = None
    """
    The client of a media flow at the receiver (default: none; with a transport of the real-time mode a client
    with a deadline).
    """
    count: int | Parameter | None = None
    """
    Number of flows (default 1).
    """
    endpoint: Endpoint | None = None
    """
    Endpoint settings that differ from the scenario's, given as the keys of `endpoint`.
    """
    lead_time: Time | None = None
    """
    Time between the opening of a media flow's connection and its first unit (default: none).
    """
    start: Start | None = None
    """
    Start of each flow (default: at once).
    """
    transport: Transport | None = None
    """
    The transport, instead of `endpoint.transport`.
    """


@dataclass(kw_only=True)
class Jitter:
    """
    Additional delays that differ from packet to packet, on top of the link's `delay`, which remains the least delay.

    netem's `delay D J` varies around D: here `delay` D − J and `distribution = { uniform = 2J }`. netem's packets pass each other
    where a delay falls; here they keep their order unless `reorder` is set: a packet then waits for the one in front.
    """

    correlation: Fraction | None = None
    """
    Probability ρ, below 1, with which a packet keeps the delay of the one in front (default 0): delays of packets at a
    distance of k have a correlation of ρᵏ, and keep their distribution.
    """
    correlation_time: Time | None = None
    """
    Mean time τ for which a delay holds, instead of `correlation`: delays at a distance of t have a correlation of
    exp(−t/τ), whatever the packet rate, and with equal seeds all traffic meets the same ones.
    """
    distribution: JitterDistribution | None = None
    """
    Distribution of the delays (default: no delays but those of `spikes`).
    """
    flow: str | None = None
    """
    Delays only the packets of this flow or group.
    """
    reorder: bool | Parameter | None = None
    """
    Let packets of less delay pass others (default false: they arrive in order).
    """
    spikes: DelaySpikes | None = None
    """
    Times of random length in which all delays are higher.
    """


@dataclass(kw_only=True)
class Reverse:
    """
    Differences of the right-to-left direction of a dumbbell's bottleneck: a slower link for ACKs, losses of ACKs, and the like.
    """

    arq: Arq | None = None
    """
    Retransmissions by the link layer.
    """
    delay: Time | None = None
    """
    Propagation time of the link (default: as the bottleneck's).
    """
    duplicate: Duplicate | None = None
    """
    Packets that arrive twice.
    """
    jitter: Jitter | None = None
    """
    Additional delays that differ from packet to packet.
    """
    loss: list[Loss] | Parameter | None = None
    """
    Random loss before the queue.
    """
    outages: list[Outage] | Parameter | None = None
    """
    Times in which the link carries nothing.
    """
    rate: Rate | None = None
    """
    Rate of the link in bits per second (default: the bottleneck's).
    """
    rate_steps: list[RateStep] | Parameter | None = None
    """
    Changes of the rate, in order of time.
    """
    reorder: Reorder | None = None
    """
    Packets that arrive late, while others pass them.
    """
    trace: Trace | None = None
    """
    Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    milliseconds.
    """
    trace_start: TraceStart | Literal["random"] | None = None
    """
    The place in the trace at which runs begin (default: its start).
    """


@dataclass(kw_only=True)
class Channel:
    """
    Rate, delay and queue of a link in one direction.
    """

    delay: Time
    """
    Propagation time of the link.
    """
    arq: Arq | None = None
    """
    Retransmissions by the link layer.
    """
    duplicate: Duplicate | None = None
    """
    Packets that arrive twice.
    """
    jitter: Jitter | None = None
    """
    Additional delays that differ from packet to packet.
    """
    loss: list[Loss] | Parameter | None = None
    """
    Random loss before the queue.
    """
    outages: list[Outage] | Parameter | None = None
    """
    Times in which the link carries nothing.
    """
    queue: Queue | Literal["unlimited"] | None = None
    """
    The queue in front (default: `"unlimited"`, which never drops).
    """
    rate: Rate | None = None
    """
    Rate of the link in bits per second.
    """
    rate_steps: list[RateStep] | Parameter | None = None
    """
    Changes of the rate, in order of time.
    """
    reorder: Reorder | None = None
    """
    Packets that arrive late, while others pass them.
    """
    trace: Trace | None = None
    """
    Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    milliseconds.
    """
    trace_start: TraceStart | Literal["random"] | None = None
    """
    The place in the trace at which runs begin (default: its start).
    """


@dataclass(kw_only=True)
class Dumbbell:
    """
    Two routers, a bottleneck, and an access link for every host.
    """

    access: Channel
    """
    The link between a host and its router.
    """
    bottleneck: Channel
    """
    The link from the left to the right router; its opposite has no queue limit unless `reverse-queue` says so.
    """
    reverse: Reverse | None = None
    """
    Differences of the right-to-left direction of the bottleneck.
    """
    reverse_queue: Queue | Literal["unlimited"] | None = None
    """
    The queue of the right-to-left direction of the bottleneck (default: `"unlimited"`, which never drops).
    """


@dataclass(kw_only=True)
class Link:
    """
    A link between two named nodes, the same in both directions unless `reverse` says otherwise.
    """

    delay: Time
    """
    Propagation time of the link.
    """
    from_: str
    """
    The node at the sending side.
    """
    to: str
    """
    The node at the receiving side.
    """
    arq: Arq | None = None
    """
    Retransmissions by the link layer, in the forward direction only.
    """
    duplicate: Duplicate | None = None
    """
    Packets that arrive twice, in the forward direction only.
    """
    jitter: Jitter | None = None
    """
    Additional delays that differ from packet to packet, in the forward direction only.
    """
    loss: list[Loss] | Parameter | None = None
    """
    Random loss before the queue, in the forward direction only.
    """
    outages: list[Outage] | Parameter | None = None
    """
    Times in which the link carries nothing, in the forward direction only.
    """
    queue: Queue | Literal["unlimited"] | None = None
    """
    The queue in front, in both directions (default: `"unlimited"`, which never drops).
    """
    rate: Rate | None = None
    """
    Rate of the link in bits per second.
    """
    rate_steps: list[RateStep] | Parameter | None = None
    """
    Changes of the rate, in order of time.
    """
    reorder: Reorder | None = None
    """
    Packets that arrive late, while others pass them, in the forward direction only.
    """
    reverse: Channel | None = None
    """
    The opposite direction, if it is not the same; then with rate and delay.
    """
    trace: Trace | None = None
    """
    Delivery opportunities of 1500 bytes instead of a rate: a file of mahimahi's, of seconds and Mb/s, or of CSV; or the times in
    milliseconds.
    """
    trace_start: TraceStart | Literal["random"] | None = None
    """
    The place in the trace at which runs begin (default: its start).
    """


@dataclass(kw_only=True)
class Network:
    """
    The links and nodes: a named shape, or a list of links.
    """

    dumbbell: Dumbbell | None = None
    """
    Two routers with one bottleneck between them; every flow brings its own hosts (`left`, `right`).
    """
    links: list[Link] | Parameter | None = None
    """
    Any nodes and links; routes take the fewest links.
    """


@dataclass(kw_only=True)
class Scenario:
    """
    One experiment: a network, the flows that cross it, and the measurements.
    """

    duration: Time
    """
    Time from start to end, simulated or real.
    """
    flows: list[Flow] | Parameter
    """
    The traffic.
    """
    network: Network
    """
    The links and nodes.
    """
    backend: Backend | None = None
    """
    The backend that runs it (default `sim`).
    """
    endpoint: Endpoint | None = None
    """
    Settings of every endpoint; a flow may override them.
    """
    measure: Measure | None = None
    """
    The measurements.
    """
    parameters: dict[str, Any] | None = None
    """
    Named values with defaults; `"$name"` elsewhere is replaced by the value.
    """
    sweep: Sweep | None = None
    """
    The runs that `earlybird sweep` makes of this scenario.
    """
    title: str | None = None
    """
    Subject of the experiment, in one line.
    """
