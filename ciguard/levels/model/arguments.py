"""Drawing of layer arguments that do not change the output's shape.

Values come from documented enumerations, ranges and booleans. For other arguments, a table has
values that every version of Keras accepts.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource, understand
from ciguard.values import Bool, Float, Int, OneOf, Optional

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json
    from ciguard.knowledge import Parameter
    from ciguard.levels.model.layers import Config, LayerKind

ARGUMENT_PROBABILITY = 0.2
"""Probability that a layer gets an argument."""
CERTAIN_ARGUMENT_PROBABILITY = 0.5
"""Probability that a layer gets one argument in any case; otherwise layers with few arguments would
often get none."""
ACTIVATIONS = "keras.activations."
"""Module of the library's activations."""
_OTHER_FUNCTIONS = {"deserialize", "get", "serialize"}
"""Functions in the module of activations that are not activations."""
_UNUSABLE_ACTIVATIONS = {"glu", "threshold"}
"""Activations that are not drawn: `glu` halves the last dimension, `threshold` needs arguments."""
USUAL_ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu", "elu", "softplus", "linear")
"""Activations to draw if there is no catalogue."""
_COMMON_VALUES: Mapping[str, tuple[Json, ...]] = {
    "alpha": (0.1, 0.5, 1.0),
    "antialias": (True, False),
    "center": (True, False),
    "crop_to_aspect_ratio": (True, False),
    "dropout": (0.0, 0.3),
    "epsilon": (1e-7, 1e-5, 1e-3, 0.1),
    "fill_mode": ("constant", "nearest", "wrap", "reflect"),
    "fill_value": (0.0, 1.0),
    "go_backwards": (True, False),
    "interpolation": ("nearest", "bilinear"),
    "l1": (0.0, 0.01),
    "l2": (0.0, 0.01),
    "mag_exp": (1.0, 2.0),
    "mask_value": (0.0, -1.0),
    "max_value": (6.0, 1.0),
    "mode": ("horizontal", "vertical", "horizontal_and_vertical"),
    "momentum": (0.0, 0.5, 0.9, 0.999),
    "negative_slope": (0.0, 0.01, 0.3, 1.0),
    "normalize": (True, False),
    "power_iterations": (1, 2),
    "power_to_db": (True, False),
    "rate": (0.0, 0.1, 0.5, 0.9),
    "recurrent_dropout": (0.0, 0.3),
    "reset_after": (True, False),
    "scale": (True, False),
    "score_mode": ("dot", "concat"),
    "threshold": (0.0, 0.5),
    "unit_forget_bias": (True, False),
    "unroll": (True, False),
    "use_bias": (True, False),
    "use_scale": (True, False),
}
_UNSUPPORTED_VALUES = {"lanczos3", "lanczos5"}
"""Documented values that PyTorch's backend rejects; as this is known, mutants do not draw
them."""
_WITHOUT_EFFECT_ALONE = {
    "activity_regularizer", "autocast", "dtype", "kwargs", "name", "return_state", "stateful",
    "trainable",
}  # fmt: skip
"""Arguments that change no output, or whose outputs a graph cannot hold."""
_DOCUMENTATION_SOURCES = {ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE}
"""Sources of evidence that count as documentation; names and defaults only suggest ranges."""


class LayerArguments:
    """Values that the arguments of layers may have; read from a layer's record when needed."""

    def __init__(self, records: Iterable[ApiRecord] = ()) -> None:
        """Index the records by every public name."""
        self._records = {name: r for r in records for name in (r.api, *r.aliases)}
        names = [
            name.removeprefix(ACTIVATIONS) for name in self._records if name.startswith(ACTIVATIONS)
        ]
        usable = sorted(set(names) - _OTHER_FUNCTIONS - _UNUSABLE_ACTIVATIONS)
        self.activations: tuple[str, ...] = tuple(usable) or USUAL_ACTIVATIONS
        """Names that `activation` arguments accept."""
        self._values_of = cache(self._read_values)

    def knows(self, layer: str) -> bool:
        """Return whether the library has a layer with a public name; True without a catalogue."""
        return not self._records or layer in self._records

    def draw(self, rng: random.Random, kind: LayerKind) -> Config:
        """Draw values for some arguments of a layer that do not change its output's shape."""
        values_by_name = self._values_of(kind)
        certain_name = (
            rng.choice(tuple(values_by_name))
            if values_by_name and rng.random() < CERTAIN_ARGUMENT_PROBABILITY
            else ""
        )
        return {
            name: self._value(rng, values)
            for name, values in values_by_name.items()
            if name == certain_name or rng.random() < ARGUMENT_PROBABILITY
        }

    def listed_values(self, kind: LayerKind) -> dict[str, tuple[Json, ...]]:
        """Return the listed values of a layer's arguments, also those that some backends reject."""
        values_by_name = {
            name: values
            for name, values in self._values_of(kind).items()
            if isinstance(values, tuple)
        }
        if "interpolation" in values_by_name:
            known = values_by_name["interpolation"]
            values_by_name["interpolation"] = (*known, *sorted(_UNSUPPORTED_VALUES - {*known}))
        return values_by_name

    def switches(self, kind: LayerKind) -> dict[str, tuple[Json, ...]]:
        """Return the values of further arguments of a layer that are listed, or true and false.

        They may change the output's shape, so mutants do not draw them.
        """
        record = self._records.get(kind.public)
        parameters = understand(record).parameters if record is not None else ()
        values_by_name = {
            parameter.name: _documented_values(parameter)
            for parameter in parameters
            if parameter.name not in {*kind.varied_arguments, *_WITHOUT_EFFECT_ALONE}
        }
        return {
            name: values for name, values in values_by_name.items() if isinstance(values, tuple)
        }

    def has(self, kind: LayerKind, name: str) -> bool:
        """Return whether a layer's constructor has a parameter; False without a catalogue."""
        record = self._records.get(kind.public)
        return record is not None and any(p.name == name for p in record.parameters)

    def _value(self, rng: random.Random, values: tuple[Json, ...] | Int | Float) -> Json:
        match values:
            case Int(min=low, max=high):
                return rng.randint(low, high)
            case Float(min=low, max=high):
                return round(low + (high - low) * rng.random(), 3)
            case _:
                return rng.choice(values)

    def _read_values(self, kind: LayerKind) -> dict[str, tuple[Json, ...] | Int | Float]:
        record = self._records.get(kind.public)
        if record is None:
            names = set(kind.varied_arguments) if not self._records else set[str]()
            return {
                name: self._common_values(name) for name in kind.varied_arguments if name in names
            }
        parameters = {
            p.name: p for p in understand(record).parameters if p.name in kind.varied_arguments
        }
        return {
            name: _documented_values(parameters[name]) or self._common_values(name)
            for name in kind.varied_arguments
            if name in parameters
        }

    def _common_values(self, name: str) -> tuple[Json, ...]:
        return self.activations if name.endswith("activation") else _COMMON_VALUES[name]


def _documented_values(parameter: Parameter) -> tuple[Json, ...] | Int | Float | None:
    """Return the values or range that an argument's documentation lists; None if it lists none."""
    constraint = parameter.constraint
    if isinstance(constraint, Optional):
        constraint = constraint.inner
    is_ranged = any(
        e.aspect == "range" and e.source in _DOCUMENTATION_SOURCES for e in parameter.evidence
    )
    match constraint:
        case Bool():
            return (True, False)
        case OneOf(values=values):
            literals = [v.value for v in values if isinstance(v, LiteralValue)]
            distinct = tuple(v for v in dict.fromkeys(literals) if v not in _UNSUPPORTED_VALUES)
            # A single default is not an enumeration.
            return distinct if len(distinct) > 1 and len(literals) == len(values) else None
        case Int() | Float() if is_ranged:
            return constraint
        case _:
            return None
