"""Recognises text in images with Tesseract."""

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
"""Minimum confidence in per cent: words below it are often patterns without text."""


@dataclass(frozen=True)
class TextEngine(Recogniser):
    """Recognises text in images: printed text well, handwriting seldom."""

    limit_s: float = 60.0
    """Timeout of one image, in seconds."""

    NAME = "Tesseract"
    TASK = RecognitionTask.TEXT
    MODULES: ClassVar[tuple[str, ...]] = ("pytesseract", pictures.MODULE)
    PROGRAM = "tesseract"

    def serves(self, operation: Operation) -> bool:
        """Return whether the operation recognises text, and Tesseract has English data."""
        return super().serves(operation) and _reads_english()

    def recognise(self, operation: Operation, content: bytes) -> Json:
        """Return an answer with the words in an image, by line."""
        image = pictures.picture(operation, content)
        tesseract = import_module("pytesseract")
        try:
            table = tesseract.image_to_data(
                image, output_type=tesseract.Output.DICT, timeout=self.limit_s
            )
        except tesseract.TesseractError as error:
            raise ServiceError(Code.INTERNAL, "Internal server error.") from error
        except RuntimeError as error:
            raise ServiceError(Code.DEADLINE_EXCEEDED, "Deadline Exceeded") from error
        lines = itertools.groupby(_words(table), key=lambda word: word[0])
        words_by_line = [[word for _, word in line] for _, line in lines]
        return messages_of(operation).text_answer(words_by_line, image.size)


@cache
def _reads_english() -> bool:
    """Return whether Tesseract has data for English."""
    return "eng" in import_module("pytesseract").get_languages()


def _words(table: dict[str, list[Any]]) -> Iterator[tuple[tuple[int, ...], Word]]:
    """Yield each recognised word with the numbers of its block, paragraph and line."""
    for row, text in enumerate(table["text"]):
        confidence = float(table["conf"][row])
        word = text.strip()
        if word and confidence >= _MIN_CONFIDENCE:
            line = tuple(table[part][row] for part in ("block_num", "par_num", "line_num"))
            box = BoundingBox(*(table[side][row] for side in ("left", "top", "width", "height")))
            yield line, Word(word, box, confidence / 100)
