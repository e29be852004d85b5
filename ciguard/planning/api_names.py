"""Public names of APIs: maps names in sources to names in the catalogue."""

from __future__ import annotations

import builtins
import io
import json
import pathlib
import re
from collections import defaultdict
from functools import cached_property

import numpy as np

from ciguard.campaign import shipped_files
from ciguard.libraries import LIBRARIES, library_of_api

_API_PATTERN = re.compile(r'^\{"api":"([^"]+)"', re.MULTILINE)
_ALIASES_PATTERN = re.compile(r'^\{"api":"([^"]+)".*"aliases":(\[[^\]]*\])', re.MULTILINE)
_INTERNAL_PARTS = frozenset({"modules", "src", "python", "_src", "ops", "layers"})
"""Parts of internal module paths. Classes in such modules have public aliases of the same name."""
_MIN_METHOD_LENGTH = 3
"""Minimum length of a name that identifies a method of tensors."""


class ApiNames:
    """Names of the libraries' APIs, from the catalogues shipped with ciguard.

    A library without a shipped catalogue, such as a plug-in, has no names here.
    """

    def __init__(self) -> None:
        self._names_by_module: dict[str, dict[str, str]] = {}
        self._names_by_last_part: dict[str, dict[str, list[str]]] = {}
        self._modules = {
            library.module: library.name
            for library in LIBRARIES.items().values()
            if library.has_api
        }
        self._methods = {
            library.module: f"{library.tensor_class}."
            for library in LIBRARIES.items().values()
            if library.tensor_class
        }
        """Prefix of the names of tensor methods, by the library's module."""

    def is_library(self, module: str) -> bool:
        """Return whether a name is the top-level module of a known library."""
        return module in self._modules

    def library_of(self, api: str) -> str:
        """Return the name of an API's library."""
        module = api.partition(".")[0]
        return self._modules.get(module, module)

    def catalogue_name(self, source_name: str) -> str:
        """Return the name in the catalogue for a name in a source; empty if there is none.

        For example, `torch.nn.functional.conv2d` maps to `torch.conv2d`, and
        `torch.nn.Linear.forward` maps to its class.
        """
        name = self.with_public_prefix(source_name)
        names = self._names(name.partition(".")[0])
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            api = names.get(".".join(parts[:length]))
            if api:
                return api
        return self._name_by_last_part(parts)

    @staticmethod
    def with_public_prefix(name: str) -> str:
        """Return a name with an internal prefix replaced by the library's public prefix."""
        library = library_of_api(name)
        for prefix, public_prefix in library.spellings.items() if library is not None else ():
            if name.startswith(prefix):
                return public_prefix + name.removeprefix(prefix)
        return name

    def tensor_method(self, module: str, name: str) -> str:
        """Return the API of a method of tensors; empty if objects of other types have the name too.

        Args:
            module: the top-level module of the library.
            name: the name of the method.
        """
        prefix = self._methods.get(module, "")
        if not prefix or len(name) < _MIN_METHOD_LENGTH or name in self._common_attributes:
            return ""
        return self._names(module).get(prefix + name, "")

    def _name_by_last_part(self, parts: list[str]) -> str:
        """Return the public name of a class or function that is named by its internal module."""
        if not _INTERNAL_PARTS.intersection(parts[1:-1]):
            return ""
        candidates = self._names_by_last_part[parts[0]].get(parts[-1], [])
        return candidates[0] if len(candidates) == 1 else ""

    def _names(self, module: str) -> dict[str, str]:
        if module not in self._names_by_module:
            self._names_by_module[module] = names = _shipped_names(self._modules.get(module, ""))
            by_last_part: dict[str, list[str]] = defaultdict(list)
            for name in dict.fromkeys(names.values()):
                if not name.startswith(tuple(self._methods.values())):
                    by_last_part[name.rpartition(".")[2]].append(name)
            self._names_by_last_part[module] = by_last_part
        return self._names_by_module[module]

    @cached_property
    def _common_attributes(self) -> frozenset[str]:
        """Names of attributes of common types of Python and numpy."""
        kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
        kinds += [np.ndarray, np.generic, np.random.Generator, re.Pattern, re.Match]
        kinds += [pathlib.Path, io.TextIOWrapper, io.BytesIO]
        return frozenset(name for kind in kinds for name in dir(kind))


def _shipped_names(library: str) -> dict[str, str]:
    """Return the name in the shipped catalogue by each name of an API: itself and its aliases."""
    files = shipped_files(library) if library else []
    if not files:
        return {}
    # A pattern extracts the names, since parsing all records would take a second.
    text = files[0].read_text("utf-8")
    names = {name: name for name in _API_PATTERN.findall(text)}
    for name, aliases in _ALIASES_PATTERN.findall(text):
        names |= dict.fromkeys(json.loads(aliases), name)
    return names
