"""Formulas against values that were computed independently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from earlybird.models import least_playback_delay, pert_response, pftk_approximation, pftk_throughput

if TYPE_CHECKING:
    from conftest import Conforms

PFTK = "Padhye, Firoiu, Towsley, Kurose 2000"


def test_v14_v15_pftk_full_and_short_model(conforms: Conforms) -> None:
    cases = {
        (0.02, 2, 64): (54.844, 56.122),
        (0.02, 1, 64): (78.437, 79.368),
        (0.004, 2, 64): (132.381, 134.508),
        (0.004, 1, 64): (188.316, 190.223),
        (0.04, 2, 64): (36.059, 36.412),
        (0.001, 2, 8): (77.711, 80.000),
    }
    for (loss, per_ack, window), (full, short) in cases.items():
        assert pftk_throughput(loss, 0.1, 0.2, window=window, per_ack=per_ack) == pytest.approx(full, abs=5e-4)
        assert pftk_approximation(loss, 0.1, 0.2, window=window, per_ack=per_ack) == pytest.approx(short, abs=5e-4)
    conforms("Congestion control", "PFTK model", PFTK, "throughput, full and short form (V14, V15)", "12 of 12 to 5e-4")


def test_v17_playback_delay_of_60_ms_round_trip_and_20_ms_period_is_160_ms(conforms: Conforms) -> None:
    assert least_playback_delay(0.060, 0.020, 0.010) == pytest.approx(0.160)
    conforms("Traffic", "playback delay", "MTCP paper", "shortest delay (V17)", "160 ms")


def test_v5_v6_response_curves_of_pert() -> None:
    delays = [0.004, 0.005, 0.006, 0.0075, 0.010, 0.0125, 0.015, 0.0175, 0.020, 0.050]
    expected = [0, 0, 0.01, 0.025, 0.05, 0.2875, 0.525, 0.7625, 1, 1]
    assert pert_response(delays, 0.020) == pytest.approx(expected)
    assert pert_response([0.0125, 0.020, 0.030], 0.052) == pytest.approx([0.106548, 0.276190, 0.502381], abs=1e-6)
