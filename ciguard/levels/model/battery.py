"""Battery: every layer alone, on inputs and arguments that mutants of models rarely have.

Mutants draw layers by chance, keep most arguments at ordinary values, and give layers numbers that
earlier layers computed. The battery covers every layer systematically, in rounds, so that each
layer runs once before any layer runs again:

1. on NaN, infinities and signed zeros, one kind in each row of the batch;
2. along each axis, including those that a backend may reject: a rejection is an outcome;
3. on sequences with masked steps, also wholly masked ones, and masked by an embedding of tokens;
4. with windows of 4 and more and steps of 3, dilated ones, groups, and steps with dilation;
5. with each value of each argument that its documentation lists, both values of each switch, and
   each data format;
6. on dimensions of size 1; 7. in half precision; 8. in double precision; 9. a batch without rows;
10. called as in training; 11. on huge and tiny numbers; 12. one training step.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.domain.models import (
    INPUT,
    MASKING,
    Check,
    GraphOrigin,
    LayerGraph,
    LayerNode,
    ModelCase,
    Weights,
)
from ciguard.domain.values import ArrayValue, Explicit, Uniform
from ciguard.levels.model.layer_runs import DOUBLE
from ciguard.levels.model.layers import TOKENS, Elements, Family, LayerPlace
from ciguard.levels.model.masked_runs import Masked, with_embedding, with_masking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.models import Data, Shape
    from ciguard.levels.model.layers import Config, LayerKind
    from ciguard.levels.model.universe import Universe

API = "keras.Model"
"""API of the battery's cases, since they are graphs; a suspected layer runs alone again."""
ORIGIN = "battery"
"""Name of the origin of the battery's cases, in the place of a seed model."""
_NODE = "alone"
_SHAPES: dict[int, Shape] = {
    0: (), 1: (8,), 2: (9, 6), 3: (9, 9, 6), 4: (6, 6, 6, 2), 5: (4, 4, 4, 2, 2)
}  # fmt: skip
"""Shapes of inputs by rank, large enough for the windows."""
_SPECIAL_ROWS = ((math.nan,), (math.inf,), (-math.inf,), (0.0, -0.0))
"""Numbers that replace the first elements of each row. Huge ones are apart: they overflow in single
precision only, so that double precision is no witness for a run with both."""
_EXTREME_ROWS = ((3e38, -3e38), (1e-40, -1e-40), (88.8, -104.0), (1e4, -1e4))
"""Like `_SPECIAL_ROWS`; exp(88.8) exceeds float32, and exp(-104) is zero."""
_ROWS = 2
_WINDOWS = ((4, 3), (5, 3), (4, 1))
"""Sizes and steps of windows; models only have smaller sizes or steps."""
_DILATED: tuple[Config, ...] = (
    {"dilation_rate": 2, "strides": 1, "padding": "same"},
    {"dilation_rate": 3, "strides": 1, "padding": "valid"},
    {"dilation_rate": 2, "strides": 2, "padding": "same"},
    {"groups": 2, "filters": 4},
)
"""Further arguments of convolutions. Steps with dilation are mostly rejected, by all alike."""
_HALF_DTYPES = ("float16", "bfloat16")
_SEQUENCE = 2
"""Rank of sequences of vectors, whose steps may be masked."""
_WITHOUT_MASKS = frozenset({Family.CONVOLUTION, Family.PREPROCESSING, Family.REGULARISATION})
"""Families of layers that ignore masks or pass them on."""
_DROPPING = frozenset({Family.ATTENTION, Family.RECURRENT})
"""Families of layers that draw random numbers only if an argument asks for dropout."""
_OF_SEQUENCES = frozenset({Family.ATTENTION, Family.POOLING, Family.RECURRENT})
_SIZE_NAMES = ("pool_size", "kernel_size")
_ATTEMPTS = 8
_SEED_BITS = 31


def battery(universe: Universe, seed: int) -> list[ModelCase]:
    """Return the battery of all layers of a universe, round by round.

    Args:
        universe: the layers and the values of their arguments.
        seed: the seed of the run, which decides the order of the layers and their arguments.
    """
    rng = random.Random(f"battery {seed}")  # noqa: S311 - a seeded generator is repeatable
    layers = [_LayerBattery(universe, kind, rng) for kind in universe.kinds]
    rng.shuffle(layers)
    rounds = (
        _LayerBattery.on_special_numbers,
        _LayerBattery.along_each_axis,
        _LayerBattery.masked,
        _LayerBattery.with_wide_windows,
        _LayerBattery.with_listed_values,
        _LayerBattery.on_unit_dimensions,
        _LayerBattery.in_half_precision,
        _LayerBattery.in_double_precision,
        _LayerBattery.without_rows,
        _LayerBattery.as_in_training,
        _LayerBattery.on_extreme_numbers,
        _LayerBattery.trained,
    )
    return [case for cases in rounds for case in chain.from_iterable(map(cases, layers))]


class _LayerBattery:
    """The battery of one layer."""

    def __init__(
        self,
        universe: Universe,
        kind: LayerKind,
        rng: random.Random,
        *,
        is_unit: bool = False,
        rank: int | None = None,
    ) -> None:
        self._universe = universe
        self._kind = kind
        self._rng = rng
        self._is_unit = is_unit
        middle = kind.ranks[-1] if len(kind.ranks) == 1 else kind.ranks[len(kind.ranks) // 2]
        self._rank = middle if rank is None else rank
        self._shapes = tuple(self._input_shapes())
        self._config = self._drawn_config()

    def _input_shapes(self) -> Iterator[Shape]:
        kind = self._kind
        count = max(kind.inputs[0], min(2, kind.inputs[1])) if kind.as_list else kind.inputs[0]
        shape = (1,) * self._rank if self._is_unit else _SHAPES[self._rank]
        if kind.channels:
            shape = (*shape[:-1], kind.channels[-1])
        yield from (shape,) * count

    def _drawn_config(self) -> Config | None:
        """Return the first arguments that fit; None if there are none."""
        place = LayerPlace(self._shapes, keeps_shape=False)
        if not self._kind.fits(self._shapes):
            return None
        for _ in range(_ATTEMPTS):
            config = self._kind.draw(self._rng, place)
            if config is not None and self._shape_of(config) is not None:
                return config
        return None

    def _shape_of(self, config: Config) -> Shape | None:
        shape = self._kind.shape(config, self._shapes)
        return None if shape is None or 0 in shape else shape

    @property
    def _takes_floats(self) -> bool:
        return self._kind.input_elements is Elements.FLOATS

    def on_special_numbers(self) -> Iterator[ModelCase]:
        """Yield the run on NaN, infinities and signed zeros."""
        yield from self._on_rows(_SPECIAL_ROWS)

    def on_extreme_numbers(self) -> Iterator[ModelCase]:
        """Yield the run on huge and tiny numbers."""
        yield from self._on_rows(_EXTREME_ROWS)

    def _on_rows(self, rows: tuple[tuple[float, ...], ...]) -> Iterator[ModelCase]:
        if self._config is not None and self._takes_floats:
            data = [_data_of_rows(rows, shape, self._seed()) for shape in self._shapes]
            yield from self._case(self._config, data)

    def masked(self) -> Iterator[ModelCase]:
        """Yield runs and a training step on sequences with masked steps."""
        kind = self._kind
        is_relevant = self._takes_floats and kind.family not in _WITHOUT_MASKS
        if not is_relevant or _SEQUENCE not in kind.ranks or kind.public == MASKING:
            return
        if self._rank != _SEQUENCE:
            yield from _LayerBattery(self._universe, kind, self._rng, rank=_SEQUENCE).masked()
        elif self._config is not None:
            yield from self._on_masks(self._config)

    def _on_masks(self, config: Config) -> Iterator[ModelCase]:
        configs = [config]
        if self._kind.family is Family.RECURRENT and "units" in config:
            configs = [{**config, "return_sequences": value} for value in (False, True)]
        for case in chain.from_iterable(self._case(one, is_free=True) for one in configs):
            yield from map(partial(with_masking, case), Masked)
            if self._kind.family in _OF_SEQUENCES:
                yield from map(partial(with_embedding, case), Masked)
        if not self._is_random:
            for case in self._case(config, check=Check.TRAIN):
                yield with_masking(case, Masked.PARTLY)

    @property
    def _is_random(self) -> bool:
        """True if the layer may draw random numbers in training with the drawn arguments."""
        drops = any("dropout" in name for name in self._config or ())
        return self._kind.is_random and (self._kind.family not in _DROPPING or drops)

    def with_wide_windows(self) -> Iterator[ModelCase]:
        """Yield runs with wide windows and large steps, and with dilated windows."""
        name = next((name for name in _SIZE_NAMES if name in (self._config or {})), "")
        if not name or self._config is None:
            return
        for size, step in _WINDOWS:
            for padding in ("valid", "same"):
                changed = {name: size, "strides": step, "padding": padding}
                yield from self._case({**self._config, **changed})
        for dilated in _DILATED:
            if all(map(partial(self._universe.arguments.has, self._kind), dilated)):
                yield from self._case({**self._config, name: 3, **dilated}, is_free=True)

    def with_listed_values(self) -> Iterator[ModelCase]:
        """Yield one run for each value that the documentation lists for an argument.

        Activations run in the layer `Activation`, and not again in each layer that has one.
        """
        if self._config is None:
            return
        arguments = self._universe.arguments
        for name, values in arguments.listed_values(self._kind).items():
            is_of_any_layer = name.endswith("activation") and name != self._kind.name.lower()
            for value in () if is_of_any_layer else values:
                yield from self._case({**self._config, name: value})
        for name, values in arguments.switches(self._kind).items():
            is_nested = isinstance(self._config.get(name), dict | list)
            for value in () if is_nested else values:
                if self._config.get(name) != value:
                    yield from self._case({**self._config, name: value}, is_free=True)

    def along_each_axis(self) -> Iterator[ModelCase]:
        """Yield one run for each axis, from the last one to the first after the batch."""
        if self._config is None or not self._universe.arguments.has(self._kind, "axis"):
            return
        rank = len(self._shapes[0])
        for axis in (*range(-rank, 0), *range(1, rank + 1)):
            yield from self._case({**self._config, "axis": axis}, is_free=True)

    def in_half_precision(self) -> Iterator[ModelCase]:
        """Yield one run in each dtype of half precision."""
        if self._config is not None and self._takes_floats:
            for dtype in _HALF_DTYPES:
                yield from (replace(case, dtype=dtype) for case in self._case(self._config))

    def in_double_precision(self) -> Iterator[ModelCase]:
        """Yield the run in float64, whose inputs are float64 too."""
        if self._config is not None and self._takes_floats:
            for case in self._case(self._config):
                arrays = (array for array in case.data if isinstance(array, ArrayValue))
                data = tuple(replace(array, dtype=DOUBLE) for array in arrays)
                yield replace(case, dtype=DOUBLE, data=data)

    def on_unit_dimensions(self) -> Iterator[ModelCase]:
        """Yield the run on inputs whose dimensions all have one element."""
        unit = _LayerBattery(self._universe, self._kind, self._rng, is_unit=True)
        if unit._config is not None:
            yield from unit._case(unit._config)

    def as_in_training(self) -> Iterator[ModelCase]:
        """Yield the outputs of a call as in training; none for layers that may be random."""
        if self._config is not None and self._takes_floats and not self._is_random:
            yield from (replace(case, training=True) for case in self._case(self._config))

    def trained(self) -> Iterator[ModelCase]:
        """Yield one training step; none for layers that may be random."""
        if self._config is not None and self._takes_floats and not self._is_random:
            yield from self._case(self._config, check=Check.TRAIN)

    def without_rows(self) -> Iterator[ModelCase]:
        """Yield the run on an empty batch."""
        if self._config is not None:
            yield from self._case(self._config, rows=0)

    def _case(
        self,
        config: Config,
        data: list[ArrayValue] | None = None,
        *,
        rows: int = _ROWS,
        check: Check = Check.PREDICT,
        is_free: bool = False,
    ) -> Iterator[ModelCase]:
        """Yield a run of the layer if it accepts the arguments.

        With `is_free`, it runs whatever the shape of its outputs is, which predictions do not need.
        """
        shape = self._shapes[0] if is_free else self._shape_of(config)
        if shape is None:
            return
        inputs: list[Data] = [*(data or self._ordinary_data(rows))]
        names = [f"x{index}" for index in range(len(self._shapes))]
        nodes = [
            LayerNode(name=name, layer=INPUT, shape=own, dtype=self._kind.input_elements.value)
            for name, own in zip(names, self._shapes, strict=True)
        ]
        layer = LayerNode(
            name=_NODE,
            layer=self._kind.public,
            config=config,
            inputs=tuple(names),
            as_list=self._kind.as_list,
            shape=shape,
            dtype=self._kind.output_elements.value,
            weights=Weights(plain=True),
        )
        yield ModelCase(
            api=API,
            graph=LayerGraph(nodes=(*nodes, layer), outputs=(_NODE,)),
            data=tuple(inputs),
            truth=ArrayValue("float32", (inputs[0].shape[0], *shape), Uniform(17, -1.0, 1.0)),
            check=check,
            training=check is Check.TRAIN,
            seed=self._seed(),
            origin=GraphOrigin(model=ORIGIN),
        )

    def _ordinary_data(self, rows: int) -> Iterator[ArrayValue]:
        for shape in self._shapes:
            if self._takes_floats:
                yield ArrayValue("float32", (rows, *shape), Uniform(self._seed(), -1.0, 1.0))
            else:
                tokens = tuple(self._rng.randrange(TOKENS) for _ in range(rows * math.prod(shape)))
                yield ArrayValue("int32", (rows, *shape), Explicit(tokens))

    def _seed(self) -> int:
        return self._rng.getrandbits(_SEED_BITS)


def _data_of_rows(
    special_rows: tuple[tuple[float, ...], ...], shape: Shape, seed: int
) -> ArrayValue:
    """Return a batch of ordinary numbers whose rows begin with the given numbers."""
    rng = random.Random(seed)  # noqa: S311 - a seeded generator is repeatable
    size = math.prod(shape)
    rows = [
        [*special, *(round(rng.uniform(-1.0, 1.0), 3) for _ in range(size))][:size]
        for special in special_rows
    ]
    numbers = tuple(chain.from_iterable(rows))
    return ArrayValue("float32", (len(rows), *shape), Explicit(numbers))
