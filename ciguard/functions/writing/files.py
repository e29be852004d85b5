"""Writes files of Hypothesis tests for programs (`ciguard function export`)."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError, OutputError
from ciguard.files import read_text
from ciguard.functions.hosting.collecting import (
    CollectedProgram,
    ProgramHosts,
    SkippedProgram,
    UnimportableProgram,
    collect,
)
from ciguard.functions.hosting.host import ProgramSettings
from ciguard.functions.solving.parsing import expression_tree
from ciguard.functions.specs.programs import ProgramFile, sidecar_of
from ciguard.functions.writing.call_source import CallSource, string_literal
from ciguard.functions.writing.definitions import ARRAYS_HELPER
from ciguard.functions.writing.scripts import import_of_program
from ciguard.functions.writing.strategies import Strategies
from ciguard.functions.writing.tests import TestWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec

HEADER = "written by `ciguard export` from its annotations"
"""Part of the first line of each written file, by which a later export recognises the file."""
_MAX_BYTES = 1 << 22
"""Maximum size of an existing file in bytes."""


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """A written file of tests."""

    path: Path
    """Path of the file."""
    functions: int
    """Number of functions with a test."""
    missing: tuple[str, ...]
    """One line per function without a test, with the reason."""


def export_tests(files: Sequence[Path], folder: Path) -> Iterator[WrittenTests]:
    """Write a file of tests for each program, and yield it.

    Args:
        files: paths of the programs.
        folder: path of the folder for the tests; it is created if missing.

    Raises:
        ConfigurationError: if a program cannot be imported, or has no annotated functions.
        OutputError: if the file for the tests exists, and ciguard has not written it.
    """
    hosts = ProgramHosts(ProgramSettings(path=[path for path in sys.path if path]))
    try:
        for file in files:
            yield _export_program(hosts, file.resolve(), folder)
    finally:
        hosts.close()


def _export_program(hosts: ProgramHosts, file: Path, folder: Path) -> WrittenTests:
    """Import one program, and write the file of its tests."""
    program = ProgramFile.at(file)
    program = program.with_sidecar(sidecar_of(program))
    collected = collect(hosts.of(program), program)
    match collected:
        case SkippedProgram(reason):
            msg = f"{file}: {reason}"
            raise ConfigurationError(msg)
        case UnimportableProgram(text):
            msg = f"{file} cannot be imported:\n{text}"
            raise ConfigurationError(msg)
        case CollectedProgram():
            return _write_file(collected, program, folder)


def _write_file(collected: CollectedProgram, program: ProgramFile, folder: Path) -> WrittenTests:
    """Write the file of a program's tests."""
    functions = collected.module.tested()
    if not functions:
        msg = f"{program.file} has no annotated functions. Annotate some with ciguard.annotations."
        raise ConfigurationError(msg)
    path = folder / f"test_{program.file.stem}_functions.py"
    if path.exists() and HEADER not in read_text(path, most=_MAX_BYTES).partition("\n")[0]:
        msg = f"{path} was not written by `ciguard function export`. Choose another --output."
        raise OutputError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    text, missing = exported_file(collected, program, folder.resolve())
    path.write_text(text, encoding="utf-8")
    count = len(
        [function for function in functions if not _reason_without_test(function, collected.module)]
    )
    return WrittenTests(path, count, tuple(missing))


def exported_file(
    collected: CollectedProgram, program: ProgramFile, folder: Path
) -> tuple[str, list[str]]:
    """Return the text of a test file, and one line per function without a test.

    Args:
        collected: functions of the program.
        program: the tested program.
        folder: absolute path of the test file's folder.
    """
    module = collected.module
    source = CallSource.for_module(module, collected.library)
    strategies = Strategies(source, collected.library)
    writer = TestWriter(module, strategies)
    functions = [
        function for function in module.tested() if not _reason_without_test(function, module)
    ]
    tests = [writer.test(function) for function in functions]
    generators = _generator_strategies(writer, strategies)
    reasons = {
        function.name: _reason_without_test(function, module) for function in module.tested()
    }
    missing = [f"{name}: {reason}" for name, reason in reasons.items() if reason]
    missing += [f"{problem.file}:{problem.line}: {problem.message}" for problem in module.problems]
    text = "\n\n\n".join(
        [
            _file_head(source, strategies, program, folder, [*generators, *tests]),
            *generators,
            *tests,
        ]
    )
    return text + "\n", missing


def _reason_without_test(function: FunctionSpec, module: ModuleSpec) -> str:
    """Return why a test of a function cannot be written; empty if it can."""
    if function.outer:
        return "the function is defined inside another function"
    if function.is_abstract:
        return "the function's class is abstract"
    constructor = module.functions_by_name.get(function.constructor, function)
    conditions = (*function.preconditions, *function.postconditions, *constructor.preconditions)
    without_source = next(
        (condition for condition in conditions if expression_tree(condition.text) is None), None
    )
    return (
        f"the source of the condition in line {without_source.line} is not available"
        if without_source
        else ""
    )


def _generator_strategies(writer: TestWriter, strategies: Strategies) -> list[str]:
    """Return the definitions of strategies for generators, each after those that it uses."""
    written: dict[str, str] = {}
    while len(written) < len(strategies.generators):
        name = next(name for name in strategies.generators if name not in written)
        function = writer.module.function(name)
        written[name] = writer.generator(function)
    return list(reversed(written.values()))


def _file_head(
    source: CallSource,
    strategies: Strategies,
    program: ProgramFile,
    folder: Path,
    definitions_and_tests: list[str],
) -> str:
    """Return the beginning of a test file: docstring, imports and helper functions."""
    body = "\n".join(definitions_and_tests)
    words = ["HealthCheck", *(word for word in ("assume", "given", "reject") if f"{word}(" in body)]
    third_party = [
        f"from hypothesis import {', '.join([*words, 'settings'])}",
        "from hypothesis import strategies as st",
    ]
    if strategies.needs_arrays:
        third_party.append("from hypothesis.extra import numpy as npst")
    libraries = source.import_lines()
    standard = sorted({"import sys", *(line for line in libraries if _is_standard(line, source))})
    rest = [line for line in libraries if not _is_standard(line, source)]
    relative_root = os.path.relpath(program.root, folder)
    root = "Path(__file__).resolve().parent" + (
        f" / {string_literal(relative_root)}" if relative_root != "." else ""
    )
    parts = [
        f'"""Property-based tests of {program.file.name}, {HEADER}."""',
        "\n".join([*standard, "from pathlib import Path"]),
        "\n".join(sorted([*third_party, *rest], key=lambda line: line.split()[1])),
        "\n".join([f"sys.path.insert(0, str({root}))", *import_of_program(source, program)]),
    ]
    definitions = [*source.definitions(), *([ARRAYS_HELPER] if strategies.needs_arrays else [])]
    relaxed = "relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))"
    return "\n\n\n".join(["\n\n".join([*parts, relaxed]), *definitions])


def _is_standard(line: str, source: CallSource) -> bool:
    return line.split()[1] in source.standard
