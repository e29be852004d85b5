"""Printed texts in images (Keeper paper, section 3.2.2)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput


def has_pillow() -> bool:
    """Return whether Pillow, which all synthesis of images needs, is installed."""
    return find_spec("PIL") is not None


class PrintedText(InputMaker):
    """Pictures of a text in the installed fonts (Keeper paper, section 3.2.2, figure 6).

    Printed and handwriting fonts alternate, in several sizes, slightly rotated, on blank, noisy and
    shaded backgrounds. For an empty text, a blank image and noise are made.
    """

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether Pillow and a font that can show the text are installed.

        No font shows control characters; right-to-left text is not supported.
        """
        if wanted.task is not RecognitionTask.TEXT or not has_pillow():
            return False
        from ciguard.levels.app.input_synthesis.text_pictures import fonts_for

        return not wanted.key or any(True for _ in fonts_for(wanted.key))

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield images of the text; see `InputMaker`."""
        from ciguard.levels.app.input_synthesis.pictures import pictures_without_content
        from ciguard.levels.app.input_synthesis.text_pictures import pictures_of

        return pictures_of(wanted, rng) if wanted.key else pictures_without_content(wanted, rng)
