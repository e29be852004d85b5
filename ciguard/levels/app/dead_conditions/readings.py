"""How an application reads a label of an answer, on the way to a comparison."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import Field, RecognitionTask
from ciguard.levels.app.static_analysis.values import EACH, LISTED, Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ciguard.levels.app.static_analysis.values import ValueFlow

TEXT_METHODS: Mapping[str, Callable[[str], str]] = {
    ".lower()": str.lower, ".upper()": str.upper, ".title()": str.title, ".strip()": str.strip,
    ".capitalize()": str.capitalize, ".casefold()": str.casefold,
}  # fmt: skip
ITEM_PRESERVING = frozenset({".keys()", "list()", "set()", "sorted()", "tuple()"})
"""Steps that keep the items of a list."""
_SELECTING = frozenset({"max()", "min()", "next()"})
"""Steps from a list to one of its items."""
_LOOK_UP = re.compile(r"\['[^']*'\]|\.get\('[^']*'(?:, (?:0|0\.0|None))?\)")
"""Steps to a value of a dictionary; a default of 0 is no score that a service cannot return."""
_SLICE = re.compile(r"\[(?:-?\d+)?:(?:-?\d+)?(?::-?\d+)?\]")
_WORD_STEP = re.compile(r"\.split\((?P<separator>'[^']+')?\)\[(?P<index>-?\d+)\]")
"""Steps to one word of a text."""


@dataclass(frozen=True, slots=True, order=True)
class LabelReading:
    """The conversions of a label before an application compares it."""

    steps: tuple[str, ...]
    is_listed: bool
    """True if the literal is compared with the items of a list instead of with a text."""

    def read(self, label: str) -> str:
        """Return the text that is compared, for a label; empty if it has no such word."""
        for step in self.steps:
            word = _WORD_STEP.fullmatch(step)
            if word is None:
                label = TEXT_METHODS[step](label)
            else:
                separator, index = ast.literal_eval(word["separator"] or "None"), int(word["index"])
                words = label.split(separator)
                label = words[index] if -len(words) <= index < len(words) else ""
        return label


def label_reading(flow: ValueFlow) -> LabelReading | None:
    """Return the conversions of a label before the comparison; None if a step is unknown."""
    if (
        not isinstance(flow.source, Answer)
        or flow.source.operation.task is not RecognitionTask.LABELS
    ):
        return None
    key = (flow.source.operation.fields or {}).get(Field.KEY, "")
    index = next((index for index, step in enumerate(flow.steps) if step in spellings(key)), None)
    if index is None:
        return None
    if not is_record_path(flow.steps[:index], flow.source.operation.records):
        return None
    return _reading_from_steps(flow.steps[index + 1 :])


def _reading_from_steps(steps: Sequence[str]) -> LabelReading | None:
    """Return the conversions by the steps from a label to a comparison; None if one is unknown."""
    depth, text_steps = 0, []
    for step in _with_words(steps[:-1]):
        if depth and _is_slice_step(step):
            continue
        if step == LISTED:
            depth += 1
        elif depth and (step == EACH or is_index_step(step)):
            depth -= 1
        elif not (depth and step in ITEM_PRESERVING):  # on a text, such a step takes its letters
            if depth or not (step in TEXT_METHODS or _WORD_STEP.fullmatch(step)):
                return None
            text_steps.append(step)
    return (
        None
        if depth and steps[-1].startswith("==")
        else LabelReading(tuple(text_steps), depth == 1)
    )


def _with_words(steps: Iterable[str]) -> list[str]:
    """Return steps, with each step to the words of a text joined to the step to one of them."""
    joined: list[str] = []
    for step in steps:
        if joined and _WORD_STEP.fullmatch(f"{joined[-1]}{step}"):
            joined[-1] += step
        else:
            joined.append(step)
    return joined


def _is_slice_step(step: str) -> bool:
    """Return whether a step takes a part of a list, or of a text."""
    return _SLICE.fullmatch(step) is not None


def is_record_path(steps: Iterable[str], records: str) -> bool:
    """Return whether steps lead from an answer to one of its records, without conversions."""
    parts = {spelled for part in records.split(".") for spelled in spellings(part)}
    return all(step in parts or _is_selection(step) for step in steps)


def _is_selection(step: str) -> bool:
    """Return whether a step only puts values into a list, or selects among its values."""
    is_index = is_index_step(step) or _is_slice_step(step)
    return is_index or step in {EACH, LISTED, *_SELECTING, *ITEM_PRESERVING}


def keeps_number(step: str) -> bool:
    """Return whether a step to a number in a collection, or from it, leaves the number as it is."""
    return _is_selection(step) or step == "float()" or _LOOK_UP.fullmatch(step) is not None


def spellings(field: str) -> tuple[str, ...]:
    """Return the steps that read a field: as an attribute or as a key."""
    return f".{field}", f"['{field}']", f".get('{field}')"


def is_index_step(step: str) -> bool:
    """Return whether a step reads an item of a list by its index."""
    return step.startswith("[") and step.endswith("]") and step[1:-1].isdecimal()
