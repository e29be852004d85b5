"""Facts about the parameters of libraries, from ciguard's constraints and from a table.

The table covers what the constraints lack: NumPy, Python itself, and bounds that the libraries'
documentation does not state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.knowledge import ClueSource
from ciguard.suggesting.clues import (
    ArgumentKind,
    Fact,
    Guess,
    LengthRange,
    NumberRange,
    PossibleValues,
    ValueRange,
)
from ciguard.values import AnyOf, Bool, Float, Int, Ints, OneOf, Optional

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.knowledge import KnownApis, Parameter
    from ciguard.values import Constraint

_INT = PossibleValues(Guess(ArgumentKind.INT))
_FLOAT = PossibleValues(Guess(ArgumentKind.FLOAT))
_POSITIVE: tuple[Fact, ...] = (_INT, ValueRange(NumberRange(1)))
_NATURAL: tuple[Fact, ...] = (_INT, ValueRange(NumberRange(0)))
_SEED: tuple[Fact, ...] = (_INT, ValueRange(NumberRange(0, 2**32 - 1)))
_FRACTION: tuple[Fact, ...] = (_FLOAT, ValueRange(NumberRange(0, 1, open_high=True)))
_NON_NEGATIVE: tuple[Fact, ...] = (_FLOAT, ValueRange(NumberRange(0)))
_SHAPE: tuple[Fact, ...] = (
    PossibleValues(Guess(ArgumentKind.TUPLE, items=(Guess(ArgumentKind.INT, NumberRange(1)),))),
    LengthRange(NumberRange(1, 4)),
)
_ARRAY: tuple[Fact, ...] = (PossibleValues(Guess(ArgumentKind.ARRAY)),)

_FACTS_BY_API: dict[str, tuple[tuple[str, tuple[Fact, ...]], ...]] = {
    "keras.layers.Dropout": (("rate", _FRACTION),),
    "keras.layers.SpatialDropout1D": (("rate", _FRACTION),),
    "keras.layers.SpatialDropout2D": (("rate", _FRACTION),),
    "keras.layers.GaussianNoise": (("stddev", _NON_NEGATIVE),),
    "keras.layers.LeakyReLU": (("negative_slope", _NON_NEGATIVE),),
    "keras.layers.Embedding": (("input_dim", _POSITIVE), ("output_dim", _POSITIVE)),
    "keras.layers.Conv1D": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.Conv2D": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.Conv2DTranspose": (("filters", _POSITIVE), ("kernel_size", _POSITIVE)),
    "keras.layers.RepeatVector": (("n", _POSITIVE),),
    "keras.layers.Reshape": (("target_shape", _SHAPE),),
    "keras.Input": (("shape", _SHAPE),),
    "keras.layers.Input": (("shape", _SHAPE),),
    "keras.regularizers.L1": (("l1", _NON_NEGATIVE),),
    "keras.regularizers.L2": (("l2", _NON_NEGATIVE),),
    "keras.regularizers.l1": (("l1", _NON_NEGATIVE),),
    "keras.regularizers.l2": (("l2", _NON_NEGATIVE),),
    "torch.nn.Dropout": (("p", (_FLOAT, ValueRange(NumberRange(0, 1)))),),
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
    "numpy.random.binomial": (("n", _NATURAL), ("p", (_FLOAT, ValueRange(NumberRange(0, 1))))),
    "numpy.unique": (("ar", _ARRAY),),
    "numpy.argsort": (("a", _ARRAY),),
    "numpy.clip": (("a", _ARRAY),),
    "numpy.pad": (("array", _ARRAY),),
    "torch.from_numpy": (("ndarray", _ARRAY),),
    "math.sqrt": (("x", _NON_NEGATIVE),),
    "math.log": (("x", (_FLOAT, ValueRange(NumberRange(0, open_low=True)))),),
}
"""Names and facts of an API's first parameters, in order, by the API's qualified name."""
_LAYER_SIZES = {"hidden_size", "input_size", "num_layers"}
_FLAGS = {"bidirectional", "batch_first", "bias", "shuffle", "trainable", "return_sequences"}
_SIZE_FUNCTIONS = {
    *(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty")),
    *(f"numpy.random.{name}" for name in ("rand", "randn")),
}
"""Functions whose positional arguments are the sizes of the dimensions."""
_ALIASES = (("tensorflow.keras.", "keras."), ("tensorflow.python.keras.", "keras."))
"""Prefixes of names, and the prefixes that replace them before a look-up."""
_TRUSTED_SOURCES = {
    ClueSource.DOC_PHRASE,
    ClueSource.FAMILY,
    ClueSource.SCHEMA,
    ClueSource.OPDEF,
    ClueSource.MINED_RULE,
}
"""Sources whose upper bounds are facts; other upper bounds only keep test values small."""
_CUSTOMARY_SOURCES = {ClueSource.FAMILY, ClueSource.NAME}
"""Sources whose lower bounds above 1 only keep test values useful, such as windows of 2."""


@dataclass(frozen=True, slots=True)
class ParameterRole:
    """A parameter of a library's function."""

    name: str
    """Name of the parameter."""
    facts: tuple[Fact, ...]
    """Facts about the valid values of the parameter."""

    def item_facts(self) -> tuple[Fact, ...]:
        """Return the facts about each item of a tuple or list that is passed for the parameter."""
        kinds = [fact.guess for fact in self.facts if isinstance(fact, PossibleValues)]
        items = [item for guess in kinds for item in guess.items]
        if items:
            return tuple(
                fact for item in items for fact in (PossibleValues(item), ValueRange(item.bounds))
            )
        return tuple(fact for fact in self.facts if isinstance(fact, ValueRange) or fact == _INT)


class Roles:
    """Facts about the parameters of libraries."""

    def __init__(self, known_apis_of: Callable[[str], KnownApis | None]) -> None:
        """Create the look-up.

        Args:
            known_apis_of: returns the known APIs of a library by its module name; None for an
                unknown library.
        """
        self._known_apis_of = known_apis_of

    def role_of(self, qualified: str, position_or_name: int | str) -> ParameterRole | None:
        """Return the facts about a parameter; None if nothing is known.

        Args:
            qualified: qualified name of the called function.
            position_or_name: position or name of the parameter.
        """
        name = _canonical(qualified)
        parameters = _FACTS_BY_API.get(name, ())
        if isinstance(position_or_name, int) and position_or_name < len(parameters):
            return ParameterRole(*parameters[position_or_name])
        role = next(
            (ParameterRole(*item) for item in parameters if item[0] == position_or_name), None
        )
        return (
            role
            or self._size_role(name, position_or_name)
            or self._role_by_name(position_or_name)
            or self._known_role(name, position_or_name)
        )

    @staticmethod
    def _role_by_name(position_or_name: int | str) -> ParameterRole | None:
        if position_or_name in _FLAGS:
            return ParameterRole(str(position_or_name), (PossibleValues(Guess(ArgumentKind.BOOL)),))
        return (
            ParameterRole(str(position_or_name), _POSITIVE)
            if position_or_name in _LAYER_SIZES
            else None
        )

    @staticmethod
    def _size_role(name: str, position_or_name: int | str) -> ParameterRole | None:
        is_size = name in _SIZE_FUNCTIONS and isinstance(position_or_name, int)
        return ParameterRole("a size", _NATURAL) if is_size else None

    def _known_role(self, name: str, position_or_name: int | str) -> ParameterRole | None:
        """Return a role from the known APIs of a library; None if it is unknown."""
        known = self._known_apis_of(name.partition(".")[0])
        api_name = known.find(name) if known else ""
        if known is None or not api_name:
            return None
        parameters = known.api(api_name).parameters
        for position, parameter in enumerate(parameters):
            if position_or_name in {position, parameter.name}:
                facts = _facts(parameter.constraint, parameter)
                return ParameterRole(parameter.name, facts) if facts else None
        return None


def _canonical(qualified: str) -> str:
    """Return the name under which facts about a function are stored."""
    for alias, canonical in _ALIASES:
        if qualified.startswith(alias):
            return canonical + qualified.removeprefix(alias)
    return qualified


def _facts(constraint: Constraint, parameter: Parameter) -> tuple[Fact, ...]:
    """Return the documented facts of a parameter's constraint, without bounds chosen for tests."""
    source_by_aspect = {item.aspect: item.source for item in parameter.evidence}
    facts: tuple[Fact, ...] = ()
    match constraint:
        case Bool():
            facts = (PossibleValues(Guess(ArgumentKind.BOOL)),)
        case Int():
            is_documented = _is_documented(source_by_aspect, constraint.min)
            is_custom = source_by_aspect.get("range") in _CUSTOMARY_SOURCES
            low = min(constraint.min, 1) if is_custom else constraint.min
            facts = (_INT, ValueRange(NumberRange(low))) if is_documented else (_INT,)
        case Float():
            high = constraint.max if source_by_aspect.get("range") in _TRUSTED_SOURCES else None
            facts = (_FLOAT, ValueRange(NumberRange(constraint.min, high)))
        case OneOf() if source_by_aspect.get("allowed") in _TRUSTED_SOURCES:
            values = tuple(
                value
                for item in constraint.values
                if isinstance(value := _literal_value(item), str)
            )
            facts = (PossibleValues(Guess(ArgumentKind.TEXT, examples=values)),) if values else ()
        case Optional():
            facts = _facts(constraint.inner, parameter)
        case AnyOf():
            options = [_facts(option, parameter) for _, option in constraint.options]
            ints = [option_facts for option_facts in options if _INT in option_facts]
            is_number = all(
                isinstance(option, Int | Ints | OneOf) for _, option in constraint.options
            )
            facts = ints[0] if ints and is_number else ()
        case _:
            pass
    return facts


def _is_documented(source_by_aspect: dict[str, ClueSource], low: int) -> bool:
    return low >= 0 and source_by_aspect.get("range", ClueSource.DEFAULT) is not ClueSource.DEFAULT


def _literal_value(value: object) -> object:
    return getattr(value, "value", None)
