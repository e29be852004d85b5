"""Instrumentation of an application, so that its sub-conditions report their outcomes.

On import, modules are compiled from an instrumented syntax tree, which keeps line numbers.
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
"""Position of an expression: file, first line and column, last line and column."""


class Probes:
    """Instruments sub-conditions, and collects their outcomes in one call."""

    def __init__(
        self,
        files: Dict[str, str],
        places: Set[Place],
        texts: Dict[str, str],
    ) -> None:
        """Create the probes.

        Args:
            files: the real path of each file of the application → its name in reports.
            places: the positions of the sub-conditions to instrument.
            texts: name of a file → text that replaces its content, such as a patched one.
        """
        self._files = files
        self._texts = texts
        self._places = places
        self._outcomes: Dict[Tuple[Any, ...], None] = {}

    def install(self) -> None:
        """Instrument the application's modules that are imported from now on."""
        sys.meta_path.insert(0, _Finder(self))

    @property
    def outcomes(self) -> List[List[Any]]:
        """Position and outcome (true or false) of each evaluated sub-condition, without repeats."""
        return [list(outcome) for outcome in list(self._outcomes)]

    def reset(self) -> None:
        """Forget all outcomes."""
        self._outcomes = {}

    def file_of(self, path: str) -> str:
        """Return the name of a file of the application; empty for any other file."""
        return self._files.get(os.path.realpath(path), "")

    def load(self, name: str, file: str) -> Any:
        """Load a file of the application as a module with a given name."""
        path = next(path for path, known in self._files.items() if known == file)
        spec: Any = importlib.util.spec_from_file_location(
            name, path, loader=_Loader(name, path, self)
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # the module's code may look up its own module
        try:
            spec.loader.exec_module(module)
        except BaseException:  # the import system, too, removes a module that raises
            del sys.modules[name]
            raise
        return module

    def code(self, path: str) -> Any:
        """Return the compiled code of a file, with instrumented sub-conditions."""
        name = self.file_of(path)
        if name in self._texts:
            tree = ast.parse(self._texts[name], path)
        else:
            with tokenize.open(path) as text:
                tree = ast.parse(text.read(), path)
        changed = _Instrumenter(name, self._places).visit(tree)
        return compile(ast.fix_missing_locations(changed), path, "exec", dont_inherit=True)

    def report(self, value: Any, *place: Any) -> Any:
        """Record the outcome of a sub-condition, and return its value."""
        with contextlib.suppress(
            Exception
        ):  # the truth value of an array raises; the application will raise the same
            self._outcomes[(*place, bool(value))] = None
        return value


class _Instrumenter(ast.NodeTransformer):
    """Wraps each sub-condition in a call that reports its outcome."""

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
