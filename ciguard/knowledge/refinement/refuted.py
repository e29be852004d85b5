"""Was what a message said refuted since: did a call pass that did not follow it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.knowledge.refinement.traits import choice_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.knowledge.refinement.requirements import Fields

_PROOF = 2
"""Calls that passed all the same: one may have passed by another road."""


def is_refuted(fields: Fields, counts: Mapping[str, Sequence[int]]) -> bool:
    """Return whether calls passed that broke what the fields say.

    Args:
        fields: of a clue, read from messages.
        counts: trait → how often it passed and was refused, of the parameter.
    """
    against = sum(pair[0] for trait, pair in counts.items() if _contradicts(trait, fields))
    return against >= _PROOF


def _contradicts(trait: str, fields: Fields) -> bool:
    aspect, _, choice = trait.partition(":")
    contradicts = False
    match aspect:
        case "ndim" if "ndim" in fields:
            contradicts = not fields["ndim"][0] <= int(choice) <= fields["ndim"][1]
        case "dtype" if fields.get("dtypes"):
            contradicts = choice not in fields["dtypes"]
        case "is" if fields.get("allowed"):
            contradicts = trait not in set(map(choice_of, fields["allowed"]))
        case "is" if "low" in fields or "high" in fields:
            is_number = choice.lstrip("-").isdecimal()
            contradicts = is_number and not _is_within(int(choice), fields)
        case "shape!":
            contradicts = "shape_of" in fields
        case "dtype!":
            contradicts = "dtype_of" in fields
        case _:
            pass
    return contradicts


def _is_within(number: int, fields: Fields) -> bool:
    low, high = fields.get("low"), fields.get("high")
    return (low is None or number >= low) and (high is None or number <= high)
