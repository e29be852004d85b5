"""Which kinds of values reach which kinds of parameters: drawn, and accepted by the library.

    python benchmarks/value_table.py [--target torch==2.13.0] [--apis 300] [--batches 3] [--seed 0]

Prints a table with one row per kind of parameter and one column per kind of value. A cell shows
how many arguments were drawn, and the share of the calls with one that passed. A dot marks a value
that cannot stand there. Exits with 1 if a cell is never drawn although the value can stand there.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from typing import TYPE_CHECKING

from one_target import OneTarget

from ciguard.domain import dtypes as element_types
from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    Constant,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.execution import Dispatcher
from ciguard.knowledge import understand
from ciguard.levels import select
from ciguard.levels.api.calls import CallGenerator
from ciguard.levels.api.level import ApiLevel
from ciguard.values import (
    AnyOf,
    Bool,
    Constraint,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Value

EXTREME = 2**31 - 1
LONG_TEXT, LONG_LIST = 100, 8
HIGH_RANK = 8
TENSORS = ("float tensor", "int tensor", "index tensor", "offset tensor", "bool tensor")
VALUES: dict[str, tuple[str, ...]] = {
    "none": (*TENSORS, "tensors", "object", "int", "ints", "float", "bool", "text", "dtype"),
    "empty": (*TENSORS, "tensors", "ints", "text"),
    "empty, huge size": TENSORS,
    "scalar": TENSORS,
    "high rank": TENSORS,
    "other dtype": TENSORS,
    "other form": (*TENSORS, "object"),
    "NaN, infinite": ("float tensor", "float"),
    "extreme": (
        "float tensor",
        "int tensor",
        "index tensor",
        "offset tensor",
        "int",
        "ints",
        "float",
    ),
    "negative": ("int tensor", "index tensor", "offset tensor", "int", "ints", "float"),
    "decreasing": ("int tensor", "index tensor", "offset tensor"),
    "too long": ("tensors", "ints", "text"),
    "other structure": (*TENSORS, "tensors", "int", "ints", "float", "bool", "text", "dtype"),
}
"""The kinds of parameters at which each kind of value can stand."""
ROWS = tuple(dict.fromkeys(row for rows in VALUES.values() for row in rows))


def parameter_kind(constraint: Constraint) -> str:
    """Return the kind of a parameter; empty for kinds without a row."""
    match constraint:
        case Optional(inner):
            return parameter_kind(inner)
        case AnyOf(options):
            return parameter_kind(max(options, key=lambda option: option[0])[1])
        case Tensor():
            return _tensor_kind(constraint)
        case OneOf(values):
            return _member_kind(values[0])
        case List(item=item):
            return "tensors" if isinstance(item, Tensor) else ""
        case _:
            kinds: dict[type, str] = {
                Int: "int", Ints: "ints", Float: "float", Bool: "bool", String: "text",
                Dtype: "dtype", Object: "object",
            }  # fmt: skip
            return kinds.get(type(constraint), "")


def _tensor_kind(constraint: Tensor) -> str:
    if constraint.increasing:
        return "offset tensor"
    if constraint.index_of or constraint.axis_of:
        return "index tensor"
    if set(constraint.dtypes) <= set(element_types.INTEGERS):
        return "int tensor"
    return "bool tensor" if set(constraint.dtypes) == {"bool"} else "float tensor"


def _member_kind(value: Value) -> str:
    match value:
        case CallValue():
            return "object"
        case LiteralValue(str()):
            return "text"
        case _:
            return ""


def value_kinds(row: str, constraint: Constraint, value: Value) -> Iterator[str]:
    """Yield the kinds of a value, as an argument of a parameter of the kind `row`."""
    match value:
        case LiteralValue(None):
            yield "none"
        case TensorValue() | ArrayValue() if row in TENSORS:
            yield from _tensor_value_kinds(constraint, value)
        case ListValue(items) | TupleValue(items) if row in {"tensors", "ints"}:
            yield from ["empty"] * (not items)
            yield from ["too long"] * (len(items) >= LONG_LIST)
            yield from _number_kinds([i.value for i in items if isinstance(i, LiteralValue)])
        case LiteralValue(str() as text) if row == "text":
            yield from ["empty"] * (not text)
            yield from ["too long"] * (len(text) >= LONG_TEXT)
        case LiteralValue(bool()) if row == "bool":
            pass
        case LiteralValue(int() | float() as number) if row in {"int", "float"}:
            yield from _number_kinds([number])
        case CallValue():
            yield "other form"
        case DtypeValue() if row == "dtype":
            pass
        case _:
            yield "other structure"


def _tensor_value_kinds(constraint: Constraint, tensor: TensorValue | ArrayValue) -> Iterator[str]:
    if 0 in tensor.shape:
        yield "empty, huge size" if max(tensor.shape) >= EXTREME else "empty"
    yield from ["scalar"] * (not tensor.shape)
    yield from ["high rank"] * (len(tensor.shape) > HIGH_RANK)
    inner = constraint.inner if isinstance(constraint, Optional) else constraint
    yield from ["other dtype"] * (isinstance(inner, Tensor) and tensor.dtype not in inner.dtypes)
    match tensor.fill:
        case Special():
            yield from ("NaN, infinite", "extreme", "negative")
        case Constant(number):
            yield from _number_kinds([number])
        case Explicit(numbers):
            yield from _number_kinds(numbers)
            if (
                len(numbers) > 1
                and numbers[0] > numbers[-1]
                and list(numbers) == sorted(numbers, reverse=True)
            ):
                yield "decreasing"
        case Uniform():
            pass


def _number_kinds(numbers: Sequence[object]) -> Iterator[str]:
    real = [n for n in numbers if isinstance(n, int | float)]
    finite = [n for n in real if isinstance(n, int) or math.isfinite(n)]
    yield from ["NaN, infinite"] * (len(finite) < len(real))
    yield from ["extreme"] * any(abs(number) >= EXTREME for number in finite)
    yield from ["negative"] * any(number < 0 for number in finite)


def count(options: argparse.Namespace) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Return the numbers of arguments that were drawn and that passed, by row and column."""
    drawn: Counter[tuple[str, str]] = Counter()
    passed: Counter[tuple[str, str]] = Counter()
    with Dispatcher() as dispatcher:
        target = OneTarget(options.target, dispatcher)
        records = select(target.records.values())
        records = tuple(random.Random(0).sample(records, min(options.apis, len(records))))
        layouts = {record.api: _layout(record) for record in records}
        level = ApiLevel(records, options.seed)
        for executed in target.run(level, options.batches * len(records), apis=len(records)):
            generator, constraints = layouts[executed.api]
            (outcomes,) = executed.outcomes.values()
            for case, outcome in zip(executed.cases, outcomes, strict=True):
                for name, value in generator.arguments(as_call(case)).items():
                    if name not in constraints:
                        continue  # feedback has shown that calls need this parameter
                    row = parameter_kind(constraints[name])
                    for column in set(value_kinds(row, constraints[name], value)) if row else ():
                        drawn[row, column] += 1
                        passed[row, column] += isinstance(outcome, Passed)
    return drawn, passed


def _layout(record: ApiRecord) -> tuple[CallGenerator, dict[str, Constraint]]:
    generator = CallGenerator(understand(record))
    return generator, {slot.name: slot.constraint for slot in generator.slots}


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="torch==2.13.0")
    parser.add_argument("--apis", type=int, default=300)
    parser.add_argument("--batches", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    drawn, passed = count(options)
    print("| parameter | " + " | ".join(VALUES) + " |")
    print("| --- |" + " ---: |" * len(VALUES))
    missing = []
    for row in ROWS:
        cells = []
        for column, rows in VALUES.items():
            number = drawn[row, column]
            is_possible = row in rows
            share = f"{number:,} ({passed[row, column] / number:.0%})" if number else "**0**"
            cells.append(share if is_possible else ".")
            missing += [f"{row} / {column}"] * (is_possible and not number)
        print(f"| {row} | " + " | ".join(cells) + " |")
    if missing:
        print("never drawn: " + ", ".join(missing))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
