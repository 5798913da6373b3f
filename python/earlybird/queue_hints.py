"""Hints on queues without a limit that became longer than those of real devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.plain_tables import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from earlybird.result import Result

NOTICED: Final = 1000
"""Packets from which on a queue is reported: the default limit of a device in Linux (`DEFAULT_TX_QUEUE_LEN`)."""

UNLIMITED: Final = "unlimited"


def queue_hints(result: Result) -> Iterator[str]:
    """Yield a sentence for each link whose queue has no limit and became long: real ones drop packets before."""
    queues = dict(_queues(result.scenario["network"]))
    for row in plain_rows(result, "links"):
        key = queues.get(row["link"])
        if key is not None and row["max_queue_packets"] > NOTICED:
            yield (
                f"{row['link']}: up to {row['max_queue_packets']:,} packets waited, for its queue has no limit. "
                f"`{key} = {{ packets = 100 }}` gives it one."
            )


def _queues(network: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and key of each queue without a limit, of the links that have a name in a scenario."""
    if "dumbbell" in network:
        dumbbell = network["dumbbell"]
        if _is_unlimited(dumbbell["bottleneck"].get("queue")):
            yield "left-right", "network.dumbbell.bottleneck.queue"
        if _is_unlimited(dumbbell.get("reverse-queue")):
            yield "right-left", "network.dumbbell.reverse-queue"
        return
    for link in network["links"]:
        if not _is_unlimited(link.get("queue")):
            continue
        there, back = (f"{link['from']}-{link['to']}", f"{link['to']}-{link['from']}")
        yield there, f"network.links.{there}.queue"
        if _is_unlimited((link.get("reverse") or {}).get("queue")):
            yield back, f"network.links.{there}.queue"


def _is_unlimited(queue: object) -> bool:
    return queue is None or queue == UNLIMITED
