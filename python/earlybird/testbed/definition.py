"""Definition files of test beds and their validation."""

import copy
import difflib
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from earlybird.backends import BACKEND_KEY, KERNEL
from earlybird.emulation import network
from earlybird.errors import InputError, ScenarioError
from earlybird.loading import resolve_network
from earlybird.run_specs import TestbedRun
from earlybird.sweeps import PlannedRun
from earlybird.tables import build, one_of, read_toml
from earlybird.testbed.film import MAKERS, identity

REVISION: Final = 1
"""Raised when plays are made or measured in another way, so that results of the old one are not taken for new ones."""

CLIENTS: Final = ("vlc", "chromium")
MOST_PLAYS: Final = 1000
UNLIMITED: Final = "1Gb/s"  # a link that no film fills: what the emulator carries
ANY_SENDER: Final = "reno"  # the congestion control that every kernel has


@dataclass(frozen=True, slots=True)
class Film:
    """The film to play: a file, or one that is generated on this machine."""

    made: str = "papers"
    """``papers``: 1080p24 of 10.9 Mb/s, as in the PERT-video paper; ``clip``: 320 × 180, 0.3 Mb/s."""
    seconds: float = 210.0  # length of a film that is made
    file: str = ""  # in place of both, counted from the folder of the test bed's file


@dataclass(frozen=True, slots=True)
class Competing:
    """Transfers without end that share the link with the film."""

    sender: str  # their congestion control
    flows: int = 1  # number of transfers


@dataclass(frozen=True, slots=True)
class Vlc:
    """Settings of VLC."""

    caching_ms: int = 1000  # buffer before playback starts (VLC's own default)


@dataclass(frozen=True, slots=True)
class Testbed:
    """A batch of plays: every client over every sender, at every point of the grid, several times."""

    title: str
    senders: tuple[str, ...]  # congestion controls of this machine's kernel
    link: Mapping[str, Any]
    """The way of the film, with the keys of a scenario's link; ``reverse`` has what differs on the way back."""
    clients: tuple[str, ...] = ("vlc",)
    plays: int = 5
    seed: int = 1  # of the first play's losses; the next has the next one
    film: Film = field(default_factory=Film)
    competing: Competing | None = None
    vlc: Vlc = field(default_factory=Vlc)
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Values by parameter, or by dotted key of this file, such as ``link.delay``."""


def load(path: Path, overrides: Mapping[str, object] | None = None) -> list[PlannedRun]:
    """Read a test bed's file, and list its plays, those of a seed together, to be compared if interrupted."""
    document = _changed(read_toml(path), overrides or {})
    grid = _table(document, "grid")
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*map(_values, grid.items()))]
    beds = [(point, _testbed(_filled(_changed(document, point)))) for point in points]
    first = beds[0][1]
    return [
        PlannedRun(_play(bed, client, sender, path.parent), seed, {"client": client, "sender": sender, **point})
        for seed in range(first.seed, first.seed + first.plays)
        for point, bed in beds
        for client in bed.clients
        for sender in bed.senders
    ]


def controls_of(run: PlannedRun, parallel: int = 1) -> list[PlannedRun]:
    """Make control runs from a play: a number of equal plays without limits, which must not stall."""
    document = run.spec.document()
    free = {"rate": UNLIMITED, "delay": "0s", "queue": "unlimited"}
    document["testbed"] |= {"sender": ANY_SENDER, "link": {**free, "reverse": free}, "competing": None}
    spec, labels = TestbedRun.of(document), {"client": run.parameters["client"]}
    return [PlannedRun(spec, seed, labels) for seed in range(parallel)]


def network_of(link: Mapping[str, Any]) -> dict[str, Any]:
    """Write a link as a network of `earlybird.emulation`, in which the player is near and the film's server far."""
    forward = {key: value for key, value in link.items() if key != "reverse"}
    # As in scenarios, the reverse link has the keys of the film's link by default, except losses.
    back = {
        key: value
        for key, value in forward.items()
        if key not in ("loss", "outages", "arq", "jitter", "reorder", "duplicate")
    }
    return network({**back, **link.get("reverse", {})}, forward)


def _testbed(document: dict[str, Any]) -> Testbed:
    """Build a test bed from a document; each part reports its own errors."""
    parts = {"film": Film, "competing": Competing, "vlc": Vlc}
    built = {name: build(kind, _table(document, name), name) for name, kind in parts.items() if name in document}
    link = dict(_table(document, "link").items())
    bed = build(Testbed, {**document, **built, **({"link": link} if "link" in document else {})}, "test bed")
    _check(bed)
    return bed


def _check(bed: Testbed) -> None:
    if not bed.clients:
        raise InputError(f"clients: name at least one of {', '.join(CLIENTS)}.")
    for name in bed.clients:
        one_of(name, CLIENTS, "clients", "client", given=list(bed.clients))
    if not bed.senders:
        raise InputError('senders: name at least one congestion control, such as `senders = ["cubic"]`.')
    one_of(bed.film.made, MAKERS, "film.made", "film")
    _check_number(bed.plays, "plays", 1, MOST_PLAYS)
    _check_number(bed.film.seconds, "film.seconds", 1, 7200)
    _check_number(bed.vlc.caching_ms, "vlc.caching-ms", 0, 60000)
    _check_number(bed.competing.flows if bed.competing else 1, "competing.flows", 0, 64)
    try:
        resolve_network(network_of(bed.link))
    except ScenarioError as error:
        raise InputError(_of_link(error, bed.link)) from error


def _check_number(value: float, where: str, least: float, most: float) -> None:
    if not least <= value <= most:
        raise InputError(f"{where} = {value}: allowed: {least} to {most}.")


def _of_link(error: ScenarioError, link: Mapping[str, Any]) -> str:
    """Name the key of this file in place of the scenario's, in which the film's way is the one back."""
    place = re.match(r"network\.links\.[^.]+(?P<film>\.reverse)?", error.path)
    if place is None:
        return str(error)
    key = error.path[place.end() :]
    is_own = not place["film"] and key[1:].partition(".")[0] in link.get("reverse", {})
    return str(error).replace(error.path, f"link{'.reverse' if is_own else ''}{key}")


def _play(bed: Testbed, client: str, sender: str, folder: Path) -> TestbedRun:
    """Return everything that decides the outcome of a play."""
    rival = bed.competing
    competing = {"sender": rival.sender, "flows": rival.flows} if rival and rival.flows else None
    testbed = {
        "revision": REVISION,
        "film": identity(bed.film, folder),
        "link": _thawed(bed.link),
        "competing": competing,
        "client": client,
        "sender": sender,
        "caching_ms": bed.vlc.caching_ms if client == "vlc" else None,
    }
    return TestbedRun.of({"title": bed.title, BACKEND_KEY: KERNEL, "testbed": testbed})


def _thawed(value: Any) -> Any:  # noqa: ANN401, as in files
    """Turn tuples into lists, down through tables."""
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, list | tuple) else value


def _table(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, Mapping):
        raise InputError(f"{name} = {table!r}: it must be a table, `[{name}]`.")
    return table


def _values(entry: tuple[str, Any]) -> list[Any]:
    name, values = entry
    if not isinstance(values, list) or not values:
        raise InputError(f"grid.{name} = {values!r}: it must be a list of values.")
    return values


def _filled(document: dict[str, Any]) -> dict[str, Any]:
    """Put parameters in the places of their names, as scenarios do."""
    parameters = _table(document, "parameters")
    rest = {key: value for key, value in document.items() if key != "parameters"}

    def fill(value: Any) -> Any:  # noqa: ANN401, as in files
        if isinstance(value, Mapping):
            return {key: fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item) for item in value]
        return _parameter(value, parameters) if isinstance(value, str) and value.startswith("$") else value

    filled: dict[str, Any] = fill(rest)
    return filled


def _parameter(name: str, parameters: Mapping[str, Any]) -> Any:  # noqa: ANN401, as in files
    if name[1:] not in parameters:
        near = difflib.get_close_matches(name[1:], parameters, 1) or sorted(parameters)
        raise InputError(
            f"{name}: there is no such parameter; is it {', '.join(near)}? Parameters have their values in"
            " the table `[parameters]`."
        )
    return parameters[name[1:]]


def _changed(document: Mapping[str, Any], values: Mapping[str, object]) -> dict[str, Any]:
    """Replace values by parameter or dotted key."""
    result = copy.deepcopy(dict(document))
    for name, value in values.items():
        key = f"parameters.{name}" if name in document.get("parameters", {}) else name
        *tables, last = key.split(".")
        place = result
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise InputError(f"{key}: {table} is no table.")
        place[last] = value
    return result
