"""How a library writes a tensor, a dtype and a seed in a person's script."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Source text of one library. Templates are filled with `str.format`."""

    imports: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    """First part of a dotted name → what the import binds."""
    loaded: frozenset[str] = frozenset()
    """Submodules that the import brings along; others are imported by name."""
    dtype: str = '"{name}"'
    literal: str
    """A tensor of `{data}` (nested lists) and `{dtype}`; `{stored}` is numpy's name for it."""
    full: str
    """A tensor of `{shape}` whose elements are all `{value}`."""
    zeros: str
    from_array: str
    """A tensor of an `{array}` of numpy."""
    cast: str = "{tensor}"
    """`{tensor}` turned into `{dtype}`, for types that numpy lacks."""
    casts_literals: bool = False
    """Whether `literal` makes `{stored}` too, so that other types take a cast."""
    finish: str = ""
    """Statement after the call, where the library computes only when it must."""
    seed: str = ""
    modes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """By mode: what it needs before, and the statement that runs `{call}` in it and binds `result`.
    `{row}` are the names of the tensors, `{tuple}` the same as a tuple."""
    builds_layers_late: bool = False
    """Layers draw their weights when they are first called, or by `build`."""
    device: str = ""
    """Statement that selects a `{device}` other than the CPU."""
    layer_on_device: str = ""
    """Statements that build a layer on the CPU by those of `{layer}`, indented, and move it to a
    `{device}`, where its weights are drawn: the generators of devices differ."""
    is_tensor: str
    """Condition on `value`."""
    read: tuple[str, str]
    """Expressions on `value`: its dtype's common name, the flat list of its elements."""
