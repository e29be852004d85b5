"""pytest nodes for programs and their annotated functions."""

from __future__ import annotations

import builtins
import fnmatch
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.functions.hosting import (
    CollectedProgram,
    Execution,
    FailureKind,
    ProgramHosts,
    ProgramSettings,
    SkippedProgram,
    UnimportableProgram,
    collect,
    coverage_options,
    merge_coverage,
)
from ciguard.functions.searching import ORACLES, SearchSettings, test_function, test_script
from ciguard.functions.specs import ProgramFile, has_plain_tests, is_annotated, sidecar_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from ciguard.functions.hosting import Mark
    from ciguard.functions.searching import FunctionTestResult
    from ciguard.functions.specs import FunctionSpec, MainSpec, ModuleSpec

MODULE_TEST = "__main__"
"""Name of the item that runs a program as a script."""


class FunctionTests:
    """The state of a session that tests annotated functions, registered as a pytest plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        other = config.getini("ciguard_python")
        if other and shutil.which(other) is None:
            msg = f"ciguard_python = {other}: not an executable file. Name a Python interpreter."
            raise pytest.UsageError(msg)
        # The packages of this interpreter are not usable in another one.
        own = [] if other else sys.path
        path = [entry or str(config.invocation_params.dir) for entry in own]
        self.hosts = ProgramHosts(
            ProgramSettings(
                python=other or sys.executable,
                path=[*path, str(config.rootpath)],
                coverage=coverage_options(),
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
            # If a file is named on the command line, pytest would import it as a test module.
            offered = [item for item in offered if not isinstance(item, pytest.Module)]
        own = AnnotatedFile.from_parent(parent, path=file)
        own.program = program.with_sidecar(sidecar)
        own.plugin = self
        return [*offered, own]

    def _is_test_file(self, file: Path) -> bool:
        patterns = self.config.getini("python_files")
        return any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> list[pytest.Item] | None:
        """Keep pytest from collecting annotated functions that have the name of a test."""
        del collector, name
        notes = getattr(obj, "__dict__", {}).get("__ciguard__")
        return [] if isinstance(notes, dict) and notes.get("args") else None

    # --- running ----------------------------------------------------------------------------

    def execution(self, program: ProgramFile, timeout_s: float | None) -> Execution:
        """Return the object that calls the functions of a program.

        Args:
            program: the program.
            timeout_s: the timeout of one call, in seconds; None for the configured one.
        """
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
        """Return whether Hypothesis should print each example."""
        return self.config.getoption("--hypothesis-verbosity", None) in ("verbose", "debug")

    def _number(self, name: str) -> float:
        text = self.config.getini(name)
        try:
            return float(text or 0)
        except ValueError:
            msg = f"{name} = {text}: not a number. Write a number, such as 60."
            raise pytest.UsageError(msg) from None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Stop the host processes after the tests, and merge their coverage into the session's.

        `trylast` makes this the innermost wrapper, so that plugins which report coverage after the
        loop see it.
        """
        try:
            return (yield)
        finally:
            merge_coverage(self.hosts.stop())

    def pytest_unconfigure(self) -> None:
        """Stop the host processes, also after a session that ran no tests."""
        self.hosts.close()


def _oracles(names: list[str]) -> frozenset[str]:
    unknown = [name for name in names if name not in ORACLES | {FailureKind.MUTATION}]
    if unknown:
        known = ", ".join(sorted(ORACLES | {FailureKind.MUTATION}))
        msg = f"ciguard_oracles = {unknown[0]}: unknown oracle. Known oracles: {known}."
        raise pytest.UsageError(msg)
    return frozenset(names)


class AnnotatedFile(pytest.File):
    """A program with annotated functions."""

    program: ProgramFile
    plugin: FunctionTests

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Import the program in its process and yield its functions.

        Raises:
            CollectError: if it cannot be imported, or one of its annotations is invalid.
        """
        result = collect(self.plugin.hosts.of(self.program), self.program)
        match result:
            case SkippedProgram(reason):
                pytest.skip(reason, allow_module_level=True)
            case UnimportableProgram(text):
                raise self.CollectError(text)
            case CollectedProgram():
                return [*self._items(result)]

    def _items(self, collected: CollectedProgram) -> Iterator[pytest.Item | pytest.Collector]:
        for remark in collected.remarks:
            self.warn(pytest.PytestWarning(remark))
        for mark in collected.module_marks:
            _add_mark(self, mark)
        problems = _problems(collected.module)
        for name, texts in problems.items():
            yield self._problem_node(name, texts)
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

    def _problem_node(self, name: str, texts: list[str]) -> pytest.Item | pytest.Collector:
        kind = WrongCollector if self.config.getoption("collectonly") else WrongAnnotations
        node = kind.from_parent(self, name=name or "annotations")
        node.texts = texts
        return node


def _problems(module: ModuleSpec) -> dict[str, list[str]]:
    """Return the messages about invalid annotations, by function."""
    by_function: dict[str, list[str]] = {}
    for problem in module.problems:
        text = f"{problem.file}:{problem.line}: {problem.message}"
        by_function.setdefault(problem.function, []).append(text)
    return by_function


class WrongCollector(pytest.Collector):
    """Invalid annotations of one function as a collection error, for `--collect-only`."""

    texts: list[str]

    def collect(self) -> Iterable[pytest.Item]:
        """Report the invalid annotations.

        Raises:
            CollectError: always.
        """
        raise self.CollectError("\n".join(self.texts))


class WrongAnnotations(pytest.Item):
    """Invalid annotations of one function as an error that lets other functions run."""

    texts: list[str]

    def setup(self) -> None:
        """Report the invalid annotations as an error."""
        pytest.fail("\n".join(self.texts), pytrace=False)

    def runtest(self) -> None:
        """Do nothing: `setup` fails before."""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the node."""
        return self.path, None, self.name


class _HostedItem(pytest.Item):
    """An item whose test runs in a host process."""

    file: AnnotatedFile
    line: int

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location of the item."""
        return self.path, self.line - 1, self.name

    def report(self, result: FunctionTestResult) -> None:
        """Report the result of the test to pytest.

        Raises:
            Failed: if the test failed.
        """
        self.user_properties += result.properties
        for warning in result.warnings:
            self.warn(pytest.PytestWarning(f"{self.name}: {warning}"))
        if result.skip:
            pytest.skip(result.skip)
        if result.failure:
            raise _failed_class(result.exceptions)(result.failure, pytrace=False)


class AnnotatedFunction(_HostedItem):
    """One annotated function."""

    collected: CollectedProgram
    spec: FunctionSpec

    def prepare(
        self, file: AnnotatedFile, collected: CollectedProgram, function: FunctionSpec
    ) -> None:
        """Set the subject of the test."""
        self.file, self.collected, self.spec = file, collected, function
        self.line = function.line

    def runtest(self) -> None:
        """Test the function."""
        tests = self.file.plugin
        execution = tests.execution(self.file.program, self.spec.timeout)
        settings = tests.search_settings()
        self.report(test_function(self.spec, self.collected, execution, settings))


class ModuleTest(_HostedItem):
    """The `__main__` block of a program, run as a script."""

    main: MainSpec

    def prepare(self, file: AnnotatedFile, main: MainSpec) -> None:
        """Set the subject of the test."""
        self.file, self.main = file, main
        self.line = main.line

    def runtest(self) -> None:
        """Run the program as a script."""
        tests = self.file.plugin
        execution = tests.execution(self.file.program, self.main.timeout)
        self.report(test_script(self.main, execution, tests.search_settings()))


def _failed_class(exceptions: tuple[str, ...]) -> type[Any]:
    """Return a failure type that is also the raised exception, so that `xfail(raises=…)` works."""
    base = pytest.fail.Exception
    kind = getattr(builtins, exceptions[0], None) if len(set(exceptions)) == 1 else None
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return base
    try:
        return type(kind.__name__, (base, kind), {"__module__": "builtins"})
    except TypeError:  # incompatible memory layouts
        return base


def _add_mark(node: pytest.Item | pytest.Collector, mark: Mark) -> None:
    kwargs = dict(mark.kwargs)
    raises = kwargs.pop("raises", None)
    names = raises if isinstance(raises, list) else [raises]
    exceptions = [_exception(name) for name in names if name]
    if exceptions and all(exceptions):
        kwargs["raises"] = tuple(exceptions)
    node.add_marker(getattr(pytest.mark, mark.name).with_args(*mark.args, **kwargs))


def _exception(named: Any) -> Any:
    """Return the built-in exception that `named` describes; None for any other."""
    return getattr(builtins, named["exception"], None) if isinstance(named, dict) else None
