"""Dialects: the differences between libraries in programs that build models."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import UnknownNameError
from ciguard.libraries import LIBRARIES
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from ciguard.levels.code.blocks import LibraryCall
    from ciguard.libraries import ProgramStyle, Way

FLOATS = ("float16", "bfloat16", "float32", "float64", "float")
"""Names of floating-point element types."""


@dataclass(frozen=True, slots=True)
class SizeParameter:
    """A parameter of layers that takes the size of the input, or of the output, along one axis."""

    layers: str
    """Pattern of the layers' class names, without their modules."""
    name: str
    """Name of the parameter."""
    position: int
    """Position of the parameter, from 0, if its argument is positional."""
    axis: int
    """Axis of the input or output whose size the parameter takes: 1 or -1."""


_INPUT_SIZES = (
    SizeParameter(r"Conv(Transpose)?(\dd)?", "in_channels", 0, 1),
    SizeParameter(r"(Sync)?BatchNorm(\dd)?|InstanceNorm(\dd)?", "num_features", 0, 1),
    SizeParameter(r"GroupNorm", "num_channels", 1, 1),
    SizeParameter(r"Linear", "in_features", 0, -1),
    SizeParameter(r"(LSTM|GRU|RNN)(Cell)?", "input_size", 0, -1),
    SizeParameter(r"LayerNorm|RMSNorm", "normalized_shape", 0, -1),
    SizeParameter(r"MultiheadAttention", "embed_dim", 0, -1),
    SizeParameter(r"Transformer((En|De)coderLayer)?", "d_model", 0, -1),
    SizeParameter(r"PReLU", "num_parameters", 0, 1),
    SizeParameter(r"Conv1d_sp", "inchannels", 0, 1),
    SizeParameter(r"Bilinear", "in1_features", 0, -1),
    SizeParameter(r"Bilinear", "in2_features", 1, -1),
    SizeParameter(r"LinearCrossEntropyLoss|AdaptiveLogSoftmaxWithLoss", "in_features", 0, -1),
)
_OUTPUT_SIZES = (
    SizeParameter(r"Conv(Transpose)?(\dd)?", "out_channels", 1, 1),
    SizeParameter(r"Linear", "out_features", 1, -1),
    SizeParameter(r"(LSTM|GRU|RNN)", "hidden_size", 1, -1),
)
_OWN_SIZES = {
    **dict.fromkeys(("channels", "in_channels", "in_planes", "inplanes", "in_ch", "inp"), 1),
    **dict.fromkeys(("input_channels", "in_c", "c_in", "num_channels"), 1),
    **dict.fromkeys(("in_features", "input_size", "input_dim", "in_dim", "in_size"), -1),
}
"""Axis of the input whose size a parameter takes, by names that programs' own classes use."""
_LAYER_WITH_WEIGHTS = re.compile(
    r"(Lazy)?(Linear|Dense|(Separable|Depthwise)?[Cc]onv|Bilinear|LSTM|GRU|RNN|SimpleRNN|"
    r"EinsumDense|Embedding|Locally|linear|matmul|Bidirectional|TimeDistributed|Transformer|"
    r"MultiheadAttention|MultiHeadAttention|Parameter)"
)
_SIZE_PRESERVING = re.compile(
    r".*(relu|tanh|sigmoid|elu|swish|silu|mish|softplus|softsign|activation|pool|dropout|norm"
    r"|identity|hard|leaky|shrink|upsampl|zeropad).*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """The way in which programs write models of one library."""

    library: str
    """Name of the library."""
    conventions: ProgramStyle
    """Description of the library's programs."""

    def owns(self, api: str) -> bool:
        """Return whether a qualified name belongs to this library."""
        return api.partition(".")[0] in self.conventions.roots

    def is_base(self, api: str) -> bool:
        """Return whether a base class makes its subclasses models or layers."""
        return self.owns(api) and api.rpartition(".")[2] in self.conventions.bases

    def input_sizes(self, call: LibraryCall) -> tuple[SizeParameter, ...]:
        """Return the parameters of a call that take the sizes of its inputs."""
        return () if self.conventions.infers_sizes else _matching(_INPUT_SIZES, call)

    def input_size(self, call: LibraryCall) -> SizeParameter | None:
        """Return the parameter of a call that takes its first input's size; None without one."""
        return next(iter(self.input_sizes(call)), None)

    def output_size(self, call: LibraryCall) -> SizeParameter | None:
        """Return the parameter of a call that takes its output's size; None without one."""
        return (
            None
            if self.conventions.infers_sizes
            else next(iter(_matching(_OUTPUT_SIZES, call)), None)
        )

    def own_size(self, parameter: str) -> int | None:
        """Return the input axis whose size a parameter of an own class takes; None if unknown."""
        return None if self.conventions.infers_sizes else _OWN_SIZES.get(parameter)

    # --- adapters ---------------------------------------------------------------------------------

    def adapter(
        self, current: tuple[int, ...], rank: int, channels: int
    ) -> tuple[str, tuple[int, ...]] | None:
        """Return an expression of `x` that changes its rank, and the resulting shape.

        Args:
            current: the current shape of `x`, including the batch dimension.
            rank: the required rank, including the batch dimension.
            channels: the axis of channels or features, 1 or -1.

        Returns:
            The expression, with qualified names, and the shape. None if no reshape has that rank.
        """
        if rank < 2 or not current or math.prod(current[1:]) < 1:  # noqa: PLR2004 - a batch of vectors has rank 2
            return None
        # One number per sample, such as a loss without reduction, is a vector of one feature.
        sizes_before = current[1:] or (1,)
        axis = -1 if self.conventions.channels_last else channels
        sizes = _reshaped(sizes_before, rank - 1, channels=axis)
        if self.conventions.from_numbers and len(current) == 1:
            template = self.conventions.from_numbers
        else:
            template = self.conventions.flattened if len(sizes) == 1 else self.conventions.reshaped
        return template.format(sizes=sizes, shape=(-1, *sizes)), (current[0], *sizes)

    def cast(self) -> str:
        """Return an expression that converts `x` to 32-bit floating point."""
        return self.conventions.as_float

    def element(self, expression: str) -> list[str] | None:
        """Return layers of a `Sequential` that are equivalent to an expression of `x`.

        Returns:
            Texts of the layers, in order; None if no layers are equivalent.
        """
        steps: list[str] = []
        node = parse_expression(expression)
        while not (isinstance(node, ast.Name) and node.id == "x"):
            match node:
                case ast.Call(func=ast.Call() as layer, args=[inner]):
                    steps.append(ast.unparse(layer))
                    node = inner
                case ast.Call(func=ast.Attribute(value=inner, attr=method)) if (
                    method in {"flatten", "unflatten"} and self.conventions.method_layers
                ):
                    layer_class = f"{self.conventions.method_layers}.{method.capitalize()}"
                    node.func = parse_expression(layer_class)
                    steps.append(ast.unparse(node))
                    node = inner
                case _:
                    return [f"lambda x: {expression}"] if self.conventions.lists_functions else None
        return steps[::-1]


def is_layer(api: str) -> bool:
    """Return whether calling a name creates a layer; by convention, classes are capitalised."""
    return api.rpartition(".")[2][:1].isupper()


def has_weights(api: str) -> bool:
    """Return whether a layer or function has weights, so that it sets the size of its output."""
    return _LAYER_WITH_WEIGHTS.match(api.rpartition(".")[2]) is not None


def keeps_size(api: str) -> bool:
    """Return whether a layer's output has as many channels or features as its input."""
    return _SIZE_PRESERVING.fullmatch(api.rpartition(".")[2]) is not None


def _matching(
    parameters: tuple[SizeParameter, ...], call: LibraryCall
) -> tuple[SizeParameter, ...]:
    name = call.api.rpartition(".")[2]
    matching = tuple(item for item in parameters if re.fullmatch(item.layers, name))
    return matching if call.makes_layer else ()


def _reshaped(sizes: tuple[int, ...], rank: int, *, channels: int) -> tuple[int, ...]:
    """Return a shape of another rank with as many elements, and the same channels if possible.

    For a lower rank, spatial axes are merged. For a higher rank, the last spatial axis is split as
    evenly as possible. A vector becomes the channels of a single point, so that no value changes
    its position.

    Args:
        sizes: the sizes of a sample, without the batch dimension.
        rank: the required rank, without the batch dimension.
        channels: the axis of channels in a batch, 1 or -1.
    """
    if rank == 1:
        return (math.prod(sizes),)
    first, space = (sizes[0], sizes[1:]) if channels == 1 else (sizes[-1], sizes[:-1])
    if len(space) >= rank:
        space = (*space[: rank - 2], math.prod(space[rank - 2 :]))
    while len(space) < rank - 1:
        side = _most_even_divisor(space[-1]) if space else 1
        space = (*space[:-1], side, space[-1] // side) if space else (1,)
    return (first, *space) if channels == 1 else (*space, first)


def _most_even_divisor(count: int) -> int:
    """Return the largest divisor of a number that is not above its square root."""
    return next(side for side in range(math.isqrt(count), 0, -1) if count % side == 0)


def libraries_with_programs() -> frozenset[str]:
    """Return the names of the libraries whose programs can be split into blocks."""
    return frozenset(_styles())


def dialect_of(library: str) -> Dialect:
    """Return the dialect of a library.

    Raises:
        UnknownNameError: if level `code` does not support the library.
    """
    styles = _styles()
    if library not in styles:
        kind = "library of level 'code'"
        raise UnknownNameError(kind, library, known=styles)
    return Dialect(library=library, conventions=styles[library])


def dialect_of_root(root: str) -> Dialect:
    """Return the dialect of the library whose qualified names start with a part, e.g. `torch`.

    Raises:
        UnknownNameError: if level `code` does not support the library.
    """
    libraries = (name for name, style in _styles().items() if root in style.roots)
    return dialect_of(next(libraries, root))


def ways_of(root: str) -> tuple[Way, ...]:
    """Return the documented usages of layers whose qualified names start with a part."""
    styles = (style for style in _styles().values() if root in style.roots)
    return tuple(way for style in styles for way in style.ways)


def _styles() -> dict[str, ProgramStyle]:
    libraries = LIBRARIES.items().items()
    return {name: library.programs for name, library in libraries if library.programs is not None}
