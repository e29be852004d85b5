"""What level `code` knows of a library: its APIs by every name that programs call them by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain import CallKind, ParameterKind
from ciguard.knowledge import understand
from ciguard.levels.selection import LEFT_OUT
from ciguard.values import AnyOf, List, Optional, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.domain import ApiRecord
    from ciguard.knowledge import Api
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
_SPACES = re.compile(r"([123])[dD](?![a-z0-9])")
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

        Those are the APIs of its module and kind which take as many inputs. A layer's are made of
        as many dimensions as its name says: `Conv1d` has no sibling `Conv2d`.
        """
        own = self.find(name)
        if own is None or own.record.kind is CallKind.METHOD:
            return
        for record, shorts in self.family(name).values():
            if record.api == own.record.api or not _stands(record):
                continue
            short = _of_same_spaces(shorts, spaces(own.record), record)
            other = self._of(record) if short else None
            if other is not None and len(data_of(other)) == len(data_of(own)):
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
            self._known[record.api] = self._read(record)
        return self._known[record.api]


def _spellings(name: str) -> list[str]:
    dotted = f"{name}."
    found = [
        listed + dotted[len(written) :]
        for written, listed in _SAME_LIBRARY
        if dotted.startswith(written)
    ]
    return [spelling[:-1] for spelling in found]


def _stands(record: ApiRecord) -> bool:
    short = record.api.rpartition(".")[2]
    if LEFT_OUT & record.tags or short in _NO_LAYERS or short.startswith("_"):
        return False
    # `relu_` overwrites what backpropagation may need.
    return not short.endswith("_") and (record.kind is CallKind.FUNCTION or bool(record.inputs))


def spaces(record: ApiRecord) -> frozenset[str]:
    """Return the numbers of spatial dimensions that an API's names say: "2" for `Conv2d`."""
    shorts = (name.rpartition(".")[2] for name in (record.api, *record.aliases))
    return frozenset(digit for short in shorts for digit in _SPACES.findall(short))


def _of_same_spaces(shorts: list[str], wanted: frozenset[str], record: ApiRecord) -> str:
    """Return the name of a sibling that says the same dimensions; empty if none does."""
    known = spaces(record)
    if not wanted and not known:
        return min(shorts, key=lambda short: (short != record.api.rpartition(".")[2], short))
    if not wanted & known:
        return ""
    marked = [short for short in shorts if wanted & set(_SPACES.findall(short))]
    return min(marked or shorts)


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
