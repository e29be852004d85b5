"""Across libraries: equivalent calls of several libraries return different numbers.

Only numbers, shapes and NaN of calls that passed are compared. Each library chooses the element
type of a result, and which exception rejects a call.
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
"""Fraction of a type's largest number, beyond which rounding decides whether a result overflows."""
_MIN_AGREEING_LIBRARIES = 2
"""Number of independent libraries that must agree before another one is blamed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """The pair of targets that differ, and how."""

    reference: str
    blamed: str
    difference: Difference
    is_odd: bool
    """True if all other libraries agree with each other, and there are enough of them."""


class AcrossLibrariesOracle:
    """Blames the library that all others disagree with; reports of two only that they differ."""

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding if the libraries disagree. `case` is the call of `subject.library`."""
        if not isinstance(case, ApiCall) or not subject.spans_libraries:
            return []
        if not _is_comparable(case, subject):
            return []
        calls = {
            name: call
            for name in subject.targets
            if name in outcomes and (call := call_on(name, case, subject)) is not None
        }
        results = {
            name: result
            for name, call in calls.items()
            if (result := _result(outcomes[name], call)) is not None
        }
        verdict = _verdict(results, input_precision_of(case), subject)
        if verdict is None:
            return []
        return [_finding(verdict, calls, {name: outcomes[name] for name in results}, subject)]


def call_on(target: str, case: ApiCall, subject: Subject) -> ApiCall | None:
    """Return the call that a target of any library runs for a case of `subject.library`."""
    library = subject.targets[target].library
    return case if library == subject.library else equivalent_call(case, library)


def encode_on(target: str, case: Case, subject: Subject) -> bytes:
    """Return a case as a target's worker reads it; for another library, the equivalent call.

    Raises:
        ValueError: if there is no equivalent call.
    """
    if not subject.spans_libraries:
        return encode(case)
    call = call_on(target, as_call(case), subject)
    if call is None:
        msg = f"{case.api}: no equivalent call with these arguments is known for {target}"
        raise ValueError(msg)
    return encode(call)


def is_expressible(case: Case, targets: Sequence[str], subject: Subject) -> bool:
    """Return whether every one of these targets has a call for a case."""
    if not subject.spans_libraries:
        return True
    call = as_call(case)
    return all(call_on(target, call, subject) is not None for target in targets)


def compared_item(api: str) -> int | None:
    """Return the index of the returned item that is compared across libraries; None for all."""
    row = equivalence_of(api)
    parts = (form.result_index for form in row.forms.values() if form.api == api) if row else ()
    return next(iter(parts), None)


def _is_comparable(case: ApiCall, subject: Subject) -> bool:
    """Return whether the libraries' definitions agree for a case."""
    return (
        case.intent is Intent.CONFORMING
        and not subject.tags & UNSTABLE_TAGS
        and not has_special_elements(case)
    )


def _result(outcome: Outcome, call: ApiCall) -> TensorOutput | None:
    """Return the tensor that is compared; None if there is none or only part of it was kept."""
    if not isinstance(outcome, Passed) or exemption_of(call.api, ACROSS_LIBRARIES):
        return None
    output = decode_outputs(outcome.encoded)
    part = compared_item(call.api)
    if part is not None:
        has_part = isinstance(output, Container) and part < len(output.items)
        output = output.items[part] if has_part and isinstance(output, Container) else None
    return output if isinstance(output, TensorOutput) else None


def _verdict(
    results: Mapping[str, TensorOutput], inputs: InputPrecision, subject: Subject
) -> _Verdict | None:
    """Return the pair of targets to report; None if all results agree."""
    differing = {
        (first, second)
        for first, second in combinations(results, 2)
        if compare_results(results[first], results[second], inputs) is not None
    }
    if not differing:
        return None
    odd = _odd_one_out(list(results), differing, subject)
    own = [name for name in results if subject.targets[name].library == subject.library]
    candidates = [name for name in results if any(name in pair for pair in differing)]
    # Of two libraries blame the one that the case is written for, so that the finding is stable.
    blamed = odd or next((name for name in own if name in candidates), candidates[-1])
    reference = next(n for n in results if {(n, blamed), (blamed, n)} & differing)
    difference = compare_results(results[reference], results[blamed], inputs)
    if difference is None:  # pragma: no cover - the comparison is symmetric
        return None
    return _Verdict(reference=reference, blamed=blamed, difference=difference, is_odd=bool(odd))


def _odd_one_out(names: list[str], differing: set[tuple[str, str]], subject: Subject) -> str:
    """Return the target whose result no other shares; empty if there is no such target."""
    identities = subject.targets
    # Keras computes with its backend, whose vote would count twice.
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
    """Return how two libraries' results differ in shape or numbers, whatever their type.

    An integer is not compared with a float, nor with a type that cannot represent it.
    """
    family = next((f for f in _FAMILIES if reference.dtype in f and other.dtype in f), ())
    if not family:
        return None
    # Convert both to the narrower type, whose rounding is the tolerance.
    dtype = min(reference.dtype, other.dtype, key=_capacity)
    mine, theirs = (_converted(result, dtype) for result in (reference, other))
    if mine is None or theirs is None:
        return None
    if {mine.shape, theirs.shape} == {(), (1,)}:  # Jittor has no tensor without dimensions
        mine, theirs = replace(mine, shape=(1,)), replace(theirs, shape=(1,))
    difference = compare_outputs(mine, theirs, inputs)
    if difference is not None and difference.kind == "nan" and _is_overflow(mine, theirs):
        return None
    return difference


def _capacity(dtype: str) -> float:
    """Return a number that orders the types of one family by their precision or range."""
    if dtype in dtypes.EPSILON:
        return -dtypes.EPSILON[dtype]
    return float(dtypes.integer_range(dtype)[1]) if dtype in dtypes.INTEGERS else 0.0


def _converted(result: TensorOutput, dtype: str) -> TensorOutput | None:
    """Return a result in another type; None if an element is outside that type's range."""
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


def _is_overflow(mine: TensorOutput, theirs: TensorOutput) -> bool:
    """Return whether every unequal element is infinite on one side and nearly so on the other."""
    if mine.elements.dtype.kind != "f" or mine.elements.size != theirs.elements.size:
        return False
    largest = float(np.finfo(mine.elements.dtype).max)
    sides = [np.abs(result.elements.astype(np.float64)) for result in (mine, theirs)]
    unequal = np.isfinite(sides[0]) != np.isfinite(sides[1])
    unequal |= np.isnan(sides[0]) != np.isnan(sides[1])
    smaller_side = np.minimum(*sides)[unequal]
    return bool((smaller_side > _NEARLY_INFINITE * largest).all())


def _finding(
    verdict: _Verdict,
    calls: Mapping[str, ApiCall],
    outcomes: Mapping[str, Outcome],
    subject: Subject,
) -> Finding:
    blamed_call, reference_call = calls[verdict.blamed], calls[verdict.reference]
    kind = verdict.difference.kind
    names = verdict.reference, verdict.blamed
    outcome_texts = outcomes_side_by_side(outcomes[names[0]], outcomes[names[1]])
    exclusively = " (and no other library does)" if verdict.is_odd else ""
    return Finding(
        oracle="differential",
        kind=kind,
        severity=Severity.MEDIUM if verdict.is_odd and kind != "nan" else Severity.LOW,
        library=subject.targets[verdict.blamed].library,
        api=blamed_call.api,
        case=blamed_call,
        outcomes=outcomes,
        targets=(verdict.reference, verdict.blamed),
        pair=PairKind.LIBRARY,
        message=(
            f"{blamed_call.api} differs{exclusively} in {kind} from {reference_call.api}, "
            f"which has the same definition: {reference_call.api} returns {verdict.difference.text}"
        ),
        evidence=Evidence(
            expected=f"{reference_call.api} on {names[0]}: {outcome_texts[0]}",
            observed=f"{blamed_call.api} on {names[1]}: {outcome_texts[1]}",
            law=f"{reference_call.api} and {blamed_call.api} have the same definition",
        ),
    )


ORACLE = AcrossLibrariesOracle()
