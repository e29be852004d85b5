"""How the outcomes of one case on two targets differ, and the words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import Evidence, PairKind
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.execution import decode_effects, decode_outputs
from ciguard.oracles.comparing.comparison import Difference, compare_effects, compare_outputs
from ciguard.oracles.comparing.tolerance import NO_INPUTS, InputPrecision
from ciguard.oracles.contract import headline
from ciguard.oracles.laws import evidence_of
from ciguard.oracles.showing import outcomes_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.laws import Law

_WHERE = {
    PairKind.SAME: "every time",
    PairKind.VERSION: "in every version",
    PairKind.DEVICE: "on every device",
    PairKind.BACKEND: "on every backend",
    PairKind.MODE: "in every mode",
}


def differs(
    reference: Outcome, other: Outcome, inputs: InputPrecision = NO_INPUTS
) -> Difference | None:
    """Return how two outcomes of one case differ, None when they agree or cannot be compared.

    A death, a hang or an internal error is another oracle's business.
    """
    match reference, other:
        case Passed(mine), Passed(theirs):
            return _compare_encoded(mine, theirs, inputs)
        case Passed(), Rejected(exception, message, Stage.CALL):
            text = f"refused with {exception}: {headline(message)}"
            return Difference("refused", text, exception)
        case Rejected(exception, message, Stage.CALL), Passed():
            text = f"was refused with {exception}: {headline(message)}"
            return Difference("accepted", text, exception)
        case Rejected(mine_class, _, Stage.CALL), Rejected(their_class, _, Stage.CALL):
            if mine_class == their_class:
                return None
            text = f"{mine_class} vs {their_class}"
            return Difference("exception", text, text)
        case _:
            return None


def _compare_encoded(mine: bytes, theirs: bytes, inputs: InputPrecision) -> Difference | None:
    if mine == theirs:
        return None
    reference, other = decode_outputs(mine), decode_outputs(theirs)
    if reference is None or other is None:
        return None
    difference = compare_outputs(reference, other, inputs)
    return difference or compare_effects(decode_effects(mine), decode_effects(theirs))


def evidence_between(
    names: tuple[str, str], outcomes: Mapping[str, Outcome], pair: PairKind, law: Law | None
) -> Evidence:
    """Return what two targets answered, against the law that they answer alike, or another one."""
    sides = outcomes_side_by_side(outcomes[names[0]], outcomes[names[1]])
    expected, observed = (f"{name}: {side}" for name, side in zip(names, sides, strict=True))
    if law is not None:
        return evidence_of(law, expected=expected, observed=observed)
    where = _WHERE.get(pair, "everywhere")
    says = f"The same call comes to the same {where}"
    return Evidence(expected=expected, observed=observed, law=says)
