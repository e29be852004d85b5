"""pytest's nodes for programs and their annotated functions."""

from __future__ import annotations

import builtins
import fnmatch
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.functions.hosting import (
    Broken,
    Collected,
    Execution,
    FailureKind,
    Hosts,
    ProgramSettings,
    SkippedProgram,
    collect,
    measured_options,
    merge_measured,
)
from ciguard.functions.searching import ORACLES, SearchSettings, test_function, test_script
from ciguard.functions.specs import ProgramFile, has_plain_tests, is_annotated, sidecar_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from ciguard.functions.hosting import Mark
    from ciguard.functions.searching import Told
    from ciguard.functions.specs import FunctionSpec, MainSpec, ModuleSpec

MODULE_TEST = "__main__"
"""Name of the item that runs a program as a script."""


class FunctionTests:
    """The plugin of a session that tests annotated functions."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        interpreter = config.getini("ciguard_python")
        # Another interpreter must not use this interpreter's packages.
        own_path = [] if interpreter else sys.path
        path = [entry or str(config.invocation_params.dir) for entry in own_path]
        self.hosts = Hosts(
            ProgramSettings(
                python=interpreter or sys.executable,
                path=[*path, str(config.rootpath)],
                coverage=measured_options(),
                oracles=_oracles(config.getini("ciguard_oracles")),
                captured=config.getoption("capture") != "no",
            )
        )

    # --- collection -------------------------------------------------------------------------

    def collectors(
        self, file: Path, parent: pytest.Collector, offered: list[pytest.Collector]
    ) -> list[pytest.Collector]:
        """Return the collectors of a file, given those of pytest and other plugins."""
        program = ProgramFile.at(file)
        sidecar = sidecar_of(program, self.config.getini("ciguard_sidecars"))
        if sidecar is None and not is_annotated(file):
            return offered
        if not self._is_test_file(file) and not has_plain_tests(file):
            # pytest collects a file from the command line as a test module and would import it.
            offered = [item for item in offered if not isinstance(item, pytest.Module)]
        annotated = AnnotatedFile.from_parent(parent, path=file)
        annotated.program = program.with_sidecar(sidecar)
        annotated.tests = self
        return [*offered, annotated]

    def _is_test_file(self, file: Path) -> bool:
        patterns = self.config.getini("python_files")
        return any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> list[pytest.Item] | None:
        """Hide annotated functions with the name of a test from pytest's own collection."""
        del collector, name
        notes = getattr(obj, "__dict__", {}).get("__ciguard__")
        return [] if isinstance(notes, dict) and notes.get("args") else None

    # --- running ----------------------------------------------------------------------------

    def execution(self, program: ProgramFile, timeout_s: float | None) -> Execution:
        """Return the execution of a program's functions."""
        limit_s = timeout_s or self._number("ciguard_timeout")
        return Execution(self.hosts.of(program), program, limit_s)

    def search_settings(self) -> SearchSettings:
        """Return the limits of the search for each function."""
        examples = self.config.getoption("--ciguard-max-examples")
        budget = self.config.getoption("--ciguard-budget")
        return SearchSettings(
            max_examples=examples or int(self._number("ciguard_max_examples")) or None,
            budget_s=self._number("ciguard_budget") if budget is None else budget,
            home=self.config.rootpath / ".hypothesis",
            reporter=print if self._is_verbose() else None,
        )

    def _is_verbose(self) -> bool:
        """Return whether Hypothesis must report each example."""
        return self.config.getoption("--hypothesis-verbosity", None) in ("verbose", "debug")

    def _number(self, name: str) -> float:
        text = self.config.getini(name)
        try:
            return float(text or 0)
        except ValueError:
            msg = f"{name} = {text}: not a number. Write a number of seconds or examples."
            raise pytest.UsageError(msg) from None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Stop the processes, and merge their coverage into the session's.

        The wrapper is innermost, so that plugins that report coverage after the loop see it.
        """
        try:
            return (yield)
        finally:
            merge_measured(self.hosts.stop())

    def pytest_unconfigure(self) -> None:
        """Stop the processes, also if the session did not start."""
        self.hosts.close()


def _oracles(names: list[str]) -> frozenset[str]:
    unknown = [name for name in names if name not in ORACLES | {FailureKind.MUTATION}]
    if unknown:
        valid = ", ".join(sorted(ORACLES | {FailureKind.MUTATION}))
        msg = f"ciguard_oracles = {unknown[0]}: no such oracle. Known: {valid}."
        raise pytest.UsageError(msg)
    return frozenset(names)


class AnnotatedFile(pytest.File):
    """A program with annotated functions."""

    program: ProgramFile
    tests: FunctionTests

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Import the program in its process, and return its functions.

        Raises:
            CollectError: if it cannot be imported, or its own annotations are wrong.
        """
        collected = collect(self.tests.hosts.of(self.program), self.program)
        match collected:
            case SkippedProgram(reason):
                pytest.skip(reason, allow_module_level=True)
            case Broken(text):
                raise self.CollectError(text)
            case Collected():
                return [*self._items(collected)]

    def _items(self, collected: Collected) -> Iterator[pytest.Item | pytest.Collector]:
        for remark in collected.remarks:
            self.warn(pytest.PytestWarning(remark))
        for mark in collected.module_marks:
            _add_mark(self, mark)
        problems = _problems_by_function(collected.module)
        for name, texts in problems.items():
            yield self._problem(name, texts)
        for function in collected.module.tested():
            item = AnnotatedFunction.from_parent(self, name=function.name)
            item.prepare(self, collected, function)
            for mark in collected.marks.get(function.name, ()):
                _add_mark(item, mark)
            yield item
        if collected.module.main is not None:
            script = ModuleTest.from_parent(self, name=MODULE_TEST)
            script.prepare(self, collected.module.main)
            yield script

    def _problem(self, name: str, texts: list[str]) -> pytest.Item | pytest.Collector:
        kind = (
            AnnotationErrorCollector
            if self.config.getoption("collectonly")
            else AnnotationErrorItem
        )
        node = kind.from_parent(self, name=name or "annotations")
        node.texts = texts
        return node


def _problems_by_function(module: ModuleSpec) -> dict[str, list[str]]:
    texts_by_function: dict[str, list[str]] = {}
    for problem in module.problems:
        text = f"{problem.file}:{problem.line}: {problem.message}"
        texts_by_function.setdefault(problem.function, []).append(text)
    return texts_by_function


class AnnotationErrorCollector(pytest.Collector):
    """Wrong annotations of one function as a collection error, for `--collect-only`."""

    texts: list[str]

    def collect(self) -> Iterable[pytest.Item]:
        """Raise an error with the problems.

        Raises:
            CollectError: always.
        """
        raise self.CollectError("\n".join(self.texts))


class AnnotationErrorItem(pytest.Item):
    """Wrong annotations of one function as an item with an error, so that other items run."""

    texts: list[str]

    def setup(self) -> None:
        """Fail with the problems."""
        pytest.fail("\n".join(self.texts), pytrace=False)

    def runtest(self) -> None:
        """Do nothing: setup fails before."""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return file and name of the item."""
        return self.path, None, self.name


class _HostedItem(pytest.Item):
    """An item that runs in a program's process and reports its inputs."""

    file: AnnotatedFile
    line: int

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return file, line and name of the item."""
        return self.path, self.line - 1, self.name

    def report(self, result: Told) -> None:
        """Report the result of the test.

        Raises:
            Failed: if the test failed.
        """
        self.user_properties += result.properties
        for warning in result.warnings:
            self.warn(pytest.PytestWarning(f"{self.name}: {warning}"))
        if result.skip:
            pytest.skip(result.skip)
        if result.failure:
            raise _failure_type(result.exceptions)(result.failure, pytrace=False)


class AnnotatedFunction(_HostedItem):
    """One annotated function."""

    collected: Collected
    spec: FunctionSpec

    def prepare(self, file: AnnotatedFile, collected: Collected, function: FunctionSpec) -> None:
        """Set the function to test."""
        self.file, self.collected, self.spec = file, collected, function
        self.line = function.line

    def runtest(self) -> None:
        """Test the function."""
        tests = self.file.tests
        execution = tests.execution(self.file.program, self.spec.timeout)
        settings = tests.search_settings()
        self.report(test_function(self.spec, self.collected, execution, settings))


class ModuleTest(_HostedItem):
    """The run of a program as a script."""

    main: MainSpec

    def prepare(self, file: AnnotatedFile, main: MainSpec) -> None:
        """Set the program to test."""
        self.file, self.main = file, main
        self.line = main.line

    def runtest(self) -> None:
        """Run the program as a script."""
        tests = self.file.tests
        execution = tests.execution(self.file.program, self.main.timeout)
        self.report(test_script(self.main, execution, tests.search_settings()))


def _failure_type(exceptions: tuple[str, ...]) -> type[Any]:
    """Return a subclass of pytest's failure and the exception, for `xfail(raises=…)`."""
    base = pytest.fail.Exception
    kind = getattr(builtins, exceptions[0], None) if len(set(exceptions)) == 1 else None
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return base
    try:
        return type(kind.__name__, (base, kind), {"__module__": "builtins"})
    except TypeError:  # the base classes have incompatible layouts
        return base


def _add_mark(node: pytest.Item | pytest.Collector, mark: Mark) -> None:
    kwargs = dict(mark.kwargs)
    raises = kwargs.pop("raises", None)
    names = raises if isinstance(raises, list) else [raises]
    exceptions = [_exception(name) for name in names if name]
    if exceptions and all(exceptions):
        kwargs["raises"] = tuple(exceptions)
    node.add_marker(getattr(pytest.mark, mark.name).with_args(*mark.args, **kwargs))


def _exception(encoded: Any) -> Any:
    """Return a built-in exception by its encoded name; None for other exceptions."""
    return getattr(builtins, encoded["exception"], None) if isinstance(encoded, dict) else None
