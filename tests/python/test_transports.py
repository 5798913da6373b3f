"""The table of transports: every name is one that scenarios take, every parameter a key that they have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from earlybird import _core
from earlybird.errors import InputError
from earlybird.transports import recoveries, transport, transports

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished


def test_the_table_has_every_name_that_scenarios_take() -> None:
    names = {name + end for one in transports() for name in one.names for end in ("", "-fg")[: 1 + one.has_timer]}
    schema = json.loads(_core.schema())["$defs"]["Transport"]
    assert names == set(schema["anyOf"][0]["enum"])


def test_every_transport_states_what_it_is_and_where_that_is_written() -> None:
    for one in transports():
        assert one.title
        assert one.source
        assert all(parameter.meaning and parameter.allowed for parameter in one.parameters), one.name
    assert {"sack1", "rfc6675"} <= {one.name for one in recoveries()}


def test_a_name_is_found_with_its_ends() -> None:
    assert transport("pert-er-fg").name == "pert"
    with pytest.raises(InputError, match="there is no transport `pertt`; there are: tahoe, "):
        transport("pertt")


def test_the_command_prints_sources_parameters_and_json(earlybird: Callable[..., Finished]) -> None:
    assert "RFC 5681" in earlybird("transports", "reno").out
    assert "endpoint.pert.curve-tail" in earlybird("transports", "pert").out
    names = [one["name"] for one in json.loads(earlybird("transports", "--json").out)["transports"]]
    assert names == [one.name for one in transports()]


def test_an_unknown_transport_is_one_clear_error(earlybird: Callable[..., Finished]) -> None:
    finished = earlybird("transports", "pertt")
    assert finished.code == 2
    assert "there is no transport `pertt`" in finished.err


def test_a_transport_took_more_than_one_line_of_80_columns(
    earlybird: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [line.rstrip() for line in earlybird("transports").out.splitlines()]
    assert max(map(len, lines)) <= 80
    listed = lines[: lines.index("Loss recovery: endpoint.recovery")]
    for one in transports():
        assert sum(line.startswith(f"{one.name} ") for line in listed) == 1
