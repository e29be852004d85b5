"""Instrumentation of an application, so that its sub-conditions report their outcomes.

On import, modules are compiled from an instrumented syntax tree, which keeps line numbers.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import operator
import os
import sys
import tokenize
import traceback
from typing import Any, Dict, List, Set, Tuple

from ciguard.levels.app.in_target.causes import noted_message

_FUTURE_FLAGS = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
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
        *,
        is_lenient: bool = False,
        is_confined: bool = False,
    ) -> None:
        """Create the probes.

        Args:
            files: the real path of each file of the application → its name in reports.
            places: the positions of the sub-conditions to instrument.
            texts: name of a file → text that replaces its content, such as a patched one.
            is_lenient: whether a statement that fails when its file is imported is skipped.
            is_confined: whether the application's process is confined.
        """
        self._is_confined = is_confined
        self._is_lenient = is_lenient
        self._skipped: Dict[Tuple[str, int], Tuple[Set[str], str]] = {}
        """File and line of each skipped statement → names that it would define, and its error."""
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
        return compile(self._tree(path), path, "exec", dont_inherit=True)

    def remarks(self) -> List[str]:
        """Return a text about each statement that was skipped."""
        return [
            f"{file}, line {line} was skipped on import: {error}"
            for (file, line), (_, error) in self._skipped.items()
        ]

    def skipped_definition(self, error: Any) -> str:
        """Return why the name that an exception misses is not defined; empty if unknown."""
        if isinstance(error, NameError):
            name = str(error).partition("'")[2].partition("'")[0]
            for (file, line), (names, reason) in self._skipped.items():
                if name in names:
                    return f"cannot be imported: {reason} ({file}, line {line})"
        return ""

    def resume(self, module: Any, path: str, error: BaseException) -> None:
        """Run the statements of a module after one that failed, unless its definitions failed.

        Raises:
            BaseException: the error, if it is no failure of a single statement.
        """
        tree = self._tree(path)
        failure: Any = error
        while failure is not None:
            index = _failed_statement(tree, path, failure)
            if not self._is_lenient or index is None:
                raise failure
            statement = tree.body[index]
            names = {
                node.id
                for node in ast.walk(statement)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            }
            message = noted_message(failure, is_confined=self._is_confined)
            text = f"{type(failure).__name__}: {message}"
            self._skipped[self.file_of(path), statement.lineno] = (names, text)
            failure = self._run(tree.body[index + 1 :], module, path)

    def _run(self, statements: List[Any], module: Any, path: str) -> Any:
        """Run statements in a module, and return the exception that ends them, if one does."""
        flags = self.code(path).co_flags & _FUTURE_FLAGS
        code = compile(ast.Module(statements, []), path, "exec", flags, dont_inherit=True)
        try:
            exec(code, module.__dict__)  # noqa: S102 - the application's own statements
        except BaseException as error:  # noqa: BLE001 - returned
            return error
        return None

    def _tree(self, path: str) -> Any:
        """Return the instrumented syntax tree of a file."""
        name = self.file_of(path)
        if name in self._texts:
            tree = ast.parse(self._texts[name], path)
        else:
            with tokenize.open(path) as text:
                tree = ast.parse(text.read(), path)
        changed = _Instrumenter(name, self._places).visit(tree)
        return ast.fix_missing_locations(changed)

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
        try:
            super().exec_module(module)
        except BaseException as error:
            # As a program, the top-level code itself is tested.
            if module.__name__ == "__main__" or isinstance(error, (ImportError, KeyboardInterrupt)):
                raise
            self._probes.resume(module, self.path, error)


def _failed_statement(tree: Any, path: str, error: BaseException) -> Any:
    """Return the index of the top-level statement that raised; None if it has to be run."""
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == path and frame.f_code.co_name == "<module>"
    ]
    kept = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Raise, ast.Assert)
    for index, statement in enumerate(tree.body):
        if lines and statement.lineno <= lines[-1] <= (statement.end_lineno or 0):
            return None if isinstance(statement, kept) else index
    return None
