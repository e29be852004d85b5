"""Description of JAX."""

from __future__ import annotations

from pathlib import Path

from ciguard.libraries.jax.in_target.options import OPTIONS
from ciguard.libraries.jax.script import SCRIPT
from ciguard.libraries.library import CudaExtra, ForkPolicy, Library, Mode
from ciguard.libraries.operations import Operations, Subscripts, Vectorising
from ciguard.libraries.variables import ONE_THREAD, XLA_LOGS

LIBRARY = Library(
    name="jax",
    distributions=("jax",),
    module="jax",
    adapter=Path(__file__).parent / "in_target" / "adapter.py",
    environment={**ONE_THREAD, **XLA_LOGS},
    cpu_environment={"JAX_PLATFORMS": "cpu"},
    # Otherwise the first worker on a GPU allocates three quarters of its memory.
    cuda_environment={
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "JAX_DEFAULT_MATMUL_PRECISION": "highest",  # by default, 10 bits of mantissa
    },
    tf32_environment={"JAX_DEFAULT_MATMUL_PRECISION": "tensorfloat32"},
    compiles_on_devices=True,
    # 0.7.0 and 0.7.1 require a plugin for CUDA 13 that was never published.
    cuda_extras=(
        CudaExtra(name="cuda13", cuda=13, versions=">=0.7.2"),
        CudaExtra(name="cuda12", cuda=12, versions=">=0.4.23"),
    ),
    # Each operation of a model is compiled separately and runs only a few times. Without LLVM's
    # later passes, compilation takes half the time, and the code is not slower.
    backend_environment={"XLA_FLAGS": "--xla_backend_optimization_level=1"},
    forks=ForkPolicy.AFTER_IMPORT,
    counts_instructions=False,  # it starts threads that take turns under callgrind
    case_limit_s=20.0,
    modes={
        "jit": Mode(
            stages=("tracing", "lowering", "optimisation"),
            options=tuple(OPTIONS),
            selected_by=("jax.jit",),
            sources=("jax/_src/interpreters/", "jax/_src/pjit.py"),
        )
    },
    script=SCRIPT,
    operations=Operations(
        broadcast="jax.numpy.broadcast_to",
        vectorising=Vectorising(vmap="jax.vmap", stack="jax.numpy.stack"),
        subscripts=Subscripts(read="jax.Array.__getitem__", index_dtype="int32"),
        pickles_results=True,
    ),
    compiles_calls=True,
    documentation="tensorflow",
    kernel_modules=("jax.experimental.mosaic", "jax.experimental.pallas"),
    security_policy="https://github.com/jax-ml/jax/security/policy",
)
