"""Environments of targets: interpreter, packages, and the variables of workers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.libraries import LIBRARIES
from ciguard.targets.drivers import visible_device
from ciguard.targets.target import CPU, TF32

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.libraries import Library, Mode
    from ciguard.targets.target import Target

FULL_PRECISION = {"NVIDIA_TF32_OVERRIDE": "0"}
"""Variables that turn off TF32, whose 10-bit mantissa makes results differ from a CPU's."""

_CUDA_FOLDERS = (Path("/usr/local/cuda"), Path("/usr/local/nvidia"))
"""Folders of CUDA in container images; they may be links to folders that workers cannot read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A target that is ready to run cases."""

    target: Target
    """Target for which the environment was built."""
    library: Library
    """Library under test."""
    python: Path
    """Path of the interpreter."""
    root: Path
    """Root folder of the environment."""
    packages: Mapping[str, str]
    """Versions of all installed distributions, by normalised name."""
    version: str
    """Version of the library under test."""
    python_version: str
    """Version of the interpreter."""
    readable: tuple[Path, ...]
    """Folders and files that a confined worker must be able to read."""
    cache: Path | None
    """Folder to which workers may write, kept between runs; None if the library needs none."""
    variables: Mapping[str, str]
    """All environment variables of workers except for `HOME`."""
    key: str
    """Key in the cache; targets with the same key share the environment."""
    guard: Path | None = None
    """Path of the memory guard's library; None if workers run without it."""

    @property
    def mode(self) -> Mode | None:
        """Execution mode of calls; None for eager and guarded execution."""
        return self.library.modes.get(self.target.mode)

    @property
    def needs_processes(self) -> bool:
        """True if calls start other processes, such as a compiler."""
        if self.library.needs_processes or (self.mode and self.mode.needs_processes):
            return True
        return self.target.device != CPU and any(
            library.compiles_on_devices for library in self._computing_libraries
        )

    @property
    def uncountable(self) -> list[str]:
        """Names of the libraries that compute the target's calls, but not under callgrind."""
        return [one.name for one in self._computing_libraries if not one.counts_instructions]

    @property
    def _computing_libraries(self) -> list[Library]:
        """Libraries whose kernels compute: the library under test and its installed backends."""
        backends = [LIBRARIES.get(name) for name in self.library.backends]
        installed = [backend for backend in backends if any(map(backend.provides, self.packages))]
        return [self.library, *installed]


def worker_device(target: Target) -> str:
    """Return the device as the target's workers name it: they see a single GPU, `cuda:0`."""
    return CPU if target.device == CPU else "cuda:0"


def worker_variables(
    target: Target, libraries: tuple[Library, ...], *, cache: Path | None
) -> dict[str, str]:
    """Return the environment variables of a target's workers, except for `HOME`.

    Only the visible GPU is taken from ciguard's own environment variables, since the others may
    contain the job's tokens.

    Args:
        target: the target, whose own variables are included.
        libraries: the library under test, then its backends.
        cache: the folder for code that the library compiles; None if it needs none.

    Raises:
        ProvisioningError: if the target's GPU is not visible to the job.
    """
    variables = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        # Makes the iteration order of sets the same in each run.
        "PYTHONHASHSEED": "0",
        # Packages in the home folder would make a target differ between machines.
        "PYTHONNOUSERSITE": "1",
    }
    on_cpu = target.device == CPU
    for library in reversed(libraries):
        variables |= library.environment
        variables |= library.cpu_environment if on_cpu else {}
    variables["CUDA_VISIBLE_DEVICES"] = "" if on_cpu else visible_device(target, os.environ)
    if not on_cpu:
        # Numbers GPUs as nvidia-smi and schedulers do; CUDA numbers them by speed by default.
        variables |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", **device_variables(target, libraries)}
    variables |= backend_choice(libraries)
    if cache is not None:
        variables[libraries[0].cache_variable] = os.fspath(cache)
    return variables | dict(target.variables)


def device_variables(target: Target, libraries: Iterable[Library]) -> dict[str, str]:
    """Return the variables with which a target computes on its device; none on a CPU.

    Args:
        target: the target, whose mode decides on the precision of products.
        libraries: the library under test, then its backends.
    """
    if target.device == CPU:
        return {}
    in_order = list(libraries)[::-1]
    variables = {key: value for one in in_order for key, value in one.cuda_environment.items()}
    if target.mode != TF32:
        return variables | FULL_PRECISION
    tf32 = {key: value for one in in_order for key, value in (one.tf32_environment or {}).items()}
    return variables | tf32


def backend_choice(libraries: tuple[Library, ...]) -> dict[str, str]:
    """Return the variables that select and configure the backend; empty if there is no backend.

    Args:
        libraries: the library under test, then its backends.
    """
    library, *candidates = libraries
    for backend in candidates:
        if backend.name in library.backends:
            return {library.backend_variable: backend.name, **backend.backend_environment}
    return {}


def device_folders(target: Target) -> tuple[Path, ...]:
    """Return the folders outside the environment that workers must read to use a GPU."""
    return () if target.device == CPU else readable_paths(_CUDA_FOLDERS, home=Path.home())


def readable_paths(entries: Iterable[Path], *, home: Path) -> tuple[Path, ...]:
    """Return the paths that a worker must be able to read: the entries and the targets of links.

    Paths inside another returned path are dropped. A checkout's `.git` contains the job's token
    (`actions/checkout` stores it there), and a home folder contains keys. So hidden children of
    such a folder are left out. Links that leave the folder are left out too: a pull request can
    commit a link to a file with the job's token.

    Args:
        entries: the folders and files of an environment; those that do not exist are ignored.
        home: the user's home folder.
    """
    paths: set[Path] = set()
    for entry in entries:
        if not entry.exists():
            continue
        is_private = entry.is_dir() and ((entry / ".git").exists() or entry == home)
        entry_paths = _public_children(entry) if is_private else [entry]
        paths.update(entry_paths)
        paths.update(path.resolve() for path in entry_paths)
    return tuple(sorted(path for path in paths if paths.isdisjoint(path.parents)))


def _public_children(folder: Path) -> list[Path]:
    """Return the children of a folder, without hidden ones and links to hidden files or outside."""
    real = folder.resolve()
    children = []
    for child in folder.iterdir():
        target = child.resolve()
        below = target.relative_to(real).parts if target.is_relative_to(real) else ()
        if below and not below[0].startswith(".") and not child.name.startswith("."):
            children.append(child)
    return children
