"""Blocks: the parts into which programs are split, with their library calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.programs import Derivation

INPUT = -1
"""Value in `Block.input_sources` that stands for the block's own input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCall:
    """One call of a library API, with its arguments as Python text."""

    api: str
    """Qualified name, e.g. `torch.nn.Conv2d`, as the program's imports resolve it."""
    positional: tuple[str, ...] = ()
    """Texts of the positional arguments."""
    keywords: tuple[tuple[str, str], ...] = ()
    """Names and texts of the keyword arguments; the name is `**` for an unpacked dictionary."""
    makes_layer: bool = False
    """True if the call creates a layer that is called elsewhere, such as `nn.Conv2d(…)`; False if
    it takes the data itself, such as `F.relu(x)`."""
    use: str = ""
    """Expression that calls the created layer `f` with the data `x`, such as `f(x)`. Empty if that
    call must not change: a list of layers makes it, or it takes more than the data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCall:
    """A call of one of the program's own classes or functions that must know its input's size."""

    call: LibraryCall
    """The call; its `api` is the name of the class or function in the program."""
    parameter: str
    """Name of the parameter that takes the number of channels or features of the input."""
    position: int
    """Position of the parameter, from 0, if its argument is positional."""
    axis: int
    """Axis of the input whose size the parameter takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One hidden layer, or a part of a program between two points where a single variable is live.

    A block belongs to one place of its template. The place knows the block's statements or list
    element; the block holds only what a mutation may change.
    """

    name: str
    """Unique name in the program: that of the attribute or variable of its first layer, or a
    numbered one such as `block3`."""
    calls: tuple[LibraryCall, ...]
    """Library calls in the order of the text; calls of the program's own functions are not
    included."""
    adapter: str = ""
    """Expression of the data `x` whose value the block gets, e.g. `x.flatten(1)`, with qualified
    names; empty if the block gets the data itself."""
    input_sources: tuple[int | None, ...] = ()
    """Source of each call's input: `INPUT` for the block's own input, the index of the call that
    produces it, or None if unknown. The source decides the size of the input."""
    own_calls: tuple[OwnCall, ...] = ()
    """Calls of the program's own classes and functions that take the block's input."""

    def with_call(self, place: int, call: LibraryCall) -> Block:
        """Return a copy of the block with another call at an index."""
        return replace(self, calls=(*self.calls[:place], call, *self.calls[place + 1 :]))


@dataclass(frozen=True, slots=True)
class BlockMutant:
    """A block after the application of one operator."""

    block: Block
    """The block after the mutation."""
    step: Derivation
    """Step of the mutation; its line is 0 until the block is part of a program."""


@dataclass(frozen=True, slots=True)
class BlockTensor:
    """Form of a tensor, such as the input or result of a block."""

    shape: tuple[int, ...]
    """Shape, including the batch dimension."""
    dtype: str = "float32"
    """Name of the element type, without the library."""
    below: int = 0
    """Exclusive upper bound of integer elements; 0 if unknown."""
