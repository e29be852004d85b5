"""Repairs of constant sub-conditions (Keeper paper, section 4.1.2)."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.text import visible
from ciguard.levels.app.dead_conditions.dead_code import DeadConditionCause, truth_of
from ciguard.levels.app.repair.patches import (
    compare_bare_text,
    compare_member_name,
    replace_label,
    replace_number,
)
from ciguard.levels.app.repair.relatedness import SharedWords, known_relations, proposed_labels
from ciguard.levels.app.repair.suggestions import (
    LABEL_LIMIT,
    Suggestion,
    enumeration,
    quoted,
)
from ciguard.sources import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ciguard.levels.app.dead_conditions.dead_code import DeadCondition
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.sources import Source


def nearest_labels_in(vocabulary: Vocabulary) -> Callable[[str], tuple[str, ...]]:
    """Return a function from an unknown label to the labels that it may mean."""
    return cache(lambda label: proposed_labels(label, vocabulary, known_relations(), SharedWords()))


def repairs(
    application: Application, dead: Iterable[DeadCondition]
) -> dict[DeadCondition, Suggestion]:
    """Return the likely repair of each constant sub-condition that has one.

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
        suggestion = _repair_suggestion(source, condition) if source is not None else None
        if suggestion is not None:
            suggestions[condition] = suggestion
    return suggestions


def _repair_suggestion(source: Source, dead: DeadCondition) -> Suggestion | None:
    line, literal, text = dead.place[0], dead.literal, visible(dead.text, limit=LABEL_LIMIT)
    first = dead.proposals[0] if dead.proposals else ""
    match dead.cause:
        case DeadConditionCause.NOT_COMPARED:
            patch = compare_bare_text(source, dead.branch, dead.text)
            sentence = (
                f"In line {dead.branch.line} the sub-condition {text} is not compared with "
                f"anything, so it is always {truth_of(dead.text)}. Perhaps a comparison is missing."
            )
        case DeadConditionCause.OUT_OF_RANGE if first and isinstance(literal, int | float):
            patch = replace_number(source, dead.place, literal, first)
            sentence = (
                f"Line {line} compares a score with {literal}, which no score can reach. "
                f"Perhaps {first} is meant."
            )
        case DeadConditionCause.WRONG_CASE if isinstance(literal, str):
            text_in_case = ast.literal_eval(first)
            patch = replace_label(source, dead.place, literal, text_in_case)
            sentence = (
                f"Line {line} compares {quoted(literal)} with a text that was converted to another "
                f"case. Perhaps {quoted(text_in_case)} is meant."
            )
        case DeadConditionCause.ENUMERATION:
            patch = compare_member_name(source, dead.place)
            sentence = (
                f"Line {line} compares a text with a member of an enumeration: {text}. "
                "Perhaps the name of the member is meant."
            )
        case DeadConditionCause.UNKNOWN_LABEL if first and isinstance(literal, str):
            patch = replace_label(source, dead.place, literal, first)
            sentence = (
                f"Line {line} checks {quoted(literal)}, which does not match any label of the "
                f"service. Perhaps {enumeration(dead.proposals, 'or')} is meant."
            )
        case (
            DeadConditionCause.OUT_OF_RANGE
            | DeadConditionCause.WRONG_CASE
            | DeadConditionCause.UNKNOWN_LABEL
            | DeadConditionCause.CONTRADICTION
        ):  # the intention is unknown
            return None
        case _:
            assert_never(dead.cause)
    return Suggestion(sentence, patch) if patch else None
