"""Films to play: a file of the user, or one that is generated once and kept."""

from __future__ import annotations

import hashlib
import math
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earlybird.cache import cache_folder
from earlybird.errors import EarlybirdError, InputError
from earlybird.film_files import check_is_readable
from earlybird.lazy import LateModule
from earlybird.media import read_clip
from earlybird.paths import shipped_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import av

    from earlybird.testbed.definition import Film
else:
    av = LateModule("av")

FILMS: Final = "films"  # the kind of the files that are kept
REVISION: Final = 1  # raised when films are made in another way, so that the old ones are not played for them

PICTURES_PER_SECOND: Final = 24
RATE, MOST, BUFFER = "11.1M", "21M", "2.5M"
"""Bits per second of the pictures, the most of them for long, and bits by which a moment may exceed that: 10.9 Mb/s
with the sound and 25 Mb/s in the largest half second, as the film of the PERT-video paper."""
SOUND: Final = "192k"  # bits per second, AAC at 48 kHz, as in the PERT-video paper
SHORTEST, SPREAD = 0.5, 0.75  # seconds of the shortest scene, and the mean of what a scene is longer
STRENGTH, CONTRAST = 14, 0.35
"""Median strength of the noise of a scene, and deviation of its logarithm: noise costs bits."""
STRENGTH_BITS: Final = 5

OF_CHROMIUM: Final = {"video": ("h264", "vp8", "vp9", "av1"), "audio": ("aac", "opus", "mp3", "vorbis", "flac")}
"""Codecs that Debian's Chromium decodes."""


def identity(film: Film, folder: Path) -> dict[str, Any]:
    """Describe a film by what decides its content, which a result is kept under."""
    if not film.file:
        return {"made": film.made, "seconds": film.seconds, "revision": REVISION}
    path = (folder / film.file).resolve()
    check_is_readable(path)
    with path.open("rb") as file:
        return {
            "file": str(path),
            "seconds": read_clip(path).length,
            "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
        }


def provide(film: Mapping[str, Any]) -> Path:
    """Return the file of a film that `identity` described, which is made if it is not there yet."""
    if "file" in film:
        return Path(film["file"])
    path = _place(film)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{os.getpid()}.{path.name}")
        try:
            _encode(MAKERS[film["made"]](film["seconds"]), unfinished)
            unfinished.rename(path)
        finally:
            unfinished.unlink(missing_ok=True)
    return path


def is_there(film: Mapping[str, Any]) -> bool:
    """Return whether a film needs no making."""
    return "file" in film or _place(film).exists()


def _place(film: Mapping[str, Any]) -> Path:
    return cache_folder(FILMS) / f"{film['made']}-{film['seconds']:g}s-{film['revision']}.mp4"


def check_for_chromium(path: Path) -> None:
    """Make sure that Chromium can decode a film."""
    with av.open(str(path)) as container:
        for stream in container.streams:
            name = stream.codec_context.name if stream.type in OF_CHROMIUM else ""
            if name and name not in OF_CHROMIUM[stream.type]:
                allowed = ", ".join(OF_CHROMIUM[stream.type])
                raise InputError(
                    f"film: Chromium does not decode the {stream.type} of {path} ({name}); it decodes {allowed}. Take"
                    " another film, or leave chromium out of `clients`."
                )


def _encode(arguments: list[str], path: Path) -> None:
    if not shutil.which("ffmpeg"):
        raise EarlybirdError("ffmpeg is missing, which makes the film: apt-get install ffmpeg.")
    clip = str(shipped_file("media", "test-clip.mp4"))
    command = ["ffmpeg", "-nostdin", "-v", "error", "-stream_loop", "-1", "-i", clip, *arguments]
    done = subprocess.run([*command, "-movflags", "+faststart", str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EarlybirdError(f"ffmpeg could not make the film: {' '.join(done.stderr.strip().splitlines()[-1:])}.")


def _papers(seconds: float) -> list[str]:
    """Make 1080p24 of 10.9 Mb/s with sound: the clip, enlarged, under noise that changes from scene to scene."""
    filters = ["scale=1920:1080:flags=fast_bilinear", f"fps={PICTURES_PER_SECOND}", *_noise(seconds)]
    rates = ["-b:v", RATE, "-maxrate", MOST, "-bufsize", BUFFER, "-x264-params", "ratetol=4:qcomp=0.9"]
    picture = ["-vf", ",".join(filters), "-c:v", "libx264", "-preset", "superfast", "-pix_fmt", "yuv420p"]
    sound = ["-c:a", "aac", "-b:a", SOUND, "-ar", "48000"]
    return [*_silent(seconds), *picture, "-g", str(2 * PICTURES_PER_SECOND), *rates, *sound]


def _clip(seconds: float) -> list[str]:
    """Repeat the clip of 250 kb/s as it is, with sound."""
    return [*_silent(seconds), "-c:v", "copy", "-c:a", "aac", "-b:a", "64k"]


MAKERS: Final = {"papers": _papers, "clip": _clip}  # the films that can be made, by name


def _silent(seconds: float) -> list[str]:
    """Add a quiet noise as sound, and cut."""
    return ["-f", "lavfi", "-i", "anoisesrc=r=48000:a=0.1:c=pink", "-t", str(seconds)]


def _noise(seconds: float) -> Iterator[str]:
    """Make the noise of all scenes: a filter for each binary digit of its strength, on while that digit is 1."""
    scenes = list(_scenes(seconds))
    for digit in range(STRENGTH_BITS):
        spans = [f"between(t,{start:.3f},{end:.3f})" for start, end, strength in scenes if strength >> digit & 1]
        if spans:
            yield f"noise=alls={2**digit}:allf=t:enable='{'+'.join(spans)}'"


def _scenes(seconds: float) -> Iterator[tuple[float, float, int]]:
    """Cut the film into scenes: start, end and strength of the noise."""
    draw, start = random.Random(1), 0.0
    while start < seconds:
        end = start + SHORTEST + draw.expovariate(1 / SPREAD)
        yield start, end, min(2**STRENGTH_BITS - 1, round(STRENGTH * math.exp(CONTRAST * draw.gauss(0, 1))))
        start = end
