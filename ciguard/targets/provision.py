"""Makes a target's environment with uv, once; afterwards the cache answers.

What is not `current` is installed into the cache under a lock, proved by importing the library, and
only then recorded, so that an environment that can be found is complete.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import Timeout

from ciguard.errors import ProvisioningError
from ciguard.targets.active import active_environment
from ciguard.targets.cuda_builds import refuse_cpu_builds, refuse_unfit_builds
from ciguard.targets.drivers import make_device_files, required_cuda, visible_device
from ciguard.targets.environment import Environment, device_folders, worker_variables
from ciguard.targets.inspection import inspect
from ciguard.targets.interpreters import installed_python
from ciguard.targets.recipe import recipe_of
from ciguard.targets.routes import routes
from ciguard.targets.store import EnvironmentSlot
from ciguard.targets.target import CPU, libraries_of, unique_names
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
    known: dict[Path, Inspection] | None = None,
) -> Environment:
    """Return the environment of a target; build it first if the cache has none.

    Safe when several processes do the same: one builds, the others wait for it. There is no time
    limit; Ctrl-C ends the installation and leaves nothing that counts as an environment.

    Args:
        target: what to provide.
        on_step: told what is happening, one line each, when something takes time.
        refresh: build anew, e.g. to take up a new release of a package without a version.
        known: what interpreters were found to be for other targets; this one's may be added.

    Raises:
        ProvisioningError: if it cannot be built; names the target, the cause and what to try.
    """
    cuda = None if target.device == CPU else _required_device(target)
    if target.is_current:
        environment = active_environment(
            target, on_step=on_step, known={} if known is None else known
        )
    else:
        recipe = recipe_of(target, cuda=cuda)
        environment = _installed(target, recipe, on_step=on_step, refresh=refresh)
    if environment.mode and environment.mode.needs_processes:
        _require_compiler(target, f"mode {target.mode}")
    return environment


def _required_device(target: Target) -> Cuda:
    """Return the newest CUDA that the driver runs, after checks that need no download.

    Raises:
        ProvisioningError: if the target's packages have no CUDA, or its GPU is not there.
    """
    refuse_cpu_builds(target)
    cuda = required_cuda(target)
    make_device_files()
    visible_device(target, os.environ)
    return cuda


def _installed(
    target: Target, recipe: Recipe, *, on_step: Callable[[str], None], refresh: bool
) -> Environment:
    slot = EnvironmentSlot(recipe.key)
    record = None if refresh else slot.record()
    if record is None:
        record = _build_locked(target, recipe, slot, on_step=on_step, refresh=refresh)
    slot.touch()
    return _environment(target, slot, record)


def provision_all(
    targets: Sequence[Target], *, on_step: Callable[[str], None], refresh: bool = False
) -> dict[str, Environment | ProvisioningError]:
    """Provision every target before anything runs; one that cannot be built does not stop others.

    Returns:
        Environment or error by the names of `unique_names`, in the order given.
    """
    ready: dict[str, Environment | ProvisioningError] = {}
    built: set[object] = set()
    known: dict[Path, Inspection] = {}
    for name, target in zip(unique_names(targets), targets, strict=True):
        # The second target of one environment would find the first one's environment removed.
        environment = (target.packages, target.device_class, target.python)
        is_first = environment not in built
        built.add(environment)
        try:
            ready[name] = provision(
                target, on_step=on_step, refresh=refresh and is_first, known=known
            )
        except ProvisioningError as error:
            ready[name] = error
    return ready


def _build_locked(
    target: Target,
    recipe: Recipe,
    slot: EnvironmentSlot,
    *,
    on_step: Callable[[str], None],
    refresh: bool,
) -> dict[str, Any]:
    lock = slot.lock()
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_step(f"{target.name}: waiting for another ciguard that is building it")
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
    started_s = time.monotonic()
    build = slot.new_build()
    try:
        python = _install(target, recipe, build, on_step=on_step)
        record = _proved(target, recipe, build, python=python, on_step=on_step)
        slot.publish(record)
    except BaseException:
        slot.sweep()
        raise
    on_step(f"{target.name}: ready after {time.monotonic() - started_s:.0f} s")
    return record


def _install(
    target: Target, recipe: Recipe, build: Path, *, on_step: Callable[[str], None]
) -> Path:
    """Make the virtual environment and install the recipe on the first route that works."""
    outer = uv_environment(os.environ)
    wanted: str | Path = sys.executable
    if target.python:
        wanted = installed_python(target.python, os.environ) or target.python
    on_step(f"{target.name}: making an environment of Python {recipe.python}")
    venv = build / "venv"
    made = run_uv(
        ["venv", "--no-project", "--python", str(wanted), str(venv)],
        folder=build,
        environment=outer,
        on_progress=lambda line: on_step(f"{target.name}: {line}"),
    )
    if not made.is_success:
        msg = (
            f"target {target.name!r}: no environment of Python {recipe.python} can be made.\n"
            f"{made.complaint}\nInstall that Python, or name another version in the target."
        )
        raise ProvisioningError(msg)
    python = venv / "bin" / "python"
    complaints = []
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
        log.info("%s from %s: %s", target.name, route.name, installed.complaint)
        complaints.append(installed.complaint)
    msg = (
        f"target {target.name!r}: its packages cannot be installed.\n{complaints[-1]}\n"
        f"{_advice(complaints[-1], recipe)}"
    )
    raise ProvisioningError(msg)


def _advice(complaint: str, recipe: Recipe) -> str:
    """Return what to try next, from what uv complained of."""
    lowered = complaint.lower()
    if "no space left" in lowered or "disk quota" in lowered:
        return "Make room: 'ciguard targets prune' removes environments that are not needed."
    if any(sign in lowered for sign in ("dns", "connect", "timed out", "failed to fetch")):
        return (
            "Check the network. An index or a folder of wheels of your own is read from "
            "UV_DEFAULT_INDEX and UV_FIND_LINKS, or from PIP_INDEX_URL and PIP_FIND_LINKS."
        )
    return (
        f"Check that this version exists for Python {recipe.python} and this machine; "
        "another interpreter is chosen by a word in the target, e.g. python3.10."
    )


_MISSING_MODULE = re.compile(r"No module named '([A-Za-z_]\w*)[.\w]*'")


def _import_remedy(error: str) -> str:
    """Say what to do; releases exist that need a package and do not declare it."""
    missing = _MISSING_MODULE.search(error)
    if missing is None:
        return "Check that its packages fit each other, this Python and this machine."
    return (
        f"If a release needs {missing[1]!r} without declaring it, add the package to the target, "
        f"after the library: + {missing[1]}"
    )


def _proved(
    target: Target, recipe: Recipe, build: Path, *, python: Path, on_step: Callable[[str], None]
) -> dict[str, Any]:
    """Import the library once, which also writes its bytecode, and return the record."""
    libraries = libraries_of(target)
    library = libraries[0]
    cache = build / "cache"
    if library.needs_cache:
        cache.mkdir()
    if library.needs_processes:
        _make_compilable(target, python)
    on_step(f"{target.name}: {library.first_import or f'importing {library.module}'}")
    variables = worker_variables(target, libraries, cache=cache if library.needs_cache else None)
    try:
        seen = inspect(python, imports=["numpy", library.module], variables=variables)
    except ProvisioningError as error:
        msg = f"target {target.name!r}: installed, but {error}\n{_import_remedy(str(error))}"
        raise ProvisioningError(msg) from error
    if recipe.cuda:
        refuse_unfit_builds(target, seen.packages, recipe.cuda)
    return {
        "target": target.name,
        "python": str(python),
        "build": str(build),
        "packages": dict(seen.packages),
        "version": seen.versions[library.module] or "unknown",
        "python_version": seen.python_version,
        "readable": [str(path) for path in seen.readable],
    }


def _make_compilable(target: Target, python: Path) -> None:
    """See that a library which compiles finds a compiler and the headers of its interpreter."""
    _require_compiler(target, libraries_of(target)[0].name)
    base = python.resolve()
    for name in (f"{base.name}-config", "python3-config"):
        settings = base.parent / name
        if settings.exists():
            # Virtual environments have none, and a link would report the link's own folder.
            script = python.parent / f"{base.name}-config"
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(settings))} "$@"\n', "utf-8")
            script.chmod(0o755)
            return
    log.warning("%s: no python-config beside %s", target.name, base)


def _require_compiler(target: Target, who: str) -> None:
    if shutil.which("g++", path="/usr/bin:/bin") is None:
        msg = (
            f"target {target.name!r}: {who} compiles its operators and finds no g++. "
            "Install it, e.g. 'apt-get install g++', and sync again."
        )
        raise ProvisioningError(msg)


def _environment(target: Target, slot: EnvironmentSlot, record: dict[str, Any]) -> Environment:
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
