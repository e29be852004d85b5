"""Blocks: the parts that programs are split into, with their library calls and input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.programs import Derivation

INPUT = -1
"""Value in `Block.follows` for the block's own input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCall:
    """One call of the library, with its arguments as Python text."""

    api: str
    """Qualified name, e.g. `torch.nn.Conv2d`, as the program's imports resolve it."""
    positional: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    makes_layer: bool = False
    """True if the call creates an object that is called elsewhere, as `nn.Conv2d(…)`. A function
    such as `F.relu(x)` takes the data itself."""
    use: str = ""
    """Expression of the created object `f` and the data `x` that calls it. Empty if a list of
    layers calls it, or it takes more than the data, so that the call must not change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCall:
    """A call of a class or function of the program, with the argument that sizes its input."""

    call: LibraryCall
    """The call, whose `api` is the name in the program."""
    size: str
    """Parameter for the number of channels or features of the input."""
    position: int
    """Position of that parameter, from 0, if it is positional."""
    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One hidden layer, or a part of a program between two points where one variable is live.

    A block belongs to one place of its template, which knows the statements or list element that it
    represents. The block itself holds only what mutation may change.
    """

    name: str
    """Name, unique in the program: the attribute or variable of its first layer, else e.g.
    `block3`."""
    calls: tuple[LibraryCall, ...]
    """Library calls in the order of the text; calls of the program's own functions are not
    included."""
    adapter: str = ""
    """Expression of the data `x` that is inserted before the block, e.g. `x.flatten(1)`; empty for
    none. Library names are qualified."""
    follows: tuple[int | None, ...] = ()
    """Origin of each call's input size: `INPUT` for the block's own input, else the index of the
    call that produces it. None if unknown."""
    own: tuple[OwnCall, ...] = ()
    """Calls of the program's own classes and functions that take the block's input."""

    def with_call(self, place: int, call: LibraryCall) -> Block:
        """Return the block with another call at one index."""
        return replace(self, calls=(*self.calls[:place], call, *self.calls[place + 1 :]))


@dataclass(frozen=True, slots=True)
class BlockMutant:
    """A block after the application of one operator."""

    block: Block
    step: Derivation
    """The mutation. Its line is 0 until the block is part of a program."""


@dataclass(frozen=True, slots=True)
class BlockInput:
    """Form of the input of a block, including the batch dimension."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    below: int = 0
    """Exclusive upper bound of integers; 0 if unknown."""
