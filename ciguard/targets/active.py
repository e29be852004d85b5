"""The target `current`: the environment that is active where ciguard runs. Nothing is installed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.errors import ProvisioningError, suggestion
from ciguard.libraries import LIBRARIES
from ciguard.targets.environment import (
    Environment,
    device_folders,
    readable_paths,
    worker_variables,
)
from ciguard.targets.inspection import inspect
from ciguard.targets.store import cache_folder
from ciguard.targets.target import EAGER, libraries_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.libraries import Library
    from ciguard.targets.inspection import Inspection
    from ciguard.targets.target import Target


def active_environment(
    target: Target, *, on_step: Callable[[str], None], known: dict[Path, Inspection]
) -> Environment:
    """Look at the active environment and return it as the target's.

    Args:
        target: whose variables and mode may differ from those of others in the same environment.
        on_step: told what is happening.
        known: what interpreters were found to be for other targets; this one's is added.

    Raises:
        ProvisioningError: if there is no interpreter, no numpy, or not the library.
    """
    python = _active_python(target)
    outer = _outer_variables()
    try:
        if python not in known:
            on_step(f"{target.name}: looking at {python}")
            known[python] = _inspected(python, outer)
    except ProvisioningError as error:
        msg = (
            f"target {target.name!r}: {error}\n"
            f"Workers need numpy there: install it with '{python} -m pip install numpy'."
        )
        raise ProvisioningError(msg) from error
    seen = known[python]
    libraries = _libraries(target, seen, on_step=on_step)
    if target.mode not in {EAGER, *libraries[0].modes}:
        msg = f"target {target.name!r}: {libraries[0].name} is there, which has no such mode."
        raise ProvisioningError(msg + suggestion(target.mode, [EAGER, *libraries[0].modes]))
    key = _key(seen)
    cache = _cache(key) if libraries[0].needs_cache else None
    return Environment(
        target=target,
        library=libraries[0],
        python=seen.python,
        root=seen.prefix,
        packages=seen.packages,
        version=_version(libraries[0], seen),
        python_version=seen.python_version,
        readable=(*seen.readable, *_library_folders(outer), *device_folders(target)),
        cache=cache,
        variables=worker_variables(target, libraries, cache=cache) | outer | dict(target.variables),
        key=key,
    )


def _inspected(python: Path, outer: Mapping[str, str]) -> Inspection:
    return inspect(
        python,
        imports=["numpy"],
        finds=[library.module for library in LIBRARIES.items().values()],
        variables={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **outer},
    )


def _outer_variables() -> dict[str, str]:
    """Return what this environment cannot be found without; only here is it the user's own."""
    home = os.environ.get("PYTHONUSERBASE") or str(Path.home() / ".local")
    # Empty is unset: what `pip install --user` installed belongs to the active environment.
    variables = {"PYTHONNOUSERSITE": "", "PYTHONUSERBASE": home}
    # Images and modules for GPUs name their libraries' folders in it.
    if os.environ.get("LD_LIBRARY_PATH"):
        variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return variables


def _library_folders(outer: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of LD_LIBRARY_PATH, without those that hold the home folder."""
    home = Path.home().resolve()
    named = map(Path, filter(None, outer.get("LD_LIBRARY_PATH", "").split(os.pathsep)))
    folders = [folder.resolve() for folder in named if folder.is_absolute()]
    return readable_paths((each for each in folders if each not in home.parents), home=home)


def _active_python(target: Target) -> Path:
    folder = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if folder:
        python = Path(folder) / "bin" / "python"
        if python.exists():
            return python
    found = next(_pythons_on_path(), None)
    if found is None:
        msg = (
            f"target {target.name!r}: no active environment and no python3 on PATH. "
            "Activate the environment that holds the library, or name a package instead."
        )
        raise ProvisioningError(msg)
    return found


def _pythons_on_path() -> Iterator[Path]:
    """Yield the interpreters on PATH, without the one that holds ciguard and no library.

    A runner of tools such as uvx puts the environment that it made for ciguard first.
    """
    own = Path(sys.prefix, "bin").resolve()
    known = {library.module.partition(".")[0] for library in LIBRARIES.items().values()}
    is_of_a_tool = not any(map(find_spec, known))
    for folder in os.get_exec_path():
        if not (is_of_a_tool and Path(folder).resolve() == own):
            python = shutil.which("python3", path=folder)
            if python is not None:
                yield Path(python)


def _libraries(
    target: Target, seen: Inspection, *, on_step: Callable[[str], None]
) -> tuple[Library, ...]:
    """Return the library under test, then its backends that are there."""
    present = [
        library for library in LIBRARIES.items().values() if seen.origins.get(library.module)
    ]
    wanted = libraries_of(target)
    chosen = wanted[0] if wanted else next(iter(present), None)
    if chosen is None or chosen not in present:
        searched = chosen.name if chosen else ", ".join(LIBRARIES.items())
        msg = (
            f"target {target.name!r}: {seen.prefix} holds no {searched}. "
            "Install it there, activate another environment, or name a package, e.g. torch==2.13.0."
        )
        raise ProvisioningError(msg)
    if not wanted and len(present) > 1:
        others = ", ".join(f"current[{library.name}]" for library in present if library != chosen)
        on_step(f"{target.name}: testing {chosen.name}; also there: {others}")
    return (chosen, *(library for library in present if library.name in chosen.backends))


def _version(library: Library, seen: Inspection) -> str:
    versions = (text for name, text in seen.packages.items() if library.provides(name))
    return next(versions, "unknown")


def _key(seen: Inspection) -> str:
    packages = json.dumps([str(seen.python), seen.python_version, sorted(seen.packages.items())])
    return f"current-{hashlib.sha256(packages.encode()).hexdigest()[:12]}"


def _cache(key: str) -> Path:
    folder = cache_folder() / "current" / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder
