"""Templates of programs that build and run models with a library.

Statements and expressions contain qualified names. The code that inserts them into a program
replaces the names by the program's own spelling.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class InputExpressions:
    """Templates of random tensors, filled with `{shape}` and `{dtype}`."""

    floating: str
    """Expression of a floating-point tensor that requires gradients."""
    whole: str
    """Expression of an integer tensor with elements in [0, `{below}`)."""
    boolean: str = ""
    """Expression of a boolean tensor; empty to use `whole`."""
    other: str = ""
    """Expression of a tensor of another dtype, such as complex; empty to use `whole`."""


@dataclass(frozen=True, slots=True)
class Way:
    """Way to call certain layers of a library on a single tensor."""

    layers: str
    """Pattern of the names of the layers' classes, without their modules."""
    use: str = ""
    """Expression of the layer `f` and the data `x`; empty to pass `x` for each required input."""
    rank: int = 0
    """Number of dimensions of the data, including the batch; 0 for any that the layer allows."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Constructor arguments that the expression needs: source text by parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramStyle:
    """Conventions and templates of programs with models of one library."""

    roots: tuple[str, ...]
    """First parts of the qualified names of the library's APIs."""
    forward: str
    """Name of the method that computes a model's output."""
    bases: tuple[str, ...]
    """Base classes of models and layers: last parts of qualified names."""
    containers: tuple[str, ...] = ("Sequential", "ModuleList", "ModuleDict", "OrderedDict")
    """Classes of containers of layers, which are not replaced: last parts of qualified names."""
    infers_sizes: bool = False
    """True if layers infer the size of their input."""
    channels_last: bool = False
    """True if channels are the last dimension."""
    lists_functions: bool = False
    """True if a list of layers may also contain functions."""
    method_layers: str = ""
    """Module of the layers that are equivalent to methods of tensors, e.g. `torch.nn`."""
    flattened: str
    """Expression that flattens each sample of the batch `x` to a vector."""
    reshaped: str
    """Expression that reshapes samples of `x` to `{sizes}`; `{shape}` includes the batch size."""
    from_numbers: str = ""
    """Expression like `reshaped` for samples of one number each; empty to use `reshaped`."""
    as_float: str
    """Expression of the tensor `x` as 32-bit floating point."""
    inputs: InputExpressions
    """Templates of random inputs."""
    run: str
    """Statements that run `{model}` on `{input}` to get `y`, and backpropagate if possible.
    For a floating-point `x`, `{watch}` is a statement that makes `tape` watch `x`, and `{source}`
    is a list that contains `x`."""
    recorder: str
    """Statements that define a layer `_Seen(n)`, which stores its first input in `_fed[n]`."""
    ways: tuple[Way, ...] = ()
    """Ways to call layers that need more arguments than the data."""
