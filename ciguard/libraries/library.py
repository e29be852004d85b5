"""What is said of a library: where it comes from, how its workers run, how sources write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ciguard.libraries.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.libraries.forms import TensorForm
    from ciguard.libraries.programs import ProgramStyle
    from ciguard.libraries.scripts import Writer


class ForkPolicy(StrEnum):
    """When a process that has the library loaded may be forked."""

    AFTER_USE = "after-use"
    """Always: forked children run well, even of a process that has run operations."""
    AFTER_IMPORT = "after-import"
    """Only a process that imported the library and ran nothing: later its threads hold locks."""
    NEVER = "never"
    """Every worker is a new interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """A requirement that is installed beside a library."""

    requirement: str
    """PEP 508, e.g. `numpy<2`."""
    versions: str = ""
    """Library versions that need it, e.g. `<2.3`; empty means all of them."""

    def is_needed_by(self, version: str | None) -> bool:
        """Return whether this version of the library needs it; None is the newest version."""
        if not self.versions:
            return True
        return version is not None and SpecifierSet(self.versions).contains(
            version, prereleases=True
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaExtra:
    """An extra of a library's package that brings CUDA."""

    name: str
    """E.g. `cuda13`."""
    cuda: int
    """Major version of the CUDA that it brings."""
    versions: str
    """Library versions that have it and can be installed with it, e.g. `>=0.7.2`."""

    def is_in(self, version: str | None) -> bool:
        """Return whether this version of the library has it; None is the newest version."""
        return version is None or SpecifierSet(self.versions).contains(version, prereleases=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """A way to execute calls other than eagerly; the adapter knows how, by the same name."""

    compile_s: float = 60.0
    """Time that compiling may take, on top of a case's limit: each case is compiled anew."""
    needs_processes: bool = False
    """It starts other processes, e.g. a compiler."""
    cases_per_worker: int = 50000
    """A worker is replaced after so many cases: a call that the mode refuses may leave traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One library under test. Another package adds its own under `ciguard.libraries`."""

    name: str
    distributions: tuple[str, ...]
    """Names on the package index, the usual one first; each of them provides `module`."""
    cpu_distributions: tuple[str, ...] = ()
    """Those of `distributions` that are built for CPUs only."""
    module: str
    """Import name."""
    adapter: Path
    """File of the adapter; see `ciguard/libraries/in_target/contract.py`."""
    backends: tuple[str, ...] = ()
    """Libraries that this one computes with: a target must hold one of them."""
    backend_variable: str = ""
    """Environment variable that selects the backend."""
    companions: tuple[Companion, ...] = ()
    """Requirements installed beside it that it does not bring itself."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its workers."""
    cpu_environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its workers on `cpu` targets, beside `environment`."""
    cuda_environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of its workers on `cuda` targets, beside `environment`."""
    backend_environment: Mapping[str, str] = field(default_factory=dict)
    """Variables of workers of a library that computes with it."""
    cache_variable: str = ""
    """Variable that names a folder, kept between runs, for what the library compiles itself."""
    has_device_builds: bool = False
    """Its wheels come in one build per device, which uv's `--torch-backend` selects."""
    checks_allocations: bool = True
    """Whether it raises where there is no memory; else it dies as by any other crash."""
    compiles_on_devices: bool = False
    """On devices its calls are compiled by programs that it starts, such as `ptxas`."""
    cuda_extras: tuple[CudaExtra, ...] = ()
    """Extras that `cuda` targets are installed with, the newest CUDA first."""
    forks: ForkPolicy = ForkPolicy.AFTER_IMPORT
    case_limit_s: float = 5.0
    """Time limit of one case."""
    program_limit_s: float = 60.0
    """Time limit of one program, which takes a second or two where nothing is compiled."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """How a target can execute calls, beside eagerly."""
    needs_processes: bool = False
    """Its calls start other processes, e.g. a compiler."""
    has_api: bool = True
    """False of the client of a service, with which applications are tested, and nothing else."""
    first_import: str = ""
    """What takes long when it is first imported; shown while it runs."""
    compiles_each_shape: bool = False
    """Whether a library that computes with it has every operation compiled for every shape."""
    script: Writer | None = None
    """How scripts write its tensors; None: numpy arrays stand for them."""
    programs: ProgramStyle | None = None
    """How programs build models with it; None: level `code` does not know them."""
    forms: tuple[TensorForm, ...] = ()
    """Ways of keeping a tensor, beside densely, which its functions take as well."""
    operations: Operations = field(default_factory=Operations)
    """Functions of it that metamorphic relations compute with."""
    equivalents: Path | None = None
    """TOML file of its APIs that are defined as those of other libraries are, written as
    `ciguard/oracles/equivalents.toml` is."""
    documentation: str = ""
    """Whose mined rules read its documentation, e.g. `pytorch`; see `ciguard api learn`."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Public beginnings of names by other ones that lead to the same objects, as sources may
    write them, e.g. `tensorflow.` by `tensorflow.compat.v2.`."""
    brought_as: str = ""
    """Name by which another library brings it, e.g. `tensorflow.keras`."""
    tensor_class: str = ""
    """Class of its tensors, whose methods are APIs, e.g. `torch.Tensor`."""
    raw_names: tuple[str, ...] = ()
    """Beginnings of names of raw entry points, which take handles and None for a tensor."""
    kernel_modules: tuple[str, ...] = ()
    """What kernels of a project's own are written with: sources that use it ask for a device."""
    conda_names: tuple[str, ...] = ()
    """Packages of conda that hold it, beside those of its distributions' names."""
    security_policy: str = ""
    """Address of what its maintainers say of how they want to hear of vulnerabilities."""

    @property
    def needs_cache(self) -> bool:
        """Whether it keeps a folder of its own between runs."""
        return bool(self.cache_variable)

    def provides(self, distribution: str) -> bool:
        """Return whether a distribution of this name is this library."""
        return canonicalize_name(distribution) in map(canonicalize_name, self.distributions)
