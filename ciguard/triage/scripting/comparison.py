"""The part of a script that compares a result with the result on the reference target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain import dtypes
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.execution import (
    Container,
    Scalar,
    TensorDigest,
    TensorOutput,
    Unreadable,
    decode_outputs,
)
from ciguard.oracles.comparing import relative_tolerance
from ciguard.triage.scripting.one_tensor import (
    KINDS_OF_FORM,
    RETURNED,
    comparison_of_one_tensor,
    is_one_tensor,
    list_source,
)
from ciguard.triage.symptom import summary_line
from ciguard.writing import element, scalar, shape_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.libraries import Writer
    from ciguard.oracles.comparing import InputPrecision

_LEAVES = '''
def leaves(value):
    """Yield (type, shape, elements) of every part of a result."""
    if {is_tensor}:
        try:
            elements = {elements}
        except Exception:
            elements = None
        yield {dtype}, tuple(value.shape), elements
    elif hasattr(value, "tolist"):
        yield str(value.dtype), tuple(value.shape), value.ravel().tolist()
    elif isinstance(value, (list, tuple)):
        yield "sequence", None, [len(value)]
        for part in value[:64]:
            yield from leaves(part)
    elif isinstance(value, dict):
        yield "mapping", None, [str(key) for key in value]
        for part in list(value.values())[:64]:
            yield from leaves(part)
    else:
        number = isinstance(value, (bool, int, float, complex))
        yield type(value).__name__, None, [value] if number else None
'''

_DIFFERENCE = '''
def difference(found, expected):
    """Say how two results differ; nothing when they agree within rounding errors."""
    if len(found) != len(expected):
        return "%d parts instead of %d" % (len(found), len(expected))
    for (kind, shape, mine), (other_kind, other_shape, theirs) in zip(found, expected):
        known = (kind, shape) if other_shape is not None else (kind, None)
        if known != (other_kind, other_shape):
            return "%s %s instead of %s %s" % (kind, shape, other_kind, other_shape)
        if mine is None or theirs is None:
            continue
        if len(mine) > len(theirs):  # of a large tensor, evenly spaced elements were recorded
            mine = mine[:: max(1, len(mine) // 64)][:64]
        rtol = RTOL.get(kind, 0)
        finite = [abs(x) for x in mine + theirs if rtol and abs(x) < float("inf")]
        allowed = rtol * max(finite, default=0)
        for place, (x, y) in enumerate(zip(mine, theirs)):
            if not (x == y or (x != x and y != y) or (rtol and abs(x - y) <= allowed)):
                return "%r instead of %r at element %d" % (x, y, place)
'''

_COMPARE_RESULT = """
print("returned:", result)
found = difference(list(leaves(result)), EXPECTED)
if found:
    raise SystemExit("DIFFERENT: " + found)
print("No difference.")
"""


def comparison(
    reference: Outcome, *, name: str, writer: Writer, inputs: InputPrecision, kind: str = ""
) -> tuple[str, str, str]:
    """Return source text that compares the result of a call with a stored outcome.

    Args:
        reference: the outcome on the reference target.
        name: name of the reference target.
        writer: the source writer of the library.
        inputs: precision of the call's inputs.
        kind: kind of difference, if the script has to show no other.

    Returns:
        Three source texts: definitions, the body of the clause `except … as error`, and statements
        after the call.
    """
    match reference:
        case Passed(encoded):
            output = decode_outputs(encoded)
            if output is None:
                return _unexpected(name, "an outcome that cannot be decoded")
            raise_statement = _difference_raised(f"; {name} returned a result")
            if is_one_tensor(output):
                statements = comparison_of_one_tensor(output, kind, writer=writer, inputs=inputs)
                return "", raise_statement, statements
            if kind == "refused":
                return "", raise_statement, RETURNED
            return (
                _helpers(output, kind, writer=writer, inputs=inputs),
                raise_statement,
                _COMPARE_RESULT.strip(),
            )
        case Rejected(exception) | Errored(exception):
            return _rejection(name, exception, summary_line(reference))
        case Crashed() | Hung() | Exhausted():
            return _unexpected(name, summary_line(reference))


def tolerances(inputs: InputPrecision, *, count: int) -> dict[str, float]:
    """Return the maximum error by dtype, relative to the largest element.

    Args:
        inputs: precision of the call's inputs.
        count: number of elements of the largest result, which has the smallest tolerance.
    """
    rtols = {
        dtype: relative_tolerance(dtype, count=count, inputs=inputs) for dtype in dtypes.EPSILON
    }
    return rtols | {"float": rtols["float32"], "complex": rtols["float32"]}


def comparison_functions(writer: Writer) -> str:
    """Return the source text of the functions `leaves` and `difference`, which compare results."""
    return leaves_function(writer) + "\n\n\n" + _DIFFERENCE.strip("\n")


def leaves_function(writer: Writer) -> str:
    """Return the source text of the function `leaves`.

    It yields type, shape and elements of each part of a result.
    """
    dtype, elements = writer.read
    return _LEAVES.strip("\n").format(is_tensor=writer.is_tensor, dtype=dtype, elements=elements)


def _helpers(output: Output, kind: str, *, writer: Writer, inputs: InputPrecision) -> str:
    """Return the source text of the expected result and of the functions that compare with it."""
    # A part that a call does not write has other elements each time, also on the reference.
    has_elements = kind not in KINDS_OF_FORM
    recorded = ",\n".join(f"    {leaf}" for leaf in _leaves(output, has_elements=has_elements))
    rtols = tolerances(inputs, count=_max_elements(output))
    used_rtols = {kind: rtol for kind, rtol in rtols.items() if f"('{kind}'" in recorded}
    parts = (
        f"RTOL = {used_rtols!r}  # allowed error, relative to the largest element",
        f"EXPECTED = [  # what the reference target returned\n{recorded},\n]",
    )
    return "\n".join(parts) + "\n\n\n" + comparison_functions(writer)


def _max_elements(output: Output) -> int:
    """Return the number of elements of the largest tensor in a result."""
    match output:
        case TensorOutput(shape=shape) | TensorDigest(shape=shape):
            return math.prod(shape)
        case Container(items=items):
            return max(map(_max_elements, items), default=1)
        case _:
            return 1


def _leaves(output: Output, *, has_elements: bool) -> Iterator[str]:
    """Yield source text of type, shape and, if wanted, elements of each part of a result."""
    match output:
        case TensorOutput(dtype, shape, values) | TensorDigest(dtype, shape, values):
            elements = [element(value) for value in values] if has_elements else None
            yield _leaf(dtype, shape, elements)
        case Unreadable(dtype, shape):
            yield _leaf(dtype, shape, None)
        case Scalar():
            yield _scalar_leaf(output, has_elements=has_elements)
        case Container(_, keys, items, length):
            sizes = [scalar(key) for key in keys] if keys else [str(length)]
            yield _leaf("mapping" if keys else "sequence", None, sizes)
            for item in items:
                yield from _leaves(item, has_elements=has_elements)


_SCALAR_TYPES = {"none": "NoneType", "s": "str", "b": "bytes"}
_NUMBERS: dict[str, Callable[[str], object]] = {
    "i": int,
    "f": float,
    "z": complex,
    "o": lambda text: bool(int(text)),
}


def _scalar_leaf(output: Scalar, *, has_elements: bool) -> str:
    convert = _NUMBERS.get(output.kind)
    if convert is None:
        return _leaf(_SCALAR_TYPES.get(output.kind, output.text), None, None)
    try:
        number = convert(output.text)
    except ValueError:  # an integer whose text was shortened
        return _leaf("int", None, None)
    return _leaf(type(number).__name__, None, [scalar(number)] if has_elements else None)


def _leaf(kind: str, shape: tuple[int, ...] | None, values: list[str] | None) -> str:
    shape_source = "None" if shape is None else shape_text(shape)
    elements = "None" if values is None else list_source(values)
    return f"({kind!a}, {shape_source}, {elements})"


def _rejection(name: str, exception: str, line: str) -> tuple[str, str, str]:
    """Return source texts, as `comparison` does, for a reference that raised an exception."""
    reference_text = f"; {name} raised {line}"
    after_error = "\n".join(
        (
            f"if type(error).__name__ == {exception!a}:",
            '    print("No difference: raises", error)',
            "    raise SystemExit(0) from error",
            _difference_raised(reference_text),
        )
    )
    return (
        "",
        after_error,
        f'raise SystemExit("DIFFERENT: returns %r" % (result,) + {scalar(reference_text)})',
    )


def _difference_raised(reference_text: str) -> str:
    """Return a statement that ends the script because the call raised an exception."""
    message = 'message = "DIFFERENT: raises %s: %s" % (type(error).__name__, error)'
    return f"{message}\nraise SystemExit(message + {scalar(reference_text)}) from error"


def _unexpected(name: str, line: str) -> tuple[str, str, str]:
    """Return source texts, as `comparison` does, for a reference without a comparable result."""
    message = scalar(f"{name}: {line}")
    return "", f"print({message})\nraise", f"print({message})\nprint('returned:', result)"
