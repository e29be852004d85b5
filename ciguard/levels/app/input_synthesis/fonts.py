"""Fonts of this machine, and the texts that they can show. Needs Pillow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from PIL import ImageFont

Sized: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont

_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "~/Library/Fonts",
    "C:/Windows/Fonts",
)
_HANDWRITING = re.compile(
    r"hand|script|writ|cursive|casual|comic|humor|breip|chalk|marker|felt|brush|"
    r"caveat|kalam|pacifico|dancing|indie.?flower|segoepr|inkfree|bradley|zapfino|ecolier|rufscript",
    re.IGNORECASE,
)
_NO_CHARACTER = "\U0010ffff"
"""Code point that no font has: drawn as the glyph of a missing character."""
_SIZE_TO_CHECK = 24


@dataclass(frozen=True, slots=True)
class Font:
    """A font of this machine."""

    file: Path | None
    """Font file; None for the font that comes with Pillow."""

    @property
    def name(self) -> str:
        """Name in the origins of inputs."""
        return self.file.stem if self.file else "Pillow's own font"

    @property
    def is_handwriting(self) -> bool:
        """True if its name suggests handwriting."""
        return self.file is not None and _HANDWRITING.search(self.file.stem) is not None

    def of_size(self, pixels: int) -> Sized:
        """Return the font in a size.

        Raises:
            OSError: if it does not have the size, or is damaged.
        """
        if self.file is None:
            return ImageFont.load_default(pixels)
        # The other layout engine is not on every machine, and places some texts differently.
        return ImageFont.truetype(self.file, pixels, layout_engine=ImageFont.Layout.BASIC)

    def shows(self, text: str) -> bool:
        """Return whether it has all characters of a text."""
        try:
            font = self.of_size(_SIZE_TO_CHECK)
            missing = _glyph(font, _NO_CHARACTER)
            return all(
                _glyph(font, letter) not in (missing, b"") for letter in set(text) - {" ", "\n"}
            )
        except (OSError, ValueError):  # damaged, of no such size, or no character at all
            return False


def _glyph(font: Sized, character: str) -> bytes:
    mask = font.getmask(character)
    return bytes(mask) if any(mask.size) else b""


@cache
def installed_fonts() -> tuple[Font, ...]:
    """Return the TrueType and OpenType fonts of the usual folders by name, last Pillow's own."""
    files = {
        file.name: file
        for folder in _FOLDERS
        for file in Path(folder).expanduser().rglob("*.[to]tf")
        if file.is_file()
    }
    return (*(Font(files[name]) for name in sorted(files)), Font(None))
