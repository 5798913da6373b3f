"""
A Gymnasium environment: a program decides the congestion window of one flow.

Importing this module registers ``earlybird/CongestionControl-v0``. It needs the extra ``gym``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from earlybird import _core
from earlybird.errors import InputError
from earlybird.extras import missing_package
from earlybird.loading import Overrides, ScenarioLike, override_texts, resolve, toml_value

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise (missing_package(error) or error) from error

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from earlybird._core import Episode, ResolvedScenario

__all__ = ["OBSERVATION", "CongestionControl"]

ENVIRONMENT: Final = "earlybird/CongestionControl-v0"
TRANSPORTS: Final = ("agent", "agent-er", "agent-rack")
"""Transports whose window the environment decides."""

OBSERVATION: Final[dict[str, tuple[float, float]]] = {
    "cwnd": (0, 1),
    "rtt": (0, 1),
    "rtt_change": (-1, 1),
    "min_rtt": (0, 1),
    "rate": (0, 1),
    "flight": (0, 1),
    "loss": (0, 1),
    "timeout": (0, 1),
}
"""The elements of an observation, with their smallest and largest values."""

LARGEST_FACTOR: Final = 2.0  # per decision: slow start doubles the window (RFC 5681 §3.1)
LARGEST_WINDOW: Final = 2.0**16  # segments: log2 of it is the unit of `cwnd`
LEAST_RATE: Final = 0.01  # Mb/s: a throughput of zero has no logarithm

Array: TypeAlias = "NDArray[np.float32]"


class CongestionControl(gymnasium.Env[Array, Array]):
    """
    The congestion window of one flow of a scenario, decided once per interval.

    Parameters
    ----------
    scenario
        A path, TOML or JSON text, or a dictionary, as for `earlybird.run`.
    flow
        The group of flows, of one flow, that gets the transport ``agent-rack`` (default: the scenario has such a flow).
    overrides
        Values that replace the scenario's, by parameter name or dotted key.
    draw
        Lists of values by parameter name or dotted key: each episode has one of each, drawn by the seed.
    interval
        Seconds between two decisions (default: one round trip).
    delay_weight, loss_weight
        Weights of the reward's terms.
    render_mode
        None: there is nothing to render.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 -- as Gymnasium declares it

    def __init__(
        self,
        scenario: ScenarioLike = "dsl.toml",
        *,
        flow: str | None = None,
        overrides: Overrides = (),
        draw: Mapping[str, Sequence[object]] | None = None,
        interval: float | None = None,
        delay_weight: float = 1.0,
        loss_weight: float = 10.0,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self.interval = _positive("interval", interval)
        self.weights = (_weight("delay_weight", delay_weight), _weight("loss_weight", loss_weight))
        self.draw = _choices(draw or {})
        self.scenario = scenario
        self.overrides = override_texts(overrides)
        if flow is not None:
            self.overrides.append((f"flows.{flow}.transport", toml_value(TRANSPORTS[-1])))
        _core.load_agent()
        _check_flows(self._resolved({key: values[0] for key, values in self.draw.items()}))
        limits = np.array(list(OBSERVATION.values()), dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(limits[:, 0], limits[:, 1], dtype=np.float32)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), dtype=np.float32)
        self._episode: Episode | None = None
        self._measured: dict[str, float] = {}
        self._last_rtt = 0.0
        self._best_rate = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """
        Start a run and return the observation of its first interval.

        `options` are overrides for this episode, in the place of what would be drawn.
        """
        super().reset(seed=seed)
        self.close()
        drawn = {key: values[self.np_random.integers(len(values))] for key, values in self.draw.items()}
        run_seed = int(self.np_random.integers(1, 2**32))
        drawn |= options or {}
        scenario = self._resolved(drawn)
        if options:
            _check_flows(scenario)
        self._episode = _core.Episode(scenario, run_seed, self.interval)
        self._measured, self._last_rtt, self._best_rate = {}, 0.0, 0.0
        result = self._wait()
        info = {"seed": run_seed, "drawn": drawn, **self._measured}
        return self._observation(), info if result is None else info | {"summary": result["summary"]}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Multiply the window by 2 to the power of the action, and run to the end of the next interval."""
        factor = _factor(action)
        if self._episode is None:
            raise InputError("step: there is no run. hint: call reset first, and after an episode has ended.")
        if not self._measured:  # nothing was ever acknowledged
            return self._observation(), 0.0, False, True, {}
        self._last_rtt = self._measured["rtt"]
        self._episode.decide(min(max(self._measured["cwnd"] * factor, 1), LARGEST_WINDOW))
        result = self._wait()
        if result is not None:
            self.close()
            # The part of an interval that the end of the run cuts off has no measurements, and no reward.
            return self._observation(), 0.0, False, True, {"summary": result["summary"], "tables": result["tables"]}
        return self._observation(), self._reward(), False, False, dict(self._measured)

    def close(self) -> None:
        """End the run and its thread."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None

    def _resolved(self, drawn: Mapping[str, object]) -> ResolvedScenario:
        return resolve(self.scenario, [*self.overrides, *override_texts(drawn)])

    def _wait(self) -> dict[str, Any] | None:
        """Wait for the end of an interval; return the run's result if that comes first."""
        assert self._episode is not None
        measured, result = self._episode.wait()
        if measured is not None:
            before = self._measured.get("rtt", measured["min_rtt"] or 0.0)
            rtt = before if measured["rtt"] is None else measured["rtt"]
            self._measured = {**cast("dict[str, float]", measured), "rtt": rtt, "min_rtt": measured["min_rtt"] or rtt}
            self._best_rate = max(self._best_rate, self._rate())
        return result

    def _rate(self) -> float:
        """Return the delivered payload in Mb/s."""
        now = self._measured
        return now["acked"] * now["mss"] * 8e-6 / now["length"] if now["length"] > 0 else 0.0

    def _loss(self) -> float:
        lost, acked = self._measured["lost"], self._measured["acked"]
        return lost / (lost + acked) if lost else 0.0

    def _observation(self) -> Array:
        now = self._measured
        if not now:
            return np.zeros(len(OBSERVATION), dtype=np.float32)
        base = max(now["min_rtt"], 1e-9)
        values = [
            math.log2(now["cwnd"]) / math.log2(LARGEST_WINDOW),
            1 - base / max(now["rtt"], base),
            (now["rtt"] - self._last_rtt) / base if self._last_rtt else 0.0,
            base,
            self._rate() / self._best_rate if self._best_rate else 0.0,
            now["in_flight"] / (2 * now["cwnd"]),
            self._loss(),
            float(now["timeouts"] > 0),
        ]
        space = cast("gymnasium.spaces.Box", self.observation_space)
        return np.clip(np.array(values, dtype=np.float32), space.low, space.high)

    def _reward(self) -> float:
        """Return the utility of the interval times its length in seconds."""
        now, (delay, loss) = self._measured, self.weights
        inflation = max(now["rtt"] / max(now["min_rtt"], 1e-9), 1.0)
        utility = math.log(max(self._rate(), LEAST_RATE)) - delay * math.log(inflation) - loss * self._loss()
        return now["length"] * utility


def _factor(action: object) -> float:
    """Return the factor of the window; refuse what is no action."""
    try:
        values = np.asarray(action, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (1,) or not np.isfinite(values).all() or abs(values[0]) > 1:
        raise InputError(f"action = {action!r}: is no action; allowed: an array of one number from -1 to 1.")
    return math.pow(LARGEST_FACTOR, values[0])


def _positive(key: str, value: float | None) -> float | None:
    if value is not None and not 0 < value < math.inf:
        raise InputError(f"{key} = {value}: allowed: seconds above 0, or None for one round trip.")
    return value


def _weight(key: str, value: float) -> float:
    if not 0 <= value < math.inf:
        raise InputError(f"{key} = {value}: allowed: 0 and more.")
    return value


def _choices(draw: Mapping[str, Sequence[object]]) -> dict[str, list[Any]]:
    for key, values in draw.items():
        if isinstance(values, str) or not len(values):
            raise InputError(f'draw.{key} = {values!r}: allowed: a list of values, such as ["5Mb/s", "20Mb/s"].')
    return {key: list(values) for key, values in draw.items()}


def _check_flows(scenario: ResolvedScenario) -> None:
    """Check that the environment decides the window of one flow."""
    document = scenario.to_dict()
    default = document["endpoint"].get("transport")
    groups = {flow["name"]: flow["count"] for flow in document["flows"] if flow.get("transport", default) in TRANSPORTS}
    if sum(groups.values()) != 1:
        raise InputError(
            f"scenario: has {sum(groups.values())} flows with transport `{TRANSPORTS[-1]}`; allowed: one. "
            f"hint: flow = NAME gives it to one of {', '.join(flow['name'] for flow in document['flows'])}; "
            "its group must have one flow, and the others another transport."
        )


gymnasium.register(ENVIRONMENT, f"{__name__}:{CongestionControl.__name__}")
