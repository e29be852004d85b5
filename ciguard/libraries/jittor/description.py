"""Description of Jittor."""

from __future__ import annotations

from pathlib import Path

from ciguard.libraries.jittor.programs import PROGRAMS
from ciguard.libraries.jittor.script import SCRIPT
from ciguard.libraries.library import Companion, ForkPolicy, Library, Mode
from ciguard.libraries.variables import ONE_THREAD

LIBRARY = Library(
    name="jittor",
    distributions=("jittor",),
    module="jittor",
    adapter=Path(__file__).parent / "in_target" / "adapter.py",
    companions=(
        Companion(requirement="numpy<2"),
        # Jittor imports `distutils` and `pkg_resources`, but does not declare setuptools.
        Companion(requirement="setuptools"),
    ),
    environment={**ONE_THREAD, "use_mkl": "0"},
    cpu_environment={"nvcc_path": ""},
    cache_variable="JITTOR_HOME",
    checks_allocations=False,
    forks=ForkPolicy.AFTER_USE,
    case_limit_s=60.0,
    # Jittor compiles each kernel on its first use in a program.
    program_limit_s=300.0,
    modes={"lazy": Mode()},
    needs_processes=True,
    compiles_calls=True,
    first_import="compiling jittor's kernels (about 2 minutes, once)",
    script=SCRIPT,
    programs=PROGRAMS,
    documentation="pytorch",
    tensor_class="jittor.Var",
)
