"""Extracts constraints from the texts of a parameter, each with its sentence and rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.mining.concrete import FIELDS, instantiate
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource, sentence_forms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.knowledge.mining.rule_book import RuleBook
    from ciguard.knowledge.mining.rules import MiningRule


@dataclass(frozen=True, slots=True)
class ExtractedConstraint:
    """One concrete constraint that was extracted from a sentence."""

    field: str
    """Field of the constraint, one of `FIELDS`."""
    values: tuple[str, ...]
    """Concrete values."""
    source: TextSource
    """Kind of text about the parameter that contains the sentence."""
    sentence: str
    """Sentence that states the constraint."""
    rule: MiningRule
    """Rule that matched the sentence."""


def extract(text: ParameterText, book: RuleBook) -> tuple[ExtractedConstraint, ...]:
    """Return the constraints that the texts of a parameter state, in the order of the texts."""
    constraints: list[ExtractedConstraint] = []
    for form in sentence_forms(text):
        for rule in book.constraints(form.words):
            concrete = (
                v for value in rule.values for v in instantiate(rule.field, value, form.tokens)
            )
            values = tuple(dict.fromkeys(concrete))
            if values:
                constraints.append(
                    ExtractedConstraint(rule.field, values, form.source, form.text, rule)
                )
    return tuple(constraints)


def merged_values(constraints: Iterable[ExtractedConstraint]) -> dict[str, list[str]]:
    """Return the values of each field, merged over all sentences of one parameter and sorted."""
    values: dict[str, set[str]] = {name: set() for name in FIELDS}
    for constraint in constraints:
        values[constraint.field].update(constraint.values)
    return {name: sorted(field_values) for name, field_values in values.items()}


def prediction(text: ParameterText, constraints: Iterable[ExtractedConstraint]) -> dict[str, Any]:
    """Return the JSON object of a parameter's merged constraints, as scoring scripts read it."""
    return {
        "library": text.library,
        "api": text.api,
        "parameter": text.parameter,
        **merged_values(constraints),
    }
