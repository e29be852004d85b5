"""Decodes images that may be damaged or malicious."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.virtualization.validation import bad_image

if TYPE_CHECKING:
    from ciguard.levels.app.providers.description import Operation

MODULE = "PIL"
"""Module that decodes images; it belongs to an optional package."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO")
"""Formats that services read. For some other formats, Pillow runs a program."""
_MAX_PIXELS = 75_000_000
"""Maximum number of pixels that services accept."""
_MAX_LENGTH = 3000
"""Maximum side of the decoded image, in pixels: larger images only make engines slow."""
_DAMAGED = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    EOFError, NotImplementedError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
"""Exceptions that Pillow's readers raise for damaged files."""


def picture(operation: Operation, content: bytes) -> Any:
    """Return an image file as a Pillow image in RGB, on a white background.

    Args:
        operation: the operation that is requested.
        content: content of the file.

    Raises:
        ServiceError: if the file cannot be decoded, or is larger than services accept.
    """
    images = import_module("PIL.Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about files that can still be decoded
            warnings.simplefilter("error", images.DecompressionBombWarning)
            image = images.open(io.BytesIO(content), formats=_FORMATS)
            if image.width * image.height > _MAX_PIXELS:
                raise bad_image(operation)
            decoded = image.convert("RGBA")
    except (*_DAMAGED, images.DecompressionBombError, images.DecompressionBombWarning) as error:
        raise bad_image(operation) from error
    return _place_on_white(images, decoded)


def _place_on_white(images: Any, image: Any) -> Any:
    """Return an image on a white background, scaled down to `_MAX_LENGTH`."""
    background = images.new("RGBA", image.size, "white")
    background.alpha_composite(image)
    background.thumbnail((_MAX_LENGTH, _MAX_LENGTH))
    return background.convert("RGB")
