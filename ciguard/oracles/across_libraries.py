"""The oracle `across-libraries`: equivalent calls of several libraries return different numbers.

Only the numbers, shapes and NaN in results are compared. Libraries are free to choose the element
type of a result and the exception that rejects a call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain import dtypes
from ciguard.domain.api_calls import ApiCall, as_call
from ciguard.domain.findings import Evidence, Finding, PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.oracles.comparing.comparison import compare_outputs
from ciguard.oracles.comparing.inputs import has_special_elements
from ciguard.oracles.contract import ACROSS_LIBRARIES, UNSTABLE_TAGS
from ciguard.oracles.equivalents import equivalence_of, equivalent_call
from ciguard.oracles.levels import input_precision_of
from ciguard.oracles.relations import encode, exemption_of
from ciguard.oracles.showing import outcomes_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision
    from ciguard.oracles.contract import Subject

_FAMILIES = (dtypes.BOOLEAN, dtypes.INTEGERS, dtypes.FLOATING, dtypes.COMPLEX)
_NEARLY_INFINITE = 0.01
"""Fraction of a type's largest number. Above it, rounding decides whether a result overflows."""
_MIN_AGREEING_LIBRARIES = 2
"""Minimum number of independent libraries that must agree before another one is blamed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Disagreement:
    """A pair of targets whose results differ."""

    reference: str
    """Name of the target whose result counts as correct."""
    blamed: str
    """Name of the target for which the difference is reported."""
    difference: Difference
    is_outvoted: bool
    """True if enough other libraries agree with each other and disagree with the blamed one."""


class AcrossLibrariesOracle:
    """Blames the library that all others disagree with.

    If there are only two libraries, it reports the difference without deciding which is wrong.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding if the libraries disagree, otherwise none.

        Args:
            case: the call of `subject.library`; the other libraries run equivalent calls.
            outcomes: the outcomes by target.
            subject: the API under test, and the targets.
        """
        if not isinstance(case, ApiCall) or not subject.spans_libraries:
            return []
        if not _is_comparable(case, subject):
            return []
        calls = {
            name: call
            for name in subject.targets
            if name in outcomes and (call := call_for_target(name, case, subject)) is not None
        }
        results = {
            name: result
            for name, call in calls.items()
            if (result := _result(outcomes[name], call)) is not None
        }
        disagreement = _disagreement(results, input_precision_of(case), subject)
        if disagreement is None:
            return []
        return [_finding(disagreement, calls, {name: outcomes[name] for name in results}, subject)]


def call_for_target(target: str, case: ApiCall, subject: Subject) -> ApiCall | None:
    """Return the call that a target runs for a case of `subject.library`.

    For a target of another library, it is the equivalent call, or None if there is none.
    """
    library = subject.targets[target].library
    return case if library == subject.library else equivalent_call(case, library)


def encode_for_target(target: str, case: Case, subject: Subject) -> bytes:
    """Return the encoded case for a target's worker; for another library, its equivalent call.

    Raises:
        ValueError: if the target's library has no equivalent call.
    """
    if not subject.spans_libraries:
        return encode(case)
    call = call_for_target(target, as_call(case), subject)
    if call is None:
        msg = f"{case.api}: no equivalent call with these arguments is known for {target}"
        raise ValueError(msg)
    return encode(call)


def is_expressible(case: Case, targets: Sequence[str], subject: Subject) -> bool:
    """Return whether each of the targets can run a case or an equivalent call."""
    if not subject.spans_libraries:
        return True
    call = as_call(case)
    return all(call_for_target(target, call, subject) is not None for target in targets)


def compared_item_index(api: str) -> int | None:
    """Return the index of the item of an API's result that is compared across libraries.

    None means that the whole result is compared.
    """
    row = equivalence_of(api)
    item_indices = (
        (form.result_index for form in row.forms.values() if form.api == api) if row else ()
    )
    return next(iter(item_indices), None)


def _is_comparable(case: ApiCall, subject: Subject) -> bool:
    """Return whether the definitions of the libraries must agree for a case."""
    return (
        case.intent is Intent.CONFORMING
        and not subject.tags & UNSTABLE_TAGS
        and not has_special_elements(case)
    )


def _result(outcome: Outcome, call: ApiCall) -> TensorOutput | None:
    """Return the tensor to compare; None if there is none or the worker sent only some elements."""
    if not isinstance(outcome, Passed) or exemption_of(call.api, ACROSS_LIBRARIES):
        return None
    output = decode_outputs(outcome.encoded)
    item_index = compared_item_index(call.api)
    if item_index is not None:
        has_item = isinstance(output, Container) and item_index < len(output.items)
        output = output.items[item_index] if has_item and isinstance(output, Container) else None
    return output if isinstance(output, TensorOutput) else None


def _disagreement(
    results: Mapping[str, TensorOutput], inputs: InputPrecision, subject: Subject
) -> _Disagreement | None:
    """Return the pair of targets to report; None if all results agree."""
    differing = {
        (first, second)
        for first, second in combinations(results, 2)
        if compare_results(results[first], results[second], inputs) is not None
    }
    if not differing:
        return None
    outvoted = _outvoted_target(list(results), differing, subject)
    own_targets = [name for name in results if subject.targets[name].library == subject.library]
    candidates = [name for name in results if any(name in pair for pair in differing)]
    # Of two libraries, blame the library that the case was generated for: a stable choice.
    blamed = outvoted or next((name for name in own_targets if name in candidates), candidates[-1])
    reference = next(n for n in results if {(n, blamed), (blamed, n)} & differing)
    difference = compare_results(results[reference], results[blamed], inputs)
    if difference is None:  # pragma: no cover - the comparison is symmetric
        return None
    return _Disagreement(
        reference=reference, blamed=blamed, difference=difference, is_outvoted=bool(outvoted)
    )


def _outvoted_target(names: list[str], differing: set[tuple[str, str]], subject: Subject) -> str:
    """Return the only target that disagrees with all others; empty if there is none."""
    identities = subject.targets
    # Keras computes with its backend, so that the backend's vote would count twice.
    independent = [n for n in names if identities[n].engine == identities[n].library]
    for voters in (names, independent):
        for name in voters:
            others = [n for n in voters if n != name]
            engines = {identities[n].engine for n in others}
            others_agree = not any(set(pair) <= set(others) for pair in differing)
            is_alone = all({(n, name), (name, n)} & differing for n in others)
            if others_agree and is_alone and len(engines) >= _MIN_AGREEING_LIBRARIES:
                return name
    return ""


def compare_results(
    reference: TensorOutput, other: TensorOutput, inputs: InputPrecision
) -> Difference | None:
    """Return how the results of two libraries differ in shape or numbers; None if they agree.

    Results of different types are compared in the narrower type. Integers are not compared with
    floats, nor results with numbers that the narrower type cannot represent.
    """
    family = next((f for f in _FAMILIES if reference.dtype in f and other.dtype in f), ())
    if not family:
        return None
    # Convert both to the narrower type, whose rounding is the tolerance.
    dtype = min(reference.dtype, other.dtype, key=_capacity)
    left, right = (_convert(result, dtype) for result in (reference, other))
    if left is None or right is None:
        return None
    if {left.shape, right.shape} == {(), (1,)}:  # Jittor's tensors have at least one dimension
        left, right = replace(left, shape=(1,)), replace(right, shape=(1,))
    difference = compare_outputs(left, right, inputs)
    if difference is not None and difference.kind == "nan" and _is_overflow(left, right):
        return None
    return difference


def _capacity(dtype: str) -> float:
    """Return a sort key of a type: the larger, the more precise or the wider in range it is."""
    if dtype in dtypes.EPSILON:
        return -dtypes.EPSILON[dtype]
    return float(dtypes.integer_range(dtype)[1]) if dtype in dtypes.INTEGERS else 0.0


def _convert(result: TensorOutput, dtype: str) -> TensorOutput | None:
    """Return a result converted to another type; None if an element is out of the type's range."""
    if result.dtype == dtype:
        return result
    if dtype in dtypes.INTEGERS:
        lowest, highest = dtypes.integer_range(dtype)
        if result.elements.size and not (
            lowest <= int(result.elements.min()) and int(result.elements.max()) <= highest
        ):
            return None
    stored = "float32" if dtype == "bfloat16" else dtype
    with np.errstate(over="ignore"):
        return replace(result, dtype=dtype, elements=result.elements.astype(stored))


def _is_overflow(left: TensorOutput, right: TensorOutput) -> bool:
    """Return whether every differing element is infinite in one result and huge in the other."""
    if left.elements.dtype.kind != "f" or left.elements.size != right.elements.size:
        return False
    largest = float(np.finfo(left.elements.dtype).max)
    sides = [np.abs(result.elements.astype(np.float64)) for result in (left, right)]
    unequal = np.isfinite(sides[0]) != np.isfinite(sides[1])
    unequal |= np.isnan(sides[0]) != np.isnan(sides[1])
    smaller_side = np.minimum(*sides)[unequal]
    return bool((smaller_side > _NEARLY_INFINITE * largest).all())


def _finding(
    disagreement: _Disagreement,
    calls: Mapping[str, ApiCall],
    outcomes: Mapping[str, Outcome],
    subject: Subject,
) -> Finding:
    blamed_call, reference_call = calls[disagreement.blamed], calls[disagreement.reference]
    kind = disagreement.difference.kind
    names = disagreement.reference, disagreement.blamed
    outcome_texts = outcomes_side_by_side(outcomes[names[0]], outcomes[names[1]])
    exclusively = " (and no other library does)" if disagreement.is_outvoted else ""
    return Finding(
        oracle="differential",
        kind=kind,
        severity=Severity.MEDIUM if disagreement.is_outvoted and kind != "nan" else Severity.LOW,
        library=subject.targets[disagreement.blamed].library,
        api=blamed_call.api,
        case=blamed_call,
        outcomes=outcomes,
        targets=(disagreement.reference, disagreement.blamed),
        pair=PairKind.LIBRARY,
        message=(
            f"{blamed_call.api} differs{exclusively} in {kind} from {reference_call.api}, "
            f"which has the same definition: {reference_call.api} returns "
            f"{disagreement.difference.text}"
        ),
        evidence=Evidence(
            expected=f"{reference_call.api} on {names[0]}: {outcome_texts[0]}",
            observed=f"{blamed_call.api} on {names[1]}: {outcome_texts[1]}",
            law=f"{reference_call.api} and {blamed_call.api} have the same definition",
        ),
    )


ORACLE = AcrossLibrariesOracle()
