"""Level `function` of a campaign: whose functions, and how workers find their programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.campaign.seeding import APP
from ciguard.campaign.seeding import FUNCTION as LEVEL
from ciguard.domain import FunctionCase
from ciguard.errors import ConfigurationError
from ciguard.levels import find_programs
from ciguard.targets import readable_paths

if TYPE_CHECKING:
    from ciguard.config import Config
    from ciguard.domain import Finding, Json
    from ciguard.functions import Program

RUNNER = "ciguard.functions.in_target.worker"
_MAX_PARTS = 1_000
"""Files and folders beside the programs that workers see: folders and sources come first."""
_MAX_PROGRAMS = 500


def check_functions(config: Config) -> None:
    """Refuse to test functions where there are none, before anything is built.

    Raises:
        ConfigurationError: if no files are given, or one of them is missing or without annotations.
    """
    if LEVEL not in config.levels:
        return
    if not config.functions:
        msg = (
            f"levels: {LEVEL!r} needs to know whose functions to call: give files with annotated "
            "functions, such as --functions src/model.py or --functions 'src/**/*.py'."
        )
        raise ConfigurationError(msg)
    found = programs_in(config)
    if len(found) > _MAX_PROGRAMS:
        msg = f"functions: {len(found)} programs are more than {_MAX_PROGRAMS}. Name fewer."
        raise ConfigurationError(msg)


def programs_in(config: Config) -> dict[str, Program]:
    """Return the programs whose functions are tested, by path; none without that level.

    Raises:
        ConfigurationError: see `find_programs`.
    """
    if LEVEL not in config.levels:
        return {}
    return find_programs(config.functions, base=Path.cwd())


def programs_of(config: Config) -> Json:
    """Return what workers are told of the programs; see `WorkerSpec.functions`."""
    programs = programs_in(config)
    if not programs and not _has_applications(config):
        return None
    folder = Path.cwd()
    children = [path for path in folder.iterdir() if not path.name.startswith(".")]
    children.sort(key=lambda path: (not path.is_dir(), path.suffix != ".py", path.name))
    return {
        "runner": RUNNER,
        "folder": str(folder),
        "parts": [path.name for path in children[:_MAX_PARTS]],
        "files": {path: placed(program) for path, program in programs.items()},
    }


def _has_applications(config: Config) -> bool:
    """Return whether scripts import applications of the user's."""
    return APP in config.levels


def placed(program: Program) -> Json:
    """Return root, name and sidecar of a program, the paths relative to the current folder."""
    folder = Path.cwd()
    sidecar = program.sidecar
    return {
        "root": program.root.relative_to(folder).as_posix(),
        "name": program.name,
        "sidecar": "" if sidecar is None else sidecar.relative_to(folder).as_posix(),
    }


def readable_programs(config: Config) -> tuple[Path, ...]:
    """Return what workers must be able to read for the sake of the programs."""
    if not programs_in(config) and not _has_applications(config):
        return ()
    return readable_paths([Path.cwd()], home=Path.home())


def testing(finding: Finding, config: Config) -> Config:
    """Return settings with which a finding's own program is at hand, where it has one.

    Raises:
        ConfigurationError: if the program is not below the current folder.
    """
    case = finding.case
    if not isinstance(case, FunctionCase):
        return config
    return replace(config, levels=(LEVEL,), functions=(case.file,))
