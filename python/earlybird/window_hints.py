"""Hints on flows that were limited by their own window instead of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.plain_tables import finite_mean, grouped, plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from earlybird.result import Result

NOTICED: Final = 0.01  # share of its time from which on a flow's window is told to have held it back


def window_hints(result: Result) -> Iterator[str]:
    """Yield for each group whose senders' largest window held it back: how often, and which key to set."""
    # Flows over UDP have no such share: their NaN is not larger than any number.
    held = (row for row in plain_rows(result, "flows") if row["limited_by_window"] > NOTICED)
    for (group,), flows in grouped(held, "group").items():
        endpoint = _endpoint(result.scenario, group)
        mean = finite_mean(flow["limited_by_window"] for flow in flows) or 0.0
        round_trip = min(flow["min_rtt_ms"] for flow in flows)
        window = f" of {endpoint['window']} segments" if "window" in endpoint else ""
        cause = ", which the profile `ns2` sets to 64 segments," if _is_usual_of_ns2(endpoint) else ""
        yield (
            f"{group}: its largest window{window}{cause} held it back {100 * mean:.0f} % of the time, over a round "
            f"trip of {round_trip:.0f} ms or more: it sends no more than a window in each. `endpoint.window` of at "
            "least rate × round trip leaves it to the network."
        )


def _endpoint(scenario: dict[str, Any], group: str) -> dict[str, Any]:
    """Return the endpoint settings of a group: the scenario's, with its own on top."""
    own: dict[str, Any] = next((flow.get("endpoint", {}) for flow in scenario["flows"] if flow["name"] == group), {})
    return {**scenario.get("endpoint", {}), **own}


def _is_usual_of_ns2(endpoint: dict[str, Any]) -> bool:
    return endpoint.get("profile") == "ns2" and "window" not in endpoint
