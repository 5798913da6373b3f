"""Reading films: the project's own clip, the same in other containers, and everything that is not a film."""

import dataclasses
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from typer.testing import CliRunner

import earlybird
from earlybird.cli.application import application
from earlybird.errors import ScenarioWarning
from earlybird.media import Clip, MediaError, film_document, read_clip, remarks_on

REPOSITORY = Path(__file__).parents[2]
CLIP = REPOSITORY / "media" / "test-clip.mp4"
HAS_X264 = "libx264" in av.codecs_available

Maker = Callable[[Path], Path]

LINE = """
duration = "12.5s"
[network.dumbbell]
bottleneck = { rate = "10Mb/s", delay = "10ms" }
access = { rate = "1Gb/s", delay = "0s" }
[[flows]]
name = "film"
from = "left"
to = "right"
"""


@pytest.fixture(scope="module")
def clip() -> Clip:
    return read_clip(CLIP)


def remux(folder: Path, name: str) -> Path:
    """Copy the clip's packets into another container."""
    path = folder / name
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    return path


def cut(path: Path, share: float) -> Path:
    """Keep the first part of a file."""
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    return path


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def music(folder: Path) -> Path:
    """Write a second of sound."""
    path = folder / "music.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), dtype=np.int16), format="s16", layout="mono")
        frame.rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def music_with_cover(folder: Path) -> Path:
    """Write a second of sound with the picture of a record, which is a video stream of its own."""
    path = folder / "music.m4a"
    with av.open(str(path), "w", format="mp4") as container:
        sound, cover = container.add_stream("aac", rate=8000), container.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt, cover.disposition = 32, 32, "yuvj420p", Disposition.attached_pic
        image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), dtype=np.uint8), format="rgb24")
        container.mux(cover.encode(image.reformat(format="yuvj420p")))
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), dtype=np.float32), format="fltp", layout="mono")
        frame.rate = 8000
        container.mux(cover.encode(None) + sound.encode(frame) + sound.encode(None))
    return path


def picture(folder: Path) -> Path:
    """Write a single picture."""
    path = folder / "picture.png"
    with av.open(str(path), "w", format="image2") as container:
        stream = container.add_stream("png", rate=1)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "rgb24"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), dtype=np.uint8), format="rgb24")))
        container.mux(stream.encode(None))
    return path


def test_the_clip_has_300_frames_in_12_seconds(clip: Clip) -> None:
    assert clip.codec == "h264"
    assert clip.frames == 300
    assert clip.length == pytest.approx(12.0)
    assert np.diff(clip.times) == pytest.approx(0.04)
    assert clip.times[0] == 0


def test_the_clip_has_the_rate_and_the_scene_changes_of_a_film(clip: Clip) -> None:
    assert 200e3 < clip.mean_rate < 300e3
    assert clip.peak_rate > 1.5 * clip.mean_rate
    assert clip.largest_frame > 5 * np.median(clip.sizes)


def test_the_sizes_are_those_of_the_file(clip: Clip) -> None:
    # An MP4 adds an index of a few kilobytes to the frames.
    assert 0.97 * CLIP.stat().st_size < clip.sizes.sum() < CLIP.stat().st_size < 500_000


@pytest.mark.parametrize("name", ["clip.mkv", "clip.mov", "clip.flv", "clip.ts"])
def test_other_containers_give_the_same_frames(clip: Clip, tmp_path: Path, name: str) -> None:
    other = read_clip(remux(tmp_path, name))
    assert other.frames == clip.frames
    assert other.times == pytest.approx(clip.times, abs=2e-3)
    assert other.mean_rate == pytest.approx(clip.mean_rate, rel=0.01)  # a transport stream marks every frame's start
    assert other.length == pytest.approx(clip.length, abs=1e-3)


def test_scaling_keeps_the_shape_and_hits_the_mean(clip: Clip) -> None:
    scaled = clip.scaled_to(300e3)
    assert scaled.mean_rate == pytest.approx(300e3, abs=1)
    assert scaled.sizes == pytest.approx(clip.sizes * (300e3 / clip.mean_rate), abs=1)


def test_scaling_leaves_no_frame_without_bytes(clip: Clip) -> None:
    assert clip.scaled_to(1).sizes.min() == 1


def test_a_cut_film_has_the_frames_before_the_cut(clip: Clip) -> None:
    assert clip.first(5.0).frames == 125
    assert clip.first(5.0).length == 5.0
    assert clip.first(60.0) is clip


def test_the_peak_of_a_film_shorter_than_a_second_is_its_mean(clip: Clip) -> None:
    short = clip.first(0.4)
    assert short.peak_rate == pytest.approx(short.mean_rate)


def test_the_application_has_what_the_scenario_asks_for(clip: Clip) -> None:
    media = clip.application()["media"]
    assert media.keys() == {"times", "sizes", "length"}
    assert len(media["times"]) == len(media["sizes"]) == 300
    assert media["times"][1] == 0.04
    assert media["length"] == 12.0


BAD_FILES: dict[str, tuple[Maker, str]] = {
    "missing": (lambda folder: folder / "nowhere.mp4", "does not exist"),
    "folder": (lambda folder: folder, "is a folder"),
    "device": (lambda folder: Path("/dev/zero"), "is not a regular file"),
    "empty": (lambda folder: written(folder, "empty.mp4", b""), "is empty"),
    "noise": (lambda folder: written(folder, "noise.mp4", bytes(range(256)) * 100), "is not a video"),
    "text": (lambda folder: written(folder, "notes.txt", b"hello world\n" * 50), "has no video stream"),
    "music": (music, "has no video stream (only audio)"),
    "music with a cover": (music_with_cover, "has no video stream (only audio)"),
    "picture": (picture, "is a single picture"),
    "mp4 cut in its frames": (
        lambda folder: cut(written(folder, "half.mp4", CLIP.read_bytes()), 0.5),
        "is truncated: its header states 12.0 s, its data end after",
    ),
    "mp4 cut in its index": (
        lambda folder: cut(written(folder, "head.mp4", CLIP.read_bytes()), 0.005),
        "is not a video, or is damaged",
    ),
    "mp4 cut before its index": (lambda folder: cut(remux(folder, "tail.mp4"), 0.5), "is not a video, or is damaged"),
    "mp4 without its last bytes": (
        lambda folder: cut(written(folder, "almost.mp4", CLIP.read_bytes()), 0.9999),
        "is truncated: its last frame is incomplete",
    ),
    "mkv cut": (lambda folder: cut(remux(folder, "half.mkv"), 0.5), "is truncated"),
    "flv cut": (lambda folder: cut(remux(folder, "half.flv"), 0.5), "is truncated"),
    "bare stream": (lambda folder: remux(folder, "bare.h264"), "has frames without time stamps"),
}


@pytest.mark.parametrize(("make", "problem"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_what_is_not_a_film_is_refused_in_one_sentence_and_a_hint(tmp_path: Path, make: Maker, problem: str) -> None:
    path = make(tmp_path)
    with pytest.raises(MediaError) as caught:
        read_clip(path)
    message = str(caught.value)
    assert message.startswith(f"{path} {problem}")
    assert caught.value.path == path
    assert message.endswith(caught.value.hint)
    assert "\n" not in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "secret.mp4", CLIP.read_bytes())
    path.chmod(0)
    with pytest.raises(MediaError, match="cannot be read"):
        read_clip(path)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_X264, reason="this PyAV comes without x264")
def test_the_script_makes_the_same_clip_twice(tmp_path: Path) -> None:
    script = REPOSITORY / "media" / "make_clip.py"
    for name in ("one.mp4", "two.mp4"):
        subprocess.run([sys.executable, script, tmp_path / name], check=True)
    one, two = (hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("one.mp4", "two.mp4"))
    assert one == two
    assert read_clip(tmp_path / "one.mp4").frames == 300


def retimed(path: Path, times: Callable[[int], int]) -> Path:
    """Copy the clip's packets with other times, in hundredths of a second."""
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        packets = [packet for packet in source.demux(source.streams.video[0]) if packet.dts is not None]
        for number, packet in enumerate(packets):
            packet.stream, packet.time_base = stream, Fraction(1, 100)
            packet.dts = packet.pts = times(number)
            packet.duration = 4
            target.mux(packet)
    return path


def two_tracks(folder: Path) -> Path:
    """Copy the clip's packets into two video tracks of one file."""
    path = folder / "two.mkv"
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as target:
        tracks = [target.add_stream_from_template(source.streams.video[0]) for _ in range(2)]
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = tracks[packet.is_keyframe]
                target.mux(packet)
    return path


def test_a_film_for_a_scenario_has_the_kinds_of_its_frames(clip: Clip) -> None:
    document = json.loads(film_document(CLIP))
    letters = Counter(document["kinds"])
    assert (letters["I"], sum(letters.values())) == (7, 300)
    assert document["kinds"].startswith("IPBBBP")  # x264's pyramid: the second picture shown is the fourth decoded
    assert (document["sizes"], document["length"]) == (clip.sizes.tolist(), 12.0)
    assert "audio" not in document


def test_sound_stands_beside_the_pictures_of_a_film() -> None:
    sound = (np.array([0.0, 0.5, 1.0]), np.array([10, 20, 30]))
    clip = Clip(Path("film"), "h264", np.array([0.0, 1.0]), np.array([110, 250]), 2.0, np.array([10, 50]), "IP", sound)
    assert clip.film()["sizes"] == [100, 200]
    assert clip.film()["audio"] == {"times": [0.0, 0.5, 1.0], "sizes": [10, 20, 30]}
    half = clip.first(1.0)
    assert (half.kinds, half.film()["audio"]["times"]) == ("I", [0.0, 0.5])


@pytest.mark.parametrize("application", ['media = "{clip}"', 'ingest = {{ media = "{clip}", rate = "2Mb/s" }}'])
def test_a_scenario_takes_a_video_file(application: str) -> None:
    result = earlybird.run(LINE + f"application = {{ {application.format(clip=CLIP)} }}\n")
    (flow,) = result.scenario["flows"]
    settings = flow["application"].get("media") or flow["application"]["ingest"]["media"]
    assert len(settings["times"]) == 300
    assert result.flows["units_delivered"][0] == pytest.approx(12.5 * 24, abs=15)


def test_a_file_that_is_missing_is_named_with_its_key() -> None:
    with pytest.raises(earlybird.ScenarioError, match=r"flows\.film\.application\.media: `none\.mp4` does not exist"):
        earlybird.run(LINE + 'application = { media = "none.mp4" }\n')


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (two_tracks, "has 2 video tracks, and one is sent"),
        (lambda folder: retimed(folder / "long.mkv", lambda number: 1300 * number), "lasts 65 min, more than the hour"),
    ],
)
def test_films_that_no_scenario_takes_are_refused_in_a_line(make: Maker, problem: str, tmp_path: Path) -> None:
    path = make(tmp_path)
    with pytest.raises(earlybird.ScenarioError, match=problem) as caught:
        earlybird.run(LINE + f'application = {{ media = "{path}" }}\n')
    assert caught.value.path == "flows.film.application.media"
    assert "ffmpeg -i" in caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (two_tracks, "has 2 video tracks"),
        (lambda folder: retimed(folder / "long.mkv", lambda number: 1300 * number), "lasts 65 min"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "compare"])
def test_commands_took_films_that_no_scenario_takes(command: str, make: Maker, problem: str, tmp_path: Path) -> None:
    film = str(make(tmp_path))
    given = [film, "--rate", "5M", "--rtt", "40ms"] if command == "plan" else ["--media", film]
    done = CliRunner().invoke(application, [command, *given])
    assert done.exit_code == 2
    assert problem in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_frame_rate_that_varies_is_reported(tmp_path: Path) -> None:
    path = retimed(tmp_path / "uneven.mkv", lambda number: 4 * number + 8 * (number // 100))
    with pytest.warns(ScenarioWarning, match=r"variable frame rate \(40 to 120 ms from frame to frame\)"):
        film_document(path)


def test_a_film_that_states_no_duration_is_reported(clip: Clip) -> None:
    (remark,) = remarks_on(dataclasses.replace(clip, states_length=False))
    assert remark.startswith("states no duration")
