"""
Links by name, with published values; values that the source did not measure are marked as assumed.

The rate is that of the direction of the film: to a viewer, or with `-uplink` from a camera.
"""

from __future__ import annotations

from typing import Final

from earlybird.errors import InputError
from earlybird.planning.jitter import Jitter
from earlybird.planning.path import Measurements

FCC: Final = "FCC, Measuring Broadband America, 2013: mean round trips at peak hours"

OFCOM: Final = "Ofcom, Mobile Matters"
OFCOM_HOMES: Final = "Ofcom, UK home broadband performance"

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
    "lte-uplink": Measurements(
        rate=7.6e6,
        round_trip=0.024,
        loss=0.001,
        queue="500ms",
        facts=(
            f"lte-uplink: 7.6 Mb/s, the mean upload over 4G in the United Kingdom ({OFCOM}, 2023); 24 ms, the mean of "
            "the slowest operator over 4G to a near server (the same, 2024)",
            "lte-uplink: 0.1 % lost and a queue of 500 ms are assumed",
        ),
    ),
    "5g-uplink": Measurements(
        rate=14.7e6,
        round_trip=0.021,
        loss=0.001,
        queue="500ms",
        facts=(
            f"5g-uplink: 14.7 Mb/s, the mean upload over 5G in the United Kingdom ({OFCOM}, 2023); 21 ms, the mean of "
            "the slowest operator over 5G to a near server (the same, 2024)",
            "5g-uplink: 0.1 % lost and a queue of 500 ms are assumed",
        ),
    ),
    "starlink-uplink": Measurements(
        rate=14.84e6,
        round_trip=0.05,
        loss=0.01,
        mean_burst=5.0,
        facts=(
            "starlink-uplink: 14.84 Mb/s, the median upload in the USA (Ookla, first quarter of 2025); 50 ms, the "
            "median to European servers (Michel and others, A First Look at Starlink Performance, IMC 2022)",
            "starlink-uplink: 1 % lost in bursts of 5 is assumed; bursts at changes of the satellite were seen "
            "(Kassem and others, A Browser-side View of Starlink Connectivity, IMC 2022)",
        ),
    ),
    "dsl-uplink": Measurements(
        rate=10.7e6,
        round_trip=0.025,
        loss=0.001,
        facts=(
            f"dsl-uplink: 10.7 Mb/s, the median upload of British homes in 2022 ({OFCOM_HOMES}, 2023), 15.6 million of "
            "which had VDSL (ISPreview, September 2023)",
            "dsl-uplink: a round trip of 25 ms and 0.1 % lost are assumed",
        ),
    ),
    "wifi-uplink": Measurements(
        rate=18.4e6,
        round_trip=0.025,
        loss=0.005,
        mean_burst=3.0,
        jitter=Jitter(0.025, (*[0.0] * 99, 0.065, 0.065), 0.1, is_seen=False),
        facts=(
            f"wifi-uplink: 18.4 Mb/s, the median upload of British homes in 2023 ({OFCOM_HOMES}, 2023); one round trip "
            "in a hundred takes 90 ms and more (Sarode, Why Every Home Needs a Wi-Fi Mesh: Statistical Analysis, "
            "2022: one home with several access points)",
            "wifi-uplink: a round trip of 25 ms otherwise, correlated over 0.1 s, and 0.5 % lost in bursts of 3 "
            "are assumed",
        ),
    ),
}
"""By name."""


def profile_named(name: str) -> Measurements:
    """Return a profile by name."""
    if name not in PROFILES:
        raise InputError(f"profile = {name}: there is no such profile; there are {', '.join(PROFILES)}.")
    return PROFILES[name]
