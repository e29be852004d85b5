"""Differences between the outcomes of one case on two targets, and the evidence for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import Evidence, PairKind
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.execution import decode_effects, decode_outputs
from ciguard.oracles.comparing.comparison import Difference, compare_effects, compare_outputs
from ciguard.oracles.comparing.tolerance import NO_INPUTS, InputPrecision
from ciguard.oracles.contract import headline
from ciguard.oracles.showing import outcomes_side_by_side
from ciguard.oracles.specifications import evidence_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.specifications import Specification

_SCOPES = {
    PairKind.SAME: "every time",
    PairKind.VERSION: "in every version",
    PairKind.DEVICE: "on every device",
    PairKind.BACKEND: "on every backend",
    PairKind.MODE: "in every mode",
}
"""Last words of the invariant that a difference violates, by the kind of pair."""


def outcome_difference(
    reference: Outcome, other: Outcome, inputs: InputPrecision = NO_INPUTS
) -> Difference | None:
    """Return how two outcomes of one case differ; None if they agree or cannot be compared.

    Outcomes such as crashes, hangs and internal errors are not compared: other oracles judge them.
    """
    match reference, other:
        case Passed(reference_result), Passed(other_result):
            return _compare_encoded(reference_result, other_result, inputs)
        case Passed(), Rejected(exception, message, Stage.CALL):
            text = f"refused with {exception}: {headline(message)}"
            return Difference("refused", text, exception)
        case Rejected(exception, message, Stage.CALL), Passed():
            text = f"was refused with {exception}: {headline(message)}"
            return Difference("accepted", text, exception)
        case Rejected(reference_class, _, Stage.CALL), Rejected(other_class, _, Stage.CALL):
            if reference_class == other_class:
                return None
            text = f"{reference_class} vs {other_class}"
            return Difference("exception", text, text)
        case _:
            return None


def _compare_encoded(
    reference_result: bytes, other_result: bytes, inputs: InputPrecision
) -> Difference | None:
    """Return how two encoded results, or their effects on the arguments, differ."""
    if reference_result == other_result:
        return None
    reference, other = decode_outputs(reference_result), decode_outputs(other_result)
    if reference is None or other is None:
        return None
    difference = compare_outputs(reference, other, inputs)
    return difference or compare_effects(
        decode_effects(reference_result), decode_effects(other_result)
    )


def evidence_between(
    names: tuple[str, str],
    outcomes: Mapping[str, Outcome],
    pair: PairKind,
    specification: Specification | None,
) -> Evidence:
    """Return the outcomes of two targets as text, and the specification or invariant they violate.

    Args:
        names: names of the reference and of the target that deviates.
        outcomes: outcomes by target.
        pair: the property in which the two targets differ.
        specification: the specification that the case violates; None if it violates none.
    """
    sides = outcomes_side_by_side(outcomes[names[0]], outcomes[names[1]])
    expected, observed = (f"{name}: {side}" for name, side in zip(names, sides, strict=True))
    if specification is not None:
        return evidence_of(specification, expected=expected, observed=observed)
    scope = _SCOPES.get(pair, "everywhere")
    invariant = f"The same call gives the same result {scope}"
    return Evidence(expected=expected, observed=observed, law=invariant)
