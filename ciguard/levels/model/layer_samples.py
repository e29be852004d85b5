"""Samples of layers' outputs in a run of a model, and their deviation between targets."""

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
    """Up to some dozens of elements, evenly spaced over the output; 1-D."""
    special_counts: tuple[int, int]
    """Number of NaN and number of infinite elements in the whole output."""
    form: str = ""
    """Text of type and shape of the whole output; empty if unknown."""

    @property
    def low(self) -> float:
        """Smallest finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.min()) if finite.size else 0.0

    @property
    def high(self) -> float:
        """Largest finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.max()) if finite.size else 0.0


def layer_samples(output: Output) -> dict[str, LayerSample]:
    """Return the samples in a run's result, by layer name; empty if there are none."""
    layers = item_of(output, "layers")
    if not isinstance(layers, Container):
        return {}
    samples = {}
    for name, item in zip(layers.keys, layers.items, strict=False):
        sample = item_of(item, "sample")
        if isinstance(sample, TensorOutput):
            counts = (_count(item_of(item, "nan")), _count(item_of(item, "inf")))
            elements = sample.elements.astype(np.float64)
            samples[name] = LayerSample(elements, counts, _form(item))
    return samples


def deviation(sample: LayerSample, other: LayerSample) -> float:
    """Return Δ of a layer between two targets: the mean absolute difference (LEMON, formula 4).

    Δ is infinite if types, shapes, or the numbers or positions of NaN and infinities differ. Such a
    difference matters even if later layers hide it.
    """
    if sample.form != other.form:
        return float("inf")
    if (
        sample.elements.shape != other.elements.shape
        or sample.special_counts != other.special_counts
    ):
        return float("inf")
    return layer_deviation(sample.elements, other.elements)


def item_of(output: Output, key: str) -> Output | None:
    """Return the item that an output, as a dictionary, has under a key; None if there is none."""
    if isinstance(output, Container) and key in output.keys:
        return output.items[output.keys.index(key)]
    return None


def _count(output: Output | None) -> int:
    """Return an integer that was recorded as a scalar; 0 if it is missing."""
    is_number = isinstance(output, Scalar) and output.text.isdigit()
    return int(output.text) if is_number and isinstance(output, Scalar) else 0


def _form(output: Output) -> str:
    """Return the recorded type and shape of an output as one text."""
    dtype, shape = item_of(output, "dtype"), item_of(output, "shape")
    sizes = shape.items if isinstance(shape, Container) else ()
    texts = [item.text for item in (dtype, *sizes) if isinstance(item, Scalar)]
    return " ".join(texts)
