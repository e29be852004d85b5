"""What a run of a model tells of each of its layers, and how far two runs lie apart in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.execution import Container, Scalar, TensorOutput
from ciguard.levels.model.inconsistency import layer_deviation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ciguard.execution import Output


@dataclass(frozen=True, slots=True)
class LayerSample:
    """What one target tells of one layer's output."""

    elements: NDArray[Any]
    """At most some dozens, evenly spaced over the output."""
    special: tuple[int, int]
    """How many elements are NaN, and how many infinite."""
    form: str = ""
    """Type and shape of the whole; empty if they are not told."""

    @property
    def low(self) -> float:
        """Least finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.min()) if finite.size else 0.0

    @property
    def high(self) -> float:
        """Greatest finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.max()) if finite.size else 0.0


def layer_samples(output: Output) -> dict[str, LayerSample]:
    """Return what a run tells of each layer, by name; nothing if it tells nothing of layers."""
    found = part(output, "layers")
    if not isinstance(found, Container):
        return {}
    samples = {}
    for name, item in zip(found.keys, found.items, strict=False):
        sample = part(item, "sample")
        if isinstance(sample, TensorOutput):
            counts = (_count(part(item, "nan")), _count(part(item, "inf")))
            elements = sample.elements.astype(np.float64)
            samples[name] = LayerSample(elements, counts, _form(item))
    return samples


def deviation(one: LayerSample, other: LayerSample) -> float:
    """Return Δ of a layer between two targets: the mean absolute difference (LEMON, formula 4).

    Infinite where one of them holds NaN or infinities in other places, or is of another type or
    shape: what follows may round that away.
    """
    if one.form != other.form:
        return float("inf")
    if one.elements.shape != other.elements.shape or one.special != other.special:
        return float("inf")
    return layer_deviation(one.elements, other.elements)


def part(output: Output, key: str) -> Output | None:
    """Return what a dictionary holds under a key; None if it has none, or is no dictionary."""
    if isinstance(output, Container) and key in output.keys:
        return output.items[output.keys.index(key)]
    return None


def _count(output: Output | None) -> int:
    is_number = isinstance(output, Scalar) and output.text.isdigit()
    return int(output.text) if is_number and isinstance(output, Scalar) else 0


def _form(output: Output) -> str:
    """Return type and shape as one text."""
    dtype, shape = part(output, "dtype"), part(output, "shape")
    sizes = shape.items if isinstance(shape, Container) else ()
    words = [item.text for item in (dtype, *sizes) if isinstance(item, Scalar)]
    return " ".join(words)
