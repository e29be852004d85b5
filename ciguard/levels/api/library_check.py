"""The part of a script that holds a call against what another library gave for its equivalent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.execution import Container, TensorOutput, decode_outputs
from ciguard.oracles import equivalent, inputs_in, returned_part
from ciguard.oracles.relations import tensors_of
from ciguard.triage.scripting import functions, list_of, tolerances
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
found = [("{kind}", shape or (1,), part) for _, shape, part in leaves(result{part})]
found = difference(found, EXPECTED)
if found:
    raise SystemExit("DIFFERENT: " + found)
print("No difference.")
"""


def library_check(finding: Finding, writer: Writer, *, other: str) -> tuple[str, str]:
    """Return the source text before and after the call of the library that is blamed.

    The other library's numbers are written out, so that the script needs one library only.

    Args:
        finding: of a difference between libraries.
        writer: of the library that is blamed.
        other: the library that it is held against.

    Raises:
        ValueError: if there is no equivalent call, or its outcome cannot be compared.
    """
    call = _equivalent(finding, other)
    expected = _tensor(finding.outcomes[finding.targets[0]], returned_part(call.api))
    if expected is None:
        msg = f"{call.api}: its outcome holds no tensor"
        raise ValueError(msg)
    kind = _ROUNDED if expected.dtype in dtypes.EPSILON else _EXACT
    types = (expected.dtype, *(tensor.dtype for tensor in tensors_of(as_call(finding.case))))
    known = tolerances(inputs_in(finding.case), count=expected.elements.size)
    allowed = max(known.get(dtype, 0.0) for dtype in types)
    numbers = list_of([element(value) for value in expected.elements])
    before = (
        f"RTOL = { ({kind: allowed} if kind == _ROUNDED else {})!r}"
        "  # allowed error, relative to the largest element\n"
        f"EXPECTED = [  # what {call.api} returned\n"
        f"    ({kind!a}, {shape_text(expected.shape or (1,))}, {numbers}),\n]\n\n\n"
        f"{functions(writer)}"
    )
    part = returned_part(finding.case.api)
    shown = "" if part is None else f"[{part}]"
    return before, _COMPARE.strip().format(kind=kind, part=shown)


def equivalent_lines(finding: Finding, *, other: str) -> list[str]:
    """Return the other library's call as a person would write it.

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
    call = equivalent(as_call(finding.case), other)
    if call is None:
        msg = f"{finding.api} has no equivalent of {other or 'the other library'} for this call"
        raise ValueError(msg)
    return call


def _tensor(outcome: Outcome, part: int | None) -> TensorOutput | None:
    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    if part is not None:
        output = output.items[part] if isinstance(output, Container) else None
    return output if isinstance(output, TensorOutput) else None
