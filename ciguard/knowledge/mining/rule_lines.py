"""The diffable form of a rule set: JSON Lines, a line that describes it and one line per rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMA = "ciguard.rules/1"


class RuleSyntaxError(ValueError):
    """A line is no rule."""


def to_lines(rules: RuleSet) -> Iterator[str]:
    """Yield the lines of a rule set: sorted, so that a change of one rule is a change of a line."""
    thresholds = rules.thresholds
    yield _line(
        {
            "schema": SCHEMA,
            "library": rules.library,
            "sentences": rules.sentences,
            "min_support": thresholds.min_support,
            "min_confidence": thresholds.min_confidence,
            "caution": thresholds.caution,
            "breadth": thresholds.breadth,
            "margins": dict(thresholds.margins),
        }
    )
    for rule in sorted(rules.rules):
        yield _line(
            {
                "field": rule.field,
                "pattern": " ".join(rule.pattern),
                "values": list(rule.values),
                "support": rule.support,
                "hits": rule.hits,
                "confidence": round(rule.confidence, 4),
            }
        )


def from_lines(lines: Iterable[str]) -> RuleSet:
    """Read a rule set back.

    Raises:
        RuleSyntaxError: naming the line, if it is not the form that `to_lines` writes.
    """
    records = [(n, _record(n, line)) for n, line in enumerate(lines, 1) if line.strip()]
    if not records or records[0][1].get("schema") != SCHEMA:
        msg = f"line 1: the schema is not {SCHEMA!r}: no rules, or rules of another ciguard"
        raise RuleSyntaxError(msg)
    try:
        head = records[0][1]
        thresholds = Thresholds(
            min_support=float(head["min_support"]),
            min_confidence=float(head["min_confidence"]),
            caution=float(head["caution"]),
            breadth=int(head["breadth"]),
            margins={str(k): float(v) for k, v in head["margins"].items()},
        )
        library, sentences = str(head["library"]), int(head["sentences"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"line 1: not the description of a rule set: {error!r}"
        raise RuleSyntaxError(msg) from error
    rules = tuple(_rule(number, record) for number, record in records[1:])
    try:
        return RuleSet(library=library, sentences=sentences, thresholds=thresholds, rules=rules)
    except ValueError as error:
        raise RuleSyntaxError(str(error)) from error


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _record(number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        msg = f"line {number}: not JSON: {error}"
        raise RuleSyntaxError(msg) from error
    if not isinstance(record, dict):
        msg = f"line {number}: a JSON object is expected"
        raise RuleSyntaxError(msg)
    return record


def _rule(number: int, record: dict[str, Any]) -> MiningRule:
    try:
        rule = MiningRule(
            field=str(record["field"]),
            pattern=tuple(str(record["pattern"]).split()),
            values=tuple(map(str, record["values"])),
            support=float(record["support"]),
            hits=float(record["hits"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = f"line {number}: not a rule: {error!r}"
        raise RuleSyntaxError(msg) from error
    if not set(rule.pattern) - {"^", "$"} or not 0 < rule.hits <= rule.support:
        msg = f"line {number}: a rule needs a word in its pattern, and 0 < hits <= support"
        raise RuleSyntaxError(msg)
    return rule
