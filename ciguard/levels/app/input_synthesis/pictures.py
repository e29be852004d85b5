"""Pictures without content, and decoding and encoding of image files. Needs Pillow."""

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
"""Maximum size of a downloaded picture, as a file of a few bytes may declare a huge picture."""
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
"""Formats that are opened; for some others, Pillow runs external programs."""
_DECODING_ERRORS = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    EOFError, NotImplementedError, MemoryError, struct.error, zlib.error, Warning,
    Image.DecompressionBombError,
)  # fmt: skip
"""Exceptions that Pillow's readers raise for damaged files."""
_MAX_SIZE = (1024, 1024)
"""Maximum width and height of a photograph, to which it is scaled down."""
_MIN_SIDE = 64
"""Minimum side of a photograph in pixels; smaller pictures are placeholders for missing ones."""
_GRAIN_SIZES = (1, 2, 4, 8, 16)
"""Sides of the squares of which noise consists, in pixels."""


def png(picture: Image.Image) -> bytes:
    """Return a picture as a PNG file."""
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def decoded_picture(content: bytes) -> Image.Image | None:
    """Return the upright picture of an untrusted file; None if it cannot be decoded."""
    try:
        picture = Image.open(io.BytesIO(content), formats=_FORMATS)
        if picture.width * picture.height > _MAX_PIXELS:
            return None
        upright = ImageOps.exif_transpose(picture)
        if not upright.has_transparency_data:
            return upright.convert("RGB")
        background = Image.new("RGBA", upright.size, WHITE)
        background.alpha_composite(upright.convert("RGBA"))
        return background.convert("RGB")
    except _DECODING_ERRORS:
        return None


def photograph(content: bytes) -> bytes | None:
    """Return an untrusted image as a JPEG file of moderate size; None if it cannot be decoded.

    Metadata, such as the place where a photograph was taken, is removed.
    """
    picture = decoded_picture(content)
    if picture is None or min(picture.size) < _MIN_SIDE:
        return None
    picture.thumbnail(_MAX_SIZE)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    return file.getvalue()


def noise(rng: random.Random, size: tuple[int, int], grain: int, min_value: int = 0) -> Image.Image:
    """Return a picture of squares in random colours.

    Args:
        rng: the random generator for the colours.
        size: the width and height of the picture, in pixels.
        grain: the side of a square, in pixels.
        min_value: the minimum of red, green and blue, 0 to 255.
    """
    width, height = (-(-side // grain) for side in size)
    small = Image.frombytes("RGB", (width, height), rng.randbytes(width * height * 3))
    lighter = small.point(lambda value: min_value + value * (255 - min_value) // 255)
    large = lighter.resize((width * grain, height * grain), Image.Resampling.NEAREST)
    return large.crop((0, 0, *size))


def gradient(rng: random.Random, size: tuple[int, int], min_value: int) -> Image.Image:
    """Return a vertical or horizontal gradient between two random colours.

    Args:
        rng: the random generator for the direction and the colours.
        size: the width and height of the picture, in pixels.
        min_value: the minimum of red, green and blue, 0 to 255.
    """
    ramp = Image.linear_gradient("L")
    if rng.random() < 0.5:  # noqa: PLR2004 - both directions are equally likely
        ramp = ramp.rotate(90)
    first, second = (tuple(rng.randint(min_value, 255) for _ in range(3)) for _ in range(2))
    return Image.composite(
        Image.new("RGB", size, first), Image.new("RGB", size, second), ramp.resize(size)
    )


def pictures_without_content(wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
    """Yield pictures without content: a blank one, then noise (Keeper paper, section 3.2.1).

    Args:
        wanted: the specification of the inputs.
        rng: the random generator for the noise.
    """
    yield ServiceInput(wanted, png(Image.new("RGB", _SIZE, WHITE)), "a blank image")
    while True:
        grain = rng.choice(_GRAIN_SIZES)
        origin = f"an image of random colours, grain {grain} pixels"
        yield ServiceInput(wanted, png(noise(rng, _SIZE, grain)), origin)
