"""Confusion matrix of a simulated service: the labels that it returns instead of the right one.

    [objects]
    Vehicle = { Car = 0.5, Truck = 0.3, Vehicle = 0.1 }

Each row names the label that an input shows, and the probability of each label in the answer.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ConfusionMatrix: TypeAlias = "Mapping[tuple[RecognitionTask, str], Mapping[str, float]]"
"""Task and lower-case label of the input → label of the answer → probability, 0 to 1."""
_TASKS = (RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.CATEGORIES)


def read_confusion_matrix(file: Path) -> ConfusionMatrix:
    """Return the confusion matrix of a service in a TOML file.

    Raises:
        ConfigurationError: if the file cannot be read or is invalid.
    """
    try:
        raw = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file} cannot be read as a confusion matrix in TOML: {error}"
        raise ConfigurationError(msg) from error
    matrix = {}
    for task, rows in raw.items():
        if task not in set(_TASKS) or not isinstance(rows, dict):
            msg = f"{file}: {task} is not the table of a task. Known: [{'], ['.join(_TASKS)}]."
            raise ConfigurationError(msg)
        for label, answers in rows.items():
            if not isinstance(answers, dict) or not all(map(_is_share, answers.values())):
                msg = (
                    f"{file}: {task}.{label} = {answers!r:.80} is invalid. "
                    "Write the probability of each label as a number from 0 to 1."
                )
                raise ConfigurationError(msg)
            matrix[RecognitionTask(task), label.lower()] = answers
    return matrix


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
