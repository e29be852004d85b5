"""The comparison of a call that returned one tensor on the reference target, in few lines.

Most calls return one tensor. Then a script needs neither the functions that take nested results
apart nor the elements of properties that agree.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, TypeGuard

from ciguard.domain import dtypes
from ciguard.execution import TensorDigest, TensorOutput
from ciguard.oracles.comparing import relative_tolerance
from ciguard.writing import element, scalar, shape_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ciguard.execution import Output
    from ciguard.libraries import Writer
    from ciguard.oracles.comparing import InputPrecision

_FORM = """
kind = str(getattr(result, "dtype", type(result).__name__))
if {is_tensor}:
    kind = {dtype}
form = (kind, tuple(getattr(result, "shape", ())))
if form != ({expected_dtype}, {expected_shape}):
    raise SystemExit("DIFFERENT: %s %s instead of {words}" % form)
"""
_ELEMENTS = """
found = {elements}{sampled}
expected = {expected}
for place, (x, y) in enumerate(zip(found, expected)):
    if not (x == y or (x != x and y != y){or_close}):
        raise SystemExit("DIFFERENT: %r instead of %r at element %d" % (x, y, place))
"""
RETURNED = 'print("returned:", result)\nprint("No difference.")'
"""Statements of a script that only has to show that a call raises no exception."""
_SAMPLE = 64
"""Number of evenly spaced elements that are recorded of a large tensor."""
_KINDS_OF_ELEMENTS = frozenset({"values", "nan"})
"""Kinds of difference between elements of tensors that agree in form."""
_VALUE = re.compile(r"\bvalue\b")
"""Name of the tensor in a writer's expressions."""
_MIN_REPEATED = 4
KINDS_OF_FORM = frozenset({"dtype", "shape", "structure"})
"""Kinds of difference that precede those of elements."""


def is_one_tensor(output: Output | None) -> TypeGuard[TensorOutput | TensorDigest]:
    """Return whether the comparison with a result needs few lines."""
    return isinstance(output, TensorOutput | TensorDigest) and output.dtype != "string"


def comparison_of_one_tensor(
    output: TensorOutput | TensorDigest, kind: str, *, writer: Writer, inputs: InputPrecision
) -> str:
    """Return statements that compare `result` with the reference's result.

    Args:
        output: the reference's result.
        kind: the kind of difference, which decides what is compared; empty for everything.
        writer: the source writer of the library.
        inputs: the precision of the call's inputs.
    """
    if kind == "refused":
        return RETURNED
    dtype, elements, is_tensor = (
        _VALUE.sub("result", text) for text in (*writer.read, writer.is_tensor)
    )
    shape = shape_text(output.shape)
    form = _FORM.strip().format(
        is_tensor=is_tensor,
        dtype=dtype,
        expected_dtype=scalar(output.dtype),
        expected_shape=shape,
        words=f"{output.dtype} {shape}",
    )
    parts = ['print("returned:", result)']
    if kind not in _KINDS_OF_ELEMENTS:
        parts.append(form)
    if kind not in KINDS_OF_FORM:
        values = output.elements if isinstance(output, TensorOutput) else output.sample
        count = math.prod(output.shape)
        sampled = f"[:: {max(1, count // _SAMPLE)}][:{_SAMPLE}]"
        allowed = _allowed_error(output, values, inputs)
        parts.append(
            _ELEMENTS.strip().format(
                elements=elements,
                sampled=sampled if len(values) < count else "",
                expected=list_source([element(value) for value in values]),
                or_close=f" or abs(x - y) <= {scalar(allowed)}" if allowed else "",
            )
        )
    return "\n".join([*parts, 'print("No difference.")'])


def list_source(elements: list[str]) -> str:
    """Return the source text of a list of expressions, such as `[0] * 9` if all are equal."""
    if len(elements) > _MIN_REPEATED and len(set(elements)) == 1:
        return f"[{elements[0]}] * {len(elements)}"
    return f"[{', '.join(elements)}]"


def _allowed_error(
    output: TensorOutput | TensorDigest, values: NDArray[Any], inputs: InputPrecision
) -> float:
    """Return the largest error of an element that rounding explains; 0 for exact types."""
    if output.dtype not in dtypes.EPSILON:
        return 0.0
    numbers = [float(abs(value)) for value in values]
    largest = max((number for number in numbers if math.isfinite(number)), default=0.0)
    rtol = relative_tolerance(output.dtype, count=math.prod(output.shape), inputs=inputs)
    return float(f"{rtol * largest:.3g}")
