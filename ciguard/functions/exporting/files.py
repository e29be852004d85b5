"""Whole files of plain Hypothesis tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ciguard.functions.call_source import CallSource, import_of_program, quoted
from ciguard.functions.exporting.functions import TestWriter
from ciguard.functions.exporting.strategies import ARRAYS_HELPER, Strategies

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.functions.collecting import Collected
    from ciguard.functions.programs import Program

HEADER = "written by `ciguard export` from its annotations"


def exported(collected: Collected, program: Program, folder: Path) -> tuple[str, list[str]]:
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
    functions = [function for function in module.tested() if not function.outer]
    tests = [writer.test(function) for function in functions]
    made = _generators(writer, strategies)
    missing = [f"{f.name}: it is defined inside a function" for f in module.tested() if f.outer]
    missing += [f"{p.file}:{p.line}: {p.message}" for p in module.problems]
    text = "\n\n\n".join(
        [_head(source, strategies, program, folder, [*made, *tests]), *made, *tests]
    )
    return text + "\n", missing


def _generators(writer: TestWriter, strategies: Strategies) -> list[str]:
    """Return the strategies of functions that make values, each after those it needs."""
    written: dict[str, str] = {}
    while len(written) < len(strategies.generators):
        name = next(name for name in strategies.generators if name not in written)
        function = writer.module.function(name)
        written[name] = writer.generator(function)
    return list(reversed(written.values()))


def _head(
    source: CallSource, strategies: Strategies, program: Program, folder: Path, written: list[str]
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
