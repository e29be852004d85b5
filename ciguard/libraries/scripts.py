"""Templates of a library's tensors, dtypes and seeds in reproducer scripts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Source templates of one library, which are filled with `str.format`."""

    imports: tuple[str, ...]
    """Import statements."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names that the imports bind, by the first part of a qualified name."""
    loaded: frozenset[str] = frozenset()
    """Submodules that the imports load, too; other submodules need their own import."""
    dtype: str = '"{name}"'
    """Expression of the dtype with a `{name}`."""
    literal: str
    """Expression of a tensor of `{data}` (nested lists) and `{dtype}`; `{stored}` is numpy's name
    for the dtype."""
    full: str
    """Expression of a tensor of `{shape}` with all elements equal to `{value}`."""
    zeros: str
    """Expression of a tensor of `{shape}` with all elements 0."""
    from_array: str
    """Expression that converts a numpy `{array}` to a tensor."""
    cast: str = "{tensor}"
    """Expression of `{tensor}` cast to `{dtype}`, for dtypes that numpy lacks."""
    casts_literals: bool = False
    """True if `literal` returns the dtype `{stored}`, so that other dtypes need a cast."""
    finish: str = ""
    """Statement after the call that forces a lazy library to compute."""
    seed: str = ""
    """Statement that seeds the generators with `{seed}`."""
    modes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Pairs of statements by mode: the first prepares the mode, and the second runs `{call}` in the
    mode and assigns its result to `result`. `{row}` is a comma-separated list of the tensors'
    names, `{tuple}` a tuple of the tensors, and `{options}` one of `options`, or nothing."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Texts for the place `{options}` in the statements of a mode, by the name in `Mode.options`:
    further arguments, or a statement."""
    gradients: str = ""
    """Statements that execute `{run}`, which assigns `result`, and replace `result` by a list of it
    and of the gradients for the tensors in the tuple `{tuple}`, see `Adapter.with_gradients`. Empty
    if the adapter has no gradients."""
    inference: str = ""
    """Statement after which no gradients are recorded, as in `Adapter.without_gradients`."""
    larger: str = ""
    """Expression of `{tensor}` repeated as `Adapter.grown` does. Empty if the adapter cannot."""
    flipped: str = ""
    """Expression of `{tensor}` as `Adapter.flipped` returns it. Empty if the adapter cannot."""
    mapped: str = ""
    """Statements that vectorise the function `graph`, execute `{run}`, which assigns `result` from
    the tensors in the tuple `{tuple}` and the flipped ones in the list `stacked`, and replace
    `result` by what `Adapter.run_mapped` returns. Empty if the adapter cannot."""
    autocast: str = ""
    """Statement that begins a block in which calls may compute in a lower precision, `{dtype}`, as
    in `Adapter.autocasting`. Empty if the adapter cannot."""
    copied: str = ""
    """Definition of a function `copied` that does what `Adapter.copied` does. Empty if there is
    none."""
    layouts: Mapping[str, str] = field(default_factory=dict)
    """Expressions of `{tensor}` as `Adapter.laid_out` returns it, by layout."""
    overlapping: frozenset[str] = frozenset()
    """Layouts in which several elements share memory, so that they are equal."""
    builds_layers_late: bool = False
    """True if layers draw their weights in `build` or the first call, not in the constructor."""
    device: str = ""
    """Statement that selects a `{device}` other than the CPU."""
    layer_on_device: str = ""
    """Statements that build a layer on the CPU and move it to `{device}`, since the generators of
    devices would draw other weights. `{layer}` is the indented statement that builds the layer."""
    is_tensor: str
    """Condition on `value` that is true for tensors."""
    read: tuple[str, str]
    """Expressions for the common name of the dtype of `value`, and for a flat list of elements."""
