"""Plain contents, in which a service recognises nothing, as inputs of calls."""

from __future__ import annotations

import io
import struct
import wave
import zlib
from collections.abc import Mapping
from typing import TypeAlias

from ciguard.levels.app.providers.description import MediaKind

Contents: TypeAlias = Mapping[MediaKind, bytes]
"""Content by kind of media: image, text and sound."""
PLAIN_TEXT = (
    "This is a text. It is long enough for a service that tells what texts are about, as it goes "
    "on for some thirty words, none of which say anything of interest to anybody at all."
)


def plain_contents(text: bytes = b"") -> Contents:
    """Return contents in which a service recognises nothing.

    Args:
        text: the text to use; if empty, `PLAIN_TEXT`.
    """
    return {
        MediaKind.IMAGE: _image(),
        MediaKind.TEXT: text or PLAIN_TEXT.encode(),
        MediaKind.SOUND: _sound(),
    }


def _image() -> bytes:
    """Return a white PNG image of 32 by 32 pixels."""
    side = 32
    rows = b"".join(b"\0" + b"\xff" * 3 * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _sound() -> bytes:
    """Return a tenth of a second of silence, as a WAV file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(b"\0\0" * 1_600)
    return file.getvalue()
