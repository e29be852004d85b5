"""Native frames: the frames of a debugger's backtrace that locate a fault.

They are shown as evidence, and group buckets with the same cause. They are not part of the
fingerprint, which must be equal on machines with and without a debugger.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_FRAMES = 8
"""Maximum number of frames of a stack."""
_MAX_NAME_LENGTH = 200

_INTERPRETER = re.compile(r"_?Py[A-Z_]|cfunction_|builtin_|method_|ffi_call|_ctypes_")
"""Functions through which Python calls the library. Frames outside of them are Python's."""
_SYSTEM = re.compile(
    r"(?:ld-linux|lib(?:c|m|dl|rt|pthread|stdc\+\+|gcc_s|gomp|iomp5|asan|tcmalloc|jemalloc|python"
    r"[\d.]*|ffi)\b|_ctypes\.c|callproc\.c)"
)
"""Shared objects whose frames lie between the fault and its signal, or at the start of threads."""
_NOISE = re.compile(
    # Raising, aborting, unwinding, allocating, copying.
    r"\?\?$|_*(?:GI_)?(?:raise|abort|gsignal|kill|pthread_kill\w*|assert_fail\w*|libc_\w+|fortify_fail"
    r"|stack_chk_fail|chk_fail|malloc\w*|calloc|realloc|c?free|cfree|posix_memalign|mem(?:cpy|move|set)"
    r"\w*|str(?:len|cpy|cmp)\w*|start_thread|clone3?|_start|main|int_free\w*|int_malloc"
    r"|malloc_printerr|unlink_chunk\w*|cxa_\w+|Unwind_\w+|gxx_personality\w*)$"
    r"|operator_(?:new|delete)|std::|__gnu_cxx::|__cxa|_Unwind"
    # A failed check that reports itself.
    r"|(?:\w+::)*(?:LogMessage\w*|CheckOp\w*|CheckFail\w*|MakeCheckOpString|log_internal)(?:::|$)"
    r"|c10::(?:detail::torch\w*|Error|ThrowError|_ThrowError|ValueError|IndexError)"
    # Dispatchers of all torch and TensorFlow operators.
    r"|c10::(?:Dispatcher|impl|KernelFunction|OperatorHandle|TypedOperatorHandle|BoxedKernel"
    r"|guts|function_ref)|at::_ops|at::redispatch|torch::(?:autograd|jit|PythonArgParser|python|utils)"
    r"|at::parallel_for|at::TensorIteratorBase::(?:serial_)?for_each|at::internal|at::\{anonymous\}::wrapper_"
    r"|at::native::(?:DispatchStub\w*|call_kernel)|pybind11::|nanobind::|THP\w+"
    r"|tensorflow::(?:Eager\w+|KernelAndDevice\w+|Executor\w*|\{anonymous\}::Executor\w*"
    r"|\w*Device(?:Mgr)?|ProcessFunctionLibraryRuntime|FunctionLibraryRuntime\w*|CustomDevice\w*"
    r"|TFE_\w+|ThreadPoolDevice|ExecuteNode)(?:::|$)|TFE_\w+"
    r"|(?:tsl|tensorflow)::(?:thread|\{anonymous\}::PThread)|Eigen::(?:ThreadPool\w*|NonBlocking"
    r"|internal::(?:TensorExecutor|EvalRange)|run|TensorAsyncDevice)|xla::cpu::ThreadPool|absl::"
)
_OPERATOR = re.compile(r"operator ?(\(\)|\[\]|new|delete|<=>|<<=?|>>=?|->\*?|[<>]=?)")
_OPERATOR_WORDS = {"()": "call", "[]": "at"}
_VARIANT = re.compile(
    r"\[(?:clone|abi:)[^\]]*\]|@+[\w.]+$|\.(?:isra|constprop|part|cold|lto_priv)\b[.\d]*"
)


def native_frames(frames: Iterable[Frame], *, max_frames: int = MAX_FRAMES) -> tuple[Frame, ...]:
    """Return the frames of a native stack that locate a fault of the library, innermost first.

    Frames of allocators, signals, failed checks, dispatchers and the interpreter are left out.
    Names have no parameters, template arguments or addresses, and files have no folders.
    """
    selected: list[Frame] = []
    for frame in frames:
        name = plain_name(frame.function)
        if _INTERPRETER.match(name):
            break
        file = frame.file.replace("\\", "/").rpartition("/")[2]
        if name and not _SYSTEM.match(file) and not _NOISE.match(name):
            selected.append(Frame(_plain_object(file), name))
    return tuple(dict.fromkeys(selected))[:max_frames]


def _plain_object(file: str) -> str:
    """Return the name of a shared object without its version and without a wheel's digest."""
    return re.sub(r"(?:-[0-9a-f]{8,})?\.so[.\d]*$", ".so", file)


def _operator_name(operator: re.Match[str]) -> str:
    """Return the name of a C++ operator without brackets, which would look like arguments."""
    name = operator[1]
    return "operator_" + _OPERATOR_WORDS.get(name, name.replace("<", "lt").replace(">", "gt"))


def plain_name(symbol: str) -> str:
    """Return the qualified name in a demangled symbol without parameters or template arguments."""
    text = _VARIANT.sub("", symbol).replace("(anonymous namespace)", "{anonymous}")
    text = _OPERATOR.sub(_operator_name, text)
    characters: list[str] = []
    depth = 0
    for letter in text:
        if letter in "<(":
            depth += 1
        elif letter in ">)":
            depth = max(0, depth - 1)
        elif not depth:
            characters.append(letter)
    words = re.sub(r"#\d+|\bconst\b|\bvolatile\b", "", "".join(characters)).split()
    # The symbol of a template instantiation starts with its return type.
    return words[-1][:_MAX_NAME_LENGTH] if words else ""
