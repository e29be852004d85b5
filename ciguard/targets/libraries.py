"""The libraries that ciguard can test: where each comes from and how its workers must be run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping


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
    """File of the adapter; see `ciguard/targets/adapters/contract.py`."""
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

    @property
    def needs_cache(self) -> bool:
        """Whether it keeps a folder of its own between runs."""
        return bool(self.cache_variable)

    def provides(self, distribution: str) -> bool:
        """Return whether a distribution of this name is this library."""
        return canonicalize_name(distribution) in map(canonicalize_name, self.distributions)


ADAPTERS = Path(__file__).parent / "adapters"

LIBRARIES: Registry[Library] = Registry(
    "library", group="ciguard.libraries", accepts=lambda item: isinstance(item, Library)
)


def library_of_distribution(distribution: str) -> Library | None:
    """Return the registered library that a distribution of this name provides, if any."""
    for library in LIBRARIES.items().values():
        if library.provides(distribution):
            return library
    return None


# One thread per worker: campaigns scale by workers, and results must not depend on the machine.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# 2 keeps errors and the texts of failed CHECKs, which crash buckets are made of; 3 loses errors.
_TENSORFLOW_LOGS = {"TF_CPP_MIN_LOG_LEVEL": "2"}
# With oneDNN's allocator TensorFlow sleeps 10 s before it says that memory is short, on each call;
# without it the same operation also rounds the same way on every version that is compared.
_NO_ONEDNN = {"TF_ENABLE_ONEDNN_OPTS": "0"}

for _library in (
    Library(
        name="torch",
        distributions=("torch", "torch-nightly"),
        module="torch",
        adapter=ADAPTERS / "torch.py",
        # Builds before 2.3 cannot exchange arrays with numpy 2; their metadata does not say so.
        companions=(
            Companion(requirement="numpy"),
            Companion(requirement="numpy<2", versions="<2.3"),
        ),
        environment=_ONE_THREAD,
        has_device_builds=True,
        forks=ForkPolicy.AFTER_USE,
        modes={
            "aot_eager": Mode(),
            "compile": Mode(compile_s=120.0, needs_processes=True),
            "export": Mode(cases_per_worker=4),
            "trace": Mode(),
        },
    ),
    Library(
        name="tensorflow",
        distributions=("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu"),
        cpu_distributions=("tensorflow-cpu", "tf-nightly-cpu"),
        module="tensorflow",
        adapter=ADAPTERS / "tensorflow.py",
        environment={**_ONE_THREAD, **_TENSORFLOW_LOGS, **_NO_ONEDNN},
        # Else the first worker of a GPU takes all of its memory.
        cuda_environment={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
        # It exists since 2.14, but asks for a TensorRT up to 2.15.0 that the index does not have.
        cuda_extras=(CudaExtra(name="and-cuda", cuda=12, versions=">=2.15.0.post1"),),
        forks=ForkPolicy.AFTER_IMPORT,
        modes={"function": Mode(), "xla": Mode()},
    ),
    Library(
        name="jittor",
        distributions=("jittor",),
        module="jittor",
        adapter=ADAPTERS / "jittor.py",
        companions=(
            Companion(requirement="numpy<2"),
            # It imports `distutils` and `pkg_resources`, which it does not ask for.
            Companion(requirement="setuptools"),
        ),
        environment={**_ONE_THREAD, "use_mkl": "0"},
        cpu_environment={"nvcc_path": ""},
        cache_variable="JITTOR_HOME",
        checks_allocations=False,
        forks=ForkPolicy.AFTER_USE,
        case_limit_s=60.0,
        # It compiles each of its kernels when a program first uses it.
        program_limit_s=300.0,
        modes={"lazy": Mode()},
        needs_processes=True,
        first_import="compiling jittor's kernels (about 2 minutes, once)",
    ),
    Library(
        name="keras",
        distributions=("keras", "keras-nightly"),
        module="keras",
        adapter=ADAPTERS / "keras.py",
        backends=("tensorflow", "torch", "jax"),
        backend_variable="KERAS_BACKEND",
        environment=_ONE_THREAD,
        forks=ForkPolicy.AFTER_IMPORT,
        case_limit_s=20.0,
    ),
    Library(
        name="jax",
        distributions=("jax",),
        module="jax",
        adapter=ADAPTERS / "jax.py",
        environment={**_ONE_THREAD, **_TENSORFLOW_LOGS},
        cpu_environment={"JAX_PLATFORMS": "cpu"},
        # Else the first worker of a GPU takes three quarters of its memory.
        cuda_environment={
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            "JAX_DEFAULT_MATMUL_PRECISION": "highest",  # else products keep 10 bits
        },
        compiles_on_devices=True,
        # 0.7.0 and 0.7.1 name a plugin for CUDA 13 that the index does not have.
        cuda_extras=(
            CudaExtra(name="cuda13", cuda=13, versions=">=0.7.2"),
            CudaExtra(name="cuda12", cuda=12, versions=">=0.4.23"),
        ),
        # Each operation of a model is compiled by itself and runs a few times: half of the time,
        # and no slower code, without LLVM's later passes.
        backend_environment={"XLA_FLAGS": "--xla_backend_optimization_level=1"},
        forks=ForkPolicy.AFTER_IMPORT,
        case_limit_s=20.0,
        modes={"jit": Mode()},
    ),
    *(
        # No library of arrays: what asks them is tested, an application.
        Library(
            name=_name,
            distributions=(_name,),
            module=_module,
            adapter=ADAPTERS / "service_client.py",
            has_api=False,
            companions=(Companion(requirement="numpy"),),
            forks=ForkPolicy.NEVER,
        )
        for _name, _module in (
            ("google-cloud-vision", "google.cloud.vision"),
            ("google-cloud-language", "google.cloud.language"),
            ("google-cloud-speech", "google.cloud.speech"),
            ("boto3", "boto3"),
            ("azure-ai-textanalytics", "azure.ai.textanalytics"),
            ("azure-ai-vision-imageanalysis", "azure.ai.vision.imageanalysis"),
            (
                "azure-cognitiveservices-vision-computervision",
                "azure.cognitiveservices.vision.computervision",
            ),
        )
    ),
):
    LIBRARIES.register(_library.name, _library)
