"""Reads images that anybody may have made, or damaged."""

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
"""That reads them; an extra."""
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF", "ICO")
"""That the service reads; not all that Pillow reads, as some of these run programs."""
_MAX_PIXELS = 75_000_000
"""That the service takes."""
_MAX_LENGTH = 3000
"""Pixels of a side that engines are given: they become slow, and find no more."""
_DAMAGED = (
    OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError,
    EOFError, NotImplementedError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
"""What Pillow's readers raise on damaged files."""


def picture(operation: Operation, content: bytes) -> Any:
    """Return an image in red, green and blue, as Pillow has it.

    Args:
        operation: that is asked about it.
        content: of a file.

    Raises:
        ServiceError: if it cannot be read to its end, or is larger than the service takes.
    """
    images = import_module("PIL.Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is odd in a file, and can be read still
            warnings.simplefilter("error", images.DecompressionBombWarning)
            image = images.open(io.BytesIO(content), formats=_FORMATS)
            if image.width * image.height > _MAX_PIXELS:
                raise bad_image(operation)
            found = image.convert("RGBA")
    except (*_DAMAGED, images.DecompressionBombError, images.DecompressionBombWarning) as error:
        raise bad_image(operation) from error
    return _on_white(images, found)


def _on_white(images: Any, image: Any) -> Any:
    """Return an image without transparency, of no more pixels than engines bear."""
    paper = images.new("RGBA", image.size, "white")
    paper.alpha_composite(image)
    paper.thumbnail((_MAX_LENGTH, _MAX_LENGTH))
    return paper.convert("RGB")
