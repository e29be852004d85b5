"""The APIs of a library, by every name that programs use for them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource, ConstraintEvidence, understand
from ciguard.levels import EXCLUDED_TAGS
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
"""Parameters that describe the input: channels, features, rank, or number of embeddings. They are
set from the actual input and never mutated."""
_EQUIVALENT_PREFIXES = (("", ""), ("keras.", "tensorflow.keras."), ("tensorflow.keras.", "keras."))
"""Pairs of equivalent prefixes of names: in a program, and in the catalogue."""
_HALVING_ACTIVATION = "glu"
"""Activation that halves the last dimension, which the surrounding layer does not expect."""
_DIMENSIONS = re.compile(r"([123])[dD](?![a-z0-9])")
WRAPPED_LAYER = "layer"
"""Name of the parameter that takes the wrapped layer, as in `Bidirectional`."""
_CALLBACK = "callback"
_ABSTRACT_LAYERS = frozenset(
    {
        "Container", "Layer", "Module", "ModuleDict", "ModuleList", "ParameterDict",
        "ParameterList", "Pipeline", "RNNBase", "RNNCellBase", "Sequential", "Wrapper",
    }
)  # fmt: skip
"""Names of base classes and containers, which compute nothing themselves."""


class Apis:
    """Index of one library's APIs."""

    def __init__(
        self, records: Iterable[ApiRecord], read: Callable[[ApiRecord], Api] = understand
    ) -> None:
        """Index the records by every public name.

        Args:
            records: the catalogue.
            read: the function that returns the API of a record with its constraints; it is called
                at most once per record.
        """
        all_records = tuple(records)
        self._records = {name: r for r in all_records for name in r.aliases}
        self._records |= {record.api: record for record in all_records}
        self._modules: dict[str, dict[str, ApiRecord]] = {}
        for name, record in self._records.items():
            module, _, short = name.rpartition(".")
            self._modules.setdefault(module, {})[short] = record
        self._read = read
        self._activations = _activations(all_records)
        self._apis: dict[str, Api] = {}
        """APIs that were read, by canonical name."""

    def find(self, name: str) -> Api | None:
        """Return the API with a public name; None if there is none.

        `keras.layers.Dense` is found where the library lists `tensorflow.keras.layers.Dense`, and
        vice versa.
        """
        record = next(filter(None, map(self._records.get, _spellings(name))), None)
        return None if record is None else self._api_of(record)

    def siblings(self, name: str) -> Iterator[tuple[str, Api]]:
        """Yield the APIs that may replace an API, each with its name in the program.

        Siblings are in the same module, are of the same kind, and are not for another number of
        dimensions: `ReLU` is a sibling of `Conv1d`, but `Conv2d` is not. A sibling of a function
        takes as many inputs as the function. A sibling of a layer may take more or fewer, since
        calls of layers can be rewritten.
        """
        own = self.find(name)
        if own is None or own.record.kind is CallKind.METHOD:
            return
        for record, short_names in self.family(name).values():
            if record.api == own.record.api or not _is_replacement(record):
                continue
            short = _name_of(record, short_names, own.record, name)
            other = self._api_of(record) if short else None
            if other is not None and (
                own.inputs or len(data_parameters(other)) == len(data_parameters(own))
            ):
                yield f"{name.rpartition('.')[0]}.{short}", other

    def family(self, name: str) -> dict[str, tuple[ApiRecord, list[str]]]:
        """Return the APIs that are in the same module and of the same kind as an API.

        Returns:
            Record of each API, including the API itself, and its names in the module; by canonical
            name, sorted.
        """
        own = self.find(name)
        module_records = next(
            filter(None, map(self._modules.get, _spellings(name.rpartition(".")[0]))), {}
        )
        family: dict[str, tuple[ApiRecord, list[str]]] = {}
        for short, record in module_records.items():
            if own is not None and record.kind is own.record.kind:
                family.setdefault(record.api, (record, []))[1].append(short)
        return dict(sorted(family.items()))

    def _api_of(self, record: ApiRecord) -> Api:
        if record.api not in self._apis:
            api = self._read(record)
            self._apis[record.api] = with_choices(api, "activation", self._activations)
        return self._apis[record.api]


def _activations(records: Iterable[ApiRecord]) -> tuple[str, ...]:
    """Return the sorted names of Keras's activation functions that take one tensor only."""
    names = []
    for record in records:
        module, _, short = record.api.rpartition(".")
        required = [p.name for p in record.parameters if p.required]
        if (
            module.endswith("keras.activations")
            and required == ["x"]
            and short != _HALVING_ACTIVATION
        ):
            names.append(short)
    return tuple(sorted(names))


def with_choices(api: Api, parameter: str, texts: tuple[str, ...]) -> Api:
    """Return an API in which a parameter accepts some texts, if its type is undocumented.

    Args:
        api: the API to change.
        parameter: the name of the parameter.
        texts: the texts that it accepts; if empty, the API is returned unchanged.
    """
    if not texts:
        return api
    choices = OneOf(tuple(map(LiteralValue, texts)))
    evidence = ConstraintEvidence(ClueSource.NAME, "allowed", parameter)
    changed = [
        replace(candidate, constraint=choices, evidence=(*candidate.evidence, evidence))
        if candidate.name == parameter and not is_documented(candidate)
        else candidate
        for candidate in api.parameters
    ]
    return replace(api, parameters=tuple(changed))


def is_documented(parameter: Parameter) -> bool:
    """Return whether the documentation implies what kind of values a parameter accepts."""
    return any(evidence.aspect in {"structures", "allowed"} for evidence in parameter.evidence)


def _spellings(name: str) -> list[str]:
    """Return the equivalent names under which the catalogue may list an API."""
    dotted = f"{name}."
    spellings = [
        listed + dotted[len(written) :]
        for written, listed in _EQUIVALENT_PREFIXES
        if dotted.startswith(written)
    ]
    return [spelling[:-1] for spelling in spellings]


def is_wrapper(record: ApiRecord) -> bool:
    """Return whether an API requires a layer to wrap, as `Bidirectional` does."""
    requires_layer = any(p.required and p.name == WRAPPED_LAYER for p in record.parameters)
    return requires_layer and record.kind is CallKind.LAYER


def _is_replacement(record: ApiRecord) -> bool:
    """Return whether an API may take the place of another API."""
    short = record.api.rpartition(".")[2]
    tags = record.tags - {_CALLBACK} if is_wrapper(record) else record.tags
    if EXCLUDED_TAGS & tags or short in _ABSTRACT_LAYERS or short.startswith("_"):
        return False
    # `relu_` overwrites values that backpropagation may need.
    return not short.endswith("_") and (record.kind is CallKind.FUNCTION or bool(record.inputs))


def spatial_dimensions(record: ApiRecord) -> frozenset[str]:
    """Return the numbers of spatial dimensions in an API's names, such as "2" for `Conv2d`."""
    return frozenset[str]().union(*map(_dimensions_in_name, (record.api, *record.aliases)))


def _dimensions_in_name(name: str) -> frozenset[str]:
    return frozenset(_DIMENSIONS.findall(name.rpartition(".")[2]))


def rank_after(before: str, after: str) -> int | None:
    """Return the rank of a replacement's input, if only the replacement's name implies a rank.

    `Conv3d`, for example, implies rank 5: batch, channels and three spatial dimensions.

    Args:
        before: the name of the API that is replaced.
        after: the name of the replacement.

    Returns:
        The rank, including the batch dimension; None if the rank of the input is unchanged.
    """
    if _dimensions_in_name(before) or len(_dimensions_in_name(after)) != 1:
        return None
    return int(*_dimensions_in_name(after)) + 2


def _name_of(record: ApiRecord, short_names: list[str], own: ApiRecord, written: str) -> str:
    """Return the name by which a program calls a sibling; empty if its dimensions differ.

    Args:
        record: the record of the sibling.
        short_names: the names of the sibling in the module.
        own: the record of the API that the sibling replaces.
        written: the name of the replaced API in the program.
    """
    written_dimensions = _dimensions_in_name(written)
    own_dimensions, sibling_dimensions = (
        written_dimensions or spatial_dimensions(own),
        spatial_dimensions(record),
    )
    if own_dimensions and sibling_dimensions and not own_dimensions & sibling_dimensions:
        return ""
    canonical = record.api.rpartition(".")[2]

    def name_rank(short: str) -> tuple[bool, bool, str]:
        return (
            bool(written_dimensions) and not written_dimensions & _dimensions_in_name(short),
            short != canonical,
            short,
        )

    return min(short_names, key=name_rank)


def data_parameters(api: Api) -> tuple[str, ...]:
    """Return the parameters that take the data, of a function or of a layer's call."""
    if api.record.kind is CallKind.LAYER:
        required = [p.name for p in api.record.inputs if p.required]
        return tuple(required) or tuple(p.name for p in api.record.inputs[:1])
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
