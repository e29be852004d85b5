"""Rules for phrases that state a range or a choice explicitly, in any library's documentation.

They are written by hand, since each phrase is too rare in the labelled sentences to be learned.
"""

from __future__ import annotations

from ciguard.knowledge.mining.rules import MiningRule

_SUPPORT, _HITS = 100.0, 99.0
"""Counts that let these rules outrank learned ones."""
_PATTERNS: dict[tuple[str, str], tuple[str, ...]] = {
    ("range", "CONSTANT_NUM"): ("D_TYPE between CONSTANT_NUM",),
    ("range", "REXPR"): ("must be REXPR",),
    ("range", "(0,inf)"): ("^ positive D_TYPE", "^ a positive D_TYPE", "must be positive"),
    ("enum", "ENUM"): ("one of ENUM", "one of ENUMS", "only supports ENUMS"),
    ("enum", "CONSTANT_NUM"): ("only be CONSTANT_NUM", "options are CONSTANT_NUM"),
}
"""Patterns by the field that they constrain, and the abstract value of the constraint."""

EXPLICIT_RULES = tuple(
    MiningRule(field, tuple(pattern.split()), (value,), _SUPPORT, _HITS)
    for (field, value), patterns in _PATTERNS.items()
    for pattern in patterns
)
"""All of these rules. The placeholders are those of `normalise`."""
