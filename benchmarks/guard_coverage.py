"""What the memory guard covers of a library's memory, in the interpreter of a target.

    LD_PRELOAD=memory_guard.so python benchmarks/guard_coverage.py LIBRARY

Prints for arguments and results of some sizes whether their memory lies in guarded blocks.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

# The target's interpreter cannot import the packages around the module.
sys.path.insert(0, str(Path(__file__).parents[1] / "ciguard" / "execution" / "worker"))
from guard import MemoryGuard  # type: ignore[import-not-found]

SIZES = (1, 7, 100, 5000, 300_000)


def address(library: str, tensor: Any) -> int:
    """Return the address of a tensor's first element."""
    if library == "torch":
        return int(tensor.data_ptr())
    if library == "jax":
        return int(tensor.unsafe_buffer_pointer())
    if library == "jittor":
        return int(tensor.data.ctypes.data)
    array = np.asarray(tensor)
    if array.flags.owndata:
        return 0  # a copy, not the tensor's own memory
    return int(array.ctypes.data)


def made(library: str, array: Any) -> tuple[Any, Any]:
    """Return an argument and a result of the library."""
    module = importlib.import_module({"jax": "jax.numpy"}.get(library, library))
    if library == "tensorflow":
        argument = module.constant(array)
        return argument, module.math.exp(argument)
    if library == "jittor":
        argument = module.array(array)
        return argument, module.exp(argument).sync() or module.exp(argument)
    argument = module.from_numpy(array) if library == "torch" else module.asarray(array)
    return argument, module.exp(argument)


def main() -> None:
    """Print one line per size."""
    library = sys.argv[1]
    guard = MemoryGuard()
    guard.adopt_arrays()
    made(library, np.ones(3, "float32"))
    covers = ctypes.CDLL(None).guard_covers
    covers.argtypes = (ctypes.c_void_p,)
    for size in SIZES:
        guard.begin(0)
        array = np.ones(size, "float32")
        argument, result = made(library, array)
        covered = {
            "numpy": covers(array.ctypes.data),
            "argument": covers(address(library, argument)),
            "result": covers(address(library, result)),
        }
        guard.end()
        sys.stdout.write(f"{library} {size}: {covered}\n")


if __name__ == "__main__":
    main()
