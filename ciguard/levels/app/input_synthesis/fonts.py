"""Fonts of this machine, and which of them can show a text. Needs Pillow."""

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
"""What no font has: drawn as the box, or the nothing, that stands for a missing character."""
_SIZE_TO_CHECK = 24


@dataclass(frozen=True, slots=True)
class Font:
    """One font."""

    file: Path | None
    """None: the one that comes with Pillow."""

    @property
    def name(self) -> str:
        """How origins call it."""
        return self.file.stem if self.file else "Pillow's own font"

    @property
    def is_handwriting(self) -> bool:
        """Whether its name says that it looks written by hand."""
        return self.file is not None and _HANDWRITING.search(self.file.stem) is not None

    def of_size(self, pixels: int) -> Sized:
        """Return it in a size.

        Raises:
            OSError: if it has none such, or is damaged.
        """
        if self.file is None:
            return ImageFont.load_default(pixels)
        # The other layout engine is not on every machine, and sets some texts otherwise.
        return ImageFont.truetype(self.file, pixels, layout_engine=ImageFont.Layout.BASIC)

    def shows(self, text: str) -> bool:
        """Return whether it has all characters of a text."""
        try:
            font = self.of_size(_SIZE_TO_CHECK)
            missing = _drawn(font, _NO_CHARACTER)
            return all(_drawn(font, one) not in (missing, b"") for one in set(text) - {" ", "\n"})
        except (OSError, ValueError):  # damaged, of no such size, or no character at all
            return False


def _drawn(font: Sized, character: str) -> bytes:
    mask = font.getmask(character)
    return bytes(mask) if any(mask.size) else b""


@cache
def installed_fonts() -> tuple[Font, ...]:
    """Return the TrueType and OpenType fonts of the usual folders by name, last Pillow's own."""
    found = {
        file.name: file
        for folder in _FOLDERS
        for file in Path(folder).expanduser().rglob("*.[to]tf")
        if file.is_file()
    }
    return (*(Font(found[name]) for name in sorted(found)), Font(None))
