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
How PERT's increase per round trip moves to its target.
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


Fraction: TypeAlias = float | Parameter
"""
A share from 0 to 1.
"""


LossFactor: TypeAlias = Literal["beta", "half"] | Parameter
"""
PERT's window reduction on loss.
"""


MaxDelay: TypeAlias = Literal["smoothed", "raw"] | Parameter
"""
What PERT's largest queueing delay is the largest of.
"""


@dataclass(kw_only=True)
class Media:
    """
    Frames of a film.
    """

    length: float | Parameter
    """
    Length of the clip in seconds, after which it starts again.
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
class Periodic:
    """
    Losses at regular distances.
    """

    period: int | Parameter
    """
    Packets from the start of one burst to the start of the next; burst k covers packets k·period … k·period + burst − 1, k ≥ 1.
    """
    burst: int | Parameter | None = None
    """
    Packets lost in a row (default 1).
    """
    flow: str | None = None
    """
    Counts and loses only the packets of this flow or group.
    """


PertPreset: TypeAlias = Literal["default", "text", "port", "flat", "h"] | Parameter
"""
Named sets of PERT flags.
"""


Profile: TypeAlias = Literal["ns2", "rfc"] | Parameter
"""
Whose rules an endpoint follows.
"""


@dataclass(kw_only=True)
class Queue:
    """
    A drop-tail queue's limit: in packets, in bytes, or none.

    Like ns-2's, a queue of `packets = L` lets L − 1 packets wait while one more is being sent.
    """

    packets: int | Parameter | None = None
    """
    Limit in packets.
    """
    bytes: int | Parameter | None = None
    """
    Limit in bytes.
    """


Rate: TypeAlias = str
"""
A data rate above zero with its unit: b/s, kb/s, Mb/s or Gb/s.
"""


Seeds: TypeAlias = int | Parameter | list[int | Parameter]
"""
A number of seeds, or the seeds themselves.
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
A span of time with its unit: ns, us, ms, s or min.
"""


Transport: TypeAlias = (
    Literal["sack", "sack-fg", "sack-er", "sack-er-fg", "pert", "pert-fg", "pert-er", "pert-er-fg"] | Parameter
)
"""
Congestion control and loss repair by name; `-er` adds early retransmission, `-fg` selects the fine-grained retransmission timer.
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
    Loses `burst` packets in a row at the end of every `period` packets.
    """


@dataclass(kw_only=True)
class Measure:
    """
    What to measure.
    """

    bottleneck: str | None = None
    """
    The link that `drop-rate`, T/µ and the like refer to, as `from-to` (default: the dumbbell's bottleneck, else the first link).
    """
    deliveries: bool | Parameter | None = None
    """
    Keep the delivery time of every unit of the media flows (default false).
    """
    duplicates: bool | Parameter | None = None
    """
    Keep the age of every duplicate ACK of the media flows beside the early-retransmission threshold (default false).
    """
    series: Time | None = None
    """
    Time between two samples of the time series (default: no series).
    """
    start_up_delays: list[Time] | Parameter | None = None
    """
    Start-up delays at which lateness is judged (default 1 s … 20 s).
    """
    warm_up: Time | None = None
    """
    Throughput, T/µ and the bottleneck's counters by group count from here to the end (default 100 s, at most a tenth of a short run).
    """


@dataclass(kw_only=True)
class Pert:
    """
    PERT's flags; those left out come from the preset.
    """

    alpha: AlphaRule | None = None
    """
    How the increase per round trip moves to its target.
    """
    curve_tail: CurveTail | None = None
    """
    The response curve above its second threshold.
    """
    growth_on_response: bool | Parameter | None = None
    """
    Whether the ACK that causes an early response also adds the growth term.
    """
    loss_factor: LossFactor | None = None
    """
    The window reduction on loss.
    """
    max_delay: MaxDelay | None = None
    """
    What the largest queueing delay is the largest of.
    """
    preset: PertPreset | None = None
    """
    The set of flags to start from (default `default`).
    """


@dataclass(kw_only=True)
class RetransmissionTimer:
    """
    The retransmission timer's parameters.
    """

    ceiling: Time | None = None
    """
    Largest timeout (60 s).
    """
    clock_phase: Time | None = None
    """
    Where the coarse clock stands at time zero; ns-2 draws it at random within a tick (default: drawn per flow).
    """
    floor: Time | None = None
    """
    Smallest timeout (`ns2`: 200 ms, `rfc`: 1 s, fine-grained: 1 ms).
    """
    initial: Time | None = None
    """
    Timeout before the first round-trip sample (`ns2`: 3 s, `rfc`: 1 s).
    """
    restart_on_duplicate: bool | Parameter | None = None
    """
    Restart the timer on duplicate ACKs outside recovery (default false).
    """
    tick: Time | None = None
    """
    Clock tick (`ns2`: 10 ms, `rfc`: 1 ms, fine-grained: 1 ms).
    """


@dataclass(kw_only=True)
class Start:
    """
    When a flow starts.
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
class Application:
    """
    What a sender writes.
    """

    cbr: Cbr | None = None
    """
    One packet per period, as a camera with a constant bit rate gives; judged as media.
    """
    bulk: Bulk | None = None
    """
    As much as the transport takes.
    """
    webtraf: Webtraf | None = None
    """
    Web sessions: think, fetch one object over a new connection, think again.
    """
    media: Media | None = None
    """
    Frames with given times and sizes; judged as media.
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
    rate: Rate
    """
    How fast the link sends, in bits per second.
    """
    loss: list[Loss] | Parameter | None = None
    """
    What gets lost on the way to the queue.
    """
    queue: Queue | None = None
    """
    The queue in front.
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
    reverse_queue: Queue | None = None
    """
    The queue of the right-to-left direction of the bottleneck.
    """


@dataclass(kw_only=True)
class Endpoint:
    """
    A TCP endpoint: a transport by name, and every knob the papers turn. Values left out come from the profile.
    """

    delayed_ack: Time | None = None
    """
    Longest delay of an ACK; every second segment is acknowledged at once. Left out: every segment is.
    """
    early_retransmission: EarlyRetransmission | None = None
    """
    The early-retransmission rule (transports with `-er`).
    """
    hold_new_data: bool | Parameter | None = None
    """
    Send no new data outside recovery while a hole is known from SACK, as ns-2's sender does (`ns2` only; default true).
    """
    initial_window: int | Parameter | None = None
    """
    Window after the handshake in segments (`ns2`: 2, `rfc`: RFC 3390).
    """
    limited_transmit: bool | Parameter | None = None
    """
    Send new data on the first two duplicate ACKs, RFC 3042 (default true).
    """
    mss: int | Parameter | None = None
    """
    Payload bytes of a full segment (default 1000).
    """
    pert: Pert | None = None
    """
    PERT's flags (transports with `pert`).
    """
    precise_halving: bool | Parameter | None = None
    """
    Halve the window without rounding down to whole segments (default true).
    """
    profile: Profile | None = None
    """
    Whose rules to follow: `rfc` (current standards, the default) or `ns2` (what the papers ran on).
    """
    rto: RetransmissionTimer | None = None
    """
    The retransmission timer.
    """
    timestamps: bool | Parameter | None = None
    """
    RFC 7323 timestamps (`ns2`: false, `rfc`: true).
    """
    transport: Transport | None = None
    """
    Congestion control and loss repair by name (default `sack`); `-er` adds early retransmission, `-fg` the fine-grained RTO.
    """
    window: int | Parameter | None = None
    """
    Largest window in segments (default 64).
    """


@dataclass(kw_only=True)
class Flow:
    """
    A group of like flows.
    """

    application: Application
    """
    What the sender writes.
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
    count: int | Parameter | None = None
    """
    Number of flows (default 1).
    """
    endpoint: Endpoint | None = None
    """
    Endpoint settings that differ from the scenario's, given as the keys of `endpoint`.
    """
    start: Start | None = None
    """
    When each flow starts (default: at once).
    """
    transport: Transport | None = None
    """
    The transport, in place of `endpoint.transport`.
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
    rate: Rate
    """
    How fast the link sends, in bits per second.
    """
    to: str
    """
    The node at the receiving side.
    """
    loss: list[Loss] | Parameter | None = None
    """
    What gets lost on the way to the queue, in the forward direction only.
    """
    queue: Queue | None = None
    """
    The queue in front, in both directions.
    """
    reverse: Channel | None = None
    """
    The opposite direction, if it is not the same; then with rate and delay.
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
    One experiment: a network, the flows that cross it, and what to measure.
    """

    duration: Time
    """
    Simulated time from start to end.
    """
    flows: list[Flow] | Parameter
    """
    The traffic.
    """
    network: Network
    """
    The links and nodes.
    """
    endpoint: Endpoint | None = None
    """
    Settings of every endpoint unless a flow says otherwise.
    """
    measure: Measure | None = None
    """
    What to measure.
    """
    parameters: dict[str, Any] | None = None
    """
    Named values with defaults; `"$name"` elsewhere stands for the value.
    """
    sweep: Sweep | None = None
    """
    The runs that `earlybird sweep` makes of this scenario.
    """
    title: str | None = None
    """
    What this experiment shows, in one line.
    """
