"""Samples of each layer's output in a run of a model, and their deviation between runs."""

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
    """A sample of one layer's output on one target."""

    elements: NDArray[Any]
    """Some dozens of elements at most, evenly spaced over the output."""
    special: tuple[int, int]
    """Numbers of elements that are NaN, and that are infinite."""
    form: str = ""
    """Type and shape of the whole output; empty if unknown."""

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
    """Return the samples of a run by layer name; empty if the run has none."""
    layers = part(output, "layers")
    if not isinstance(layers, Container):
        return {}
    samples = {}
    for name, item in zip(layers.keys, layers.items, strict=False):
        sample = part(item, "sample")
        if isinstance(sample, TensorOutput):
            counts = (_count(part(item, "nan")), _count(part(item, "inf")))
            elements = sample.elements.astype(np.float64)
            samples[name] = LayerSample(elements, counts, _form(item))
    return samples


def deviation(sample: LayerSample, other: LayerSample) -> float:
    """Return Δ of a layer between two targets: the mean absolute difference (LEMON, formula 4).

    It is infinite if NaN or infinities are at different positions, or types or shapes differ, as
    later layers may hide that by rounding.
    """
    if sample.form != other.form:
        return float("inf")
    if sample.elements.shape != other.elements.shape or sample.special != other.special:
        return float("inf")
    return layer_deviation(sample.elements, other.elements)


def part(output: Output, key: str) -> Output | None:
    """Return the item of a dictionary under a key; None if there is none."""
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
    texts = [item.text for item in (dtype, *sizes) if isinstance(item, Scalar)]
    return " ".join(texts)
