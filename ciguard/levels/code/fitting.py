"""Fitting of blocks to their inputs, by changed sizes or by an adapter."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import INPUT, Block, BlockTensor, LibraryCall, OwnCall
from ciguard.levels.code.dialects import FLOATS, SizeParameter
from ciguard.levels.code.syntax import with_data
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from ciguard.levels.code.dialects import Dialect

_GROUPS = SizeParameter(r"Conv(\dd)?", "groups", 6, 1)
_ONE_SHARED_PARAMETER = "1"
"""Argument of `PReLU` for one parameter that all channels share, however many there are."""


def fitted(
    block: Block, old: BlockTensor, new: BlockTensor, dialect: Dialect, *, rank: int | None = None
) -> tuple[Block, str] | None:
    """Fit a block to its input.

    If the block accepts another rank or dtype, it gets an adapter. Each argument that states the
    size of a call's input is set to the actual size. The input of a call is the input of the block,
    or the result of an earlier call in the block.

    Args:
        block: a block of the seed, or a mutant of one.
        old: the form of the block's input in the seed.
        new: the form of the new input.
        dialect: the dialect of the program's library.
        rank: the rank that the block accepts; None for the rank in the seed.

    Returns:
        The fitted block, and its adapter: source text of an expression in `x` (the data), empty if
        the block needs no adapter. None if the block cannot be fitted.
    """
    adapter_text, shape = "", new.shape
    if new.dtype != old.dtype:
        if old.dtype not in FLOATS:
            return None
        adapter_text = dialect.cast() if new.dtype not in FLOATS else ""
    rank = rank or len(old.shape)
    if len(shape) != rank:
        adapter = dialect.adapter(shape, rank, _channel_axis(block, dialect))
        if adapter is None:
            return None
        adapter_text, shape = _compose(adapter_text, adapter[0]), adapter[1]
    calls = _resized_calls(block, old.shape, shape, dialect)
    own_calls = tuple(_resized_own_call(call, old.shape, shape) for call in block.own_calls)
    fitted_block = replace(block, calls=calls, own_calls=own_calls, adapter=adapter_text)
    return fitted_block, adapter_text


def _compose(first: str, second: str) -> str:
    """Return the expression that applies `second` to the value of `first`; both are of `x`."""
    if not first:
        return second
    return ast.unparse(with_data(parse_expression(second), parse_expression(first)))


def _channel_axis(block: Block, dialect: Dialect) -> int:
    """Return the axis of channels or features, of the first call that takes the input's size."""
    for call, source in zip(block.calls, block.input_sources, strict=False):
        size = dialect.input_size(call)
        if size is not None and source == INPUT:
            return size.axis
    return block.own_calls[0].axis if block.own_calls else 1


def _resized_calls(
    block: Block, old: tuple[int, ...], new: tuple[int, ...], dialect: Dialect
) -> tuple[LibraryCall, ...]:
    """Return a block's calls, with arguments changed to the sizes of another input."""
    calls = list(block.calls)
    for place, source in enumerate(block.input_sources):
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
        call: the call to change.
        parameter: the parameter for the size of the input.
        size: the required size; None if unknown.
        before: the previous size; None if unknown. An argument that is not a literal number is
            assumed to have this value.
    """
    text = argument(call, parameter)
    number = _integer(text)
    current = before if number is None else number
    if size is None or text is None or size == current:
        return call
    if parameter.name == "num_parameters" and text == _ONE_SHARED_PARAMETER:
        return call
    groups = argument(call, _GROUPS) if parameter.name == "in_channels" else None
    resized = with_argument(call, parameter, str(size))
    return resized if groups is None else _with_new_groups(resized, text, groups, size)


def _with_new_groups(call: LibraryCall, before: str, groups: str, size: int) -> LibraryCall:
    """Return a convolution with groups that divide its channels.

    A depthwise convolution, with as many groups as channels, stays depthwise.

    Args:
        call: the convolution, already with its new number of input channels.
        before: the text of the previous number of input channels.
        groups: the text of the number of groups.
        size: the new number of input channels.
    """
    out_channels = SizeParameter("", "out_channels", 1, 1)
    text = argument(call, out_channels) or ""
    if groups == before:
        call = with_argument(call, _GROUPS, str(size))
        outputs, inputs = _integer(text), _integer(before)
        factor = outputs // inputs if outputs and inputs and outputs % inputs == 0 else 1
        return with_argument(call, out_channels, str(size * factor))
    group_count = _integer(groups)
    if group_count is None or group_count == 1:
        return call
    return with_argument(call, _GROUPS, str(math.gcd(group_count, size, _integer(text) or 0)))


def _with_normalised_axes(
    call: LibraryCall, parameter: SizeParameter, old: tuple[int, ...], new: tuple[int, ...]
) -> LibraryCall:
    """Return a call of a normalisation layer for an input of another shape.

    The layer normalises over as many trailing axes as before.
    """
    text = argument(call, parameter)
    if text is None:
        return call
    node = parse_expression(text)
    axis_count = len(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else 0
    axis_size = _integer(text)
    current = old[-max(axis_count, 1) :] if axis_size is None else (axis_size,)
    if new[-max(axis_count, 1) :] == current or axis_count >= len(new):
        return call
    return with_argument(call, parameter, repr(new[-axis_count:]) if axis_count else str(new[-1]))


def _resized_own_call(own: OwnCall, old: tuple[int, ...], new: tuple[int, ...]) -> OwnCall:
    """Return a call of the program's own class for another input.

    If the argument is a multiple or a fraction of the input's size, it changes in proportion.
    """
    size, before = _size_at(new, own.axis), _size_at(old, own.axis)
    parameter = SizeParameter("", own.parameter, own.position, own.axis)
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
    """Return the text of the argument for a parameter; None if the call has none or unpacks it."""
    keywords = dict(call.keywords)
    if parameter.name in keywords:
        return keywords[parameter.name]
    is_unpacked = any(text.startswith("*") for text in call.positional[: parameter.position + 1])
    if is_unpacked or parameter.position >= len(call.positional):
        return None
    return call.positional[parameter.position]


def with_argument(call: LibraryCall, parameter: SizeParameter, text: str) -> LibraryCall:
    """Return a call in which an existing argument has another text."""
    if parameter.name in dict(call.keywords):
        keywords = tuple((k, text if k == parameter.name else t) for k, t in call.keywords)
        return replace(call, keywords=keywords)
    index = parameter.position
    positional = (*call.positional[:index], text, *call.positional[index + 1 :])
    return replace(call, positional=positional)
