"""Texts in images (Keeper, 3.2.2)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.variants import InputMaker
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput


def draws() -> bool:
    """Return whether Pillow is installed, which all images are made with."""
    return find_spec("PIL") is not None


class PrintedText(InputMaker):
    """Writes the wanted text on images, in the fonts of this machine (Keeper, 3.2.2, Figure 6).

    Printed fonts and such as look like handwriting take turns, in several sizes, turned a little,
    on blank, noisy and shaded backgrounds. An empty text makes a blank image and noise.
    """

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether a font shows that, and Pillow is installed.

        No font shows control characters; what is written from right to left is left out.
        """
        if wanted.task is not RecognitionTask.TEXT or not draws():
            return False
        from ciguard.levels.app.input_synthesis.lettering import fonts_for

        return not wanted.key or any(True for _ in fonts_for(wanted.key))

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Return images of that text; see `InputMaker`."""
        from ciguard.levels.app.input_synthesis.lettering import pictures_of
        from ciguard.levels.app.input_synthesis.pictures import nothing

        return pictures_of(wanted, rng) if wanted.key else nothing(wanted, rng)
