"""Has the sub-conditions of an application report how they turn out.

Its modules are compiled from a changed syntax tree as they are imported; line numbers stay.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tokenize
from typing import Any, Dict, List, Set, Tuple

REPORT = "__ciguard_report__"
Place = Tuple[str, int, int, int, int]
"""File; line and column where an expression begins, and where it ends."""


class Probes:
    """What the sub-conditions of one call turned out to be."""

    def __init__(
        self,
        files: Dict[str, str],
        places: Set[Place],
        texts: Dict[str, str],
    ) -> None:
        """Prepare it.

        Args:
            files: real path of each file of the application → its name.
            places: of the sub-conditions that are to report.
            texts: of files that are run as if they were these, by their names.
        """
        self._files = files
        self._texts = texts
        self._places = places
        self._seen: Dict[Tuple[Any, ...], None] = {}

    def install(self) -> None:
        """Have modules that are imported from now on report."""
        sys.meta_path.insert(0, _Finder(self))

    @property
    def seen(self) -> List[List[Any]]:
        """Places of sub-conditions and how they turned out, each pair once."""
        return [list(one) for one in list(self._seen)]

    def begin(self) -> None:
        """Forget what was reported."""
        self._seen = {}

    def file_of(self, path: str) -> str:
        """Return the application's name of a file; empty for one that is not its own."""
        return self._files.get(os.path.realpath(path), "")

    def load(self, name: str, file: str) -> Any:
        """Return the module of a file of the application, under a name that it need not have."""
        path = next(path for path, known in self._files.items() if known == file)
        spec: Any = importlib.util.spec_from_file_location(
            name, path, loader=_Loader(name, path, self)
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # what its own code looks itself up in
        try:
            spec.loader.exec_module(module)
        except BaseException:  # as the import system does, whatever the application raises
            del sys.modules[name]
            raise
        return module

    def code(self, path: str) -> Any:
        """Return the code of a file, with its sub-conditions reporting."""
        name = self.file_of(path)
        if name in self._texts:
            tree = ast.parse(self._texts[name], path)
        else:
            with tokenize.open(path) as text:
                tree = ast.parse(text.read(), path)
        changed = _Reporting(name, self._places).visit(tree)
        return compile(ast.fix_missing_locations(changed), path, "exec", dont_inherit=True)

    def report(self, value: Any, *place: Any) -> Any:
        """Note how a sub-condition turned out, and hand it on."""
        with contextlib.suppress(Exception):  # an array says neither; the application will see
            self._seen[(*place, bool(value))] = None
        return value


class _Reporting(ast.NodeTransformer):
    """Wraps the sub-conditions at given places into a call that reports them."""

    def __init__(self, file: str, places: Set[Place]) -> None:
        self._file = file
        self._places = places

    def visit(self, node: ast.AST) -> Any:
        changed = super().visit(node)
        if not isinstance(node, ast.expr):
            return changed
        ends = (node.end_lineno or 0, node.end_col_offset or 0)
        place = (self._file, node.lineno, node.col_offset, *ends)
        if place not in self._places:
            return changed
        arguments = [changed, *(ast.Constant(value) for value in place)]
        call = ast.Call(ast.Name(REPORT, ast.Load()), arguments, [])
        return ast.copy_location(call, node)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, probes: Probes) -> None:
        self._probes = probes

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or not spec.origin or not self._probes.file_of(spec.origin):
            return None
        spec.loader = _Loader(name, spec.origin, self._probes)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, probes: Probes) -> None:
        super().__init__(name, path)
        self._probes = probes

    def get_code(self, fullname: str) -> Any:
        del fullname
        return self._probes.code(self.path)

    def exec_module(self, module: Any) -> None:
        setattr(module, REPORT, self._probes.report)
        super().exec_module(module)
