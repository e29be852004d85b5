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
"""Module that decodes them, of an optional package."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO")
"""Formats that the service reads. Pillow knows others, some of which run programs."""
_MAX_PIXELS = 75_000_000
"""Maximum size that the service accepts."""
_MAX_LENGTH = 3000
"""Maximum side of the decoded image, in pixels: engines become slow, and recognise no more."""
_DAMAGED = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    EOFError, NotImplementedError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
"""Exceptions that Pillow's readers raise for damaged files."""


def picture(operation: Operation, content: bytes) -> Any:
    """Return an image as a Pillow image in RGB.

    Args:
        operation: the operation that is requested.
        content: content of the file.

    Raises:
        ServiceError: if it cannot be decoded, or is larger than the service accepts.
    """
    images = import_module("PIL.Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # oddities of a file that can still be decoded
            warnings.simplefilter("error", images.DecompressionBombWarning)
            image = images.open(io.BytesIO(content), formats=_FORMATS)
            if image.width * image.height > _MAX_PIXELS:
                raise bad_image(operation)
            decoded = image.convert("RGBA")
    except (*_DAMAGED, images.DecompressionBombError, images.DecompressionBombWarning) as error:
        raise bad_image(operation) from error
    return _on_white(images, decoded)


def _on_white(images: Any, image: Any) -> Any:
    """Return an image on a white background, scaled down to `_MAX_LENGTH`."""
    background = images.new("RGBA", image.size, "white")
    background.alpha_composite(image)
    background.thumbnail((_MAX_LENGTH, _MAX_LENGTH))
    return background.convert("RGB")
