"""Level `code` in a campaign: its seed programs, and the level for one library."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Warned
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError, DisassemblyError, UnknownNameError
from ciguard.levels import select_layers
from ciguard.levels.code.dialects import libraries_with_programs
from ciguard.levels.code.effort import Effort
from ciguard.levels.code.encoders import ENCODERS
from ciguard.levels.code.level import CodeLevel
from ciguard.levels.code.operators import operators_of
from ciguard.levels.code.seed_sources import (
    ProgramSource,
    read_program,
    shipped_program,
    shipped_programs,
)
from ciguard.levels.code.seeds import SeedProgram
from ciguard.levels.code.settings import BREADTH, ENCODER, MUTATIONS, PROGRAMS
from ciguard.libraries import LIBRARIES
from ciguard.oracles.specifications import specifications_of, with_conventions
from ciguard.sources import UnreadableSourceError, imports_of, parse
from ciguard.targets import libraries_of, parse_target

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from ciguard.campaign import Group
    from ciguard.config import Config
    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.specifications import Specification

LEVEL = "code"
_KIND = "seed program"
_WILDCARD = frozenset("*?[")


def check_programs(config: Config) -> None:
    """Raise an error for settings that cannot work, before anything is built.

    Raises:
        ConfigurationError: if no target's library has seed programs, or a file is missing or not
            valid Python.
        UnknownNameError: if a seed program or the encoder is unknown.
        TargetSyntaxError, UnknownLibraryError: if a target's text is invalid.
    """
    ENCODERS.get(config[ENCODER])
    target_libraries = [
        libraries_of(parse_target(text)) for text in (*config.base, *config.targets)
    ]
    if all(target_libraries):  # the libraries of target `current` are not known yet
        refuse_without_library(
            library.name for libraries in target_libraries for library in libraries
        )
    _sources(config)


def refuse_without_library(libraries: Iterable[str]) -> None:
    """Raise an error if no library of the targets has seed programs.

    Raises:
        ConfigurationError: if there is none; the message lists the libraries that have some.
    """
    names = sorted(set(libraries))
    if not libraries_with_programs().intersection(names):
        known = ", ".join(sorted(libraries_with_programs()))
        msg = (
            f"levels: {LEVEL!r} needs a target of {known}, such as 'torch==2.13.0', "
            f"but all targets are of {', '.join(names)}."
        )
        raise ConfigurationError(msg)


def _sources(config: Config) -> tuple[list[str], list[ProgramSource]]:
    """Return the globs over shipped programs, and the contents of the user's files."""
    globs, files = [], []
    shipped = {name for library in libraries_with_programs() for name in shipped_programs(library)}
    for text in config[PROGRAMS]:
        if _WILDCARD.intersection(text) or text in shipped:
            if not any(fnmatchcase(name, text) for name in shipped):
                raise UnknownNameError(_KIND, visible(text), known=sorted(shipped))
            globs.append(text)
        elif text.endswith(".py"):
            files.append(read_program(text, base=Path.cwd()))
        else:
            raise UnknownNameError(_KIND, visible(text), known=sorted(shipped))
    return globs, files


def seed_programs(config: Config, library: str) -> Generator[Event, None, list[SeedProgram]]:
    """Split the seed programs of a library into blocks.

    Yields a warning for each program that cannot be split.

    Returns:
        The other programs. A user's file belongs to each library that it imports.
    """
    globs, files = _sources(config)
    names = [n for n in shipped_programs(library) if any(fnmatchcase(n, g) for g in globs)]
    sources = [shipped_program(name, library) for name in names]
    module = LIBRARIES.get(library).module
    sources += [source for source in files if _imports(source.text, module)]
    programs = []
    for source in sources:
        try:
            programs.append(SeedProgram.of(source.text, library, name=source.name))
        except DisassemblyError as error:
            yield Warned(message=f"seed program {error}")
    return programs


def programs_of_other_libraries(config: Config, libraries: Iterable[str]) -> Iterator[Warned]:
    """Yield a warning for each of the user's files that imports no library of the targets."""
    modules = sorted({LIBRARIES.get(name).module for name in libraries})
    for source in _sources(config)[1]:
        if not any(_imports(source.text, module) for module in modules):
            yield Warned(
                message=f"seed program {visible(source.name)} is left out: it does not import "
                f"{' or '.join(modules)}, which the targets test. Models of Keras are tested at "
                "level `model`."
            )


def _imports(text: str, package: str) -> bool:
    """Return whether a program imports a package, or cannot be parsed."""
    try:
        tree = parse(text)
    except UnreadableSourceError:
        return True  # splitting the program into blocks reports the error and the line
    return package in {module.partition(".")[0] for module in imports_of(tree).modules}


MIN_TREES = 8
"""Minimum number of trees to grow in parallel, so that each has the feedback it needs."""


def _specifications(record: ApiRecord) -> Mapping[str, Sequence[Specification]]:
    """Return what documentation and conventions forbid, by parameter."""
    return with_conventions(record, specifications_of(record))


def code_level(group: Group, config: Config, programs: Sequence[SeedProgram]) -> CodeLevel:
    """Return the level for the programs of one library, with at least `MIN_TREES` trees."""
    records = select_layers(group.records(), config.api, config.exclude)
    operators = operators_of(records, ENCODERS.get(config[ENCODER])(), _specifications)
    seed = config.shard.seed(config.seed)
    effort = Effort(mutations=config[MUTATIONS], breadth=config[BREADTH], trees=MIN_TREES)
    return CodeLevel(group.library, seed, programs=programs, operators=operators, effort=effort)
