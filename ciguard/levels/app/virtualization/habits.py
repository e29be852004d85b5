"""What a simulated service says where it should say something else: its confusion, as data.

    [objects]
    Vehicle = { Car = 0.5, Truck = 0.3, Vehicle = 0.1 }

How often each label is among the answers to an input that shows the one on the left.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Habits: TypeAlias = "Mapping[tuple[RecognitionTask, str], Mapping[str, float]]"
"""Task, and what is shown in small letters → label that is answered → how often, 0 to 1."""
_TASKS = (RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.CATEGORIES)


def read_habits(file: Path) -> Habits:
    """Read a service's habits.

    Raises:
        ConfigurationError: if the file cannot be read, or says something else.
    """
    try:
        raw = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file}: cannot be read as the habits of a service: {error}"
        raise ConfigurationError(msg) from error
    found = {}
    for task, shown in raw.items():
        if task not in set(_TASKS) or not isinstance(shown, dict):
            msg = f"{file}: {task}: no task with labels. Write one of {', '.join(_TASKS)}."
            raise ConfigurationError(msg)
        for label, answers in shown.items():
            if not isinstance(answers, dict) or not all(map(_is_share, answers.values())):
                msg = (
                    f"{file}: {task}.{label} = {answers!r:.80}: how often each label is answered "
                    "has to be a number from 0 to 1."
                )
                raise ConfigurationError(msg)
            found[RecognitionTask(task), label.lower()] = answers
    return found


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
