"""Stubs of packages that are not installed, or that the user names: networks and databases.

A stub accepts every use. It may cause an exception that the package would not, so exceptions of a
call that used a stub are not judged. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import inspect
import sys
import types
from typing import Any, Iterable, List, Sequence, Set, Tuple
from unittest.mock import MagicMock


class StubImporter(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports stubs in place of some packages, and knows whether they were used."""

    def __init__(self, names: Iterable[str], kept: Iterable[str]) -> None:
        """Create the importer; `install` makes it effective.

        Args:
            names: packages that are stubbed, although they may be installed.
            kept: packages that are never stubbed because they are missing.
        """
        self._names: Set[str] = set(names)
        self._kept = frozenset(kept)
        self.missing: List[str] = []
        """Packages that are stubbed because they are missing."""
        self.were_used = False
        """True if the application has used a stub since this was last set to False."""

    def install(self) -> None:
        """Import stubs from now on."""
        sys.meta_path.insert(0, self)

    def add_missing(self, error: BaseException) -> bool:
        """Stub the package that an import did not find; return False if that does not help."""
        name = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        package = (name or "").partition(".")[0]
        is_stubbed = package in self._names or package in self._kept or package in sys.modules
        if not package or is_stubbed:
            return False
        self._names.add(package)
        self.missing.append(package)
        return True

    def argument(self, name: str) -> Any:
        """Return a stub of an argument whose type is unknown."""
        self.were_used = True
        return _Stub(name=name)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to import a stub; None for a package that is not stubbed."""
        del path, target
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return a stub of a module."""
        return _StubModule(spec.name, self)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing: a stub has no code."""


class _StubModule(types.ModuleType):
    """A module that has every attribute."""

    def __init__(self, name: str, stubs: StubImporter) -> None:
        super().__init__(name)
        self.__dict__["_stubs"] = stubs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Stub(name=f"{self.__name__}.{name}")
        value.__dict__["_stubs"] = self.__dict__["_stubs"]
        setattr(self, name, value)
        return value


class _Stub(MagicMock):
    """A function, class or object of a stubbed module."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 1 and not keywords and _is_definition(arguments[0]):
            return arguments[0]  # a decorator
        self._use()
        return super().__call__(*arguments, **keywords)

    def _get_child_mock(self, **keywords: Any) -> Any:
        child = _Stub(**keywords)
        child.__dict__["_stubs"] = self.__dict__.get("_stubs")
        return child

    def _use(self) -> None:
        stubs = self.__dict__.get("_stubs")
        if stubs is not None:
            stubs.were_used = True

    def __mro_entries__(self, bases: Tuple[Any, ...]) -> Sequence[Any]:
        del bases  # a class that derives from a stub derives from nothing
        return ()


def _is_definition(value: Any) -> bool:
    return inspect.isfunction(value) or inspect.isclass(value)
