"""What libraries ask of their parameters: from the constraints that come with ciguard, and a table.

The table holds what the constraints do not: NumPy and Python themselves, and ends of ranges that
documentation leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.knowledge import ClueSource
from ciguard.suggesting.clues import (
    ArgumentKind,
    Fact,
    Guess,
    LengthLimited,
    Limited,
    MayBe,
    NumberRange,
)
from ciguard.values import AnyOf, Bool, Float, Int, Ints, OneOf, Optional

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.knowledge import KnownApis, Parameter
    from ciguard.values import Constraint

_INT = MayBe(Guess(ArgumentKind.INT))
_FLOAT = MayBe(Guess(ArgumentKind.FLOAT))
_POSITIVE: tuple[Fact, ...] = (_INT, Limited(NumberRange(1)))
_NATURAL: tuple[Fact, ...] = (_INT, Limited(NumberRange(0)))
_SEED: tuple[Fact, ...] = (_INT, Limited(NumberRange(0, 2**32 - 1)))
_SHARE: tuple[Fact, ...] = (_FLOAT, Limited(NumberRange(0, 1, open_high=True)))
_SMALL: tuple[Fact, ...] = (_FLOAT, Limited(NumberRange(0)))
_SHAPE: tuple[Fact, ...] = (
    MayBe(Guess(ArgumentKind.TUPLE, items=(Guess(ArgumentKind.INT, NumberRange(1)),))),
    LengthLimited(NumberRange(1, 4)),
)
_ARRAY: tuple[Fact, ...] = (MayBe(Guess(ArgumentKind.ARRAY)),)

_TABLE: dict[str, tuple[tuple[str, tuple[Fact, ...]], ...]] = {
    "keras.layers.Dropout": (("rate", _SHARE),),
    "keras.layers.SpatialDropout1D": (("rate", _SHARE),),
    "keras.layers.SpatialDropout2D": (("rate", _SHARE),),
    "keras.layers.GaussianNoise": (("stddev", _SMALL),),
    "keras.layers.LeakyReLU": (("negative_slope", _SMALL),),
    "keras.layers.Embedding": (("input_dim", _POSITIVE), ("output_dim", _POSITIVE)),
    "keras.layers.Conv1D": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.Conv2D": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.Conv2DTranspose": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.RepeatVector": (("n", _POSITIVE),),
    "keras.layers.Reshape": (("target_shape", _SHAPE),),
    "keras.Input": (("shape", _SHAPE),),
    "keras.layers.Input": (("shape", _SHAPE),),
    "keras.regularizers.L1": (("l1", _SMALL),),
    "keras.regularizers.L2": (("l2", _SMALL),),
    "keras.regularizers.l1": (("l1", _SMALL),),
    "keras.regularizers.l2": (("l2", _SMALL),),
    "torch.nn.Dropout": (("p", (_FLOAT, Limited(NumberRange(0, 1)))),),
    "torch.nn.LSTM": tuple((name, _POSITIVE) for name in ("input_size", "hidden_size")),
    "torch.nn.GRU": tuple((name, _POSITIVE) for name in ("input_size", "hidden_size")),
    "torch.nn.RNN": tuple((name, _POSITIVE) for name in ("input_size", "hidden_size")),
    "torch.nn.Embedding": tuple((n, _POSITIVE) for n in ("num_embeddings", "embedding_dim")),
    "torch.manual_seed": (("seed", _SEED),),
    "torch.arange": (("start", _NATURAL), ("end", _NATURAL), ("step", _POSITIVE)),
    "torch.tril": (("input", ()), ("diagonal", (_INT,))),
    "torch.triu": (("input", ()), ("diagonal", (_INT,))),
    "numpy.zeros": (("shape", _NATURAL),),
    "numpy.ones": (("shape", _NATURAL),),
    "numpy.full": (("shape", _NATURAL),),
    "numpy.eye": (("N", _POSITIVE),),
    "numpy.arange": (("start", _NATURAL), ("stop", _NATURAL), ("step", _POSITIVE)),
    "numpy.linspace": (("start", (_FLOAT,)), ("stop", (_FLOAT,)), ("num", _POSITIVE)),
    "numpy.random.seed": (("seed", _SEED),),
    "numpy.random.RandomState": (("seed", _SEED),),
    "numpy.random.default_rng": (("seed", _SEED),),
    "numpy.random.choice": (("a", ()), ("size", _POSITIVE)),
    "numpy.random.randint": (("low", _NATURAL), ("high", _POSITIVE), ("size", _POSITIVE)),
    "numpy.random.binomial": (("n", _NATURAL), ("p", (_FLOAT, Limited(NumberRange(0, 1))))),
    "numpy.unique": (("ar", _ARRAY),),
    "numpy.argsort": (("a", _ARRAY),),
    "numpy.clip": (("a", _ARRAY),),
    "numpy.pad": (("array", _ARRAY),),
    "torch.from_numpy": (("ndarray", _ARRAY),),
    "math.sqrt": (("x", _SMALL),),
    "math.log": (("x", (_FLOAT, Limited(NumberRange(0, open_low=True)))),),
}
_RECURRENT = {"hidden_size", "input_size", "num_layers"}
_FLAGS = {"bidirectional", "batch_first", "bias", "shuffle", "trainable", "return_sequences"}
_SIZES = {
    *(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty")),
    *(f"numpy.random.{name}" for name in ("rand", "randn")),
}
"""Functions that are given each side of what they make."""
_ALIASES = (("tensorflow.keras.", "keras."), ("tensorflow.python.keras.", "keras."))
_WORTH = {
    ClueSource.DOC_PHRASE,
    ClueSource.FAMILY,
    ClueSource.SCHEMA,
    ClueSource.OPDEF,
    ClueSource.MINED_RULE,
}
"""Whose word on the upper end of a range counts: others make up what is handy for tests."""


@dataclass(frozen=True, slots=True)
class ParameterRole:
    """A parameter of a library's function, and what it asks."""

    name: str
    facts: tuple[Fact, ...]

    def item_facts(self) -> tuple[Fact, ...]:
        """Return what it asks of an item, where it is given a tuple or list."""
        kinds = [fact.guess for fact in self.facts if isinstance(fact, MayBe)]
        items = [item for guess in kinds for item in guess.items]
        if items:
            return tuple(fact for item in items for fact in (MayBe(item), Limited(item.bounds)))
        return tuple(f for f in self.facts if isinstance(f, Limited) or f == _INT)


class Roles:
    """Looks up what the parameters of libraries are."""

    def __init__(self, known_of: Callable[[str], KnownApis | None]) -> None:
        """Make one.

        Args:
            known_of: what is known of a library, by the name of its module.
        """
        self._known_of = known_of

    def of(self, qualified: str, place: int | str) -> ParameterRole | None:
        """Return what a function asks of a parameter, by position or name; None if unknown."""
        name = _canonical(qualified)
        listed = _TABLE.get(name, ())
        if isinstance(place, int) and place < len(listed):
            return ParameterRole(*listed[place])
        found = next((ParameterRole(*item) for item in listed if item[0] == place), None)
        return (
            found or self._of_sides(name, place) or self._by_name(place) or self._known(name, place)
        )

    @staticmethod
    def _by_name(place: int | str) -> ParameterRole | None:
        if place in _FLAGS:
            return ParameterRole(str(place), (MayBe(Guess(ArgumentKind.BOOL)),))
        return ParameterRole(str(place), _POSITIVE) if place in _RECURRENT else None

    @staticmethod
    def _of_sides(name: str, place: int | str) -> ParameterRole | None:
        is_side = name in _SIZES and isinstance(place, int)
        return ParameterRole("a side", _NATURAL) if is_side else None

    def _known(self, name: str, place: int | str) -> ParameterRole | None:
        known = self._known_of(name.partition(".")[0])
        listed = known.find(name) if known else ""
        if known is None or not listed:
            return None
        parameters = known.api(listed).parameters
        for position, parameter in enumerate(parameters):
            if place in {position, parameter.name}:
                facts = _facts(parameter.constraint, parameter)
                return ParameterRole(parameter.name, facts) if facts else None
        return None


def _canonical(qualified: str) -> str:
    for long, short in _ALIASES:
        if qualified.startswith(long):
            return short + qualified.removeprefix(long)
    return qualified


def _facts(constraint: Constraint, parameter: Parameter) -> tuple[Fact, ...]:
    """Return what a constraint says that somebody has said, not what was made up for tests."""
    said = {item.aspect: item.source for item in parameter.evidence}
    facts: tuple[Fact, ...] = ()
    match constraint:
        case Bool():
            facts = (MayBe(Guess(ArgumentKind.BOOL)),)
        case Int():
            is_said = _is_said(said, constraint.min)
            facts = (_INT, Limited(NumberRange(constraint.min))) if is_said else (_INT,)
        case Float():
            high = constraint.max if said.get("range") in _WORTH else None
            facts = (_FLOAT, Limited(NumberRange(constraint.min, high)))
        case OneOf() if said.get("allowed") in _WORTH:
            values = tuple(v for item in constraint.values if isinstance(v := _plain(item), str))
            facts = (MayBe(Guess(ArgumentKind.TEXT, seen=values)),) if values else ()
        case Optional():
            facts = _facts(constraint.inner, parameter)
        case AnyOf():
            options = [_facts(option, parameter) for _, option in constraint.options]
            ints = [found for found in options if _INT in found]
            is_number = all(isinstance(o, Int | Ints | OneOf) for _, o in constraint.options)
            facts = ints[0] if ints and is_number else ()
        case _:
            pass
    return facts


def _is_said(said: dict[str, ClueSource], low: int) -> bool:
    return low >= 0 and said.get("range", ClueSource.DEFAULT) is not ClueSource.DEFAULT


def _plain(value: object) -> object:
    return getattr(value, "value", None)
