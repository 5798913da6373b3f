"""`earlybird plan --watch`: films show the frames, the stalls and the lost frames that the sessions have."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import av
import numpy as np
import pytest
from av.video.stream import VideoStream
from typer.testing import CliRunner

import earlybird
from earlybird import InputError
from earlybird.cli.application import application
from earlybird.planning.film_reader import FilmReader
from earlybird.planning.planner import Plan, PlanRequest
from earlybird.planning.watch import worst_part
from earlybird.player import REFILL_SECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from earlybird.planning.session import Session

    Image = NDArray[np.uint8]

CLIP: Final = Path(__file__).parents[2] / "media" / "test-clip.mp4"
WIDE, TALL, LEFT, TOP, APART = 608, 342, 21, 96, 629
"""Places of the pictures in an MP4, in pixels, as they were measured in one."""
STEP: Final = 0.001  # seconds of the player that the films are compared with
LINE: Final = ["--rate", "20Mb/s", "--rtt", "60ms", "--loss", "1%", "--seeds", "2", "--duration", "20s"]
FILM: Final = ["plan", "--bitrate", "4Mb/s", *LINE]


def planned(**changed: Any) -> Plan:  # noqa: ANN401, as of `plan`
    given: dict[str, Any] = {"bitrate": "4Mb/s", "rate": "20Mb/s", "rtt": "60ms", "loss": "1%", "duration": "20s"}
    return earlybird.plan(PlanRequest(**{**given, "seeds": [1, 2], "transports": ["bbr"], **changed}), jobs=1)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned()


def decoded(path: Path) -> list[Image]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(np.uint8) for frame in container.decode(video=0)]


def screen(image: Image, place: int) -> NDArray[np.int16]:
    left = LEFT + place * APART
    return image[TOP : TOP + TALL, left : left + WIDE].astype(np.int16)


def is_stalled(picture: NDArray[np.int16]) -> bool:
    """Return whether the sky, which is #2b5c8a, is dimmed."""
    return float(picture[4:12, 4:12, 2].mean()) < 100


def ball(picture: NDArray[np.int16]) -> float:
    """Return the middle of what is yellow, dimmed or not, as a share of its course; NaN if hills hide a part of it."""
    part = picture[: TALL // 2, :, 0] - picture[: TALL // 2, :, 2] > 25
    spots = np.nonzero(part)[1]
    return float(spots.mean() - 42) / (WIDE - 84) if len(spots) > 4500 else float("nan")


def played(session: Session, delay: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Play in steps: the position in the film, and whether the picture stands still, at each of them."""
    times = np.arange(0, session.end, STEP)
    positions, stalls = np.zeros(len(times)), np.zeros(len(times), np.bool_)
    position, wanted, is_waiting = 0.0, 0, False
    for step, now in enumerate(times):
        while wanted < len(session.due) and float(session.due[wanted]) <= position + 1e-9 and not is_waiting:
            is_waiting = bool(session.delivered[wanted] > now and now >= delay)
            wanted += int(not is_waiting)
        if is_waiting:
            ahead = (session.due >= session.due[wanted]) & (session.due < session.due[wanted] + REFILL_SECONDS)
            is_waiting = bool((session.delivered[ahead] > now).any())
        stalls[step] = is_waiting
        if now >= delay and not is_waiting:
            position += STEP
        positions[step] = position
    return positions, stalls


@pytest.mark.slow
def test_stalls_and_frames_of_the_film_are_those_of_a_player_in_small_steps(tmp_path: Path) -> None:
    plan = planned(duration="12s")
    seen = plan.watch(tmp_path / "seen.mp4", seconds=12)
    images = decoded(tmp_path / "seen.mp4")
    assert len(images) == 300
    assert images[0].shape == (540, 1280, 3)
    for place, result in enumerate(plan.results):
        session = next(one for one in result.sessions if one.seed == seen.session.seed)
        positions, stalls = played(session, plan.longest_delay)
        steps = [round(number * 40e-3 / STEP) for number in range(len(images))]
        drawn = np.array([is_stalled(screen(image, place)) for image in images])
        starting = np.array([number * 40e-3 < plan.longest_delay for number in range(len(images))])
        differing = (drawn != stalls[steps]) & ~starting
        # A stall may begin and end within a frame of where the steps have it.
        assert differing.sum() <= 2 * (1 + np.count_nonzero(np.diff(stalls[steps].astype(int)) == 1))
        assert drawn[~starting].sum() == pytest.approx(stalls[steps][~starting].sum(), abs=10)
        courses = np.array([ball(screen(image, place)) for image in images])
        expected = positions[steps] / 4 % 1
        # Frames are shown for 40 ms, a hundredth of the ball's course.
        compared = ~np.isnan(courses) & ~starting & (np.abs(expected - 0.5) < 0.3)
        assert compared.sum() > 60
        assert np.abs(courses - expected)[compared].max() < 0.025
        # The missing frame is not shown before it is there: during a stall the one before it stays.
        during = compared & drawn & stalls[steps]
        assert np.all((expected - courses)[during] > 0.005)
    assert plan.results[0].candidate.name == "cubic"
    assert seen.to_dict()["senders"]["cubic"]["frozen_s"] > 1


def test_the_clock_and_the_past_advance_from_picture_to_picture(plan: Plan, tmp_path: Path) -> None:
    plan.watch(tmp_path / "seen.gif", seconds=4)
    images = decoded(tmp_path / "seen.gif")
    assert len(images) == 40
    clocks = [image[5:28, 600:] for image in images]
    assert all((one != other).any() for one, other in pairwise(clocks))
    strips = [image[282, 13:393].astype(np.int16) for image in images]
    past = [int(np.count_nonzero(np.abs(strip - (0x2E, 0x34, 0x3C)).max(axis=1) > 20)) for strip in strips]
    assert np.all(np.diff(past) >= 0)
    assert past[-1] - past[10] == pytest.approx(380 * 2.9 / 4, abs=3)


def test_four_senders_are_two_rows(tmp_path: Path) -> None:
    four = planned(transports=["cubic+rto-min", "bbr", "pert-rack"])
    others = [one.candidate.name for one in four.results[1:] if one is not four.choice]
    four.watch(tmp_path / "seen.png", seconds=1, senders=others)
    images = decoded(tmp_path / "seen.png")
    assert images[0].shape == (618, 800, 3)
    for row in (0, 1):
        for column in (0, 1):
            name = images[0][36 + 280 * row : 55 + 280 * row, 13 + 393 * column :][:, :60]
            assert (name > 200).any()


def test_the_same_plan_gives_the_same_bytes(plan: Plan, tmp_path: Path) -> None:
    for ending in (".mp4", ".gif", ".webp", ".png"):
        paths = [tmp_path / f"{name}{ending}" for name in ("one", "other")]
        for path in paths:
            plan.watch(path, seconds=1)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_what_a_sender_without_repair_loses_is_lost_in_the_film(tmp_path: Path) -> None:
    call = planned(bitrate="400kb/s", rate="2Mb/s", goal="call", transports=["udp"])
    seen = call.watch(tmp_path / "seen.mp4", seconds=10, senders=["udp"]).to_dict()
    udp = seen["senders"]["udp"]
    session = next(one for one in call.results[1].sessions if one.seed == seen["seed"])
    due = session.due + seen["startup_delay_s"]
    lost = int(np.sum((session.delivered > due + 1e-6) & (due > seen["start_s"]) & (due <= seen["end_s"])))
    assert udp["frames_lost"] == lost > 3
    assert udp["frozen_s"] == pytest.approx(0.04 * lost, abs=0.05)
    assert not any(is_stalled(screen(image, 1)) for image in decoded(tmp_path / "seen.mp4")[50:])


def encoded(path: Path, codec: str) -> Path:
    """Encode the clip again with B frames."""
    with av.open(str(CLIP)) as film, av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=25, options={"bf": "2", "g": "40", "threads": "1"})
        assert isinstance(stream, VideoStream)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        for number, frame in enumerate(film.decode(video=0)):
            frame.pts, frame.time_base, frame.pict_type = number, Fraction(1, 25), 0
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(("ending", "codec"), [("mp4", "libx264"), ("ts", "libx264"), ("avi", "mpeg4")])
def test_pictures_of_a_file_are_found_by_number_forward_and_back(ending: str, codec: str, tmp_path: Path) -> None:
    path = encoded(tmp_path / f"film.{ending}", codec)
    with av.open(str(path)) as container:
        every = [frame.to_ndarray(format="rgb24", width=160, height=90) for frame in container.decode(video=0)]
    assert len(every) == 300
    reader = FilmReader(path, 160, 90)
    for number in (0, 1, 7, 8, 120, 121, 299, 3, 180):
        assert np.array_equal(reader.picture(number), every[number])


def test_a_damaged_part_of_a_film_is_skipped(tmp_path: Path) -> None:
    content, path = bytearray(CLIP.read_bytes()), tmp_path / "damaged.mp4"
    middle = len(content) // 2
    content[middle : middle + 30000] = bytes(30000)
    path.write_bytes(content)
    damaged, whole = FilmReader(path, 160, 90), FilmReader(CLIP, 160, 90)
    differ = [not np.array_equal(damaged.picture(number), whole.picture(number)) for number in range(300)]
    assert any(differ[100:])
    assert not any(differ[:50])


def test_a_film_from_a_file_shows_its_pictures(tmp_path: Path) -> None:
    film = planned(bitrate=None, clip=CLIP)
    seen = film.watch(tmp_path / "seen.mp4", seconds=2)
    image = decoded(tmp_path / "seen.mp4")[40]
    number = seen.viewers[1].frame(seen.start + 1.6)
    assert number is not None
    expected = FilmReader(CLIP, WIDE, TALL).picture(number % 300).astype(np.int16)
    assert np.abs(screen(image, 1) - expected).mean() < 12
    other = FilmReader(CLIP, WIDE, TALL).picture((number + 150) % 300).astype(np.int16)
    assert np.abs(screen(image, 1) - other).mean() > 30


def test_the_part_with_the_most_frozen_pictures_is_shown(plan: Plan, tmp_path: Path) -> None:
    viewers = plan.watch(tmp_path / "seen.gif", seconds=5).viewers
    frozen = [viewers[0].frozen_in(start, start + 5) for start in np.arange(0, 15, 0.05)]
    start = worst_part(viewers, 5.0, 20.0)
    assert viewers[0].frozen_in(start, start + 5) >= 0.75 * max(frozen)
    assert worst_part(viewers[1:], 5.0, 20.0) == 0.0


# The command


def test_the_command_names_session_and_part(tmp_path: Path) -> None:
    path = tmp_path / "new" / "seen.gif"
    options = ["--transport", "bbr", "--watch", str(path), "--watch-seconds", "1"]
    done = CliRunner().invoke(application, [*FILM, *options])
    assert done.exit_code == 0, done.output
    words = " ".join(done.output.split())
    assert f"Written: {path}: " in words
    assert "nine of ten need no more with bbr" in words
    done = CliRunner().invoke(application, [*FILM, *options, "--json"])  # replaces the file
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["watch"]
    assert found["file"] == str(path)
    assert set(found["senders"]) == {"cubic", "bbr"}
    assert found["end_s"] - found["start_s"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--watch", "seen.avi"], "watch = seen.avi: the name of the film ends in .mp4, .gif, .webp or .png."),
        (["--watch", "seen"], "watch = seen: the name of the film ends in"),
        (["--watch", "there.mp4"], "watch = there.mp4: the file is there and is not one that earlybird wrote"),
        (["--watch", "text.gif"], "watch = text.gif: the file is there and is not one that earlybird wrote"),
        (["--watch", "text.gif/seen.mp4"], "watch = text.gif/seen.mp4: cannot be written: "),
        (["--watch", "a.png", "--plot", "a.png"], "a.png: this would overwrite what"),
        (["--watch", "a.gif", "--watch-sender", "brb"], "watch-sender = 'brb': there is no such sender in this plan"),
        (["--watch-sender", "bbr"], "--watch-sender is for --watch"),
        (["--watch", "a.gif", "--watch-seconds", "0"], "--watch-seconds"),
    ],
)
def test_what_cannot_be_written_is_an_error_in_a_line(
    options: list[str], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.mp4").write_bytes(CLIP.read_bytes())
    Path("text.gif").write_text("no film", encoding="utf-8")
    done = CliRunner().invoke(application, [*FILM, "--transport", "bbr", *options])
    assert done.exit_code == 2
    assert word in " ".join(done.output.split())
    assert "Traceback" not in done.output
    assert Path("there.mp4").read_bytes() == CLIP.read_bytes()


def test_the_film_itself_is_not_overwritten(tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(CLIP.read_bytes())
    done = CliRunner().invoke(application, ["plan", str(clip), *LINE, "--watch", str(clip)])
    assert done.exit_code == 2
    assert "this would overwrite the film itself" in " ".join(done.output.split())


def test_more_than_four_senders_are_refused(tmp_path: Path) -> None:
    five = planned(transports=["cubic+rto-min", "bbr", "pert-rack", "cubic-rack"], duration="5s")
    with pytest.raises(InputError, match="watch-sender: 5 senders are asked for; 4 can be shown"):
        five.watch(tmp_path / "a.gif", senders=["cubic+rto-min", "bbr", "pert-rack", "cubic-rack"])
