"""Values written as TOML."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from earlybird.loading import override_texts, to_document, toml_value
from earlybird.parameter import Parameter
from earlybird.scenario import Endpoint, RetransmissionTimer

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x7f"))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    NUMBERS | st.booleans() | TEXTS,
    lambda values: st.lists(values) | st.dictionaries(TEXTS, values),
    max_leaves=10,
)


@given(VALUES)
def test_values_survive_being_written_as_toml(value: object) -> None:
    assert tomllib.loads(f"value = {toml_value(value)}")["value"] == value


def test_overrides_come_as_values_or_as_texts() -> None:
    assert override_texts({"pairs": 3, "transport": "sack"}) == [("pairs", "3"), ("transport", '"sack"')]
    assert override_texts([("pairs", "3"), ("transport", "sack")]) == [("pairs", "3"), ("transport", "sack")]


def test_typed_objects_become_the_tables_of_the_toml_form() -> None:
    endpoint = Endpoint(delayed_ack="100ms", window=Parameter("window"), rto=RetransmissionTimer(floor="1s"))
    assert to_document(endpoint) == {"delayed-ack": "100ms", "window": "$window", "rto": {"floor": "1s"}}
