"""What may be meant by sub-conditions that are always the same (Keeper, section 4.1.2)."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, assert_never

from ciguard.levels.app.dead_conditions.dead_code import DeadConditionCause
from ciguard.levels.app.repair.non_existing import meant
from ciguard.levels.app.repair.patches import (
    compare_constant,
    compare_name,
    replace_label,
    replace_number,
)
from ciguard.levels.app.repair.relatedness import Words, known_relations
from ciguard.levels.app.repair.suggestions import (
    Suggestion,
    a_comparison,
    a_member,
    other_label,
    other_letters,
    other_scale,
)
from ciguard.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.levels.app.dead_conditions.dead_code import Dead
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.sources import Source


def nearest_in(vocabulary: Vocabulary) -> Callable[[str], tuple[str, ...]]:
    """Return what tells a few labels of a vocabulary that may be meant by one that is none."""
    return cache(lambda label: meant(label, vocabulary, known_relations(), Words()))


def repairs(application: Application, dead: Iterable[Dead]) -> dict[Dead, Suggestion]:
    """Return a change for each sub-condition that is always the same, where there is a likely one.

    Args:
        application: as read.
        dead: its sub-conditions that are always the same.

    Raises:
        OSError: if a file cannot be read any more.
    """
    source_of = cache(lambda file: read_source(application.root, file))
    found = {}
    for one in dict.fromkeys(dead):
        source = source_of(one.branch.file)
        suggestion = _repaired(source, one) if source is not None else None
        if suggestion is not None and suggestion.patch:
            found[one] = suggestion
    return found


def _repaired(source: Source, dead: Dead) -> Suggestion | None:
    line, literal = dead.place[0], dead.literal
    first = dead.proposals[0] if dead.proposals else ""
    match dead.cause:
        case DeadConditionCause.COMPARED_WITH_NOTHING:
            patch = compare_constant(source, dead.branch, dead.text)
            return a_comparison(dead.text, dead.branch.line, patch)
        case DeadConditionCause.OUT_OF_RANGE if first and isinstance(literal, int | float):
            patch = replace_number(source, dead.place, literal, first)
            return other_scale(str(literal), first, line, patch)
        case DeadConditionCause.OTHER_LETTERS if isinstance(literal, str):
            changed = ast.literal_eval(first)
            patch = replace_label(source, dead.place, literal, changed)
            return other_letters(literal, changed, line, patch)
        case DeadConditionCause.ENUMERATION:
            return a_member(dead.text, line, compare_name(source, dead.place))
        case DeadConditionCause.NO_LABEL if first and isinstance(literal, str):
            patch = replace_label(source, dead.place, literal, first)
            return other_label(literal, dead.proposals, line, patch)
        case (
            DeadConditionCause.OUT_OF_RANGE
            | DeadConditionCause.OTHER_LETTERS
            | DeadConditionCause.NO_LABEL
            | DeadConditionCause.CONTRADICTION
        ):  # nobody knows what is meant
            return None
        case _:
            assert_never(dead.cause)
