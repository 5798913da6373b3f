"""Web traffic, bursts of losses and reordering end to end, and films from files of frame sizes."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING

import polars as pl
import pytest

from conftest import REPOSITORY
from earlybird import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Conforms, Finished

    Program = Callable[..., Finished]

SCENARIOS = REPOSITORY / "scenarios"


def test_two_hundred_webtraf_sessions_send_about_one_megabit_per_second(conforms: Conforms) -> None:
    runs = [run(SCENARIOS / "web-traffic.toml", seed=seed) for seed in (1, 2, 3, 4)]
    rate = statistics.mean(one.summary["web_mbps"] for one in runs)
    assert 1.0 <= rate <= 1.3
    what = "mean rate of 200 sessions over a free link, 4 runs of 600 s (X-9)"
    conforms("Traffic", "webtraf", "ns-2.35 large-scale web example", what, f"{rate:.2f} Mb/s, expected 1.0 to 1.3")


@pytest.mark.parametrize("generator", ["mah", "surge", "http-simple"])
def test_other_generators_run_to_the_end_and_fill_nothing(generator: str) -> None:
    overrides = {"generator": generator, "sessions": 20, "duration": "60s"}
    result = run(SCENARIOS / "web-traffic.toml", overrides=overrides)
    assert result.summary["web_mbps"] > 0
    assert result.summary["drop_rate"] == 0


def reordered(**overrides: object) -> tuple[int, pl.DataFrame]:
    """Run the video over the path that reorders; return the early retransmissions and the first two duplicate ACKs."""
    result = run(SCENARIOS / "reordering.toml", overrides={"transport": "sack-er", "duration": "200s", **overrides})
    flow = result.flows.row(0, named=True)
    assert result.links["packets_reordered"].sum() > 50
    assert result.links["packets_dropped"].sum() == 0
    return flow["early_retransmits_first_dupack"] + flow["early_retransmits_second_dupack"], result.duplicates.filter(
        pl.col("dupacks") < 3
    )


def test_reordering_below_the_threshold_sets_off_no_early_retransmission(conforms: Conforms) -> None:
    cases: list[dict[str, object]] = [
        {"packet": 200, "distance": 1},
        {"packet": 200, "distance": 2},
        {"packet": 1000, "distance": 9, "delay": "50ms"},
    ]
    seen = 0
    for case in cases:
        early, duplicates = reordered(**case)
        assert duplicates.filter(pl.col("age_s") > pl.col("er_threshold_s")).height == 0
        assert early == 0
        seen += duplicates.height
    what = "early retransmissions while packets are passed by 1, by 2, or for up to the RTT of 50 ms (X-3)"
    conforms(
        "Loss recovery",
        "sack-er",
        "ER thesis, tolerance of reordering",
        what,
        f"0 at {seen} first and second duplicates",
    )


def test_only_ages_above_the_threshold_set_off_early_retransmissions() -> None:
    early, duplicates = reordered(packet=1000, distance=2)
    late = duplicates.filter(pl.col("age_s") > pl.col("er_threshold_s")).height
    assert 0 < early <= late


def late_share(transport: str, burst: float) -> float:
    """Return the share of packets that take more than 200 ms over the path that loses in bursts, over eight runs."""
    overrides = {"transport": transport, "mean-burst": burst}
    runs = [run(SCENARIOS / "bursty-loss.toml", seed=seed, overrides=overrides) for seed in range(1, 9)]
    rows = pl.concat([one.lateness for one in runs]).filter((pl.col("startup_delay_s") - 0.2).abs() < 1e-9)
    return float(rows["late"].sum()) / float(rows["due"].sum())


def test_longer_bursts_of_losses_make_more_packets_late_and_early_retransmission_helps_less(conforms: Conforms) -> None:
    bursts = [1, 2, 3, 5]
    plain = [late_share("sack", burst) for burst in bursts]
    early = [late_share("sack-er", burst) for burst in bursts]
    assert plain == sorted(plain)
    saved = [1 - with_early / without for with_early, without in zip(early, plain, strict=True)]
    assert saved[0] > 0.2
    assert max(saved[1:]) < saved[0] / 2
    what = "share of packets later than 200 ms at 1 % losses, mean bursts of 1, 2, 3, 5 (X-11)"
    shares = ", ".join(f"{share:.2%}" for share in plain)
    conforms("Network", "gilbert", "Burst-loss paper: delay grows with the burst", what, f"SACK {shares}")


def test_a_film_from_a_file_of_sizes_is_judged_as_media(tmp_path: Path) -> None:
    result = run(SCENARIOS / "vbr-video.toml", overrides={"duration": "30s", "pairs": 1})
    video = result.flows.filter(pl.col("group") == "video").row(0, named=True)
    assert 25 * 10 < video["units_written"] <= 25 * 30
    assert video["units_delivered"] > 0.9 * video["units_written"]
    (tmp_path / "two.txt").write_text("100\n200\n")
    text = (SCENARIOS / "vbr-video.toml").read_text().replace("../media/made-up-film.txt", "two.txt")
    (tmp_path / "near.toml").write_text(text.replace('two.txt"', 'two.txt", fps = 5'))
    near = run(tmp_path / "near.toml", overrides={"duration": "30s", "pairs": 1})
    units = near.flows.filter(pl.col("group") == "video").row(0, named=True)["units_written"]
    assert 5 * 10 <= units <= 5 * 30


def test_the_program_reads_the_file_beside_the_scenario_and_names_its_bad_line(
    earlybird: Program, tmp_path: Path
) -> None:
    scenario = tmp_path / "film.toml"
    scenario.write_text((SCENARIOS / "vbr-video.toml").read_text().replace("../media/made-up-film.txt", "film.txt"))
    (tmp_path / "film.txt").write_text("0 I 0 800\n1 P 40 many\n")
    failed = earlybird("validate", scenario)
    assert failed.code == 2
    assert "flows.video.application.frames.file: `many` in line 2 of film.txt has a size that is not one" in failed.err
    (tmp_path / "film.txt").write_text("0 I 0 800\n1 P 40 100\n")
    complete = json.loads(earlybird("validate", scenario, "--json").out)
    assert complete["flows"][0]["application"] == {"media": {"length": 0.08, "sizes": [800, 100], "times": [0.0, 0.04]}}


def test_acknowledgements_get_lost_on_the_reverse_path_only() -> None:
    overrides = {"ratio": 0, "duration": "100s", "network.dumbbell.reverse.loss.0.bernoulli.probability": 0.1}
    result = run(SCENARIOS / "bursty-loss.toml", overrides=overrides)
    links = {row["link"]: row for row in result.links.iter_rows(named=True) if row["link"].count("-") == 1}
    assert links["left-right"]["packets_dropped"] == 0
    assert links["right-left"]["drop_rate"] == pytest.approx(0.1, rel=0.3)
    # Acknowledgements are cumulative: a later one makes up for a lost one.
    assert result.flows["units_delivered"][0] > 0.99 * result.flows["units_written"][0]


TRANSFER = """
duration = "30s"
endpoint = { profile = "ns2", window = 64 }

[network.dumbbell]
bottleneck = { rate = "5Mb/s", delay = "15ms", queue = { packets = 100 } }
access = { rate = "10Mb/s", delay = "5ms" }

[[flows]]
name = "file"
from = "left"
to = "right"
application = { bulk = {} }
"""


def test_a_slow_reverse_path_delays_a_transfer() -> None:
    def throughput(**overrides: object) -> float:
        return float(run(TRANSFER, overrides=overrides).flows["throughput_bps"][0])

    # 20 kb/s carry 62.5 ACKs of 40 bytes a second, each for one packet of 1000 bytes.
    assert throughput() > 4e6
    assert throughput(**{"network.dumbbell.reverse.rate": "20kb/s"}) < 1.05 * 62.5 * 8000


def test_copies_arrive_and_are_counted() -> None:
    overrides = {"duration": "20s", "network.dumbbell.bottleneck.duplicate.probability": 0.2}
    result = run(TRANSFER, overrides=overrides)
    assert result.links["packets_duplicated"].sum() > 100
    assert result.flows["rto_count"][0] == 0
