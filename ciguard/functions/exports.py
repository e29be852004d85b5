"""`ciguard export`: programs in, files of plain Hypothesis tests out."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError, OutputError
from ciguard.files import read_text
from ciguard.functions.collecting import Broken, Collected, Hosts, Skipped, collect
from ciguard.functions.detecting import sidecar_of
from ciguard.functions.exporting import exported
from ciguard.functions.exporting.files import HEADER
from ciguard.functions.host import HostSettings
from ciguard.functions.programs import Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_MOST_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Written:
    """One file of tests."""

    path: Path
    functions: int
    missing: tuple[str, ...]
    """What could not be written, and why."""


def export_tests(files: Sequence[Path], folder: Path) -> Iterator[Written]:
    """Write the tests of programs.

    Args:
        files: of the programs.
        folder: for the tests; made if it is not there.

    Raises:
        ConfigurationError: if a program cannot be imported, or has nothing to test.
        OutputError: if a file would be lost that a person has written.
    """
    hosts = Hosts(HostSettings(path=[path for path in sys.path if path]))
    try:
        for file in files:
            yield _written(hosts, file.resolve(), folder)
    finally:
        hosts.close()


def _written(hosts: Hosts, file: Path, folder: Path) -> Written:
    program = Program.at(file)
    program = program.with_sidecar(sidecar_of(program))
    found = collect(hosts.of(program), program)
    match found:
        case Skipped(reason):
            msg = f"{file}: {reason}"
            raise ConfigurationError(msg)
        case Broken(text):
            msg = f"{file} cannot be imported:\n{text}"
            raise ConfigurationError(msg)
        case Collected():
            return _file(found, program, folder)


def _file(found: Collected, program: Program, folder: Path) -> Written:
    functions = found.module.tested()
    if not functions:
        msg = f"{program.file} has no annotated functions; see ciguard.annotations"
        raise ConfigurationError(msg)
    path = folder / f"test_{program.file.stem}_functions.py"
    if path.exists() and HEADER not in read_text(path, most=_MOST_BYTES).partition("\n")[0]:
        msg = f"{path} was not written by `ciguard export`; choose another --output"
        raise OutputError(msg)
    folder.mkdir(parents=True, exist_ok=True)
    text, missing = exported(found, program, folder.resolve())
    path.write_text(text, encoding="utf-8")
    return Written(path, len([f for f in functions if not f.outer]), tuple(missing))
