"""The adapter of the planted library. Runs in the target: Python 3.9, numpy."""

from __future__ import annotations

import inspect
import random
from typing import Any, Iterator, Sequence  # noqa: UP035 - Python 3.9

import numpy as np

from ciguard.libraries.in_target import introspection
from ciguard.libraries.in_target.contract import Adapter

_PARTS = (
    "planted.odd",
    "planted.heavy",
    "planted.versions",
    "planted.memory",
    "planted.documented",
    "planted.absent",
    "planted.hostile",
)
"""Documented badly, costly, changed, not loadable, hostile; tagged: none is called by chance."""
_TAGS = {
    "meet": ["debug"],
    "remove": ["files"],
    "read": ["files"],
    "connect": ["network"],
    "close_everything": ["process"],
    "noise": ["random"],
    "worker_pid": ["debug"],
    "total": ["debug"],
}


class PlantedAdapter(Adapter):
    """Arrays are numpy's own."""

    module = "planted"
    mutable = True

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}

    def describe(self) -> Iterator[dict[str, Any]]:
        """Yield a record per public function and class; a module that breaks is left out."""
        library = self.resolve(self.module)
        found = [
            (f"planted.{name}", vars(library)[name])
            for name in sorted(vars(library))
            if not name.startswith("_")
            and getattr(vars(library)[name], "__module__", "") == self.module
        ]
        yield from introspection.each(found, record_of)
        lost: list[dict[str, Any]] = []
        for path, module in introspection.modules(_PARTS, failures=lost):
            parts = [(f"{path}.{name}", vars(module)[name]) for name in sorted(vars(module))]
            own = [(api, thing) for api, thing in parts if _is_own(api, thing, path)]
            yield from introspection.each(own, _odd_record)
        yield from lost

    def tensor(self, array: Any, dtype: str) -> Any:
        """Return the array itself; a copy is kept to see what a call does to it."""
        del dtype
        self._copies[id(array)] = array.copy()
        return array

    def effects(self, made: Sequence[Any], output: Any) -> tuple[list[int], list[int]]:
        """Compare each array with its copy; a result shares memory if it is one of them."""
        known = [(place, one, self._copies.get(id(one), one)) for place, one in enumerate(made)]
        changed = [place for place, one, was in known if one.tobytes() != was.tobytes()]
        return changed, [place for place, one in enumerate(made) if one is output]

    def dtype(self, name: str) -> Any:
        """Return numpy's dtype."""
        try:
            return np.dtype(name)
        except TypeError as error:
            raise AttributeError(name) from error

    def read(self, output: Any) -> dict[str, Any] | None:
        """Read an array."""
        if isinstance(output, np.ndarray):
            name = "string" if output.dtype.kind in "OSU" else str(output.dtype)
            return {"dtype": name, "array": output}
        return None

    def reset(self, seed: int) -> None:
        """Seed Python's generator, the only state there is, and forget the last case."""
        random.seed(seed)
        self._copies.clear()


def _is_own(api: str, thing: Any, module: str) -> bool:
    name = api.rpartition(".")[2]
    return callable(thing) and not name.startswith("_") and thing.__module__ == module


def record_of(api: str, found: Any) -> dict[str, Any]:
    """Return the record of a function or class."""
    return {
        "api": api,
        "kind": "layer" if inspect.isclass(found) else "function",
        "parameters": [_parameter(p) for p in inspect.signature(found).parameters.values()],
        "doc": inspect.getdoc(found) or "",
        "source": "signature",
        "tags": _TAGS.get(api.rpartition(".")[2], []),
    }


def _odd_record(api: str, found: Any) -> dict[str, Any]:
    doc = introspection.doc_of(found)
    parameters = introspection.from_signature(found)
    source = "signature" if parameters is not None else ""
    parameters = parameters or []
    introspection.describe_parameters(parameters, doc)
    return introspection.record(api, "function", parameters, doc=doc, source=source, tags=["debug"])


def _parameter(parameter: inspect.Parameter) -> dict[str, Any]:
    has_default = parameter.default is not inspect.Parameter.empty
    return {
        "name": parameter.name,
        "kind": parameter.kind.name.lower(),
        "required": not has_default,
        "default": repr(parameter.default) if has_default else None,
        "annotation": str(parameter.annotation),
    }


ADAPTER = PlantedAdapter
