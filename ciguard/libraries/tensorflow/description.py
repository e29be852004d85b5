"""Description of TensorFlow."""

from __future__ import annotations

from pathlib import Path

from ciguard.domain.values import MemberValue
from ciguard.libraries.library import CudaExtra, ForkPolicy, Library, Mode
from ciguard.libraries.operations import Operations, Subscripts, Widening
from ciguard.libraries.tensorflow.forms import FORMS
from ciguard.libraries.tensorflow.in_target.options import OPTIONS
from ciguard.libraries.tensorflow.programs import PROGRAMS
from ciguard.libraries.tensorflow.script import SCRIPT
from ciguard.libraries.variables import ONE_THREAD, XLA_LOGS

# With oneDNN's allocator, each call sleeps 10 s before it reports that memory is short. Without it,
# operations also round in the same way in all versions.
_NO_ONEDNN = {"TF_ENABLE_ONEDNN_OPTS": "0"}

LIBRARY = Library(
    name="tensorflow",
    distributions=("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu"),
    cpu_distributions=("tensorflow-cpu", "tf-nightly-cpu"),
    module="tensorflow",
    adapter=Path(__file__).parent / "in_target" / "adapter.py",
    environment={**ONE_THREAD, **XLA_LOGS, **_NO_ONEDNN},
    # Otherwise the first worker on a GPU allocates all of its memory.
    cuda_environment={"TF_FORCE_GPU_ALLOW_GROWTH": "true"},
    tf32_environment={},  # its default
    # The extra exists since 2.14, but up to 2.15.0 it requires a TensorRT that is not on PyPI.
    cuda_extras=(CudaExtra(name="and-cuda", cuda=12, versions=">=2.15.0.post1"),),
    forks=ForkPolicy.AFTER_IMPORT,
    counts_instructions=False,  # it starts threads that take turns under callgrind
    modes={
        "function": Mode(
            loses_shapes=True,
            stages=("tracing", "grappler"),
            options=tuple(OPTIONS),
            selected_by=("tensorflow.function",),
            sources=("tensorflow/core/grappler/",),
        ),
        "xla": Mode(
            loses_shapes=True,
            stages=("tracing", "xla"),
            sources=("tensorflow/compiler/", "third_party/xla/"),
        ),
    },
    script=SCRIPT,
    programs=PROGRAMS,
    forms=FORMS,
    # TensorFlow pickles tensors with numpy, which lacks some dtypes: no `pickles_results`.
    operations=Operations(
        broadcast="tensorflow.broadcast_to",
        widening=Widening(
            cast="tensorflow.cast",
            settings=(MemberValue("tensorflow.float64"),),
            multiply="tensorflow.multiply",
        ),
        subscripts=Subscripts(read="tensorflow.Tensor.__getitem__"),
    ),
    documentation="tensorflow",
    spellings={
        "tensorflow._api.v2.compat.v2.": "tensorflow.",
        "tensorflow._api.v2.": "tensorflow.",
        "tensorflow.compat.v2.": "tensorflow.",
    },
    raw_names=("tensorflow.raw_ops.",),
    conda_names=("tensorflow-base",),
    security_policy="https://github.com/tensorflow/tensorflow/security/policy",
)
