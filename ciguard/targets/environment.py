"""An environment: where a target's interpreter is, what it holds, and how its workers are run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.libraries import LIBRARIES
from ciguard.targets.drivers import visible_device
from ciguard.targets.target import CPU

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ciguard.libraries import Library, Mode
    from ciguard.targets.target import Target

FULL_PRECISION = {"NVIDIA_TF32_OVERRIDE": "0"}
"""Of workers on CUDA devices: in TF32, which keeps 10 bits, products differ from those of a CPU."""

_CUDA_FOLDERS = (Path("/usr/local/cuda"), Path("/usr/local/nvidia"))
"""Of images for GPUs; links that may lead out of what every worker can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A target that is ready to run cases."""

    target: Target
    library: Library
    """The library under test."""
    python: Path
    """Its interpreter."""
    root: Path
    """Its folder."""
    packages: Mapping[str, str]
    """Version of every installed distribution, by normalised name."""
    version: str
    """The library's version."""
    python_version: str
    readable: tuple[Path, ...]
    """Folders and files that a confined worker must be able to read."""
    cache: Path | None
    """Folder that workers may write, kept between runs; None when the library needs none."""
    variables: Mapping[str, str]
    """The whole environment of its workers but `HOME`, built from nothing."""
    key: str
    """Names what was asked for: two targets with one key share the environment."""

    @property
    def mode(self) -> Mode | None:
        """How calls are executed; None for eagerly."""
        return self.library.modes.get(self.target.mode)

    @property
    def needs_processes(self) -> bool:
        """Whether its calls start other processes, e.g. a compiler."""
        if self.library.needs_processes or (self.mode and self.mode.needs_processes):
            return True
        return self.target.device != CPU and any(one.compiles_on_devices for one in self._computing)

    @property
    def _computing(self) -> list[Library]:
        """The library under test and the backends of it that are installed."""
        backends = [LIBRARIES.get(name) for name in self.library.backends]
        installed = [one for one in backends if any(map(one.provides, self.packages))]
        return [self.library, *installed]


def worker_device(target: Target) -> str:
    """Return the device as the target's workers see it: no GPU but one is shown to them."""
    return CPU if target.device == CPU else "cuda:0"


def worker_variables(
    target: Target, libraries: tuple[Library, ...], *, cache: Path | None
) -> dict[str, str]:
    """Return the environment of a target's workers, `HOME` excepted.

    Nothing of ciguard's own environment gets in, which may hold the job's tokens, but the name of
    the GPU that the job offers.

    Args:
        target: gives device and further variables.
        libraries: the library under test, then its backends.
        cache: folder for what the library compiles.

    Raises:
        ProvisioningError: if the job does not offer the target's GPU.
    """
    variables = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        # The order of sets, and with it of whatever iterates over them, is the same in each run.
        "PYTHONHASHSEED": "0",
        # Packages in a home folder would make one target differ between machines.
        "PYTHONNOUSERSITE": "1",
    }
    on_cpu = target.device == CPU
    for library in reversed(libraries):
        variables |= library.environment
        variables |= library.cpu_environment if on_cpu else library.cuda_environment
    variables["CUDA_VISIBLE_DEVICES"] = "" if on_cpu else visible_device(target, os.environ)
    if not on_cpu:
        # Numbers as nvidia-smi and schedulers give them, not by the speed of each GPU.
        variables |= {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", **FULL_PRECISION}
    variables |= backend_choice(libraries)
    if cache is not None:
        variables[libraries[0].cache_variable] = os.fspath(cache)
    return variables | dict(target.variables)


def backend_choice(libraries: tuple[Library, ...]) -> dict[str, str]:
    """Return the variables that select and set the backend, if the library has several.

    Args:
        libraries: the library under test, then its backends.
    """
    under_test, *others = libraries
    for backend in others:
        if backend.name in under_test.backends:
            return {under_test.backend_variable: backend.name, **backend.backend_environment}
    return {}


def device_folders(target: Target) -> tuple[Path, ...]:
    """Return what a target's workers must read for their device, beside its environment."""
    return () if target.device == CPU else readable_paths(_CUDA_FOLDERS, home=Path.home())


def readable_paths(entries: Iterable[Path], *, home: Path) -> tuple[Path, ...]:
    """Return what a worker must read for these folders, links resolved, none inside another.

    A checkout's `.git` holds the job's token (`actions/checkout` leaves it in the configuration),
    and a home folder holds keys: of such a folder only the children that are not hidden count, and
    no link that leads out of it: a pull request can commit one to where a job keeps its token.
    """
    found: set[Path] = set()
    for entry in entries:
        if not entry.exists():
            continue
        is_private = entry.is_dir() and ((entry / ".git").exists() or entry == home)
        kept = _shown(entry) if is_private else [entry]
        found.update(kept)
        found.update(path.resolve() for path in kept)
    return tuple(sorted(path for path in found if found.isdisjoint(path.parents)))


def _shown(folder: Path) -> list[Path]:
    """Return what is in a folder, neither hidden nor a link to elsewhere or to what is hidden."""
    real = folder.resolve()
    shown = []
    for child in folder.iterdir():
        target = child.resolve()
        below = target.relative_to(real).parts if target.is_relative_to(real) else ()
        if below and not below[0].startswith(".") and not child.name.startswith("."):
            shown.append(child)
    return shown
