"""Description of a library: its packages, how its workers run, and how scripts use it."""

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
    """Condition under which a process that has imported the library may be forked."""

    AFTER_USE = "after-use"
    """A process may always be forked: children work even if their parent has run operations."""
    AFTER_IMPORT = "after-import"
    """A process may be forked until its first operation: later, the library's threads own locks."""
    NEVER = "never"
    """A process must not be forked: every worker is a new interpreter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Requirement that is installed with a library, although the library does not declare it."""

    requirement: str
    """PEP 508 requirement, e.g. `numpy<2`."""
    versions: str = ""
    """Versions of the library that need the requirement, e.g. `<2.3`; empty for all versions."""

    def is_needed_by(self, version: str | None) -> bool:
        """Return whether a version needs the requirement; None stands for the newest version."""
        if not self.versions:
            return True
        return version is not None and SpecifierSet(self.versions).contains(
            version, prereleases=True
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CudaExtra:
    """Extra of a library's package that installs CUDA."""

    name: str
    """Name of the extra, e.g. `cuda13`."""
    cuda: int
    """Major version of CUDA that the extra installs."""
    versions: str
    """Versions of the library that can be installed with the extra, e.g. `>=0.7.2`."""

    def is_available_in(self, version: str | None) -> bool:
        """Return whether a version of the library has the extra; None stands for the newest one."""
        return version is None or SpecifierSet(self.versions).contains(version, prereleases=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Execution mode of calls other than eager; the adapter implements it under the same name."""

    compile_s: float = 60.0
    """Compilation time added to a case's timeout, in seconds: each case is compiled."""
    needs_processes: bool = False
    """True if calls in this mode start other processes, e.g. a compiler."""
    cases_per_worker: int = 50000
    """Number of cases after which a worker is replaced, since calls may leave state behind."""
    loses_shapes: bool = False
    """True if tracing does not know the shapes of some results, which further calls may need."""
    keeps_special_numbers: bool = False
    """True if NaN and infinities must have the same effect as in eager execution."""
    stages: tuple[str, ...] = ()
    """Names of the adapter's functions `stages` for this mode, in order."""
    options: tuple[str, ...] = ()
    """Names of the adapter's functions `options` for this mode."""
    selected_by: tuple[str, ...] = ()
    """Names with which programs select the mode, such as `torch.compile`."""
    sources: tuple[str, ...] = ()
    """Beginnings of the paths of the mode's compiler in the library's repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One library under test.

    Other packages register further libraries with the entry point `ciguard.libraries`.
    """

    name: str
    """Name of the library in targets, reports and settings."""
    distributions: tuple[str, ...]
    """Names on the package index, the usual name first; each distribution provides `module`."""
    cpu_distributions: tuple[str, ...] = ()
    """Members of `distributions` that are built for CPUs only."""
    module: str
    """Import name of the library."""
    adapter: Path
    """File of the adapter; see `ciguard/libraries/in_target/contract.py`."""
    backends: tuple[str, ...] = ()
    """Names of libraries with which this library can compute; a target must have one of them."""
    backend_variable: str = ""
    """Environment variable that selects the backend."""
    companions: tuple[Companion, ...] = ()
    """Requirements that the library needs but does not declare."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to set in the library's workers."""
    cpu_environment: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables to set in workers on `cpu` targets."""
    cuda_environment: Mapping[str, str] = field(default_factory=dict)
    """Further environment variables to set in workers on `cuda` targets."""
    tf32_environment: Mapping[str, str] | None = None
    """Environment variables with which workers on `cuda` targets compute with TF32; None if the
    library has no such switch."""
    backend_environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to set in workers of libraries whose backend is this library."""
    cache_variable: str = ""
    """Environment variable that names the folder for compiled code, which runs keep."""
    has_device_builds: bool = False
    """True if each device has its own wheels, which uv's `--torch-backend` selects."""
    checks_allocations: bool = True
    """True if exhausted memory makes the library raise an exception; False if it crashes."""
    compiles_on_devices: bool = False
    """True if calls on devices start programs that compile kernels, such as `ptxas`."""
    cuda_extras: tuple[CudaExtra, ...] = ()
    """Extras to install for `cuda` targets, the newest CUDA first."""
    forks: ForkPolicy = ForkPolicy.AFTER_IMPORT
    """Condition under which the library's workers may be forked."""
    counts_instructions: bool = True
    """False if a process's first operation takes minutes under Valgrind's callgrind."""
    case_limit_s: float = 5.0
    """Timeout of one case, in seconds."""
    program_limit_s: float = 60.0
    """Timeout of one program, in seconds; without compiling, most programs take 1 or 2 seconds."""
    modes: Mapping[str, Mode] = field(default_factory=dict)
    """Execution modes of calls other than eager, by name."""
    needs_processes: bool = False
    """True if the library's calls start other processes, e.g. a compiler."""
    observes_operators: bool = False
    """True if the adapter implements `observing`."""
    has_api: bool = True
    """False for clients of services, of which only applications are tested."""
    lazy_modules: tuple[str, ...] = ()
    """Modules that calls import at first use. Building an environment writes their bytecode, which
    confined workers cannot."""
    first_import: str = ""
    """Progress message to show during the first import; empty if the import is fast."""
    compiles_calls: bool = False
    """True if the library compiles each operation at its first use, for its dtypes or shapes, so
    that a first call takes much longer than the next ones."""
    script: Writer | None = None
    """Templates of tensors in scripts; None to use numpy arrays."""
    programs: ProgramStyle | None = None
    """Templates of programs with models; None if level `code` does not support the library."""
    forms: tuple[TensorForm, ...] = ()
    """Representations of tensors, besides dense ones, that the library's functions accept."""
    operations: Operations = field(default_factory=Operations)
    """Functions of the library with which metamorphic relations compute."""
    equivalents: Path | None = None
    """TOML file that lists the APIs with equivalents in other libraries, in the format of
    `ciguard/oracles/equivalents.toml`."""
    documentation: str = ""
    """Name of the mined rules for the documentation, e.g. `pytorch`; see `ciguard api learn`."""
    spellings: Mapping[str, str] = field(default_factory=dict)
    """Public prefixes by other prefixes: names with either prefix denote the same objects, and
    sources may contain both, e.g. `tensorflow.` by `tensorflow.compat.v2.`."""
    exported_as: str = ""
    """Qualified name under which another library exports this library, e.g. `tensorflow.keras`."""
    tensor_class: str = ""
    """Qualified name of the class of tensors, whose methods are APIs, e.g. `torch.Tensor`."""
    raw_names: tuple[str, ...] = ()
    """Prefixes of raw entry points: functions that accept handles, and None for a tensor."""
    kernel_modules: tuple[str, ...] = ()
    """Modules for writing kernels; a project that imports one needs tests on a device."""
    conda_names: tuple[str, ...] = ()
    """Names of conda packages that contain the library, besides the names in `distributions`."""
    security_policy: str = ""
    """URL of the maintainers' policy for reporting vulnerabilities."""

    @property
    def needs_cache(self) -> bool:
        """True if the library needs a cache folder that is kept between runs."""
        return bool(self.cache_variable)

    @property
    def has_tf32(self) -> bool:
        """True if the library's targets may be in mode `tf32`."""
        return self.tf32_environment is not None

    def provides(self, distribution: str) -> bool:
        """Return whether the distribution of this name contains the library."""
        return canonicalize_name(distribution) in map(canonicalize_name, self.distributions)
