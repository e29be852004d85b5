"""How programs build and run models with a library.

Statements and expressions hold qualified names: whoever puts them into a program spells them as
it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class InputExpressions:
    """Expressions of a random tensor, filled with its `{shape}` and `{dtype}`."""

    floating: str
    """It takes part in gradients."""
    whole: str
    """Of numbers from 0 up to, and without, `{below}`."""
    boolean: str = ""
    """Empty: as whole numbers are."""
    other: str = ""
    """Of complex numbers and the like; empty: as whole numbers are."""


@dataclass(frozen=True, slots=True)
class Way:
    """How some layers of a library are called where one tensor is at hand."""

    layers: str
    """Pattern of the names of the classes, without their module."""
    use: str = ""
    """An expression of the layer `f` and the data `x`; empty: with `x` for each required input."""
    rank: int = 0
    """Of the data, the batch included; 0: any that the name does not exclude."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Arguments that the layer is made with, as text by parameter: those that the use needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStyle:
    """How models are written with one library."""

    roots: tuple[str, ...]
    """First parts of the qualified names of its API."""
    forward: str
    """The method of a model's class that data goes through."""
    bases: tuple[str, ...]
    """What a class of a model or a layer derives from: ends of qualified names."""
    containers: tuple[str, ...] = ("Sequential", "ModuleList", "ModuleDict", "OrderedDict")
    """Last parts of names: they hold layers, and are none to be exchanged."""
    infers_sizes: bool = False
    """Whether layers look themselves at how large their input is."""
    channels_last: bool = False
    lists_functions: bool = False
    """Whether a list of layers takes functions as well."""
    method_layers: str = ""
    """Module of the layers that do what methods of tensors do, e.g. `torch.nn`."""
    flattened: str
    """A batch `x` as vectors."""
    reshaped: str
    """A batch `x` whose samples have `{sizes}`; `{shape}` are these with the batch before."""
    from_numbers: str = ""
    """Likewise, where each sample is one number, vectors included; empty: as any other batch."""
    as_float: str
    """The tensor `x` as 32-bit floating point."""
    inputs: InputExpressions
    run: str
    """Statements that run `{model}` forwards on `{input}` to `y`, and backwards where possible.
    `{watch}` is a statement that has a `tape` watch `x` where it is of floating point, and
    `{source}` a list of it then."""
    recorder: str
    """Statements that define `_fed` and a layer `_Seen(n)`, which keeps its first input."""
    ways: tuple[Way, ...] = ()
    """How layers are called that are not called with the data alone, as its documentation says."""
