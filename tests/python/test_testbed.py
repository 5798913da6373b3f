"""Test beds: what their files say, what players report, and, where the machine allows it, short real plays."""

from __future__ import annotations

import json
import math
import os
import signal
import socket
import subprocess
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import HUNG, command
from earlybird.errors import EarlybirdError
from earlybird.result import Result
from earlybird.store import Store
from earlybird.study.language.library import find_study
from earlybird.study.language.metrics import metric
from earlybird.study.reductions.played import observe_play
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import plan
from earlybird.sweeps import PlannedRun, SweepResult
from earlybird.testbed import chromium, film, needs, vlc
from earlybird.testbed.batch import Batch, controls
from earlybird.testbed.definition import CLIENTS, controls_of, load
from earlybird.testbed.play import TRIES, _Unwatched, _watched, freezes
from earlybird.testbed.report import MEASURES, label, rows
from earlybird.testbed.server import Sample, _range
from earlybird.testbed.stalls import stalls
from test_cli_input import complaint

if TYPE_CHECKING:
    from test_cli_input import Program

BED = """
title = "A small test bed"
senders = ["reno"]
clients = ["vlc", "chromium"]
plays = 2

[film]
made = "clip"
seconds = 4

[link]
rate = "5Mb/s"
delay = "10ms"
queue = { packets = 100 }

[grid]
"link.loss" = [[], [{ bernoulli = { probability = 0.01 } }]]
"""


@pytest.fixture
def bed(tmp_path: Path) -> Path:
    """A test bed's file."""
    path = tmp_path / "bed.toml"
    path.write_text(BED, encoding="utf-8")
    return path


def test_every_client_plays_over_every_sender_at_every_point_with_the_seed_of_its_play(bed: Path) -> None:
    plays = load(bed)
    assert len(plays) == 2 * 2 * 2
    assert [play.seed for play in plays] == [1] * 4 + [2] * 4
    first = plays[0].spec.document()["testbed"]
    assert (first["client"], first["sender"], first["link"]["loss"]) == ("vlc", "reno", [])
    assert len({play.key for play in plays}) == len(plays)


def test_what_a_control_run_has_is_no_limit(bed: Path) -> None:
    plays = load(bed)
    assert len(controls(plays, 1)) == len(CLIENTS)
    assert len({run.key for run in controls(plays, 3)}) == 3 * len(CLIENTS), "as many as plays side by side"
    link = controls_of(plays[-1])[0].spec.document()["testbed"]["link"]
    assert not link.get("loss")
    assert link["delay"] == "0s"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("senders", "sendres", ["sendres", "senders"]),
        ('["reno"]', '["rneo"]', ["rneo", "'reno'", "modprobe"]),
        ('["reno"]', "[]", ["senders", "cubic"]),
        ('["reno"]', '"reno"', ["senders", "list"]),
        ('"vlc"', '"vcl"', ["vcl", "'vlc'"]),
        ('"clip"', '"clp"', ["film.made", "'clip'"]),
        ("plays = 2", "plays = 0", ["plays = 0", "1 to"]),
        ("plays = 2", 'plays = "two"', ["plays", "a whole number"]),
        ("seconds = 4", "seconds = -4", ["film.seconds", "1 to"]),
        ("seconds = 4", "secnds = 4", ["secnds", "seconds"]),
        ("5Mb/s", "5", ["link.rate", "no unit", "5Mb/s"]),
        ("delay =", "dealy =", ["link.dealy", "`delay`"]),
        ("[link]", "[link.reverse]\ndelay = 3\n[link]", ["link.reverse.delay"]),
        ('made = "clip"', 'file = "no-such-film.mp4"', ["no-such-film.mp4", "does not exist"]),
        ("probability = 0.01", "probability = 7", ["link.loss", "probability"]),
        ("[grid]", "[vlc]\ncaching-ms = -1\n[grid]", ["vlc.caching-ms"]),
        ("[grid]", '[competing]\nsender = "cubicc"\n[grid]', ["sender", "cubicc"]),
        ("[grid]", "[grid", ["valid TOML"]),
    ],
)
def test_what_makes_no_sense_is_named(earlybird: Program, bed: Path, old: str, new: str, words: list[str]) -> None:
    bed.write_text(bed.read_text().replace(old, new, 1))
    message = complaint(earlybird("testbed", "run", bed))
    assert all(word in message for word in words), message


def test_a_parameter_stands_where_its_name_does(bed: Path) -> None:
    text = (
        bed.read_text()
        .replace('"10ms"', '"$way"')
        .replace("[grid]", '[parameters]\nway = "10ms"\n[grid]\nway = ["1ms", "5ms"]')
    )
    bed.write_text(text)
    delays = {play.spec.document()["testbed"]["link"]["delay"] for play in load(bed)}
    assert delays == {"1ms", "5ms"}
    assert {play.spec.document()["testbed"]["link"]["delay"] for play in load(bed, {"grid": {}, "way": "7ms"})} == {
        "7ms"
    }
    bed.write_text(text.replace('"$way"', '"$wya"'))
    with pytest.raises(EarlybirdError, match=r"\$wya: there is no such parameter; is it way"):
        load(bed)


def test_the_study_plays_its_axes() -> None:
    study = find_study("kernel-testbed")
    plays = [run for run in plan(study, "medium") if run.part.name == "kernel"]
    assert all(run.part.is_played for run in plays)
    bed = resolved(plays[0]).spec.document()["testbed"]
    assert (bed["sender"], bed["client"], bed["film"]["seconds"], bed["competing"]) == ("reno", "vlc", 60.0, None)
    assert len({resolved(run).key for run in plays}) == len(plays)


def test_a_play_is_observed_by_what_its_player_reports() -> None:
    study = find_study("kernel-testbed")
    run = next(run for run in plan(study, "medium") if run.part.name == "kernel")
    summary = {"stalls": 2, "stalled_s": 4.5, "late_pictures": 3, "starvations": None, "added_delay_p99_us": 250.0}
    windows = [40.0] * 40 + [8.0, 12.0] * 15
    series = pl.DataFrame({"time_s": range(70), "value": windows}).with_columns(
        time_s=pl.col("time_s").cast(float), subject=pl.lit("film0"), quantity=pl.lit("cwnd")
    )
    values = observe_play(run, Result({}, 1, summary, {"series": lambda: series})).values
    assert (values["player_stalls"], values["player_stalled_s"], values["player_late_frames"]) == (2, 4.5, 3)
    assert values["emulator_added_delay_p99_s"] == pytest.approx(250e-6)
    assert values["cwnd_variation"] == pytest.approx(0.2)
    assert math.isnan(values["player_audio_underruns"])
    assert all(metric(name) for name in values)


def test_pert_that_is_not_loaded_is_reported_with_what_loads_it(
    earlybird: Program, bed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earlybird.testbed.needs.available_senders", lambda: ("reno", "cubic"))
    bed.write_text(bed.read_text().replace('["reno"]', '["pert"]'))
    assert "earlybird kernel load pert" in complaint(earlybird("testbed", "run", bed))


def test_a_picture_of_an_unknown_kind_is_refused_before_anything_is_played(earlybird: Program, bed: Path) -> None:
    assert "picture.jpg" in complaint(earlybird("testbed", "run", bed, "--plot", "picture.jpg"))


def test_missing_programs_are_named_with_what_installs_them(
    earlybird: Program, bed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    message = complaint(earlybird("testbed", "run", bed))
    assert "missing: ffmpeg, pulseaudio" in message
    assert "apt-get install" in message
    assert "chromium" in message


def test_a_film_that_chromium_does_not_decode_is_refused(tmp_path: Path) -> None:
    import av

    path = tmp_path / "old.mkv"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mpeg2video", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for _ in range(3):
            container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode())
    with pytest.raises(EarlybirdError, match=r"Chromium does not decode the video of .*mpeg2video"):
        film.check_for_chromium(path)


def test_vlc_counts_by_its_messages() -> None:
    reported = [
        (0.1, "main input debug: Stream buffering done (1250 ms in 3 ms)"),
        (5.0, "main input error: ES_OUT_SET_(GROUP_)PCR  is called too late (pts_delay increased to 1450 ms)"),
        (5.5, "main input error: ES_OUT_SET_(GROUP_)PCR  is called too late (pts_delay increased to 2100 ms)"),
        (5.6, "pulse audio output debug: underflow"),
        (8.0, "main input debug: Stream buffering done (2350 ms in 900 ms)"),
        (9.0, "main vout display warning: picture is too late to be displayed (missing 31 ms)"),
        (9.1, "main audio output warning: playback too late (50021): up-sampling"),
    ]
    seen = vlc.events_of(reported, 1000, 10.0)
    assert seen["stalls"] == [(5.0, 8.0)]
    assert (seen["late_pictures"], seen["starvations"], seen["sounds_late"]) == (1, 1, 1)
    assert seen["buffer_s"] == 2.1
    assert all(vlc.REPORTED.search(text) for _, text in reported)


def test_who_waits_at_the_end_has_waited_until_then() -> None:
    assert stalls([(1.0, False), (2.0, True), (5.0, False), (6.0, False)], 9.0) == [(5.0, 9.0)]
    assert stalls([(2.0, True), (5.0, False), (6.0, True)], 9.0) == [(5.0, 6.0)]
    assert stalls([], 9.0) == []


def test_the_first_wait_of_chromium_is_its_start() -> None:
    events = [
        [100, "began"],
        [100.1, "waiting"],
        [101, "playing"],
        [105, "waiting"],
        [107.5, "playing"],
        [110, "ended"],
        [110, "told"],
    ]
    seen = chromium.report_of(
        {"error": None, "events": events, "pictures": [101.0], "ahead": [[102, 3.5]], "dropped": 2, "shown": 9}, 100.0
    )
    assert seen["stalls"] == [(5.0, 7.5)]
    assert (seen["finished"], seen["frames_dropped"], seen["buffer_s"], seen["pictures"]) == (True, 2, 3.5, [1.0])


def test_a_picture_that_stands_too_long_is_frozen() -> None:
    moving = [place / 25 for place in range(100)]
    assert freezes(moving) == {"freezes": 0, "frozen_s": 0.0}
    assert freezes([])["freezes"] == 0
    later = [*moving, *(at + 4.5 for at in moving)]
    assert freezes(later)["freezes"] == 1
    assert freezes(later)["frozen_s"] == pytest.approx(4.5 - moving[-1])


@pytest.mark.parametrize(
    ("header", "first", "last"),
    [("", 0, 999), ("bytes=0-", 0, 999), ("bytes=200-299", 200, 299), ("bytes=-10", 990, 999)],
)
def test_a_range_of_the_film_is_read(header: str, first: int, last: int) -> None:
    assert _range(header, 1000) == (first, last)


def test_the_kernel_reports_a_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as near:
        far, _ = listener.accept()
        with far:
            begin = Sample.of(near)
            near.sendall(bytes(5000))
            received = 0
            while received < 5000:
                received += len(far.recv(5000))
            far.sendall(b".")  # whose segment acknowledges what came
            assert near.recv(1)
            after = Sample.of(near)
    assert begin.ssthresh == 2**31 - 1, "no loss yet"
    assert begin.cwnd == 10, "RFC 6928"
    assert after.acked - begin.acked == 5000
    assert (after.unacked, after.retransmissions) == (0, 0)
    assert 0 < after.rtt_us < 60e6


def test_losses_have_short_names() -> None:
    assert label([]) == "none"
    assert label([{"bernoulli": {"probability": 0.0005}}]) == "0.05 %"
    assert label([{"periodic": {"period": 300}}]) == "1 of 300"
    assert label("10ms") == "10ms"


def test_the_noise_of_the_film_that_is_made_covers_its_scenes() -> None:
    scenes = list(film._scenes(60))
    assert scenes[0][0] == 0
    assert all(one[1] == other[0] for one, other in pairwise(scenes))
    assert scenes[-1][1] >= 60
    assert all(0 < strength < 32 for _, _, strength in scenes)
    assert len(list(film._noise(60))) == film.STRENGTH_BITS


# ---------------------------------------------------------------------------------------------------------- real plays


@pytest.fixture(scope="module")
def client() -> str:
    """A client that this machine can play with."""
    reasons = []
    for name in CLIENTS:
        try:
            needs.check({name})
        except EarlybirdError as error:
            reasons.append(str(error))
        else:
            return name
    pytest.skip("; ".join(reasons))


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """A mark in the environment of all that a test starts."""
    name = f"EARLYBIRD_TEST_{os.getpid()}_{time.monotonic_ns()}"
    monkeypatch.setenv(name, "1")
    return name


def running(mark: str) -> list[str]:
    """List the processes of this machine that have a mark, but for this one."""
    lines = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                lines.append((place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has just ended
    return lines


def left_over(mark: str) -> list[str]:
    """Return what runs still after a moment."""
    end = time.monotonic() + 10
    while (left := running(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


@pytest.fixture
def small_bed(bed: Path, client: str) -> Path:
    """One play of a film of four seconds."""
    text = bed.read_text().partition("[grid]")[0]
    bed.write_text(text.replace('["vlc", "chromium"]', f'["{client}"]').replace("plays = 2", "plays = 1"))
    return bed


@pytest.mark.slow
def test_a_film_is_played_once_and_then_reused(program: Program, small_bed: Path, mark: str) -> None:
    done = program("testbed", "run", small_bed, "--json", "--plot", "picture.png")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    (cell,), (play,) = document["cells"], document["plays"]
    assert (cell["sender"], cell["plays"], cell["unfinished"]) == ("reno", 1, 0)
    assert play["pictures"] > 50
    assert 0 < play["startup_delay_s"] < 60
    assert play["packets_in"] > 50
    assert play["added_delay_p99_us"] > 0
    results = list((small_bed.parent / "results").glob("*/series.parquet"))
    assert len(results) == 2, "the play, and a control run"
    assert (small_bed.parent / "picture.png").stat().st_size > 1000
    assert not left_over(mark)
    second = program("testbed", "run", small_bed)
    assert "1 plays, 0 of them made now" in second.out


def test_a_sound_server_that_does_not_start_is_reported(
    program: Program, small_bed: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_bed.parent / "programs"
    folder.mkdir()
    (folder / "pulseaudio").write_text("#!/bin/sh\necho no such sink >&2\nexit 1\n")
    (folder / "pulseaudio").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    message = program("testbed", "run", small_bed).err.splitlines()[-1]
    assert "there is no sound server: PulseAudio does not start (no such sink)" in message
    assert not left_over(mark)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_nothing_runs_on_when_a_test_bed_is_ended(
    small_bed: Path, mark: str, number: signal.Signals, code: int
) -> None:
    small_bed.write_text(small_bed.read_text().replace("seconds = 4", "seconds = 60"))
    with subprocess.Popen(
        command("testbed", "run", small_bed), cwd=small_bed.parent, stderr=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + HUNG
        while not any("pulseaudio -n" in line for line in running(mark)) and time.monotonic() < end:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.1)
        os.kill(process.pid, number)
        process.communicate(timeout=HUNG)
    assert process.returncode == code
    assert not left_over(mark)
    assert not [path for path in (small_bed.parent / "results").glob("*") if not path.name.startswith(".")]


def kept(folder: Path, plays: list[PlannedRun], **reported: object) -> SweepResult:
    """Keep results of plays that nobody made."""
    store = Store(folder).open()
    summary = {**dict.fromkeys(MEASURES, 0.0), "late_pictures": None, "finished": True, "disturbed": False, **reported}
    for play in plays:
        numbers = {**summary, "seed": play.seed, "stalls": reported.get("stalls", play.seed)}
        store.save(Result(play.spec.document(), play.seed, numbers, {}))
    return SweepResult(plays, store)


def test_a_cell_has_means_and_intervals(tmp_path: Path, bed: Path) -> None:
    cells = rows(kept(tmp_path / "results", [play for play in load(bed) if play.parameters["client"] == "chromium"]))
    assert [cell["link.loss"] for cell in cells] == ["none", "1 %"]
    assert cells[0]["stalls"]["mean"] == 1.5
    assert cells[0]["late_pictures"] is None
    assert cells[0]["plays"] == 2


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({"stalls": 0}, []),
        ({"stalls": 1}, ["1 stalls"]),
        ({"stalls": 0, "frozen_s": 5.0}, ["5.0 s of frozen pictures"]),
        ({"stalls": 0, "finished": False}, ["too busy"]),
    ],
)
def test_a_control_run_that_is_not_smooth_is_reported(
    tmp_path: Path, bed: Path, reported: dict[str, object], words: list[str]
) -> None:
    plays = load(bed)
    batch = Batch(kept(tmp_path / "plays", plays), kept(tmp_path / "controls", controls_of(plays[0]), **reported))
    assert len(batch.problems) == len(words)
    assert all(word in problem for word, problem in zip(words, batch.problems, strict=True))


def test_disturbed_plays_are_counted(tmp_path: Path, bed: Path) -> None:
    plays = load(bed)
    batch = Batch(
        kept(tmp_path / "plays", plays, disturbed=True), kept(tmp_path / "controls", controls_of(plays[0]), stalls=0)
    )
    assert "8 plays were disturbed" in batch.problems[0]


@pytest.mark.parametrize("failures", range(TRIES + 1))
def test_one_play_that_a_browser_gives_up_does_not_end_a_series(failures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [failures]

    def watch(*_: object) -> tuple[dict[str, Any], str, dict[str, Any]]:
        if left[0]:
            left[0] -= 1
            raise _Unwatched("chromium over cubic: Chromium cannot play it.")
        return {}, "", {}

    monkeypatch.setattr("earlybird.testbed.play._watched_once", watch)
    if failures == TRIES:
        with pytest.raises(EarlybirdError, match=r"chromium over cubic"):
            _watched({}, Path(), 1)
    else:
        assert _watched({}, Path(), 1)[2] == {"tries": failures + 1}
