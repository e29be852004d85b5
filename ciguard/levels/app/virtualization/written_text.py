"""Reads what is written in images, with Tesseract."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Word
from ciguard.levels.app.providers.registered import messages_of
from ciguard.levels.app.virtualization import pictures
from ciguard.levels.app.virtualization.engine import Recogniser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MIN_CONFIDENCE = 30
"""Per cent; below it is what Tesseract sees in patterns where nobody reads anything."""


@dataclass(frozen=True)
class WrittenText(Recogniser):
    """Reads texts in images; printed ones well, handwriting seldom."""

    limit_s: float = 60.0
    """For one image."""

    NAME = "Tesseract"
    TASK = RecognitionTask.TEXT
    MODULES: ClassVar[tuple[str, ...]] = ("pytesseract", pictures.MODULE)
    PROGRAM = "tesseract"

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked for a text, and reads English ones."""
        return super().serves(operation) and _reads_english()

    def recognised(self, operation: Operation, about: bytes) -> Json:
        """Return what is written in an image."""
        image = pictures.picture(operation, about)
        tesseract = import_module("pytesseract")
        try:
            table = tesseract.image_to_data(
                image, output_type=tesseract.Output.DICT, timeout=self.limit_s
            )
        except tesseract.TesseractError as error:
            raise ServiceError(Code.INTERNAL, "Internal server error.") from error
        except RuntimeError as error:
            raise ServiceError(Code.DEADLINE_EXCEEDED, "Deadline Exceeded") from error
        lines = itertools.groupby(_words(table), key=lambda found: found[0])
        read = [[word for _, word in line] for _, line in lines]
        return messages_of(operation).text_answer(read, image.size)


@cache
def _reads_english() -> bool:
    """Return whether the program has its data of English."""
    return "eng" in import_module("pytesseract").get_languages()


def _words(table: dict[str, list[Any]]) -> Iterator[tuple[tuple[int, ...], Word]]:
    """Yield each word that is read, and which line of which part of the page it is in."""
    for at, text in enumerate(table["text"]):
        confidence = float(table["conf"][at])
        word = text.strip()
        if word and confidence >= _MIN_CONFIDENCE:
            line = tuple(table[part][at] for part in ("block_num", "par_num", "line_num"))
            box = BoundingBox(*(table[side][at] for side in ("left", "top", "width", "height")))
            yield line, Word(word, box, confidence / 100)
