"""Description of PyTorch."""

from __future__ import annotations

from pathlib import Path

from ciguard.libraries.library import Companion, ForkPolicy, Library, Mode
from ciguard.libraries.operations import Operations, Subscripts, Vectorising, Widening
from ciguard.libraries.torch.forms import FORMS
from ciguard.libraries.torch.in_target.options import OPTIONS
from ciguard.libraries.torch.programs import PROGRAMS
from ciguard.libraries.torch.script import SCRIPT
from ciguard.libraries.variables import ONE_THREAD

LIBRARY = Library(
    name="torch",
    distributions=("torch", "torch-nightly"),
    module="torch",
    adapter=Path(__file__).parent / "in_target" / "adapter.py",
    # Builds before 2.3 cannot exchange arrays with numpy 2, but their metadata allows it.
    companions=(
        Companion(requirement="numpy"),
        Companion(requirement="numpy<2", versions="<2.3"),
    ),
    lazy_modules=(
        "torch._decomp.decompositions_for_jvp",
        "torch._dynamo.backends.debugging",
        "torch._inductor.compile_fx",
        "torch.fx.experimental.symbolic_shapes",
    ),
    environment=ONE_THREAD,
    tf32_environment={"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"},  # convolutions use it by default
    has_device_builds=True,
    forks=ForkPolicy.AFTER_USE,
    modes={
        "aot_eager": Mode(keeps_special_numbers=True, stages=("dynamo", "aot_autograd")),
        "compile": Mode(
            keeps_special_numbers=True,
            compile_s=120.0,
            needs_processes=True,
            selected_by=("torch.compile",),
            sources=("torch/_inductor/", "torch/_dynamo/", "torch/_functorch/", "torch/_decomp/"),
            stages=(
                *("dynamo", "aot_autograd", "decompositions"),
                *("lowering", "rewriting", "fusion", "vectorisation"),
            ),
            options=tuple(OPTIONS),
        ),
        "export": Mode(cases_per_worker=4),
        "trace": Mode(),
    },
    observes_operators=True,
    script=SCRIPT,
    programs=PROGRAMS,
    forms=FORMS,
    operations=Operations(
        broadcast="torch.broadcast_to",
        vectorising=Vectorising(vmap="torch.vmap", stack="torch.stack"),
        widening=Widening(cast="torch.Tensor.double", multiply="torch.mul"),
        subscripts=Subscripts(
            read="torch.Tensor.__getitem__",
            assign="torch.Tensor.__setitem__",
            index_dtype="int64",
            takes_negative_steps=False,
        ),
        pickles_results=True,
    ),
    documentation="pytorch",
    tensor_class="torch.Tensor",
    raw_names=("torch.ops.", "torch._C."),
    kernel_modules=(
        "torch.cuda._compile_kernel",
        "torch.cuda.jiterator",
        "torch.utils.cpp_extension",
    ),
    conda_names=("pytorch", "pytorch-cpu", "pytorch-gpu"),
    security_policy="https://github.com/pytorch/pytorch/security/policy",
)
