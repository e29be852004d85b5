"""Writes expressions of strategies as source text: arithmetic on bounds, calls, lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.solving.constraints import DEFAULT_LENGTH_RANGE
from ciguard.functions.writing.call_source import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.writing.bounds import ArgumentBounds


def multiples(low: str, high: str, bounds: ArgumentBounds) -> str:
    """Return a strategy of the numbers in a range that are a multiple plus an offset."""
    step, offset = _parenthesised(bounds.multiple_of), bounds.offset
    if offset:
        low, high = _difference(low, offset), _difference(high, offset)
    number = f"i * {step}"
    if offset:
        number += f" - {offset[1:]}" if offset.startswith("-") else f" + {offset}"
    first = f"-(-{_parenthesised(low)} // {step})"
    if low.isdecimal() and step.isdecimal():
        first = str(-(-int(low) // int(step)))
    last = f"{_parenthesised(high)} // {step}"
    if high.isdecimal() and step.isdecimal():
        last = str(int(high) // int(step))
    return f"st.integers({first}, {last}).map(lambda i: {number})"


def _difference(text: str, offset: str) -> str:
    if text.lstrip("-").isdecimal() and offset.lstrip("-").isdecimal():
        return str(int(text) - int(offset))
    return (
        f"{text} + {offset[1:]}" if offset.startswith("-") else f"{text} - {_parenthesised(offset)}"
    )


def _parenthesised(text: str) -> str:
    """Return an expression that can be an operand."""
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def list_text(names: Sequence[str]) -> str:
    """Return the list of names as string literals."""
    return f"[{', '.join(map(quoted, names))}]"


def extreme(function: str, texts: list[str]) -> str:
    """Return `max(a, b)` or `min(a, b)`; numbers are folded into one."""
    unique = list(dict.fromkeys(texts))
    if len(unique) > 1:
        numbers = [text for text in unique if text.lstrip("-").isdecimal()]
        if len(numbers) > 1:
            choose = max if function == "max" else min
            number = str(choose(map(int, numbers)))
            unique = [number, *(text for text in unique if text not in numbers)]
    return f"{function}({', '.join(unique)})" if len(unique) > 1 else "".join(unique)


def shifted(text: str, distance: int) -> str:
    """Return a bound plus a number."""
    if text.lstrip("-").isdecimal():
        return str(int(text) + distance)
    return f"{text} {'+' if distance >= 0 else '-'} {abs(distance)}"


def size_options(low: str, high: str) -> dict[str, str]:
    """Return the size options of a strategy for bounds of a length."""
    return {
        "min_size": "" if low in ("", "0") else low,
        "max_size": high or shifted(low or "0", DEFAULT_LENGTH_RANGE),
    }


def call_expression(function: str, *arguments: str, **keywords: str) -> str:
    """Return a call; keyword arguments without text are left out."""
    named = [f"{name}={text}" for name, text in keywords.items() if text]
    return f"{function}({', '.join([*arguments, *named])})"
