"""Fitting of blocks to their input: sizes adjusted, or an adapter inserted."""

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
_ONE_PARAMETER = "1"
"""Argument with which `PReLU` accepts any number of channels."""


def fitted(
    block: Block, old: BlockInput, new: BlockInput, dialect: Dialect, *, rank: int | None = None
) -> tuple[Block, str] | None:
    """Fit a block to its input.

    If the rank differs from what the block accepts, an adapter is inserted before it. Input sizes
    are set to those of the input, or of the result of an earlier call in the block.

    Args:
        block: a block of the seed, or a mutant of one.
        old: the form of the block's input in the seed.
        new: the form of the new input.
        dialect: the dialect of the program's library.
        rank: the rank that the block accepts; None for the rank in the seed.

    Returns:
        The block and its adapter: an expression of the data `x`, empty for none. None if the block
        cannot be fitted.
    """
    text, shape = "", new.shape
    if new.dtype != old.dtype:
        if old.dtype not in FLOATS:
            return None
        text = dialect.cast() if new.dtype not in FLOATS else ""
    rank = rank or len(old.shape)
    if len(shape) != rank:
        adapter = dialect.adapter(shape, rank, _channel_axis(block, dialect))
        if adapter is None:
            return None
        text, shape = _composed(text, adapter[0]), adapter[1]
    calls = _resized(block, old.shape, shape, dialect)
    own = tuple(_resized_own_call(call, old.shape, shape) for call in block.own)
    return replace(block, calls=calls, own=own, adapter=text), text


def _composed(first: str, second: str) -> str:
    """Return the composition of two expressions of `x`."""
    if not first:
        return second
    return ast.unparse(filled(parse_expression(second), parse_expression(first)))


def _channel_axis(block: Block, dialect: Dialect) -> int:
    """Return the axis of channels or features of a block's first call with a size."""
    for call, source in zip(block.calls, block.follows, strict=False):
        size = dialect.input_size(call)
        if size is not None and source == INPUT:
            return size.axis
    return block.own[0].axis if block.own else 1


def _resized(
    block: Block, old: tuple[int, ...], new: tuple[int, ...], dialect: Dialect
) -> tuple[LibraryCall, ...]:
    """Return a block's calls with sizes for another input."""
    calls = list(block.calls)
    for place, source in enumerate(block.follows):
        if source is None:
            continue
        for parameter in dialect.input_sizes(calls[place]):
            call = calls[place]
            if parameter.name == "normalized_shape":
                calls[place] = (
                    _with_normalised_axes(call, parameter, old, new) if source == INPUT else call
                )
                continue
            size = _size_at(new, parameter.axis)
            before = _size_at(old, parameter.axis)
            if source != INPUT:
                size, before = _output_size(calls[source], dialect), None
            calls[place] = _with_input(call, parameter, size, before)
    return tuple(calls)


def _size_at(shape: tuple[int, ...], axis: int) -> int | None:
    return shape[axis] if -len(shape) <= axis < len(shape) else None


def _output_size(call: LibraryCall, dialect: Dialect) -> int | None:
    """Return the number of channels or features that a call produces; None if unknown."""
    parameter = dialect.output_size(call)
    if parameter is None or dict(call.keywords).get("bidirectional", "False") != "False":
        return None
    return _integer(argument(call, parameter))


def _with_input(
    call: LibraryCall, parameter: SizeParameter, size: int | None, before: int | None
) -> LibraryCall:
    """Return a call for an input of another size.

    Args:
        call: a call with that parameter.
        parameter: the parameter for the size of the input.
        size: the required size; None if unknown.
        before: the previous size, for arguments that are not plain numbers.
    """
    text = argument(call, parameter)
    number = _integer(text)
    current = before if number is None else number
    if size is None or text is None or size == current:
        return call
    if parameter.name == "num_parameters" and text == _ONE_PARAMETER:
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
        outputs, inputs = _integer(text), _integer(before)
        factor = outputs // inputs if outputs and inputs and outputs % inputs == 0 else 1
        return with_argument(call, produced, str(size * factor))
    group_count = _integer(groups)
    if group_count is None or group_count == 1:
        return call
    return with_argument(call, _GROUPS, str(math.gcd(group_count, size, _integer(text) or 0)))


def _with_normalised_axes(
    call: LibraryCall, parameter: SizeParameter, old: tuple[int, ...], new: tuple[int, ...]
) -> LibraryCall:
    """Return the call of a normalisation layer, changed to the last sizes of a new shape.

    It normalises over as many trailing axes as before.
    """
    text = argument(call, parameter)
    if text is None:
        return call
    node = parse_expression(text)
    count = len(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else 0
    number = _integer(text)
    current = old[-max(count, 1) :] if number is None else (number,)
    if new[-max(count, 1) :] == current or count >= len(new):
        return call
    return with_argument(call, parameter, repr(new[-count:]) if count else str(new[-1]))


def _resized_own_call(own: OwnCall, old: tuple[int, ...], new: tuple[int, ...]) -> OwnCall:
    """Return a call of the program's own class for another input.

    A number other than the size itself, for example if the class divides it, changes in proportion.
    """
    size, before = _size_at(new, own.axis), _size_at(old, own.axis)
    parameter = SizeParameter("", own.size, own.position, own.axis)
    text = argument(own.call, parameter)
    if size is None or not before or size == before or text is None:
        return own
    number = _integer(text)
    scaled = size * (number or before) / before
    if not scaled.is_integer():
        return own
    return replace(own, call=with_argument(own.call, parameter, str(int(scaled))))


def _integer(text: str | None) -> int | None:
    try:
        value = ast.literal_eval(text or "")
    except (SyntaxError, ValueError):
        return None
    return value if type(value) is int else None


def argument(call: LibraryCall, parameter: SizeParameter) -> str | None:
    """Return the text of an argument, positional or keyword; None if it is not given."""
    keywords = dict(call.keywords)
    if parameter.name in keywords:
        return keywords[parameter.name]
    is_unpacked = any(text.startswith("*") for text in call.positional[: parameter.position + 1])
    if is_unpacked or parameter.position >= len(call.positional):
        return None
    return call.positional[parameter.position]


def with_argument(call: LibraryCall, parameter: SizeParameter, text: str) -> LibraryCall:
    """Return a call with another text for an argument that it already has."""
    if parameter.name in dict(call.keywords):
        keywords = tuple((k, text if k == parameter.name else t) for k, t in call.keywords)
        return replace(call, keywords=keywords)
    index = parameter.position
    positional = (*call.positional[:index], text, *call.positional[index + 1 :])
    return replace(call, positional=positional)
