"""Pictures of texts (Keeper paper, section 3.2.2). Needs Pillow."""

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

    from ciguard.levels.app.input_synthesis.fonts import SizedFont
    from ciguard.levels.app.input_synthesis.inputs import InputSpec

_MAX_LENGTH = 2_000
"""Maximum length of a text, in characters."""
_MAX_LINES = 40
_MAX_WIDTH = 1600
"""Maximum width of a line in pixels; a wider line is wrapped."""
_MIN_SIZE = (640, 240)
_SIZES = (28, 32, 36, 42, 48, 56)
"""Heights of letters in pixels; smaller letters are hard to read for people."""
_MAX_ANGLE = 3.0
"""Maximum rotation of a text to either side, in degrees."""
_MARGIN = 40
_MIN_BACKGROUND = 200
"""Minimum of red, green and blue in a background, on which letters are dark."""
_MAX_INK = 70
"""Maximum of red, green and blue in letters."""
_EDGE_WIDTH = 2
"""Width of the light edge around each letter, in pixels."""
_RIGHT_TO_LEFT = {"R", "AL"}


def lines_of(text: str) -> tuple[str, ...]:
    """Return the visible lines of a text."""
    return tuple(" ".join(line.split()) for line in text.strip().split("\n"))


def fonts_for(text: str) -> Iterator[Font]:
    """Yield the installed fonts that can show a text; none if people could not read the picture."""
    lines = lines_of(text)
    is_readable = any(lines) and len(lines) <= _MAX_LINES and len(text) <= _MAX_LENGTH
    if is_readable and not _RIGHT_TO_LEFT & {unicodedata.bidirectional(letter) for letter in text}:
        yield from (font for font in installed_fonts() if font.shows("\n".join(lines)))


def pictures_of(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield pictures of the text `wanted.key` endlessly; nothing if no font can show it.

    Args:
        wanted: the specification of the inputs.
        rng: the random generator for sizes, angles, colours and the order of fonts.
    """
    fonts = _alternating(list(fonts_for(wanted.key)), rng)
    for index in count() if fonts else ():
        font, size = fonts[index % len(fonts)], rng.choice(_SIZES)
        background, make_background = _BACKGROUNDS[index % len(_BACKGROUNDS)]
        angle = round(rng.uniform(-_MAX_ANGLE, _MAX_ANGLE), 1) if index else 0.0
        ink = tuple(rng.randint(0, _MAX_INK) for _ in range(3))
        picture = _picture(
            lines_of(wanted.key), font.of_size(size), angle, partial(make_background, rng), ink
        )
        origin = f"printed with {font.name}, {size} pixels, turned by {angle}°, on {background}"
        yield ServiceInput(wanted, png(picture), origin)


_BACKGROUNDS: tuple[tuple[str, Callable[[random.Random, tuple[int, int]], Image.Image]], ...] = (
    ("a blank image", lambda _, size: Image.new("RGB", size, WHITE)),
    ("noise", lambda rng, size: noise(rng, size, 4, _MIN_BACKGROUND)),
    ("a gradient", lambda rng, size: gradient(rng, size, _MIN_BACKGROUND)),
)


def _alternating(fonts: list[Font], rng: random.Random) -> list[Font]:
    """Return fonts in random order, printed and handwritten ones alternating."""
    rng.shuffle(fonts)
    printed = [font for font in fonts if not font.is_handwriting]
    by_hand = [font for font in fonts if font.is_handwriting]
    return [font for pair in zip_longest(printed, by_hand) for font in pair if font]


def _picture(
    lines: Sequence[str],
    font: SizedFont,
    angle: float,
    make_background: Callable[[tuple[int, int]], Image.Image],
    ink: tuple[int, ...],
) -> Image.Image:
    """Return a picture with a text in its middle, as large as the text needs."""
    layer = _text_layer(
        "\n".join(part for line in lines for part in _wrapped(line, font)), font, ink
    )
    layer = layer.rotate(angle, Image.Resampling.BICUBIC, expand=True)
    width, height = (
        max(side + 2 * _MARGIN, minimum)
        for side, minimum in zip(layer.size, _MIN_SIZE, strict=True)
    )
    picture = make_background((width, height))
    picture.paste(layer, ((width - layer.width) // 2, (height - layer.height) // 2), layer)
    return picture


def _text_layer(text: str, font: SizedFont, ink: tuple[int, ...]) -> Image.Image:
    """Return a transparent layer with a text, as large as the text."""
    box = ImageDraw.Draw(Image.new("RGBA", (1, 1))).textbbox(
        (0, 0), text, font, stroke_width=_EDGE_WIDTH
    )
    left, top, right, bottom = (round(side) for side in box)
    layer = Image.new("RGBA", (right - left + 2, bottom - top + 2), (*WHITE, 0))
    # A light edge keeps letters readable on any background.
    ImageDraw.Draw(layer).text(
        (1 - left, 1 - top),
        text,
        (*ink, 255),
        font,
        stroke_width=_EDGE_WIDTH,
        stroke_fill=(*WHITE, 230),
    )
    return layer


def _wrapped(line: str, font: SizedFont) -> Iterator[str]:
    """Yield the parts of a line that fit the maximum width, split between words if possible."""
    while font.getlength(line) > _MAX_WIDTH:
        fits = max(1, _fitting_count(line, font))
        space = line.rfind(" ", 0, fits + 1)
        end = space if space > 0 else fits
        yield line[:end]
        line = line[end:].lstrip(" ")
    yield line


def _fitting_count(line: str, font: SizedFont) -> int:
    """Return the number of leading characters that fit the maximum width."""
    return (
        bisect_right(range(len(line)), _MAX_WIDTH, key=lambda end: int(font.getlength(line[:end])))
        - 1
    )
