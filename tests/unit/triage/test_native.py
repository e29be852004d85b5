"""Native frames from gdb's backtraces."""

from __future__ import annotations

import pytest

from ciguard.domain.outcomes import Frame
from ciguard.execution.debugger import parse_trace
from ciguard.triage import native_frames
from ciguard.triage.native import plain_name

TENSORFLOW = """\
[Thread debugging using libthread_db enabled]
#0  __pthread_kill_implementation (threadid=..., signo=6) at pthread_kill.c:44
#1  0x00007ffff7e5ed3c in __GI_raise (sig=...) at raise.c:26
#2  0x00007ffff7e5ed3d in __GI_abort () at abort.c:79
#3  0x00007fffd1 in absl::lts_20250814::log_internal::LogMessage::Flush() () from \
/env/tensorflow/libtensorflow_framework.so.2
#4  0x00007fffd2 in tensorflow::Tensor::CheckTypeAndIsAligned(tensorflow::DataType) const () from \
/env/tensorflow/libtensorflow_framework.so.2
#5  0x00007fffd3 in tensorflow::ApplyAdaMaxOp<Eigen::ThreadPoolDevice, float>::Compute(tensorflow::\
OpKernelContext*) () from /env/tensorflow/libtensorflow_cc.so.2
#6  0x00007fffd4 in tensorflow::ThreadPoolDevice::Compute(tensorflow::OpKernel*) () from \
/env/tensorflow/libtensorflow_framework.so.2
#7  0x00007fffd5 in pybind11::cpp_function::dispatcher(_object*, _object*, _object*) () from /e/t.so
#8  0x00007fffd6 in cfunction_call (func=..., args=...) at methodobject.c:542
#9  0x00007fffd7 in torch::not_reached() () from /env/other.so
"""


def test_native_frames_keeps_only_the_librarys_frames() -> None:
    frames = native_frames(parse_trace(TENSORFLOW))

    assert frames == (
        Frame("libtensorflow_framework.so", "tensorflow::Tensor::CheckTypeAndIsAligned"),
        Frame("libtensorflow_cc.so", "tensorflow::ApplyAdaMaxOp::Compute"),
    )


def test_native_frames_of_a_stack_without_the_library_is_empty() -> None:
    text = "#0  __GI_raise () from /lib/libc.so.6\n#1  0x1 in ?? ()\n#2  main () at main.c:3\n"

    assert native_frames(parse_trace(text)) == ()
    assert parse_trace("No stack.\n") == ()


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (
            "at::native::(anonymous namespace)::max_pool1d_impl(at::Tensor&, long)",
            "at::native::{anonymous}::max_pool1d_impl",
        ),
        ("void at::native::fill<float, 4ul>(std::vector<int> const&)", "at::native::fill"),
        ("foo(int)::{lambda(long)#2}::operator()(long) const", "foo::{lambda}::operator_call"),
        ("bool ns::operator< <int>(ns::A<int> const&)", "ns::operator_lt"),
        ("gemm_kernel.isra.0 [clone .cold]", "gemm_kernel"),
        ("std::vector<int> ns::make<int>()", "ns::make"),
        ("", ""),
    ],
)
def test_plain_name_is_equal_for_all_instantiations(symbol: str, name: str) -> None:
    assert plain_name(symbol) == name


@pytest.mark.parametrize("file", ["/a/b/libgomp-a34b3233.so.1", "libgomp.so.1", "libc.so.6"])
def test_native_frames_omits_system_libraries(file: str) -> None:
    assert native_frames([Frame(file, "GOMP_parallel")]) == ()


def test_native_frames_removes_the_digest_of_wheels() -> None:
    assert native_frames([Frame("/x/libopenblas-r0-f650aae0.so.0", "dgemm_")]) == (
        Frame("libopenblas-r0.so", "dgemm_"),
    )
