"""Part of a script that compares a call with the result of another library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.oracles import compared_item_index, equivalent_call, input_precision_of
from ciguard.oracles.relations import tensors_of
from ciguard.triage.scripting import comparison_functions, list_source, tolerances
from ciguard.writing import ScriptSource, element, shape_text, writer_of

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.libraries import Writer

_EXACT = "exact"
_ROUNDED = "rounded"
_COMPARE = """
print("returned:", result{part})
observed = [("{kind}", shape or (1,), part) for _, shape, part in leaves(result{part})]
found = difference(observed, EXPECTED)
if found:
    raise SystemExit("DIFFERENT: " + found)
print("No difference.")
"""


def library_check(finding: Finding, writer: Writer, *, other: str) -> tuple[str, str]:
    """Return the source text before and after the call of the suspected library.

    The script contains the other library's numbers, so that it needs only one library.

    Args:
        finding: a finding of a difference between libraries.
        writer: the templates of the suspected library.
        other: the name of the library whose result is expected.

    Raises:
        ValueError: if there is no equivalent call, or its outcome cannot be compared.
    """
    call = _equivalent(finding, other)
    expected = _tensor(finding.outcomes[finding.targets[0]], compared_item_index(call.api))
    if expected is None:
        msg = f"{call.api}: the stored outcome contains no tensor to compare"
        raise ValueError(msg)
    kind = _ROUNDED if expected.dtype in dtypes.EPSILON else _EXACT
    types = (expected.dtype, *(tensor.dtype for tensor in tensors_of(as_call(finding.case))))
    rtols = tolerances(input_precision_of(finding.case), count=expected.elements.size)
    tolerance = max(rtols.get(dtype, 0.0) for dtype in types)
    numbers = list_source([element(value) for value in expected.elements])
    before = (
        f"RTOL = { ({kind: tolerance} if kind == _ROUNDED else {})!r}"
        "  # allowed error, relative to the largest element\n"
        f"EXPECTED = [  # what {call.api} returned\n"
        f"    ({kind!a}, {shape_text(expected.shape or (1,))}, {numbers}),\n]\n\n\n"
        f"{comparison_functions(writer)}"
    )
    part = compared_item_index(finding.case.api)
    index = "" if part is None else f"[{part}]"
    return before, _COMPARE.strip().format(kind=kind, part=index)


def equivalent_lines(finding: Finding, *, other: str) -> list[str]:
    """Return the equivalent call of the other library as source lines.

    Raises:
        ValueError: if there is no equivalent call.
    """
    call = _equivalent(finding, other)
    source = ScriptSource(writer_of(other))
    statements = source.call(call)
    return [
        line
        for statement in (*source.writer.imports, *source.assignments, *statements)
        for line in statement.splitlines()
    ]


def _equivalent(finding: Finding, other: str) -> ApiCall:
    call = equivalent_call(as_call(finding.case), other)
    if call is None:
        msg = f"{finding.api}: {other or 'the other library'} has no equivalent of this call"
        raise ValueError(msg)
    return call


def _tensor(outcome: Outcome, part: int | None) -> TensorOutput | None:
    """Return the tensor to compare, or item `part` of the output; None if it is not a tensor."""
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    if part is not None:
        output = output.items[part] if isinstance(output, Container) else None
    return output if isinstance(output, TensorOutput) else None
