"""Links by name, with published values; values that the source did not measure are marked as assumed."""

from __future__ import annotations

from typing import Final

from earlybird.errors import InputError
from earlybird.planning.path import Measurements

FCC: Final = "FCC, Measuring Broadband America, 2013: mean round trips at peak hours"

PROFILES: Final = {
    "dsl": Measurements(
        rate=12e6,
        round_trip=0.049,
        loss=0.004,
        facts=(
            f"dsl: 49 ms ({FCC}: DSL); 12 Mb/s, the most that most DSL providers offered (the same, 2015)",
            "dsl: 0.4 % lost is assumed, the bound up to which the FCC counts a line among the best",
        ),
    ),
    "cable": Measurements(
        rate=50e6,
        round_trip=0.032,
        loss=0.001,
        facts=(
            f"cable: 32 ms ({FCC}: cable); 50 Mb/s, the lower end of the largest offers (the same, 2015)",
            "cable: 0.1 % lost is assumed",
        ),
    ),
    "lte": Measurements(
        rate=13e6,
        round_trip=0.07,
        loss=0.001,
        queue="500kB",
        facts=(
            "lte: 13 Mb/s, the median downlink (Huang and others, A Close Examination of Performance and Power "
            "Characteristics of 4G LTE Networks, MobiSys 2012)",
            "lte: a round trip of 70 ms, 0.1 % lost and a queue of 500 kB are assumed",
        ),
    ),
    "starlink": Measurements(
        rate=97e6,
        round_trip=0.05,
        loss=0.01,
        mean_burst=5.0,
        facts=(
            "starlink: 50 ms, the median to European servers (Michel and others, A First Look at Starlink Performance, "
            "IMC 2022); 97 Mb/s, the median of the USA (Ookla, second quarter of 2021)",
            "starlink: 1 % lost in bursts of 5 is assumed; bursts at changes of the satellite were seen (Kassem and "
            "others, A Browser-side View of Starlink Connectivity, IMC 2022)",
        ),
    ),
    "wifi": Measurements(
        rate=50e6,
        round_trip=0.052,
        loss=0.005,
        mean_burst=3.0,
        facts=(
            "wifi: the line of `cable`, and 20 ms over the air, which one packet in ten takes (Sui and others, "
            "Characterizing and Improving WiFi Latency in Large-Scale Operational Networks, MobiSys 2016)",
            "wifi: 0.5 % lost in bursts of 3 is assumed",
        ),
    ),
    "transatlantic": Measurements(
        rate=100e6,
        round_trip=0.09,
        loss=0.001,
        facts=(
            "transatlantic: 90 ms, what Verizon's agreements promise between New York and London",
            "transatlantic: 100 Mb/s and 0.1 % lost are assumed",
        ),
    ),
}
"""By name."""


def profile_named(name: str) -> Measurements:
    """Return a profile by name."""
    if name not in PROFILES:
        raise InputError(f"profile = {name}: there is no such profile; there are {', '.join(PROFILES)}.")
    return PROFILES[name]
