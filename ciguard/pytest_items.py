"""The nodes of pytest that stand for programs and their annotated functions."""

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
    """What a session knows of annotated functions; registered as a plugin where they are tested."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        other = config.getini("ciguard_python")
        # Packages of this interpreter are none for another one.
        own = [] if other else sys.path
        path = [entry or str(config.invocation_params.dir) for entry in own]
        self.hosts = Hosts(
            ProgramSettings(
                python=other or sys.executable,
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
        """Return what is collected in a file, given what pytest and other plugins offer."""
        program = ProgramFile.at(file)
        sidecar = sidecar_of(program, self.config.getini("ciguard_sidecars"))
        if sidecar is None and not is_annotated(file):
            return offered
        if not self._is_test_file(file) and not has_plain_tests(file):
            # Named on the command line, it is offered as a test module, and would be imported.
            offered = [one for one in offered if not isinstance(one, pytest.Module)]
        own = AnnotatedFile.from_parent(parent, path=file)
        own.program = program.with_sidecar(sidecar)
        own.tests = self
        return [*offered, own]

    def _is_test_file(self, file: Path) -> bool:
        patterns = self.config.getini("python_files")
        return any(fnmatch.fnmatch(file.name, pattern) for pattern in patterns)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> list[pytest.Item] | None:
        """Leave to this plugin what is annotated and has the name of a test."""
        del collector, name
        notes = getattr(obj, "__dict__", {}).get("__ciguard__")
        return [] if isinstance(notes, dict) and notes.get("args") else None

    # --- running ----------------------------------------------------------------------------

    def execution(self, program: ProgramFile, timeout_s: float | None) -> Execution:
        """Return how functions of a program are called."""
        limit_s = timeout_s or self._number("ciguard_timeout")
        return Execution(self.hosts.of(program), program, limit_s)

    def search_settings(self) -> SearchSettings:
        """Return how long each function is tested."""
        examples = self.config.getoption("--ciguard-max-examples")
        budget = self.config.getoption("--ciguard-budget")
        return SearchSettings(
            max_examples=examples or int(self._number("ciguard_max_examples")) or None,
            budget_s=self._number("ciguard_budget") if budget is None else budget,
            home=self.config.rootpath / ".hypothesis",
            reporter=print if self._is_verbose() else None,
        )

    def _is_verbose(self) -> bool:
        """Return whether Hypothesis is to speak of each example."""
        return self.config.getoption("--hypothesis-verbosity", None) in ("verbose", "debug")

    def _number(self, name: str) -> float:
        text = self.config.getini(name)
        try:
            return float(text or 0)
        except ValueError:
            msg = f"{name} = {text}: it is a number"
            raise pytest.UsageError(msg) from None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End the processes; what they measured joins what the session measures.

        Innermost, so that plugins which report coverage after the loop have it.
        """
        try:
            return (yield)
        finally:
            merge_measured(self.hosts.stop())

    def pytest_unconfigure(self) -> None:
        """End the processes, also of a session that did not begin."""
        self.hosts.close()


def _oracles(names: list[str]) -> frozenset[str]:
    unknown = [name for name in names if name not in ORACLES | {FailureKind.MUTATION}]
    if unknown:
        known = ", ".join(sorted(ORACLES | {FailureKind.MUTATION}))
        msg = f"ciguard_oracles = {unknown[0]}: there is no such oracle; known: {known}"
        raise pytest.UsageError(msg)
    return frozenset(names)


class AnnotatedFile(pytest.File):
    """A program with annotated functions."""

    program: ProgramFile
    tests: FunctionTests

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Import the program in its process and yield its functions.

        Raises:
            CollectError: if it cannot be imported, or an annotation of its own is wrong.
        """
        found = collect(self.tests.hosts.of(self.program), self.program)
        match found:
            case SkippedProgram(reason):
                pytest.skip(reason, allow_module_level=True)
            case Broken(text):
                raise self.CollectError(text)
            case Collected():
                return [*self._items(found)]

    def _items(self, found: Collected) -> Iterator[pytest.Item | pytest.Collector]:
        for remark in found.remarks:
            self.warn(pytest.PytestWarning(remark))
        for mark in found.module_marks:
            _add_mark(self, mark)
        wrong = _wrong(found.module)
        for name, texts in wrong.items():
            yield self._problem(name, texts)
        for function in found.module.tested():
            item = AnnotatedFunction.from_parent(self, name=function.name)
            item.prepare(self, found, function)
            for mark in found.marks.get(function.name, ()):
                _add_mark(item, mark)
            yield item
        if found.module.main is not None:
            script = ModuleTest.from_parent(self, name=MODULE_TEST)
            script.prepare(self, found.module.main)
            yield script

    def _problem(self, name: str, texts: list[str]) -> pytest.Item | pytest.Collector:
        kind = WrongCollector if self.config.getoption("collectonly") else WrongAnnotations
        made = kind.from_parent(self, name=name or "annotations")
        made.texts = texts
        return made


def _wrong(module: ModuleSpec) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for problem in module.problems:
        text = f"{problem.file}:{problem.line}: {problem.message}"
        found.setdefault(problem.function, []).append(text)
    return found


class WrongCollector(pytest.Collector):
    """Wrong annotations of one function, where nothing is run: an error of collection."""

    texts: list[str]

    def collect(self) -> Iterable[pytest.Item]:
        """Fail.

        Raises:
            CollectError: always.
        """
        raise self.CollectError("\n".join(self.texts))


class WrongAnnotations(pytest.Item):
    """Wrong annotations of one function: an error, that lets the others of the file run."""

    texts: list[str]

    def setup(self) -> None:
        """Fail."""
        pytest.fail("\n".join(self.texts), pytrace=False)

    def runtest(self) -> None:
        """Never called."""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what it is about."""
        return self.path, None, self.name


class _Tested(pytest.Item):
    """What runs on a host and tells of its inputs."""

    file: AnnotatedFile
    line: int

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands."""
        return self.path, self.line - 1, self.name

    def tell(self, told: Told) -> None:
        """Report what came of it.

        Raises:
            Failed: if it failed.
        """
        self.user_properties += told.properties
        for warning in told.warnings:
            self.warn(pytest.PytestWarning(f"{self.name}: {warning}"))
        if told.skip:
            pytest.skip(told.skip)
        if told.failure:
            raise _failed(told.exceptions)(told.failure, pytrace=False)


class AnnotatedFunction(_Tested):
    """One annotated function."""

    collected: Collected
    spec: FunctionSpec

    def prepare(self, file: AnnotatedFile, collected: Collected, function: FunctionSpec) -> None:
        """Say what is tested."""
        self.file, self.collected, self.spec = file, collected, function
        self.line = function.line

    def runtest(self) -> None:
        """Test it."""
        tests = self.file.tests
        execution = tests.execution(self.file.program, self.spec.timeout)
        settings = tests.search_settings()
        self.tell(test_function(self.spec, self.collected, execution, settings))


class ModuleTest(_Tested):
    """The main environment of a program."""

    main: MainSpec

    def prepare(self, file: AnnotatedFile, main: MainSpec) -> None:
        """Say what is tested."""
        self.file, self.main = file, main
        self.line = main.line

    def runtest(self) -> None:
        """Run the program as a script."""
        tests = self.file.tests
        execution = tests.execution(self.file.program, self.main.timeout)
        self.tell(test_script(self.main, execution, tests.search_settings()))


def _failed(exceptions: tuple[str, ...]) -> type[Any]:
    """Return pytest's failure, as a subclass of the exception so that `xfail(raises=…)` sees it."""
    base = pytest.fail.Exception
    kind = getattr(builtins, exceptions[0], None) if len(set(exceptions)) == 1 else None
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return base
    try:
        return type(kind.__name__, (base, kind), {"__module__": "builtins"})
    except TypeError:  # two layouts that do not go together
        return base


def _add_mark(node: pytest.Item | pytest.Collector, mark: Mark) -> None:
    kwargs = dict(mark.kwargs)
    raised = kwargs.pop("raises", None)
    named = [_exception(one) for one in (raised if isinstance(raised, list) else [raised]) if one]
    if named and all(named):
        kwargs["raises"] = tuple(named)
    node.add_marker(getattr(pytest.mark, mark.name).with_args(*mark.args, **kwargs))


def _exception(named: Any) -> Any:
    """Return the built-in exception of that name; None for others, which are not known here."""
    return getattr(builtins, named["exception"], None) if isinstance(named, dict) else None
