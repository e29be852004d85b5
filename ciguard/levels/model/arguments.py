"""Arguments that leave a layer's output shape alone, drawn from what the documentation says.

Where it enumerates values, gives a range or says that there are two, these are drawn; elsewhere
from a table of values that every version of Keras takes.
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

GIVEN = 0.2
"""How often such an argument is given."""
ONE_GIVEN = 0.5
"""How often one of them is given for certain: layers that have few would have none most times."""
ACTIVATIONS = "keras.activations."
"""Where the library has them."""
_NO_ACTIVATION = {"deserialize", "get", "serialize"}
_NOT_AS_ARGUMENT = {"glu", "threshold"}
"""Halves the last dimension; cannot be called without further arguments."""
USUAL_ACTIVATIONS = ("relu", "tanh", "sigmoid", "leaky_relu", "elu", "softplus", "linear")
"""For a library that is known by nothing else."""
_TABLE: Mapping[str, tuple[Json, ...]] = {
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
_REFUSED = {"lanczos3", "lanczos5"}
"""Documented for every backend, refused by PyTorch's: a mutant with it says nothing new."""
_SAID = {ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE}
"""Whose ranges are the documentation's: names and defaults only suggest some."""


class LayerArguments:
    """Values of arguments, per layer; what is known of a layer is read when it is first drawn."""

    def __init__(self, records: Iterable[ApiRecord] = ()) -> None:
        """Index the records by every public name."""
        self._records = {name: r for r in records for name in (r.api, *r.aliases)}
        said = [
            name.removeprefix(ACTIVATIONS) for name in self._records if name.startswith(ACTIVATIONS)
        ]
        known = sorted(set(said) - _NO_ACTIVATION - _NOT_AS_ARGUMENT)
        self.activations: tuple[str, ...] = tuple(known) or USUAL_ACTIVATIONS
        """Names that `activation` arguments take."""
        self._of = cache(self._read)

    def knows(self, layer: str) -> bool:
        """Return whether the library has a layer of this public name; all, if nothing is known."""
        return not self._records or layer in self._records

    def draw(self, rng: random.Random, kind: LayerKind) -> Config:
        """Draw some of the arguments of a layer that leave its output shape alone."""
        known = self._of(kind)
        certain = rng.choice(tuple(known)) if known and rng.random() < ONE_GIVEN else ""
        return {
            name: self._value(rng, values)
            for name, values in known.items()
            if name == certain or rng.random() < GIVEN
        }

    def _value(self, rng: random.Random, values: tuple[Json, ...] | Int | Float) -> Json:
        match values:
            case Int(min=low, max=high):
                return rng.randint(low, high)
            case Float(min=low, max=high):
                return round(low + (high - low) * rng.random(), 3)
            case _:
                return rng.choice(values)

    def _read(self, kind: LayerKind) -> dict[str, tuple[Json, ...] | Int | Float]:
        record = self._records.get(kind.public)
        if record is None:
            has = set(kind.varying) if not self._records else set[str]()
            return {name: self._usual(name) for name in kind.varying if name in has}
        known = {p.name: p for p in understand(record).parameters if p.name in kind.varying}
        return {
            name: _documented(known[name]) or self._usual(name)
            for name in kind.varying
            if name in known
        }

    def _usual(self, name: str) -> tuple[Json, ...]:
        return self.activations if name.endswith("activation") else _TABLE[name]


def _documented(parameter: Parameter) -> tuple[Json, ...] | Int | Float | None:
    """Return what the documentation says of an argument's values, if it says enough."""
    constraint = parameter.constraint
    if isinstance(constraint, Optional):
        constraint = constraint.inner
    ranged = any(e.aspect == "range" and e.source in _SAID for e in parameter.evidence)
    match constraint:
        case Bool():
            return (True, False)
        case OneOf(values=values):
            literals = [v.value for v in values if isinstance(v, LiteralValue)]
            distinct = tuple(v for v in dict.fromkeys(literals) if v not in _REFUSED)
            # A default alone is no enumeration.
            return distinct if len(distinct) > 1 and len(literals) == len(values) else None
        case Int() | Float() if ranged:
            return constraint
        case _:
            return None
