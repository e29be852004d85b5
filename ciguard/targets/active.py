"""The target `current`: the active environment of ciguard's user. Nothing is installed into it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
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
from ciguard.targets.target import EAGER, GUARDED, TF32, libraries_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ciguard.libraries import Library
    from ciguard.targets.inspection import Inspection
    from ciguard.targets.target import Target


_NO_NUMPY = "ModuleNotFoundError: No module named 'numpy'"
"""End of the message of an interpreter without numpy."""


def active_environment(
    target: Target, *, on_step: Callable[[str], None], inspections: dict[Path, Inspection]
) -> Environment:
    """Inspect the active environment and return it as the environment of a target.

    Args:
        target: the target; several targets may share the active environment.
        on_step: a callback for progress messages.
        inspections: results for earlier targets, by interpreter; the one for this target is added.

    Raises:
        ProvisioningError: if there is no interpreter, or the interpreter lacks numpy or the
            library.
    """
    python = _active_python(target)
    variables = _search_variables()
    try:
        if python not in inspections:
            on_step(f"{target.name}: inspecting {python}")
            inspections[python] = _inspect_active(python, variables)
    except ProvisioningError as error:
        reason = "it is not installed" if _NO_NUMPY in str(error) else str(error)
        msg = (
            f"target {target.name!r}: workers need numpy in {python.parents[1]}: {reason}\n"
            f"Install it, e.g. with `uv pip install --python {shlex.quote(str(python))} numpy`."
        )
        raise ProvisioningError(msg) from error
    inspection = inspections[python]
    libraries = _libraries(target, inspection, on_step=on_step)
    modes = [EAGER, GUARDED, *libraries[0].modes]
    modes += [TF32] if any(library.has_tf32 for library in libraries) else []
    if target.mode not in modes:
        msg = f"target {target.name!r}: {libraries[0].name} has no mode {target.mode!r}."
        raise ProvisioningError(msg + suggestion(target.mode, modes))
    key = _environment_key(inspection)
    cache = _create_cache(key) if libraries[0].needs_cache else None
    return Environment(
        target=target,
        library=libraries[0],
        python=inspection.python,
        root=inspection.prefix,
        packages=inspection.packages,
        version=_version(libraries[0], inspection),
        python_version=inspection.python_version,
        readable=(*inspection.readable, *_library_folders(variables), *device_folders(target)),
        cache=cache,
        variables=worker_variables(target, libraries, cache=cache)
        | variables
        | dict(target.variables),
        key=key,
    )


def _inspect_active(python: Path, variables: Mapping[str, str]) -> Inspection:
    return inspect(
        python,
        imports=["numpy"],
        to_locate=[library.module for library in LIBRARIES.items().values()],
        variables={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **variables},
    )


def _search_variables() -> dict[str, str]:
    """Return the user's variables with which the active environment may find its modules."""
    home = os.environ.get("PYTHONUSERBASE") or str(Path.home() / ".local")
    # An empty value counts as unset: packages of `pip install --user` are part of the environment.
    variables = {"PYTHONNOUSERSITE": "", "PYTHONUSERBASE": home}
    # Container images for GPUs set LD_LIBRARY_PATH to the folders of their libraries.
    if os.environ.get("LD_LIBRARY_PATH"):
        variables["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return variables


def _library_folders(variables: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the folders of LD_LIBRARY_PATH, without those that contain the home folder."""
    home = Path.home().resolve()
    listed = map(Path, filter(None, variables.get("LD_LIBRARY_PATH", "").split(os.pathsep)))
    folders = [folder.resolve() for folder in listed if folder.is_absolute()]
    return readable_paths((path for path in folders if path not in home.parents), home=home)


def _active_python(target: Target) -> Path:
    """Return the interpreter of the active environment, else the first interpreter on PATH."""
    folder = os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX")
    if folder:
        python = Path(folder) / "bin" / "python"
        if python.exists():
            return python
    python_on_path = next(_pythons_on_path(), None)
    if python_on_path is None:
        msg = (
            f"target {target.name!r}: no active environment and no python3 on PATH. "
            "Activate the environment with the library, or name a package instead."
        )
        raise ProvisioningError(msg)
    return python_on_path


def _pythons_on_path() -> Iterator[Path]:
    """Yield the interpreters on PATH, except for one that has ciguard but no library to test.

    Tool runners such as uvx put an environment with only ciguard first on PATH.
    """
    own_folder = Path(sys.prefix, "bin").resolve()
    modules = {library.module.partition(".")[0] for library in LIBRARIES.items().values()}
    is_tool_environment = not any(map(find_spec, modules))
    for folder in os.get_exec_path():
        if not (is_tool_environment and Path(folder).resolve() == own_folder):
            python = shutil.which("python3", path=folder)
            if python is not None:
                yield Path(python)


def _libraries(
    target: Target, inspection: Inspection, *, on_step: Callable[[str], None]
) -> tuple[Library, ...]:
    """Return the library under test, then its installed backends."""
    installed = [
        library for library in LIBRARIES.items().values() if inspection.origins.get(library.module)
    ]
    requested = libraries_of(target)
    chosen = requested[0] if requested else next(iter(installed), None)
    if chosen is None or chosen not in installed:
        searched = chosen.name if chosen else ", ".join(LIBRARIES.items())
        msg = (
            f"target {target.name!r}: {inspection.prefix} does not have {searched}. "
            "Install the library, activate another environment, or name a package, e.g. "
            "torch==2.13.0."
        )
        raise ProvisioningError(msg)
    if not requested and len(installed) > 1:
        other_targets = ", ".join(
            f"current[{library.name}]" for library in installed if library != chosen
        )
        on_step(f"{target.name}: its library is {chosen.name}; also installed: {other_targets}")
    return (chosen, *(library for library in installed if library.name in chosen.backends))


def _version(library: Library, inspection: Inspection) -> str:
    versions = (text for name, text in inspection.packages.items() if library.provides(name))
    return next(versions, "unknown")


def _environment_key(inspection: Inspection) -> str:
    packages = json.dumps(
        [str(inspection.python), inspection.python_version, sorted(inspection.packages.items())]
    )
    return f"current-{hashlib.sha256(packages.encode()).hexdigest()[:12]}"


def _create_cache(key: str) -> Path:
    folder = cache_folder() / "current" / key
    folder.mkdir(parents=True, exist_ok=True)
    return folder
