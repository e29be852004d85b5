"""Registries of TensorFlow that the first operation of a process fills."""

from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any

_LIBRARY = "libtensorflow_cc.so.2"
_REGISTER_XLA = "_ZN10tensorflow13XlaOpRegistry26RegisterCompilationKernelsEv"
"""Symbol of `tensorflow::XlaOpRegistry::RegisterCompilationKernels()`."""


def fill(tensorflow: Any) -> bool:
    """Register the kernels of XLA before a fork, which takes each worker 10 ms and 10 MiB after it.

    This starts no thread.

    Returns:
        True if this build has the function; others register the kernels in each worker.
    """
    path = os.path.join(os.path.dirname(tensorflow.__file__), _LIBRARY)
    with contextlib.suppress(AttributeError, OSError):
        getattr(ctypes.CDLL(path), _REGISTER_XLA)()
        return True
    return False
