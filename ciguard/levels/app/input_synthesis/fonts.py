"""Fonts that are installed on this machine, and the texts that they can show. Needs Pillow."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from PIL import ImageFont

SizedFont: TypeAlias = ImageFont.FreeTypeFont | ImageFont.ImageFont

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
"""Code point that no font has, so that the glyph for missing characters is drawn."""
_SIZE_TO_CHECK = 24


@dataclass(frozen=True, slots=True)
class Font:
    """A font that is installed on this machine, or comes with Pillow."""

    file: Path | None
    """Font file; None for the font that comes with Pillow."""

    @property
    def name(self) -> str:
        """Name of the font for the origin of an input."""
        return self.file.stem if self.file else "Pillow's own font"

    @property
    def is_handwriting(self) -> bool:
        """True if the name of the font suggests handwriting."""
        return self.file is not None and _HANDWRITING.search(self.file.stem) is not None

    def of_size(self, pixels: int) -> SizedFont:
        """Return the font in a size.

        Raises:
            OSError: if the font is damaged, or does not have the size.
        """
        if self.file is None:
            return ImageFont.load_default(pixels)
        # The other layout engine is not installed everywhere, and places some texts differently.
        return ImageFont.truetype(self.file, pixels, layout_engine=ImageFont.Layout.BASIC)

    def shows(self, text: str) -> bool:
        """Return whether the font has all characters of a text."""
        try:
            font = self.of_size(_SIZE_TO_CHECK)
            missing = _glyph(font, _NO_CHARACTER)
            return all(
                _glyph(font, letter) not in (missing, b"") for letter in set(text) - {" ", "\n"}
            )
        except (OSError, ValueError):  # the font is damaged or lacks the size
            return False


def _glyph(font: SizedFont, character: str) -> bytes:
    mask = font.getmask(character)
    return bytes(mask) if any(mask.size) else b""


@cache
def installed_fonts() -> tuple[Font, ...]:
    """Return the TrueType and OpenType fonts in the usual folders, sorted, then Pillow's own."""
    files = {
        file.name: file
        for folder in _FOLDERS
        for file in Path(folder).expanduser().rglob("*.[to]tf")
        if file.is_file()
    }
    return (*(Font(files[name]) for name in sorted(files)), Font(None))
