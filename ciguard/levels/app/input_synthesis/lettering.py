"""Texts as pictures (Keeper, 3.2.2). Needs Pillow."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from functools import partial
from itertools import count, zip_longest
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from ciguard.levels.app.input_synthesis.fonts import Font, installed_fonts
from ciguard.levels.app.input_synthesis.inputs import ServiceInput
from ciguard.levels.app.input_synthesis.pictures import WHITE, gradient, noise, png

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from ciguard.levels.app.input_synthesis.fonts import Sized
    from ciguard.levels.app.input_synthesis.inputs import InputSpec

_MAX_LENGTH = 2_000
"""Characters of a text that a picture is made of."""
_MAX_LINES = 40
_MAX_WIDTH = 1600
"""Pixels of a line; longer ones are parted, and what parts them is read as the end of a line."""
_SMALLEST = (640, 240)
_SIZES = (28, 32, 36, 42, 48, 56)
"""Heights of letters, in pixels: smaller ones are a matter of eyesight."""
_STEEPEST = 3.0
"""Degrees that a text is turned by, to the left or the right."""
_MARGIN = 40
_LIGHT = 200
"""Least of the colours of a background: letters are dark, and to be read by people."""
_LIGHTEST_INK = 70
_EDGE = 2
"""Pixels around each letter."""
_RIGHT_TO_LEFT = {"R", "AL"}


def lines_of(text: str) -> tuple[str, ...]:
    """Return what is visible of a text, line by line."""
    return tuple(" ".join(line.split()) for line in text.strip().split("\n"))


def fonts_for(text: str) -> Iterator[Font]:
    """Yield the fonts of this machine that show all of a text, if people can read it at all."""
    lines = lines_of(text)
    is_readable = any(lines) and len(lines) <= _MAX_LINES and len(text) <= _MAX_LENGTH
    if is_readable and not _RIGHT_TO_LEFT & {unicodedata.bidirectional(one) for one in text}:
        yield from (font for font in installed_fonts() if font.shows("\n".join(lines)))


def pictures_of(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield pictures of the text `wanted.key` without an end; nothing where no font shows it.

    Args:
        wanted: what they are made for.
        rng: where sizes, angles, colours and the order of fonts are from.
    """
    fonts = _in_turn(list(fonts_for(wanted.key)), rng)
    for at in count() if fonts else ():
        font, size = fonts[at % len(fonts)], rng.choice(_SIZES)
        on, ground = _GROUNDS[at % len(_GROUNDS)]
        angle = round(rng.uniform(-_STEEPEST, _STEEPEST), 1) if at else 0.0
        ink = tuple(rng.randint(0, _LIGHTEST_INK) for _ in range(3))
        picture = _written(
            lines_of(wanted.key), font.of_size(size), angle, partial(ground, rng), ink
        )
        origin = f"printed with {font.name}, {size} pixels, turned by {angle}°, on {on}"
        yield ServiceInput(wanted, png(picture), origin)


_GROUNDS: tuple[tuple[str, Callable[[random.Random, tuple[int, int]], Image.Image]], ...] = (
    ("a blank image", lambda _, size: Image.new("RGB", size, WHITE)),
    ("noise", lambda rng, size: noise(rng, size, 4, _LIGHT)),
    ("a gradient", lambda rng, size: gradient(rng, size, _LIGHT)),
)


def _in_turn(fonts: list[Font], rng: random.Random) -> list[Font]:
    """Return them by chance, but one that looks printed and one of handwriting by turns."""
    rng.shuffle(fonts)
    printed = [font for font in fonts if not font.is_handwriting]
    by_hand = [font for font in fonts if font.is_handwriting]
    return [font for two in zip_longest(printed, by_hand) for font in two if font]


def _written(
    lines: Sequence[str],
    font: Sized,
    angle: float,
    ground: Callable[[tuple[int, int]], Image.Image],
    ink: tuple[int, ...],
) -> Image.Image:
    """Return a picture, as large as it must be, with a text in its middle."""
    layer = _lettered("\n".join(part for line in lines for part in _parted(line, font)), font, ink)
    layer = layer.rotate(angle, Image.Resampling.BICUBIC, expand=True)
    width, height = (
        max(side + 2 * _MARGIN, least) for side, least in zip(layer.size, _SMALLEST, strict=True)
    )
    picture = ground((width, height))
    picture.paste(layer, ((width - layer.width) // 2, (height - layer.height) // 2), layer)
    return picture


def _lettered(text: str, font: Sized, ink: tuple[int, ...]) -> Image.Image:
    """Return a text on nothing, as large as it is."""
    box = ImageDraw.Draw(Image.new("RGBA", (1, 1))).textbbox((0, 0), text, font, stroke_width=_EDGE)
    left, top, right, bottom = (round(side) for side in box)
    layer = Image.new("RGBA", (right - left + 2, bottom - top + 2), (*WHITE, 0))
    # A light edge keeps letters readable on whatever is behind them.
    ImageDraw.Draw(layer).text(
        (1 - left, 1 - top), text, (*ink, 255), font, stroke_width=_EDGE, stroke_fill=(*WHITE, 230)
    )
    return layer


def _parted(line: str, font: Sized) -> Iterator[str]:
    """Yield the short enough parts of a line, parted between words where that is possible."""
    while font.getlength(line) > _MAX_WIDTH:
        fits = max(1, _fitting(line, font))
        space = line.rfind(" ", 0, fits + 1)
        end = space if space > 0 else fits
        yield line[:end]
        line = line[end:].lstrip(" ")
    yield line


def _fitting(line: str, font: Sized) -> int:
    """Return how many of its first characters are short enough."""
    return (
        bisect_right(range(len(line)), _MAX_WIDTH, key=lambda end: int(font.getlength(line[:end])))
        - 1
    )
