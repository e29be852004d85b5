"""Blocks made to fit what they are fed: sizes repaired, or an adapter put before them."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import INPUT, Block, BlockInput, LibraryCall, OwnCall
from ciguard.levels.code.dialects import FLOATS, SizeParameter
from ciguard.levels.code.syntax import filled
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from ciguard.levels.code.dialects import Dialect

_GROUPS = SizeParameter(r"Conv(\dd)?", "groups", 6, 1)
_SHARED = "1"
"""`PReLU` with one parameter takes any number of channels."""


def fitted(
    block: Block, was: BlockInput, now: BlockInput, dialect: Dialect, *, rank: int | None = None
) -> tuple[Block, str] | None:
    """Make a block fit what it is fed.

    Where the rank differs from what the block takes, an adapter comes before it; input sizes follow
    what is fed, or what the calls before them in the block make now.

    Args:
        block: of the seed, or a mutant of one.
        was: what the block met in the seed.
        now: what it is fed.
        dialect: of the program's library.
        rank: of what it takes; None for that of what it met in the seed.

    Returns:
        The block, and the adapter that it has got: an expression of the data `x`, empty for none.
        None where nothing makes it fit.
    """
    text, shape = "", now.shape
    if now.dtype != was.dtype:
        if was.dtype not in FLOATS:
            return None
        text = dialect.cast() if now.dtype not in FLOATS else ""
    rank = rank or len(was.shape)
    if len(shape) != rank:
        adapter = dialect.adapter(shape, rank, _channel_axis(block, dialect))
        if adapter is None:
            return None
        text, shape = _behind(text, adapter[0]), adapter[1]
    calls = _resized(block, was.shape, shape, dialect)
    own = tuple(_own_resized(one, was.shape, shape) for one in block.own)
    return replace(block, calls=calls, own=own, adapter=text), text


def _behind(first: str, second: str) -> str:
    """Return one expression of `x` for two."""
    if not first:
        return second
    return ast.unparse(filled(parse_expression(second), parse_expression(first)))


def _channel_axis(block: Block, dialect: Dialect) -> int:
    """Return the axis of channels or features that a block's first call with a size looks at."""
    for call, source in zip(block.calls, block.follows, strict=False):
        size = dialect.input_size(call)
        if size is not None and source == INPUT:
            return size.axis
    return block.own[0].axis if block.own else 1


def _resized(
    block: Block, was: tuple[int, ...], now: tuple[int, ...], dialect: Dialect
) -> tuple[LibraryCall, ...]:
    calls = list(block.calls)
    for place, source in enumerate(block.follows):
        if source is None:
            continue
        for parameter in dialect.input_sizes(calls[place]):
            call = calls[place]
            if parameter.name == "normalized_shape":
                calls[place] = _normalised(call, parameter, was, now) if source == INPUT else call
                continue
            size = _at(now, parameter.axis)
            before = _at(was, parameter.axis)
            if source != INPUT:
                size, before = _made_by(calls[source], dialect), None
            calls[place] = _with_input(call, parameter, size, before)
    return tuple(calls)


def _at(shape: tuple[int, ...], axis: int) -> int | None:
    return shape[axis] if -len(shape) <= axis < len(shape) else None


def _made_by(call: LibraryCall, dialect: Dialect) -> int | None:
    """Return how many channels or features come out of a call, where its text says so."""
    parameter = dialect.output_size(call)
    if parameter is None or dict(call.keywords).get("bidirectional", "False") != "False":
        return None
    return _number(argument(call, parameter))


def _with_input(
    call: LibraryCall, parameter: SizeParameter, size: int | None, before: int | None
) -> LibraryCall:
    """Return a call for an input of another size.

    Args:
        call: with that parameter.
        parameter: how large the input is.
        size: that it has to be; None: not known.
        before: that it was, for arguments that are no plain number.
    """
    text = argument(call, parameter)
    given = _number(text)
    present = before if given is None else given
    if size is None or text is None or size == present:
        return call
    if parameter.name == "num_parameters" and text == _SHARED:
        return call
    groups = argument(call, _GROUPS) if parameter.name == "in_channels" else None
    resized = with_argument(call, parameter, str(size))
    return resized if groups is None else _regrouped(resized, text, groups, size)


def _regrouped(call: LibraryCall, before: str, groups: str, size: int) -> LibraryCall:
    """Return a convolution whose groups divide its channels; a depthwise one stays depthwise."""
    produced = SizeParameter("", "out_channels", 1, 1)
    text = argument(call, produced) or ""
    if groups == before:
        call = with_argument(call, _GROUPS, str(size))
        made, old = _number(text), _number(before)
        times = made // old if made and old and made % old == 0 else 1
        return with_argument(call, produced, str(size * times))
    number = _number(groups)
    if number is None or number == 1:
        return call
    return with_argument(call, _GROUPS, str(math.gcd(number, size, _number(text) or 0)))


def _normalised(
    call: LibraryCall, parameter: SizeParameter, was: tuple[int, ...], now: tuple[int, ...]
) -> LibraryCall:
    """Return a normalisation over as many of the last axes as before."""
    text = argument(call, parameter)
    if text is None:
        return call
    node = parse_expression(text)
    count = len(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else 0
    given = _number(text)
    present = was[-max(count, 1) :] if given is None else (given,)
    if now[-max(count, 1) :] == present or count >= len(now):
        return call
    return with_argument(call, parameter, repr(now[-count:]) if count else str(now[-1]))


def _own_resized(own: OwnCall, was: tuple[int, ...], now: tuple[int, ...]) -> OwnCall:
    """Return a call of the program's own class for another input.

    A number that is not the size itself, as where the class divides it, changes in proportion.
    """
    size, before = _at(now, own.axis), _at(was, own.axis)
    parameter = SizeParameter("", own.size, own.position, own.axis)
    text = argument(own.call, parameter)
    if size is None or not before or size == before or text is None:
        return own
    given = _number(text)
    scaled = size * (given or before) / before
    if not scaled.is_integer():
        return own
    return replace(own, call=with_argument(own.call, parameter, str(int(scaled))))


def _number(text: str | None) -> int | None:
    try:
        value = ast.literal_eval(text or "")
    except (SyntaxError, ValueError):
        return None
    return value if type(value) is int else None


def argument(call: LibraryCall, parameter: SizeParameter) -> str | None:
    """Return the text of an argument, wherever it is given; None where it is not."""
    named = dict(call.keywords)
    if parameter.name in named:
        return named[parameter.name]
    starred = any(text.startswith("*") for text in call.positional[: parameter.position + 1])
    if starred or parameter.position >= len(call.positional):
        return None
    return call.positional[parameter.position]


def with_argument(call: LibraryCall, parameter: SizeParameter, text: str) -> LibraryCall:
    """Return a call with another text for an argument, at the place where it is given."""
    if parameter.name in dict(call.keywords):
        keywords = tuple((k, text if k == parameter.name else t) for k, t in call.keywords)
        return replace(call, keywords=keywords)
    at = parameter.position
    positional = (*call.positional[:at], text, *call.positional[at + 1 :])
    return replace(call, positional=positional)
