"""Targets: the environments in which cases run, and their provisioning with uv.

`parse_target("torch==2.13.0")` returns a target, `provision` builds its environment.
"""

from ciguard.targets.children import run_child
from ciguard.targets.environment import (
    Environment,
    backend_choice,
    device_variables,
    readable_paths,
    worker_device,
)
from ciguard.targets.inspection import inspect
from ciguard.targets.memory_guard import COMPILATION as GUARD_COMPILATION
from ciguard.targets.memory_guard import guard_source
from ciguard.targets.provision import provision, provision_all
from ciguard.targets.releases import at_version, newest_release, released_versions
from ciguard.targets.store import (
    StoredEnvironment,
    cache_folder,
    list_environments,
    prune_environments,
)
from ciguard.targets.succession import succeeds
from ciguard.targets.target import (
    CPU,
    EAGER,
    GUARDED,
    TF32,
    ActiveEnvironment,
    IndexPackage,
    Package,
    Target,
    Wheel,
    cpu_builds,
    libraries_of,
    unique_names,
)
from ciguard.targets.target_syntax import DEVICE_PATTERN, parse_device, parse_target, read_target
from ciguard.targets.variables import is_secret

__all__ = [
    "CPU",
    "DEVICE_PATTERN",
    "EAGER",
    "GUARDED",
    "GUARD_COMPILATION",
    "TF32",
    "ActiveEnvironment",
    "Environment",
    "IndexPackage",
    "Package",
    "StoredEnvironment",
    "Target",
    "Wheel",
    "at_version",
    "backend_choice",
    "cache_folder",
    "cpu_builds",
    "device_variables",
    "guard_source",
    "inspect",
    "is_secret",
    "libraries_of",
    "list_environments",
    "newest_release",
    "parse_device",
    "parse_target",
    "provision",
    "provision_all",
    "prune_environments",
    "read_target",
    "readable_paths",
    "released_versions",
    "run_child",
    "succeeds",
    "unique_names",
    "worker_device",
]
