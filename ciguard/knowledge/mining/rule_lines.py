"""Files of rules: JSON Lines with a header and one line per rule, sorted for readable diffs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.mining.rules import MiningRule, RuleSet, Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCHEMA = "ciguard.rules/2"
"""Name and version of the file format."""


class RuleSyntaxError(ValueError):
    """A line of a rule file is not a valid rule."""


def to_lines(rules: RuleSet) -> Iterator[str]:
    """Yield the sorted lines of a rule set's file: a changed rule changes one line."""
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
    """Return the rule set that `to_lines` wrote.

    Raises:
        RuleSyntaxError: if a line is not in the format of `to_lines`. The message names the line.
    """
    records = [(n, _record(n, line)) for n, line in enumerate(lines, 1) if line.strip()]
    if not records or records[0][1].get("schema") != SCHEMA:
        msg = (
            f"line 1: the schema is not {SCHEMA!r}, so this is not a rule file, or another "
            "version of ciguard wrote it"
        )
        raise RuleSyntaxError(msg)
    try:
        header = records[0][1]
        thresholds = Thresholds(
            min_support=float(header["min_support"]),
            min_confidence=float(header["min_confidence"]),
            caution=float(header["caution"]),
            breadth=int(header["breadth"]),
            margins={str(k): float(v) for k, v in header["margins"].items()},
        )
        library, sentences = str(header["library"]), int(header["sentences"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"line 1: not the header of a rule file: {error!r}"
        raise RuleSyntaxError(msg) from error
    rules = tuple(_rule(number, record) for number, record in records[1:])
    try:
        return RuleSet(library=library, sentences=sentences, thresholds=thresholds, rules=rules)
    except ValueError as error:
        raise RuleSyntaxError(str(error)) from error


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)


def _record(number: int, line: str) -> dict[str, Any]:
    """Return the JSON object in a line."""
    try:
        record = json.loads(line)
    except ValueError as error:
        msg = f"line {number} is not JSON: {error}"
        raise RuleSyntaxError(msg) from error
    if not isinstance(record, dict):
        msg = f"line {number} is not a JSON object"
        raise RuleSyntaxError(msg)
    return record


def _rule(number: int, record: dict[str, Any]) -> MiningRule:
    """Return the rule in a JSON object."""
    try:
        rule = MiningRule(
            field=str(record["field"]),
            pattern=tuple(str(record["pattern"]).split()),
            values=tuple(map(str, record["values"])),
            support=float(record["support"]),
            hits=float(record["hits"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = f"line {number}: not a valid rule: {error!r}"
        raise RuleSyntaxError(msg) from error
    if not set(rule.pattern) - {"^", "$"} or not 0 < rule.hits <= rule.support:
        msg = (
            f"line {number}: not a valid rule: the pattern needs at least one word, and hits "
            "must be above 0 and at most the support"
        )
        raise RuleSyntaxError(msg)
    return rule
