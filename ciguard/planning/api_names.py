"""Public names of APIs: from what a source writes to what the catalogue calls it."""

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

_NAME = re.compile(r'^\{"api":"([^"]+)"', re.MULTILINE)
_ALIASES = re.compile(r'^\{"api":"([^"]+)".*"aliases":(\[[^\]]*\])', re.MULTILINE)
_INTERNAL = frozenset({"modules", "src", "python", "_src", "ops", "layers"})
"""Parts of module paths behind which classes keep the name of their public alias."""
_MIN_OF_METHOD = 3


class ApiNames:
    """What the libraries' APIs are called, as the catalogues shipped with ciguard have it.

    A library without one, such as a plug-in's, keeps the names as they are written.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}
        self._tails: dict[str, dict[str, list[str]]] = {}
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
        """What the names of tensors' methods begin with, by module."""

    def is_library(self, module: str) -> bool:
        """Return whether a top-level module is that of a known library."""
        return module in self._modules

    def library_of(self, api: str) -> str:
        """Return the name of the library that an API belongs to."""
        module = api.partition(".")[0]
        return self._modules.get(module, module)

    def has_catalogue(self, module: str) -> bool:
        """Return whether anything is known of a library's names."""
        return bool(self._names(module))

    def known(self, written: str) -> str:
        """Return the catalogue's name of what a source writes; empty if it holds none.

        `torch.nn.functional.conv2d` is `torch.conv2d` there, and of `torch.nn.Linear.forward` it
        knows the class.
        """
        name = self.written(written)
        names = self._names(name.partition(".")[0])
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            found = names.get(".".join(parts[:length]))
            if found:
                return found
        return self._by_tail(parts)

    @staticmethod
    def written(name: str) -> str:
        """Return a name with its beginning as the public one."""
        library = library_of_api(name)
        for beginning, public in library.spellings.items() if library is not None else ():
            if name.startswith(beginning):
                return public + name.removeprefix(beginning)
        return name

    def method(self, module: str, name: str) -> str:
        """Return the API of a tensor's method whose name nothing else answers to; or nothing."""
        prefix = self._methods.get(module, "")
        if not prefix or len(name) < _MIN_OF_METHOD or name in self._usual:
            return ""
        return self._names(module).get(prefix + name, "")

    def _by_tail(self, parts: list[str]) -> str:
        """Find the public name of a class or function that is written by its internal module."""
        if not _INTERNAL.intersection(parts[1:-1]):
            return ""
        found = self._tails[parts[0]].get(parts[-1], [])
        return found[0] if len(found) == 1 else ""

    def _names(self, module: str) -> dict[str, str]:
        if module not in self._known:
            self._known[module] = names = _shipped(self._modules.get(module, ""))
            tails: dict[str, list[str]] = defaultdict(list)
            for name in dict.fromkeys(names.values()):
                if not name.startswith(tuple(self._methods.values())):
                    tails[name.rpartition(".")[2]].append(name)
            self._tails[module] = tails
        return self._known[module]

    @cached_property
    def _usual(self) -> frozenset[str]:
        """Names of attributes that objects of Python and numpy have."""
        kinds = [kind for kind in vars(builtins).values() if isinstance(kind, type)]
        kinds += [np.ndarray, np.generic, np.random.Generator, re.Pattern, re.Match]
        kinds += [pathlib.Path, io.TextIOWrapper, io.BytesIO]
        return frozenset(name for kind in kinds for name in dir(kind))


def _shipped(library: str) -> dict[str, str]:
    """Return the catalogue's name by every name that leads to the same object."""
    files = shipped_files(library) if library else []
    if not files:
        return {}
    # Names only, by a pattern: reading every record would take a second.
    text = files[0].read_text("utf-8")
    names = {name: name for name in _NAME.findall(text)}
    for name, aliases in _ALIASES.findall(text):
        names |= dict.fromkeys(json.loads(aliases), name)
    return names
