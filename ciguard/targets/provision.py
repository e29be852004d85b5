"""Provisioning: uv builds a target's environment once; afterwards it comes from the cache.

Packages are installed into the cache under a lock, and the library is imported. The environment is
recorded after that, so that every recorded environment is complete.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import Timeout

from ciguard.errors import ProvisioningError
from ciguard.targets.active import active_environment
from ciguard.targets.cuda_builds import refuse_cpu_builds, refuse_unusable_builds
from ciguard.targets.drivers import make_device_files, required_cuda, visible_device
from ciguard.targets.environment import Environment, device_folders, worker_variables
from ciguard.targets.inspection import inspect
from ciguard.targets.interpreters import installed_python
from ciguard.targets.memory_guard import build_guard
from ciguard.targets.recipe import recipe_of
from ciguard.targets.routes import routes
from ciguard.targets.store import EnvironmentSlot
from ciguard.targets.target import CPU, GUARDED, libraries_of, unique_names
from ciguard.targets.uv_command import find_links, index_arguments, run_uv, uv_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.targets.drivers import Cuda
    from ciguard.targets.inspection import Inspection
    from ciguard.targets.recipe import Recipe
    from ciguard.targets.target import Target

log = logging.getLogger(__name__)


def provision(
    target: Target,
    *,
    on_step: Callable[[str], None],
    refresh: bool = False,
    inspections: dict[Path, Inspection] | None = None,
) -> Environment:
    """Return the environment of a target; build it first if the cache has none.

    If several processes need the same environment, one builds it and the others wait. There is no
    timeout. Ctrl-C stops the installation; the next build removes the incomplete environment.

    Args:
        target: the target to provision.
        on_step: a callback for progress messages of one line.
        refresh: True to rebuild the environment, e.g. for a new release of a package that is
            not pinned.
        inspections: results for earlier targets, by interpreter; an inspection for `current` is
            added.

    Raises:
        ProvisioningError: if it cannot be built; the message has the cause and what to try.
    """
    cuda = None if target.device == CPU else _check_device(target)
    if target.is_current:
        environment = active_environment(
            target, on_step=on_step, inspections={} if inspections is None else inspections
        )
    else:
        recipe = recipe_of(target, cuda=cuda)
        environment = _cached_or_built(target, recipe, on_step=on_step, refresh=refresh)
    if environment.mode and environment.mode.needs_processes:
        _require_compiler(target, f"mode {target.mode}")
    return replace(environment, guard=build_guard()) if target.mode == GUARDED else environment


def _check_device(target: Target) -> Cuda:
    """Check a CUDA target without downloads, and return the newest CUDA version of the driver.

    Raises:
        ProvisioningError: if the target's packages have no CUDA, or its GPU is missing.
    """
    refuse_cpu_builds(target)
    cuda = required_cuda(target)
    make_device_files()
    visible_device(target, os.environ)
    return cuda


def _cached_or_built(
    target: Target, recipe: Recipe, *, on_step: Callable[[str], None], refresh: bool
) -> Environment:
    """Return the environment from the cache; build it first if necessary."""
    slot = EnvironmentSlot(recipe.key)
    record = None if refresh else slot.record()
    if record is None:
        record = _build_locked(target, recipe, slot, on_step=on_step, refresh=refresh)
    slot.touch()
    return _environment(target, slot, record)


def provision_all(
    targets: Sequence[Target], *, on_step: Callable[[str], None], refresh: bool = False
) -> dict[str, Environment | ProvisioningError]:
    """Provision all targets; a target that cannot be built does not stop the others.

    Returns:
        Environment or error of each target, by its name from `unique_names`, in the order of
        `targets`.
    """
    results: dict[str, Environment | ProvisioningError] = {}
    refreshed: set[object] = set()
    inspections: dict[Path, Inspection] = {}
    for name, target in zip(unique_names(targets), targets, strict=True):
        # Refresh a shared environment only once: refreshing it again would remove the files that
        # the first target uses.
        environment = (target.packages, target.device_class, target.python)
        is_first = environment not in refreshed
        refreshed.add(environment)
        try:
            results[name] = provision(
                target, on_step=on_step, refresh=refresh and is_first, inspections=inspections
            )
        except ProvisioningError as error:
            results[name] = error
    return results


def _build_locked(
    target: Target,
    recipe: Recipe,
    slot: EnvironmentSlot,
    *,
    on_step: Callable[[str], None],
    refresh: bool,
) -> dict[str, Any]:
    """Build the environment under its lock, unless another process has just built it."""
    lock = slot.lock()
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_step(
            f"{target.name}: waiting for another ciguard process that is building its environment"
        )
        lock.acquire()
        refresh = False
    try:
        record = None if refresh else slot.record()
        return record if record is not None else _build(target, recipe, slot, on_step=on_step)
    finally:
        lock.release()


def _build(
    target: Target, recipe: Recipe, slot: EnvironmentSlot, *, on_step: Callable[[str], None]
) -> dict[str, Any]:
    """Build the environment, publish its record and return it; remove all files on failure."""
    started_s = time.monotonic()
    build = slot.new_build()
    try:
        python = _install(target, recipe, build, on_step=on_step)
        record = _verified_record(target, recipe, build, python=python, on_step=on_step)
        slot.publish(record)
    except BaseException:
        slot.sweep()
        raise
    on_step(f"{target.name}: ready after {time.monotonic() - started_s:.0f} s")
    return record


def _install(
    target: Target, recipe: Recipe, build: Path, *, on_step: Callable[[str], None]
) -> Path:
    """Create a virtual environment, install the recipe, and return the interpreter.

    The routes are tried in order until one succeeds.
    """
    outer = uv_environment(os.environ)
    interpreter: str | Path = sys.executable
    if target.python:
        interpreter = installed_python(target.python, os.environ) or target.python
    on_step(f"{target.name}: creating an environment with Python {recipe.python}")
    venv = build / "venv"
    creation = run_uv(
        ["venv", "--no-project", "--python", str(interpreter), str(venv)],
        folder=build,
        environment=outer,
        on_progress=lambda line: on_step(f"{target.name}: {line}"),
    )
    if not creation.is_success:
        msg = (
            f"target {target.name!r}: cannot create an environment with Python {recipe.python}.\n"
            f"{creation.error_output}\nInstall that Python, or name another version in the target."
        )
        raise ProvisioningError(msg)
    python = venv / "bin" / "python"
    error_outputs = []
    for route in routes(recipe, find_links(os.environ)):
        on_step(f"{target.name}: installing from {route.name}")
        installed = run_uv(
            [
                *("pip", "install", "--python", str(python)),
                *(*index_arguments(os.environ), *route.arguments, *route.requirements),
                *(file.argument for file in recipe.wheels),
            ],
            folder=build,
            environment=outer | dict(route.variables),
            on_progress=lambda line: on_step(f"{target.name}: {line}"),
        )
        if installed.is_success:
            return python
        log.info("%s from %s: %s", target.name, route.name, installed.error_output)
        error_outputs.append(installed.error_output)
    msg = (
        f"target {target.name!r}: cannot install its packages.\n{error_outputs[-1]}\n"
        f"{_install_remedy(error_outputs[-1], recipe)}"
    )
    raise ProvisioningError(msg)


def _install_remedy(error_output: str, recipe: Recipe) -> str:
    """Return a hint on what to try next, depending on uv's errors."""
    lowered = error_output.lower()
    if "no space left" in lowered or "disk quota" in lowered:
        return "Free disk space: 'ciguard targets prune' removes environments."
    if any(symptom in lowered for symptom in ("dns", "connect", "timed out", "failed to fetch")):
        return (
            "Check the network. To use another index or a folder of wheels, set UV_DEFAULT_INDEX "
            "or UV_FIND_LINKS, or pip's PIP_INDEX_URL or PIP_FIND_LINKS."
        )
    return (
        f"Check that this version exists for Python {recipe.python} and this machine. To "
        "use another interpreter, add e.g. python3.10 to the target."
    )


_MISSING_MODULE = re.compile(r"No module named '([A-Za-z_]\w*)[.\w]*'")


def _import_remedy(error: str) -> str:
    """Return a hint on what to try after a failed import.

    Some releases do not declare all their dependencies.
    """
    missing = _MISSING_MODULE.search(error)
    if missing is None:
        return (
            "Check that the target's packages fit each other, the Python version and this machine."
        )
    return (
        f"If the release needs {missing[1]!r} but does not declare it, add that package to the "
        f"target, after the library: + {missing[1]}"
    )


def _verified_record(
    target: Target, recipe: Recipe, build: Path, *, python: Path, on_step: Callable[[str], None]
) -> dict[str, Any]:
    """Import the library once, which also writes its bytecode, and return the record to store."""
    libraries = libraries_of(target)
    library = libraries[0]
    cache = build / "cache"
    if library.needs_cache:
        cache.mkdir()
    if library.needs_processes:
        _prepare_compiler(target, python)
    on_step(f"{target.name}: {library.first_import or f'importing {library.module}'}")
    variables = worker_variables(target, libraries, cache=cache if library.needs_cache else None)
    try:
        inspection = inspect(
            python,
            imports=["numpy", library.module],
            optional=[name for member in libraries for name in member.lazy_modules],
            variables=variables,
        )
    except ProvisioningError as error:
        remedy = _import_remedy(str(error))
        msg = f"target {target.name!r}: its packages are installed, but {error}\n{remedy}"
        raise ProvisioningError(msg) from error
    if recipe.cuda:
        refuse_unusable_builds(target, inspection.packages, recipe.cuda)
    return {
        "target": target.name,
        "python": str(python),
        "build": str(build),
        "packages": dict(inspection.packages),
        "version": inspection.versions[library.module] or "unknown",
        "python_version": inspection.python_version,
        "readable": [str(path) for path in inspection.readable],
    }


def _prepare_compiler(target: Target, python: Path) -> None:
    """Ensure that a library that compiles code has a compiler and the interpreter's headers."""
    _require_compiler(target, libraries_of(target)[0].name)
    base = python.resolve()
    for name in (f"{base.name}-config", "python3-config"):
        base_script = base.parent / name
        if base_script.exists():
            # Virtual environments lack this script; started by a link, it would report wrong
            # folders.
            script = python.parent / f"{base.name}-config"
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(base_script))} "$@"\n', "utf-8")
            script.chmod(0o755)
            return
    log.warning("%s: no python-config beside %s, so compilation may fail", target.name, base)


def _require_compiler(target: Target, component: str) -> None:
    """Raise an error if g++ is missing, which a component such as `mode compile` needs."""
    if shutil.which("g++", path="/usr/bin:/bin") is None:
        msg = (
            f"target {target.name!r}: {component} needs g++ to compile operators, but g++ "
            "is missing. Install g++, e.g. with 'apt-get install g++', and run the "
            "command again."
        )
        raise ProvisioningError(msg)


def _environment(target: Target, slot: EnvironmentSlot, record: dict[str, Any]) -> Environment:
    """Return the environment that a record describes."""
    libraries = libraries_of(target)
    build = Path(record["build"])
    cache = build / "cache" if libraries[0].needs_cache else None
    return Environment(
        target=target,
        library=libraries[0],
        python=Path(record["python"]),
        root=build,
        packages=record["packages"],
        version=record["version"],
        python_version=record["python_version"],
        readable=(*map(Path, record["readable"]), *device_folders(target)),
        cache=cache,
        variables=worker_variables(target, libraries, cache=cache),
        key=slot.key,
    )
