"""What a program is taken apart into: blocks, the library calls in them, what a slot is fed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.programs import Derivation

INPUT = -1
"""In `Block.follows`: the block's own input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCall:
    """One call of the library, its arguments as Python text."""

    api: str
    """Qualified name, e.g. `torch.nn.Conv2d`, as the program's imports resolve it."""
    positional: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    makes_layer: bool = False
    """Whether an object is made that is called elsewhere, as `nn.Conv2d(…)` is; a function such as
    `F.relu(x)` is not, and takes the data itself."""
    use: str = ""
    """How that object is called: an expression of it, `f`, and of the data, `x`. Empty where it is
    called in a list of layers, or with more than the data, and is not to be called otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCall:
    """A call of a class or function of the program, and the argument that sizes its input."""

    call: LibraryCall
    """`api` is the name that the program gives it."""
    size: str
    """The parameter for the number of channels or features of what is met."""
    position: int
    """Of that parameter, from 0, where it is given by position."""
    axis: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One hidden layer, or a stretch of a program between two points where one variable is alive.

    A block belongs to one place of its template, which knows what statements, or which element of
    a list, it stands for; all that is said of it here is what mutation may change.
    """

    name: str
    """Unique in the program: the attribute or variable of its first layer, else `block3`."""
    calls: tuple[LibraryCall, ...]
    """In the order of the text. None where the program's own classes and functions are called."""
    adapter: str = ""
    """What is put before it: an expression of the data `x`, e.g. `x.flatten(1)`; empty: nothing.
    Names of the library are qualified."""
    follows: tuple[int | None, ...] = ()
    """For each call what the size of its input follows from: `INPUT` the block's own input, else
    the place of the call that makes it, None where that is not known."""
    own: tuple[OwnCall, ...] = ()
    """Calls of the program's own that meet the block's input."""

    def with_call(self, place: int, call: LibraryCall) -> Block:
        """Return the block with another call at one place."""
        return replace(self, calls=(*self.calls[:place], call, *self.calls[place + 1 :]))


@dataclass(frozen=True, slots=True)
class BlockMutant:
    """A block after one operator."""

    block: Block
    step: Derivation
    """Its line is 0: it is known once the block stands in a program."""


@dataclass(frozen=True, slots=True)
class BlockInput:
    """What a block is called with, the batch dimension included."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    below: int = 0
    """Of integers: all are below this; 0 where that is not known."""
