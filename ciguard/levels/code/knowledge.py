"""What level `code` knows of a library: its APIs by every name that programs call them by."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource, ConstraintEvidence, understand
from ciguard.levels import LEFT_OUT
from ciguard.values import AnyOf, List, OneOf, Optional, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api, Parameter
    from ciguard.values import Constraint

INPUT_SIZES = frozenset(
    {
        "batch_input_shape", "batch_shape", "batch_size", "d_model", "embed_dim", "in1_features",
        "in2_features", "in_channels", "in_features", "inchannels", "input_dim", "input_shape",
        "input_size", "kdim", "normalized_shape", "num_channels", "num_embeddings",
        "num_features", "num_parameters", "target_shape", "unflattened_size", "vdim",
    }
)  # fmt: skip
"""Parameters that say what comes in: its channels, features, rank, greatest index. They are
repaired from what really comes in, never mutated."""
_SAME_LIBRARY = (("", ""), ("keras.", "tensorflow.keras."), ("tensorflow.keras.", "keras."))
"""How programs begin a name, and how the catalogue does."""
_HALVING = "glu"
"""Halves the last dimension, behind the back of the layer that it is given to."""
_SPACES = re.compile(r"([123])[dD](?![a-z0-9])")
WRAPPED = "layer"
"""Parameter of layers that wrap one."""
_CALLBACK = "callback"
_NO_LAYERS = frozenset(
    {
        "Container", "Layer", "Module", "ModuleDict", "ModuleList", "ParameterDict",
        "ParameterList", "Pipeline", "RNNBase", "RNNCellBase", "Sequential", "Wrapper",
    }
)  # fmt: skip
"""Base classes and containers: they compute nothing by themselves."""


class Apis:
    """The APIs of one library."""

    def __init__(
        self, records: Iterable[ApiRecord], read: Callable[[ApiRecord], Api] = understand
    ) -> None:
        """Index the records by every public name.

        Args:
            records: the catalogue.
            read: returns what is known of one; called once for each that is asked for.
        """
        listed = tuple(records)
        self._records = {name: r for r in listed for name in r.aliases}
        self._records |= {record.api: record for record in listed}
        self._modules: dict[str, dict[str, ApiRecord]] = {}
        for name, record in self._records.items():
            module, _, short = name.rpartition(".")
            self._modules.setdefault(module, {})[short] = record
        self._read = read
        self._activations = _activations(listed)
        self._known: dict[str, Api] = {}

    def find(self, name: str) -> Api | None:
        """Return what is known of an API by any of its public names; None if there is none.

        `keras.layers.Dense` is found where the library lists `tensorflow.keras.layers.Dense`, and
        the other way round.
        """
        record = next(filter(None, map(self._records.get, _spellings(name))), None)
        return None if record is None else self._of(record)

    def siblings(self, name: str) -> Iterator[tuple[str, Api]]:
        """Yield what may stand in the place of an API: a name as a program would write it, the API.

        Those are the APIs of its module and kind, apart from those whose names say other numbers of
        dimensions: `Conv2d` is no sibling of `Conv1d`, `ReLU` is. Functions take as many inputs;
        layers may take more or fewer, since their calls can be written otherwise.
        """
        own = self.find(name)
        if own is None or own.record.kind is CallKind.METHOD:
            return
        for record, shorts in self.family(name).values():
            if record.api == own.record.api or not _stands(record):
                continue
            short = _name_of(record, shorts, own.record, name)
            other = self._of(record) if short else None
            if other is not None and (own.inputs or len(data_of(other)) == len(data_of(own))):
                yield f"{name.rpartition('.')[0]}.{short}", other

    def family(self, name: str) -> dict[str, tuple[ApiRecord, list[str]]]:
        """Return the APIs of an API's module and kind, itself included.

        Returns:
            By canonical name, in that order: the record, and its names in that module.
        """
        own = self.find(name)
        listed = next(filter(None, map(self._modules.get, _spellings(name.rpartition(".")[0]))), {})
        found: dict[str, tuple[ApiRecord, list[str]]] = {}
        for short, record in listed.items():
            if own is not None and record.kind is own.record.kind:
                found.setdefault(record.api, (record, []))[1].append(short)
        return dict(sorted(found.items()))

    def _of(self, record: ApiRecord) -> Api:
        if record.api not in self._known:
            api = self._read(record)
            self._known[record.api] = with_choices(api, "activation", self._activations)
        return self._known[record.api]


def _activations(records: Iterable[ApiRecord]) -> tuple[str, ...]:
    """Return the names that Keras takes for its own activations: functions of one tensor."""
    found = []
    for record in records:
        module, _, short = record.api.rpartition(".")
        needed = [p.name for p in record.parameters if p.required]
        if module.endswith("keras.activations") and needed == ["x"] and short != _HALVING:
            found.append(short)
    return tuple(sorted(found))


def with_choices(api: Api, parameter: str, texts: tuple[str, ...]) -> Api:
    """Return an API of which a parameter, of a type that nobody says, takes one of some texts."""
    if not texts:
        return api
    choices = OneOf(tuple(map(LiteralValue, texts)))
    said = ConstraintEvidence(ClueSource.NAME, "allowed", parameter)
    changed = [
        replace(one, constraint=choices, evidence=(*one.evidence, said))
        if one.name == parameter and not is_said(one)
        else one
        for one in api.parameters
    ]
    return replace(api, parameters=tuple(changed))


def is_said(parameter: Parameter) -> bool:
    """Return whether anyone says what kind of values a parameter takes."""
    return any(evidence.aspect in {"structures", "allowed"} for evidence in parameter.evidence)


def _spellings(name: str) -> list[str]:
    dotted = f"{name}."
    found = [
        listed + dotted[len(written) :]
        for written, listed in _SAME_LIBRARY
        if dotted.startswith(written)
    ]
    return [spelling[:-1] for spelling in found]


def is_wrapper(record: ApiRecord) -> bool:
    """Return whether an API needs a layer that it wraps, as `Bidirectional` and its like do."""
    is_asked = any(p.required and p.name == WRAPPED for p in record.parameters)
    return is_asked and record.kind is CallKind.LAYER


def _stands(record: ApiRecord) -> bool:
    short = record.api.rpartition(".")[2]
    tags = record.tags - {_CALLBACK} if is_wrapper(record) else record.tags
    if LEFT_OUT & tags or short in _NO_LAYERS or short.startswith("_"):
        return False
    # `relu_` overwrites what backpropagation may need.
    return not short.endswith("_") and (record.kind is CallKind.FUNCTION or bool(record.inputs))


def spaces(record: ApiRecord) -> frozenset[str]:
    """Return the numbers of spatial dimensions that an API's names say: "2" for `Conv2d`."""
    return frozenset[str]().union(*map(_spaces_of, (record.api, *record.aliases)))


def _spaces_of(name: str) -> frozenset[str]:
    return frozenset(_SPACES.findall(name.rpartition(".")[2]))


def rank_after(before: str, after: str) -> int | None:
    """Return the rank of what an API takes, where its name says it and the one before says none.

    Args:
        before: name of the API in whose place it is put.
        after: its own; for `Conv3d`, a batch of channels of three dimensions, 5.
    """
    if _spaces_of(before) or len(_spaces_of(after)) != 1:
        return None
    return int(*_spaces_of(after)) + 2


def _name_of(record: ApiRecord, shorts: list[str], own: ApiRecord, written: str) -> str:
    """Return the name by which to write a sibling; empty where dimensions differ.

    Args:
        record: of the sibling.
        shorts: its names in the module.
        own: of the API that it stands in for.
        written: the name of that API in the program.
    """
    asked = _spaces_of(written)
    wanted, known = asked or spaces(own), spaces(record)
    if wanted and known and not wanted & known:
        return ""
    usual = record.api.rpartition(".")[2]

    def strangeness(short: str) -> tuple[bool, bool, str]:
        return bool(asked) and not asked & _spaces_of(short), short != usual, short

    return min(shorts, key=strangeness)


def data_of(api: Api) -> tuple[str, ...]:
    """Return the parameters that take the data: of a function, or of a built layer."""
    if api.record.kind is CallKind.LAYER:
        needed = [p.name for p in api.record.inputs if p.required]
        return tuple(needed) or tuple(p.name for p in api.record.inputs[:1])
    return tuple(
        p.name
        for p in api.parameters
        if p.required and p.kind is not ParameterKind.VAR_KEYWORD and _takes_tensor(p.constraint)
    )


def _takes_tensor(constraint: Constraint) -> bool:
    match constraint:
        case Tensor():
            return True
        case Optional(inner) | List(item=inner):
            return _takes_tensor(inner)
        case AnyOf(options):
            return any(_takes_tensor(option) for _, option in options)
        case _:
            return False
