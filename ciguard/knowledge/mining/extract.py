"""From the texts of a parameter to its constraints, each with the sentence and rule behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.mining.concrete import FIELDS, instantiate
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource, forms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.knowledge.mining.abstract import RuleBook
    from ciguard.knowledge.mining.rules import MiningRule


@dataclass(frozen=True, slots=True)
class Extracted:
    """One concrete constraint, and who said so."""

    field: str
    values: tuple[str, ...]
    source: TextSource
    sentence: str
    rule: MiningRule


def extract(text: ParameterText, book: RuleBook) -> tuple[Extracted, ...]:
    """Return the constraints that the texts of a parameter state, in the order of the texts."""
    found: list[Extracted] = []
    for form in forms_of(text):
        for rule in book.constraints(form.words):
            made = (v for value in rule.values for v in instantiate(rule.field, value, form.tokens))
            values = tuple(dict.fromkeys(made))
            if values:
                found.append(Extracted(rule.field, values, form.source, form.text, rule))
    return tuple(found)


def united(extracted: Iterable[Extracted]) -> dict[str, list[str]]:
    """Return the values of each field over all sentences of one parameter, sorted."""
    values: dict[str, set[str]] = {name: set() for name in FIELDS}
    for one in extracted:
        values[one.field].update(one.values)
    return {name: sorted(some) for name, some in values.items()}


def prediction(text: ParameterText, extracted: Iterable[Extracted]) -> dict[str, Any]:
    """Return the line that a scorer of extracted constraints reads."""
    return {
        "library": text.library,
        "api": text.api,
        "parameter": text.parameter,
        **united(extracted),
    }
