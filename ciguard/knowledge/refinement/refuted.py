"""Refutation of requirements by calls that passed although they violate the requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.knowledge.refinement.traits import choice_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.knowledge.refinement.requirements import Fields

_MIN_COUNTEREXAMPLES = 2
"""Minimum number of passing calls that refute a requirement: one call may pass by chance."""


def is_refuted(fields: Fields, counts: Mapping[str, Sequence[int]]) -> bool:
    """Return whether enough calls passed although they violate the fields.

    Args:
        fields: the fields of a clue that messages state.
        counts: the number of accepted calls and of rejected calls, by trait of the argument.
    """
    counterexamples = sum(pair[0] for trait, pair in counts.items() if _violates(trait, fields))
    return counterexamples >= _MIN_COUNTEREXAMPLES


def _violates(trait: str, fields: Fields) -> bool:
    """Return whether an argument with a trait violates the fields."""
    aspect, _, choice = trait.partition(":")
    is_violation = False
    match aspect:
        case "ndim" if "ndim" in fields:
            is_violation = not fields["ndim"][0] <= int(choice) <= fields["ndim"][1]
        case "dtype" if fields.get("dtypes"):
            is_violation = choice not in fields["dtypes"]
        case "is" if fields.get("allowed"):
            is_violation = trait not in set(map(choice_of, fields["allowed"]))
        case "is" if "low" in fields or "high" in fields:
            is_number = choice.lstrip("-").isdecimal()
            is_violation = is_number and not _is_within(int(choice), fields)
        case "shape!":
            is_violation = "shape_of" in fields
        case "dtype!":
            is_violation = "dtype_of" in fields
        case _:
            pass
    return is_violation


def _is_within(number: int, fields: Fields) -> bool:
    low, high = fields.get("low"), fields.get("high")
    return (low is None or number >= low) and (high is None or number <= high)
