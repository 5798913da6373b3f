"""Make `test-clip.mp4`, the short film that `earlybird compare` streams when no other is at hand.

Five scenes of a test pattern with a frame counter, so that the sizes of the frames vary as a real film's do: a large
frame at every cut, small ones while little moves. Everything comes from numpy; the same library versions give the same
bytes.

    python media/make_clip.py [OUTPUT.mp4]
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

import av
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Picture = NDArray[np.uint8]
"""Rows × columns × red, green, blue."""

WIDTH: Final = 320
HEIGHT: Final = 180
FRAMES_PER_SECOND: Final = 25
SCENE_SECONDS: Final = (3, 2, 3, 2, 2)
QUALITY: Final = "19"  # x264's constant rate factor: constant quality, hence a variable bit rate ...
PEAK_RATE: Final = "320k"  # ... up to this many bits per second, as streaming services cap it

ROWS, COLUMNS = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
NOISE: Final = np.random.default_rng(1)

BAR_COLOURS: Final = np.array(
    [(191, 191, 191), (191, 191, 0), (0, 191, 191), (0, 191, 0), (191, 0, 191), (191, 0, 0), (0, 0, 191)],
    dtype=np.uint8,
)

# The segments of a digit as (row, column, height, width) in a field of 9 × 5, and which of them each digit lights.
SEGMENTS: Final = ((0, 0, 1, 5), (0, 0, 5, 1), (0, 4, 5, 1), (4, 0, 1, 5), (4, 0, 5, 1), (4, 4, 5, 1), (8, 0, 1, 5))
DIGITS: Final = ("012456", "25", "02346", "02356", "1235", "01356", "013456", "025", "0123456", "012356")


def main(output: Path) -> None:
    """Write the clip."""
    with av.open(str(output), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=FRAMES_PER_SECOND, options=encoder_options())
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.time_base = Fraction(1, FRAMES_PER_SECOND)
        for number, picture in enumerate(pictures()):
            frame = av.VideoFrame.from_ndarray(with_counter(picture, number), format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def encoder_options() -> dict[str, str]:
    """Ask for one thread, because several share the work by chance, and a key frame every two seconds at the least."""
    return {
        "crf": QUALITY,
        "maxrate": PEAK_RATE,
        "bufsize": PEAK_RATE,
        "g": str(2 * FRAMES_PER_SECOND),
        "preset": "medium",
        "threads": "1",
    }


def pictures() -> list[Picture]:
    """Draw all frames, scene after scene, without the counter."""
    scenes: tuple[Callable[[float], Picture], ...] = (bars, chequers, rings, snow, waves)
    return [
        scene(frame / FRAMES_PER_SECOND)
        for scene, seconds in zip(scenes, SCENE_SECONDS, strict=True)
        for frame in range(seconds * FRAMES_PER_SECOND)
    ]


def bars(time: float) -> Picture:
    """Draw colour bars that slide to the left, rippling."""
    place = COLUMNS + 60 * time + 12 * np.sin(ROWS / 15 + 5 * time)
    colours: Picture = BAR_COLOURS[(place * len(BAR_COLOURS) / WIDTH).astype(int) % len(BAR_COLOURS)]
    return colours


def rings(time: float) -> Picture:
    """Draw rings that spread from a moving centre."""
    row, column = HEIGHT / 2 + 40 * np.sin(2 * time), WIDTH / 2 + 90 * np.cos(3 * time)
    distance = np.hypot(ROWS - row, COLUMNS - column)
    return coloured(np.sin(distance / 4 - 12 * time), shift=time)


def waves(time: float) -> Picture:
    """Draw soft gradients: easy to compress."""
    return coloured(np.sin(COLUMNS / 60 + 3 * time) * np.cos(ROWS / 45 - 2 * time), shift=time / 2)


def chequers(time: float) -> Picture:
    """Draw a turning chequerboard."""
    angle, size = 0.4 * time, 26 + 4 * np.sin(2 * time)
    across = np.floor((COLUMNS * np.cos(angle) + ROWS * np.sin(angle)) / size)
    down = np.floor((ROWS * np.cos(angle) - COLUMNS * np.sin(angle)) / size)
    return coloured(1.4 * ((across + down) % 2) - 0.7, shift=1.0)


def snow(time: float) -> Picture:
    """Draw gradients under a little noise: hard to compress."""
    soft = waves(2 * time).astype(np.float64)
    return np.clip(soft + NOISE.normal(0, 3, (HEIGHT, WIDTH, 1)), 0, 255).astype(np.uint8)


def coloured(brightness: NDArray[np.float64], *, shift: float) -> Picture:
    """Turn values in −1 … 1 into a picture whose tint goes round with `shift`."""
    tint = 0.75 + 0.25 * np.cos(shift + np.array([0.0, 2.1, 4.2]))
    return ((127.5 + 110 * brightness)[:, :, np.newaxis] * tint).astype(np.uint8)


def with_counter(picture: Picture, number: int) -> Picture:
    """Draw the frame's number in white on black in the lower right corner."""
    picture = picture.copy()
    picture[HEIGHT - 44 : HEIGHT - 12, WIDTH - 92 : WIDTH - 12] = 0
    for place, digit in enumerate(f"{number:03d}"):
        draw_digit(picture, int(digit), row=HEIGHT - 41, column=WIDTH - 86 + 25 * place)
    return picture


def draw_digit(picture: Picture, digit: int, *, row: int, column: int) -> None:
    """Draw one digit of three-pixel strokes with its upper left corner at `row`, `column`."""
    for segment in DIGITS[digit]:
        top, left, height, width = (3 * value for value in SEGMENTS[int(segment)])
        picture[row + top : row + top + height, column + left : column + left + width] = 255


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("test-clip.mp4"))
