"""Reading of a scenario's file: links, routes and flows."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

UNITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
RATES: Final = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
DATAGRAMS: Final = ("udp",)
WEB: Final = ("webtraf", "mah", "surge", "http-simple")


def seconds(text: str) -> float:
    """Return a time with its unit in seconds."""
    number, unit = split(text)
    return number * UNITS[unit]


def bits_per_second(text: str) -> float:
    """Return a rate with its unit in bits per second."""
    number, unit = split(text)
    return number * RATES[unit]


def split(text: str) -> tuple[float, str]:
    """Return the number and the unit of a quantity."""
    found = re.fullmatch(r"([0-9.]+) *([a-zA-Z/]+)", text)
    assert found, text
    return float(found[1]), found[2]


@dataclass(frozen=True)
class Link:
    """A link in one direction."""

    name: str
    source: str
    target: str
    delay: float
    rate: float | None
    steps: tuple[tuple[float, float], ...] = ()
    opportunities: tuple[float, ...] = ()
    queue: str = "unlimited"
    limit: int | None = None
    has_losses: bool = False

    @property
    def is_fifo(self) -> bool:
        """Whether packets leave the queue in the order in which they came."""
        return self.queue not in ("fq-codel", "cake", "dualpi2")


@dataclass(frozen=True)
class Flow:
    """A flow, or a group of web traffic."""

    name: str
    group: str
    index: int
    transport: str
    source: str
    target: str
    application: str
    settings: dict[str, Any]
    start: float | None
    client: dict[str, Any] = field(default_factory=dict)

    @property
    def is_media(self) -> bool:
        """Whether its application writes units."""
        return self.application == "cbr"

    @property
    def amount(self) -> int | None:
        """Bytes that it sends, if that is given."""
        return self.settings.get("bytes")

    @property
    def is_web(self) -> bool:
        """Whether it stands for many connections."""
        return self.application in WEB

    @property
    def is_tcp(self) -> bool:
        """Whether its packets are TCP segments."""
        return self.transport not in DATAGRAMS


@dataclass(frozen=True)
class Scenario:
    """A scenario's file, as far as the computation needs it."""

    duration: float
    warm_up: float
    bottleneck: str
    links: dict[str, Link]
    flows: tuple[Flow, ...]
    start_up_delays: tuple[float, ...]
    is_dumbbell: bool
    profile: str

    def crosses(self, flow: Flow) -> bool:
        """Whether a flow's data cross the bottleneck; the networks are dumbbells and nodes `n0`, `n1`, … in a row."""
        source, target = self.bottleneck.split("-")
        if self.is_dumbbell:
            return (source, target) == (flow.source, flow.target)
        ends = [int(node[1:]) for node in (flow.source, source, target, flow.target)]
        return ends == sorted(ends) or ends == sorted(ends, reverse=True)


def read(path: Path) -> Scenario:
    """Read a scenario's file."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    measure, network = table["measure"], table["network"]
    flows = tuple(flow for group in table["flows"] for flow in flows_of(group, table["endpoint"]))
    links = dumbbell(network["dumbbell"], flows) if "dumbbell" in network else chain(network["links"])
    delays = measure.get("start-up-delays", [f"{n}s" for n in range(1, 21)])
    return Scenario(
        duration=seconds(table["duration"]),
        warm_up=seconds(measure["warm-up"]),
        bottleneck=measure["bottleneck"],
        links=links,
        flows=flows,
        start_up_delays=tuple(seconds(delay) for delay in delays),
        is_dumbbell="dumbbell" in network,
        profile=table["endpoint"]["profile"],
    )


def flows_of(group: dict[str, Any], endpoint: dict[str, Any]) -> list[Flow]:
    """Return the flows of a group."""
    [(application, settings)] = group["application"].items()
    start = group.get("start", {"at": "0s"})
    return [
        Flow(
            name=f"{group['name']}{index}",
            group=group["name"],
            index=index,
            transport=group.get("transport", endpoint["transport"]),
            source=group["from"],
            target=group["to"],
            application=application,
            settings=settings,
            start=seconds(start["at"]) if "at" in start else None,
            client=group.get("client", {}),
        )
        for index in range(group.get("count", 1))
    ]


def dumbbell(table: dict[str, Any], flows: tuple[Flow, ...]) -> dict[str, Link]:
    """Return the links of a dumbbell by name."""
    bottleneck, access = table["bottleneck"], table["access"]
    back = {"queue": table.get("reverse-queue", "unlimited")} | table.get("reverse", {})
    both = [
        link("left", "right", bottleneck),
        link("right", "left", {"rate": bottleneck["rate"], "delay": bottleneck["delay"]} | back),
    ]
    for flow in flows:
        for router in ("left", "right"):
            both += [link(flow.name, router, access), link(router, flow.name, access)]
    return {one.name: one for one in both}


def chain(tables: list[dict[str, Any]]) -> dict[str, Link]:
    """Return the links of a list in both directions by name."""
    links = []
    for table in tables:
        # Loss is in the forward direction alone.
        back = table.get("reverse") or {key: value for key, value in table.items() if key != "loss"}
        links += [link(table["from"], table["to"], table), link(table["to"], table["from"], back)]
    return {one.name: one for one in links}


def link(source: str, target: str, table: dict[str, Any]) -> Link:
    """Return one direction of a link."""
    queue = table.get("queue", "unlimited")
    [(kind, value)] = queue.items() if isinstance(queue, dict) else [(queue, None)]
    steps = [(seconds(step["at"]), bits_per_second(step["rate"])) for step in table.get("rate-steps", [])]
    return Link(
        name=f"{source}-{target}",
        source=source,
        target=target,
        delay=seconds(table["delay"]),
        rate=bits_per_second(table["rate"]) if "rate" in table else None,
        steps=tuple(steps),
        opportunities=tuple(float(one) * 1e-3 for one in table.get("trace", [])),
        queue=kind,
        limit=value if isinstance(value, int) else None,
        has_losses=bool(table.get("loss")),
    )
