"""Which quantities the runs of a part can have: those of its flows, and those of what it measures besides."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from earlybird.study.language.definition import Part, Study

FLOWS: Final = (
    *("rto", "rto-untriggered", "rto-repeated", "sft", "sft-timer", "freeze", "drop-rate", "ipat", "success"),
    *(
        "success-falls",
        "half-delay",
        "required-delay",
        "required-delay-90",
        "rto-base",
        "threshold",
        "threshold-excess",
    ),
    *("timer-least", "timer-most", "early-second", "early", "throughput", "bandwidth", "fair-share", "utilisation"),
    *("queue-delay", "link-drop-rate", "late", "late-share", "late-units", "load", "web-rate", "lost", "lost-units"),
    *("skipped", "discarded", "repeats", "fairness", "rto-untriggered-share"),
)
"""What every simulation shows, and every run in real time."""
WINDOW: Final = ("cwnd-variation", "cwnd-change", "cwnd-falls")
MEASURED: Final[Mapping[str, tuple[str, ...]]] = {
    "bursts": (
        *("burst-delay", "burst-late", "burst-excess", "playout-buffer", "worst-delay", "worst-late", "worst-repairs"),
        *("worst-timeouts", "worst-excess", "worst-excess-round-trips", "needless-buffer", "burst-threshold"),
        *("burst-growth-least", "burst-growth-most", "buffer-correlation"),
    ),
    "deliveries": ("silences",),
    "duplicates": ("false-share", "first-share", "second-share", "second-excess", "clusters", "cluster-spacing"),
    "queue-positions": (
        *("queue-position", "queue-lower", "queue-upper", "queue-counted", "queue-full", "queue-difference"),
    ),
    "series": (*WINDOW, "response-difference", "response-difference-adaptive", "response-delay"),
    "transmissions": ("repair", "repair-95"),
}
"""By the key of a scenario's table ``measure``."""
SAID: Final[Mapping[str, tuple[str, ...]]] = {
    "reference_duration": ("freeze-of-delay",),
    "partners": ("partner-load",),
    "least_timeout": ("pftk-ratio",),
    "trace": (
        *("gap", "recovery", "timeout-difference", "threshold-difference", "queueing-difference", "printed-ratio"),
    ),
}
"""By the key of a part."""
MODELS: Final[Mapping[str, tuple[str, ...]]] = {
    "streaming-chain": ("load", "model-throughput", "pftk-ratio", "rare-delay", "diffusion-delay", "late-share"),
    "session": ("wait", "wait-round-trips"),
}
PLAYS: Final = (
    *("play-start", "play-stalls", "play-stalled", "play-frozen", "play-late", "play-dropped", "play-starved"),
    *("play-glitches", "emulator-late", *WINDOW),
)
"""What a play of a test bed shows."""


def observed(study: Study, part: Part) -> tuple[str, ...]:
    """
    List the quantities that runs of a part can have.

    Parameters
    ----------
    study
        The study, whose axes may switch on what is measured.
    part
        One of its parts.

    Returns
    -------
    tuple of str
        Names of metrics.
    """
    if part.model:
        return MODELS.get(part.model, ())
    if part.is_played:
        return PLAYS
    said = [name for key, names in SAID.items() if getattr(part, key) for name in names]
    measured = [name for key, names in MEASURED.items() if _is_measured(key, study, part) for name in names]
    return (*FLOWS, *said, *measured)


def _is_measured(key: str, study: Study, part: Part) -> bool:
    """Return whether the scenario, the part or an axis has a key of ``measure``."""
    path = f"measure.{key}"
    return (
        key in written(part.scenario).get("measure", {})
        or any(f"{name}.".startswith(f"{path}.") for name in part.settings)
        or any(f"{axis.key}.".startswith(f"{path}.") for axis in study.axes.values())
    )


@cache
def written(scenario: Path) -> Mapping[str, Any]:
    """Read what a scenario's file says; nothing where it cannot be read, which its runs will tell."""
    try:
        return tomllib.loads(scenario.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
