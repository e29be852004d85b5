"""Pictures without anything to recognise, and pictures as files. Needs Pillow."""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING

from PIL import Image, ImageOps

from ciguard.levels.app.input_synthesis.inputs import ServiceInput

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ciguard.levels.app.input_synthesis.inputs import InputSpec

WHITE = (255, 255, 255)
_SIZE = (320, 240)
_MAX_PIXELS = 40_000_000
"""Of a picture that others made: a file of a few bytes may claim to be a huge one."""
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
"""That are opened: some others that Pillow knows run programs."""
_DAMAGED = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    EOFError, NotImplementedError, MemoryError, struct.error, zlib.error, Warning,
    Image.DecompressionBombError,
)  # fmt: skip
"""What Pillow's readers raise on damaged files."""
_LARGEST = (1024, 1024)
_LEAST = 64
"""Pixels of a side of a photograph; what is smaller says that something is missing."""
_GRAINS = (1, 2, 4, 8, 16)
"""Side of the squares that noise consists of, in pixels."""


def png(picture: Image.Image) -> bytes:
    """Return a picture as a file."""
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def opened(content: bytes) -> Image.Image | None:
    """Return the picture of a file that others made, as it is seen; None where it shows none."""
    try:
        picture = Image.open(io.BytesIO(content), formats=_FORMATS)
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        turned = ImageOps.exif_transpose(picture)
        if not turned.has_transparency_data:
            return turned.convert("RGB")
        paper = Image.new("RGBA", turned.size, WHITE)
        paper.alpha_composite(turned.convert("RGBA"))
        return paper.convert("RGB")
    except _DAMAGED:
        return None


def photograph(content: bytes) -> bytes | None:
    """Return an image that others made as a JPEG file of moderate size; None where it shows none.

    It is written anew, without what else the file held, such as where a photograph was taken.
    """
    picture = opened(content)
    if picture is None or min(picture.size) < _LEAST:
        return None
    picture.thumbnail(_LARGEST)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    return file.getvalue()


def noise(rng: random.Random, size: tuple[int, int], grain: int, darkest: int = 0) -> Image.Image:
    """Return squares of random colours.

    Args:
        rng: where the colours are from.
        size: width and height of the picture, in pixels.
        grain: side of a square, in pixels.
        darkest: the least that red, green and blue are, 0 to 255.
    """
    width, height = (-(-side // grain) for side in size)
    small = Image.frombytes("RGB", (width, height), rng.randbytes(width * height * 3))
    lighter = small.point(lambda value: darkest + value * (255 - darkest) // 255)
    large = lighter.resize((width * grain, height * grain), Image.Resampling.NEAREST)
    return large.crop((0, 0, *size))


def gradient(rng: random.Random, size: tuple[int, int], darkest: int) -> Image.Image:
    """Return a picture that goes from one light colour to another, downwards or sidewards."""
    ramp = Image.linear_gradient("L")
    if rng.random() < 0.5:  # noqa: PLR2004 - one of two
        ramp = ramp.rotate(90)
    one, other = (tuple(rng.randint(darkest, 255) for _ in range(3)) for _ in range(2))
    return Image.composite(
        Image.new("RGB", size, one), Image.new("RGB", size, other), ramp.resize(size)
    )


def nothing(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield pictures in which nothing is to be recognised: a blank one, then noise (Keeper, 3.2.1).

    Args:
        wanted: what they are made for.
        rng: where the noise is from.
    """
    yield ServiceInput(wanted, png(Image.new("RGB", _SIZE, WHITE)), "a blank image")
    while True:
        grain = rng.choice(_GRAINS)
        origin = f"an image of random colours, grain {grain} pixels"
        yield ServiceInput(wanted, png(noise(rng, _SIZE, grain)), origin)
