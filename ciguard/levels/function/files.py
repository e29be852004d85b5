"""Programs of level `function`: checks of the configuration, and settings of the workers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.campaign import WorkerNeeds
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.function.programs import find_programs
from ciguard.levels.function.settings import FUNCTIONS, HOME, PATH
from ciguard.targets import readable_paths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.config import Config
    from ciguard.domain.values import Json
    from ciguard.functions.specs import ProgramFile

LEVEL = "function"
"""Name of the level."""
RUNNER = "ciguard.functions.in_target.worker"
"""Name of the module that runs the cases in a worker."""
_MAX_ENTRIES = 1_000
"""Maximum number of entries of the programs' folder in a worker; folders and sources go first."""
_MAX_PROGRAMS = 500
"""Maximum number of programs in a campaign."""


def check_functions(config: Config) -> None:
    """Check that the configured files exist and have annotated functions.

    Raises:
        ConfigurationError: if no file is configured, or a file is missing or has no annotations.
    """
    if not config[FUNCTIONS]:
        msg = (
            f"levels: {LEVEL!r} needs files with annotated functions. Name them with "
            "--functions, such as src/model.py or 'src/**/*.py'."
        )
        raise ConfigurationError(msg)
    missing = [
        entry for entry in (*config[PATH], config[HOME]) if entry and not _folder(entry).is_dir()
    ]
    if missing:
        key = HOME.key if missing[0] == config[HOME] else PATH.key
        msg = f"{key}: {visible(missing[0])!r} is not a folder. Name an existing folder."
        raise ConfigurationError(msg)
    programs = programs_in(config)
    if len(programs) > _MAX_PROGRAMS:
        msg = (
            f"functions: {len(programs)} files match; the maximum is {_MAX_PROGRAMS}. "
            "Name fewer files."
        )
        raise ConfigurationError(msg)


def programs_in(config: Config) -> dict[str, ProgramFile]:
    """Return the configured programs, by path relative to the current folder.

    Raises:
        ConfigurationError: if a file is missing, or a pattern matches no annotated program.
    """
    return find_programs(config[FUNCTIONS], base=Path.cwd())


def needs_of(
    programs: Mapping[str, ProgramFile], path: Sequence[str] = (), home: str = ""
) -> WorkerNeeds:
    """Return the folders that workers must be able to read, and the settings of their runner.

    Args:
        programs: programs by path relative to the current folder.
        path: folders that programs import from, before the packages of the target.
        home: folder whose entries programs find in their home folder; empty for none.
    """
    folder = Path.cwd()
    folders = [folder, *map(_folder, (*path, *([home] if home else [])))]
    links = _entries(_folder(home)) if home else {}
    return WorkerNeeds(
        readable=readable_paths(folders, home=Path.home()),
        functions={
            "runner": RUNNER,
            "folder": str(folder),
            "links": links | _entries(folder),
            "path": [str(entry) for entry in folders[1 : 1 + len(path)]],
            "files": {path: relative_program(program) for path, program in programs.items()},
        },
    )


def _folder(text: str) -> Path:
    """Return the absolute path of a configured folder."""
    return Path(text).expanduser().absolute()


def _entries(folder: Path) -> dict[str, str]:
    """Return the paths of a folder's entries by name, without hidden ones."""
    entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    entries.sort(key=lambda path: (not path.is_dir(), path.suffix != ".py", path.name))
    return {path.name: str(path) for path in entries[:_MAX_ENTRIES]}


def relative_program(program: ProgramFile) -> Json:
    """Return a program's root, name and sidecar, with paths relative to the current folder."""
    folder = Path.cwd()
    sidecar = program.sidecar
    return {
        "root": program.root.relative_to(folder).as_posix(),
        "name": program.name,
        "sidecar": "" if sidecar is None else sidecar.relative_to(folder).as_posix(),
    }
