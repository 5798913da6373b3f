"""A picture of rectangles, texts and other pictures, in units of a layout that is scaled to pixels."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import av
import numpy as np
import vl_convert

from earlybird.plots.style import FONT

if TYPE_CHECKING:
    from numpy.typing import NDArray

Image: TypeAlias = "NDArray[np.uint8]"
"""Rows × columns × red, green, blue, and, if it is laid over another, opacity."""
Anchor: TypeAlias = Literal["start", "middle", "end"]

WIDEST: Final = 0.85  # of a letter, in parts of the size of the font
ABOVE, LINE = 1.1, 1.5
"""Heights of the letters above the line that they stand on, and of all, in parts of the size of the font."""
AT: Final[dict[Anchor, float]] = {"start": 0.0, "middle": 0.5, "end": 1.0}
KEPT: Final = 4096  # texts that are kept: the same ones return from picture to picture


class Canvas:
    """A picture to draw on; places and sizes are in units of the layout."""

    def __init__(self, image: Image, scale: float) -> None:
        self.image, self._scale = image, scale

    @classmethod
    def blank(cls, width: int, height: int, scale: float, colour: str) -> Canvas:
        """Return an empty one, with an even number of pixels as encoders of video take it."""
        size = (2 * round(scale * height / 2), 2 * round(scale * width / 2), 3)
        canvas = cls(np.empty(size, np.uint8), scale)
        canvas.image[:] = rgb(colour)
        return canvas

    def copy(self) -> Canvas:
        """Return another one with the same content."""
        return Canvas(self.image.copy(), self._scale)

    def pixels(self, length: float) -> int:
        """Return the pixels of a length."""
        return round(length * self._scale)

    def fill(self, left: float, top: float, width: float, height: float, colour: str, opacity: float = 1.0) -> None:
        """Fill a rectangle."""
        area = self.image[self._span(top, height), self._span(left, width)]
        area[:] = area * (1 - opacity) + rgb(colour) * opacity

    def paste(self, left: float, top: float, picture: Image) -> None:
        """Put a picture there, laid over what is there where it is transparent."""
        self._paste(self.pixels(left), self.pixels(top), picture)

    def text(
        self, x: float, y: float, text: str, size: float, colour: str, *, anchor: Anchor = "start", bold: bool = False
    ) -> float:
        """Write a line that begins, has its middle or ends at `x`, and stands on `y`; return where it ends."""
        drawn = _text(text, size * self._scale, colour, anchor, bold)
        left = self.pixels(x) - round(AT[anchor] * drawn.shape[1])
        self._paste(left, self.pixels(y) - round(ABOVE * size * self._scale), drawn)
        written = np.flatnonzero(drawn[..., 3].max(axis=0))
        return float(left + int(written.max(initial=0))) / self._scale

    def svg(self, left: float, top: float, width: float, height: float, content: str) -> None:
        """Draw the content of an SVG of this width and height."""
        drawn = _raster(content, width, height, self.pixels(width), self.pixels(height))
        self.paste(left, top, drawn)

    def _span(self, start: float, length: float) -> slice:
        return slice(self.pixels(start), self.pixels(start + length))

    def _paste(self, left: int, top: int, picture: Image) -> None:
        """Put a picture at a pixel, cut off at the edges of this one."""
        picture = picture[max(-top, 0) :, max(-left, 0) :]
        area = self.image[max(top, 0) :, max(left, 0) :][: picture.shape[0], : picture.shape[1]]
        picture = picture[: area.shape[0], : area.shape[1]]
        if picture.shape[2] == 3:
            area[:] = picture
            return
        opacity = picture[..., 3:].astype(np.uint16)
        area[:] = (area * (255 - opacity) + picture[..., :3] * opacity) // 255


def rgb(colour: str) -> NDArray[np.uint8]:
    """Return the parts of a colour that is written as ``#rrggbb``."""
    return np.frombuffer(bytes.fromhex(colour[1:]), np.uint8)


def _text(text: str, size: float, colour: str, anchor: Anchor, bold: bool) -> Image:  # noqa: FBT001 - all are keys
    width, height = round(WIDEST * size * len(text)) + 1, round(LINE * size)
    weight = ' font-weight="bold"' if bold else ""
    style = f'font-family="{FONT}" font-size="{size:.2f}"{weight} fill="{colour}" text-anchor="{anchor}"'
    content = f'<text x="{AT[anchor] * width}" y="{ABOVE * size}" {style}>{escape(text)}</text>'
    return _raster(content, width, height, width, height)


@lru_cache(maxsize=KEPT)
def _raster(content: str, width: float, height: float, columns: int, rows: int) -> Image:
    """Draw an SVG on as many pixels."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns}" height="{rows}" viewBox="0 0 {width} {height}">'
    packet = av.Packet(vl_convert.svg_to_png(f"{head}{content}</svg>"))
    # A decoder of its own: the one of FFmpeg takes a second PNG for a change of the first.
    frame = av.VideoCodecContext.create("png", "r").decode(packet)[0]
    return frame.to_ndarray(format="rgba").astype(np.uint8, copy=False)
