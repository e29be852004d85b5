"""`ciguard function export`: programs in, whole files of plain Hypothesis tests out."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError, OutputError
from ciguard.files import read_text
from ciguard.functions.hosting.collecting import Broken, Collected, Hosts, SkippedProgram, collect
from ciguard.functions.hosting.host import ProgramSettings
from ciguard.functions.solving.parsing import parsed
from ciguard.functions.specs.programs import ProgramFile, sidecar_of
from ciguard.functions.writing.call_source import CallSource, quoted
from ciguard.functions.writing.scripts import import_of_program
from ciguard.functions.writing.strategies import ARRAYS_HELPER, Strategies
from ciguard.functions.writing.tests import TestWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec

HEADER = "written by `ciguard export` from its annotations"
_MAX_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class WrittenTests:
    """One file of tests."""

    path: Path
    functions: int
    missing: tuple[str, ...]
    """What could not be written, and why."""


def export_tests(files: Sequence[Path], folder: Path) -> Iterator[WrittenTests]:
    """Write the tests of programs.

    Args:
        files: of the programs.
        folder: for the tests; made if it is not there.

    Raises:
        ConfigurationError: if a program cannot be imported, or has nothing to test.
        OutputError: if a file would be lost that a person has written.
    """
    hosts = Hosts(ProgramSettings(path=[path for path in sys.path if path]))
    try:
        for file in files:
            yield _written(hosts, file.resolve(), folder)
    finally:
        hosts.close()


def _written(hosts: Hosts, file: Path, folder: Path) -> WrittenTests:
    program = ProgramFile.at(file)
    program = program.with_sidecar(sidecar_of(program))
    found = collect(hosts.of(program), program)
    match found:
        case SkippedProgram(reason):
            msg = f"{file}: {reason}"
            raise ConfigurationError(msg)
        case Broken(text):
            msg = f"{file} cannot be imported:\n{text}"
            raise ConfigurationError(msg)
        case Collected():
            return _file(found, program, folder)


def _file(found: Collected, program: ProgramFile, folder: Path) -> WrittenTests:
    functions = found.module.tested()
    if not functions:
        msg = f"{program.file} has no annotated functions; see ciguard.annotations"
        raise ConfigurationError(msg)
    path = folder / f"test_{program.file.stem}_functions.py"
    if path.exists() and HEADER not in read_text(path, most=_MAX_BYTES).partition("\n")[0]:
        msg = f"{path} was not written by `ciguard function export`; choose another --output"
        raise OutputError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    text, missing = exported(found, program, folder.resolve())
    path.write_text(text, encoding="utf-8")
    count = len([f for f in functions if not _left_out(f, found.module)])
    return WrittenTests(path, count, tuple(missing))


def exported(collected: Collected, program: ProgramFile, folder: Path) -> tuple[str, list[str]]:
    """Return the tests of a program's functions as a file of its own, and what is not in it.

    Args:
        collected: what the program says of its functions.
        program: that is tested.
        folder: that the file will lie in.
    """
    module = collected.module
    source = CallSource.of(module, collected.library)
    strategies = Strategies(source, collected.library)
    writer = TestWriter(module, strategies)
    functions = [f for f in module.tested() if not _left_out(f, module)]
    tests = [writer.test(function) for function in functions]
    made = _generators(writer, strategies)
    reasons = {f.name: _left_out(f, module) for f in module.tested()}
    missing = [f"{name}: {reason}" for name, reason in reasons.items() if reason]
    missing += [f"{p.file}:{p.line}: {p.message}" for p in module.problems]
    text = "\n\n\n".join(
        [_head(source, strategies, program, folder, [*made, *tests]), *made, *tests]
    )
    return text + "\n", missing


def _left_out(function: FunctionSpec, module: ModuleSpec) -> str:
    """Return why there is no test of a function; empty if there is one."""
    if function.outer:
        return "it is defined inside a function"
    if function.is_abstract:
        return "its class is abstract"
    constructor = module.by_name.get(function.constructor, function)
    conditions = (*function.requires, *function.ensures, *constructor.requires)
    unwritten = next((c for c in conditions if parsed(c.text) is None), None)
    return f"the condition in line {unwritten.line} has no text of its own" if unwritten else ""


def _generators(writer: TestWriter, strategies: Strategies) -> list[str]:
    """Return the strategies of functions that make values, each after those it needs."""
    written: dict[str, str] = {}
    while len(written) < len(strategies.generators):
        name = next(name for name in strategies.generators if name not in written)
        function = writer.module.function(name)
        written[name] = writer.generator(function)
    return list(reversed(written.values()))


def _head(
    source: CallSource,
    strategies: Strategies,
    program: ProgramFile,
    folder: Path,
    written: list[str],
) -> str:
    body = "\n".join(written)
    words = ["HealthCheck", *(w for w in ("assume", "given", "reject") if f"{w}(" in body)]
    third = [
        f"from hypothesis import {', '.join([*words, 'settings'])}",
        "from hypothesis import strategies as st",
    ]
    if strategies.needs_arrays:
        third.append("from hypothesis.extra import numpy as npst")
    libraries = source.import_lines()
    standard = sorted({"import sys", *(line for line in libraries if _is_standard(line, source))})
    rest = [line for line in libraries if not _is_standard(line, source)]
    where = os.path.relpath(program.root, folder)
    found = "Path(__file__).resolve().parent" + (f" / {quoted(where)}" if where != "." else "")
    parts = [
        f'"""Property-based tests of {program.file.name}, {HEADER}."""',
        "\n".join([*standard, "from pathlib import Path"]),
        "\n".join(sorted([*third, *rest], key=lambda line: line.split()[1])),
        "\n".join([f"sys.path.insert(0, str({found}))", *import_of_program(source, program)]),
    ]
    definitions = [*source.definitions(), *([ARRAYS_HELPER] if strategies.needs_arrays else [])]
    relaxed = "relaxed = settings(deadline=None, suppress_health_check=list(HealthCheck))"
    return "\n\n\n".join(["\n\n".join([*parts, relaxed]), *definitions])


def _is_standard(line: str, source: CallSource) -> bool:
    return line.split()[1] in source.standard
