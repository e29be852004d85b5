"""Writes parts of strategies as source text: bounds, calls and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.functions.solving.constraints import DEFAULT_LENGTH_RANGE
from ciguard.functions.writing.call_source import string_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.writing.bounds import ArgumentBounds


def multiples_strategy(low: str, high: str, bounds: ArgumentBounds) -> str:
    """Return the strategy for the numbers in a range that are a multiple plus an offset.

    Args:
        low: source text of the lower bound, inclusive.
        high: source text of the upper bound, inclusive.
        bounds: bounds with `multiple_of` and `offset`.
    """
    step, offset = _as_operand(bounds.multiple_of), bounds.offset
    if offset:
        low, high = _difference(low, offset), _difference(high, offset)
    number = f"i * {step}"
    if offset:
        number += f" - {offset[1:]}" if offset.startswith("-") else f" + {offset}"
    first = f"-(-{_as_operand(low)} // {step})"
    if low.isdecimal() and step.isdecimal():
        first = str(-(-int(low) // int(step)))
    last = f"{_as_operand(high)} // {step}"
    if high.isdecimal() and step.isdecimal():
        last = str(int(high) // int(step))
    return f"st.integers({first}, {last}).map(lambda i: {number})"


def _difference(text: str, offset: str) -> str:
    if text.lstrip("-").isdecimal() and offset.lstrip("-").isdecimal():
        return str(int(text) - int(offset))
    return f"{text} + {offset[1:]}" if offset.startswith("-") else f"{text} - {_as_operand(offset)}"


def _as_operand(text: str) -> str:
    """Return an expression as an operand: in parentheses, unless it is a name or a number."""
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def list_text(names: Sequence[str]) -> str:
    """Return the source text of a list of strings."""
    return f"[{', '.join(map(string_literal, names))}]"


def extreme_expression(function: str, texts: list[str]) -> str:
    """Return the source text of a maximum or minimum, with all number literals folded into one.

    Args:
        function: `max` or `min`.
        texts: source texts of the operands.

    Returns:
        The operand itself if there is only one; empty without operands.
    """
    unique = list(dict.fromkeys(texts))
    if len(unique) > 1:
        numbers = [text for text in unique if text.lstrip("-").isdecimal()]
        if len(numbers) > 1:
            choose = max if function == "max" else min
            number = str(choose(map(int, numbers)))
            unique = [number, *(text for text in unique if text not in numbers)]
    return f"{function}({', '.join(unique)})" if len(unique) > 1 else "".join(unique)


def plus_number(text: str, distance: int) -> str:
    """Return the source text of the sum of a bound and a number."""
    if text.lstrip("-").isdecimal():
        return str(int(text) + distance)
    return f"{text} {'+' if distance >= 0 else '-'} {abs(distance)}"


def size_options(low: str, high: str) -> dict[str, str]:
    """Return the options `min_size` and `max_size` of a strategy.

    Args:
        low: source text of the minimum length; empty for 0.
        high: source text of the maximum length; empty for the default.
    """
    return {
        "min_size": "" if low in ("", "0") else low,
        "max_size": high or plus_number(low or "0", DEFAULT_LENGTH_RANGE),
    }


def call_expression(function: str, *arguments: str, **keywords: str) -> str:
    """Return the source text of a call, without keyword arguments whose text is empty."""
    named = [f"{name}={text}" for name, text in keywords.items() if text]
    return f"{function}({', '.join([*arguments, *named])})"
