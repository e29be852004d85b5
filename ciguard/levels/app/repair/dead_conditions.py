"""Repairs of constant sub-conditions (Keeper, section 4.1.2)."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.text import visible
from ciguard.levels.app.dead_conditions.dead_code import DeadConditionCause
from ciguard.levels.app.repair.patches import (
    compare_constant,
    compare_name,
    replace_label,
    replace_number,
)
from ciguard.levels.app.repair.relatedness import Words, known_relations, proposed_labels
from ciguard.levels.app.repair.suggestions import (
    LABEL_LIMIT,
    Suggestion,
    listed,
    quoted,
)
from ciguard.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.levels.app.dead_conditions.dead_code import DeadCondition
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.sources import Source


def nearest_in(vocabulary: Vocabulary) -> Callable[[str], tuple[str, ...]]:
    """Return a function that returns the labels of a vocabulary that an unknown one may mean."""
    return cache(lambda label: proposed_labels(label, vocabulary, known_relations(), Words()))


def repairs(
    application: Application, dead: Iterable[DeadCondition]
) -> dict[DeadCondition, Suggestion]:
    """Return the likely repair of each constant sub-condition, where there is one.

    Args:
        application: the parsed application.
        dead: its constant sub-conditions.

    Raises:
        OSError: if a file cannot be read any more.
    """
    source_of = cache(lambda file: read_source(application.root, file))
    suggestions = {}
    for condition in dict.fromkeys(dead):
        source = source_of(condition.branch.file)
        suggestion = _repaired(source, condition) if source is not None else None
        if suggestion is not None:
            suggestions[condition] = suggestion
    return suggestions


def _repaired(source: Source, dead: DeadCondition) -> Suggestion | None:
    line, literal, text = dead.place[0], dead.literal, visible(dead.text, limit=LABEL_LIMIT)
    first = dead.proposals[0] if dead.proposals else ""
    match dead.cause:
        case DeadConditionCause.COMPARED_WITH_NOTHING:
            patch = compare_constant(source, dead.branch, dead.text)
            sentence = (
                f"In line {dead.branch.line} the sub-condition {text} is compared with nothing and "
                "therefore always the same; it may be meant as a comparison like the others."
            )
        case DeadConditionCause.OUT_OF_RANGE if first and isinstance(literal, int | float):
            patch = replace_number(source, dead.place, literal, first)
            sentence = (
                f"Line {line} compares a score with {literal}, which no score reaches; {first} "
                "may be meant."
            )
        case DeadConditionCause.OTHER_LETTERS if isinstance(literal, str):
            text_in_case = ast.literal_eval(first)
            patch = replace_label(source, dead.place, literal, text_in_case)
            sentence = (
                f"Line {line} compares a text in another case with {quoted(literal)}; "
                f"{quoted(text_in_case)} may be meant."
            )
        case DeadConditionCause.ENUMERATION:
            patch = compare_name(source, dead.place)
            sentence = (
                f"Line {line} compares a text with a member of an enumeration: {text}. "
                "The name of the member may be meant."
            )
        case DeadConditionCause.NO_LABEL if first and isinstance(literal, str):
            patch = replace_label(source, dead.place, literal, first)
            sentence = (
                f"Line {line} checks {quoted(literal)}, which is no label of the service, as it is "
                f"read there; it has {listed(dead.proposals, 'or')}."
            )
        case (
            DeadConditionCause.OUT_OF_RANGE
            | DeadConditionCause.OTHER_LETTERS
            | DeadConditionCause.NO_LABEL
            | DeadConditionCause.CONTRADICTION
        ):  # the intention is unknown
            return None
        case _:
            assert_never(dead.cause)
    return Suggestion(sentence, patch) if patch else None
