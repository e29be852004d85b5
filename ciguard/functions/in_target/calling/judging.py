"""Checks of a call: where it failed, whether it returned NaN, and which arguments it changed.

Runs in a target's interpreter: standard library only, Python 3.9 and later. Arrays and tensors are
recognised by their attributes, so that no library is imported for them.
"""

from __future__ import annotations

import math
import os
import sys
import sysconfig
from typing import Any, Iterator

from ciguard.functions.in_target.calling.wrapped_errors import GENERATED_FILE, original_frames

MAX_MODERATE = 1e6
"""Maximum magnitude of inputs for which a result must not be NaN.

For larger inputs, overflow may cause NaN.
"""
MIN_MODERATE = 1e-18
"""Minimum magnitude of such inputs, except zero: its square does not underflow in float32."""
_MAX_ITEMS = 1000
"""Maximum number of inspected items of a collection."""
_MAX_DEPTH = 6
"""Maximum depth of inspected nested collections."""
_INSTALLED_FOLDERS = tuple(
    os.path.realpath(path)
    for key, path in sysconfig.get_paths().items()
    if key in ("stdlib", "platstdlib", "purelib", "platlib")
)
_CIGUARD_FOLDER = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
"""Path of ciguard's package."""


def frames_of(error: BaseException) -> list[tuple[str, int, str]]:
    """Return the stack frames of an exception as (file, line, function), outermost first.

    Frames of ciguard are left out, and so are those of code that AutoGraph has generated; the
    frames of its source follow, which AutoGraph states in the message.
    """
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        file = os.path.realpath(code.co_filename)
        is_generated = os.path.basename(file).startswith(GENERATED_FILE)
        if not is_generated and not file.startswith(_CIGUARD_FOLDER + os.sep):
            frames.append((code.co_filename, traceback.tb_lineno, code.co_name))
        traceback = traceback.tb_next
    return [*frames, *original_frames(str(error))]


def key_of(error: BaseException, frames: list[tuple[str, int, str]], file: str) -> str:
    """Return a key that failures with one cause share: class, and innermost frame of user code.

    Args:
        error: the raised exception.
        frames: stack frames of the exception, as `frames_of` returns them.
        file: file of the tested module, which is user code even if it is installed.
    """
    user_frames = [frame for frame in frames if is_user_file(frame[0], file)]
    name = type(error).__name__
    if not user_frames:
        return name
    path, line, function = user_frames[-1]
    return f"{name} {os.path.basename(path)}:{function}:{line}"


def is_user_file(path: str, file: str) -> bool:
    """Return whether a file is user code: not installed, or beside the tested module.

    Args:
        path: path of the file.
        file: path of the tested module.
    """
    real = os.path.realpath(path)
    module_folder = os.path.dirname(os.path.realpath(file))
    if real.startswith(module_folder + os.sep):
        return True
    return os.path.isfile(real) and not real.startswith(_INSTALLED_FOLDERS)


# --- numbers ------------------------------------------------------------------------------------


def has_nan(value: Any) -> bool:
    """Return whether a result contains NaN, also inside arrays and collections."""
    return any(_array_has_nan(leaf) for leaf in _leaves(value, 0))


def are_moderate(values: Any) -> bool:
    """Return whether all numbers in the inputs, also inside arrays, have moderate magnitudes.

    A magnitude is moderate if it is 0, or from `MIN_MODERATE` to `MAX_MODERATE`. The result is
    False if the inputs contain an object whose numbers cannot be read.
    """
    return all(_is_moderate(leaf) for leaf in _leaves(values, 0))


def _leaves(value: Any, depth: int) -> Iterator[Any]:
    """Yield the items of nested collections, or a value that is not a collection."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        for item in list(value)[:_MAX_ITEMS]:
            yield from _leaves(item, depth + 1)
    else:
        yield value


def _array_has_nan(leaf: Any) -> bool:
    if isinstance(leaf, (float, complex)):
        return leaf != leaf  # noqa: PLR0124 - only NaN differs from itself
    array = as_array(without_masked(leaf))
    if array is None or array.dtype.kind not in "fc":
        return False
    return bool((array != array).any())  # noqa: PLR0124 - only NaN differs from itself


def _is_moderate(leaf: Any) -> bool:
    if leaf is None or isinstance(leaf, (bool, str, bytes, type)):
        return True
    if isinstance(leaf, (int, float, complex)):
        return math.isfinite(abs(leaf)) and (leaf == 0 or MIN_MODERATE <= abs(leaf) <= MAX_MODERATE)
    array = as_array(without_masked(leaf))
    if array is None:
        return callable(leaf) or type(leaf).__name__.lower().endswith("dtype")
    if array.dtype.kind not in "fciu" or array.size == 0:
        return True
    sizes = abs(array)
    tiny = (sizes > 0) & (sizes < MIN_MODERATE)
    return float(sizes.max()) <= MAX_MODERATE and not tiny.any()  # also False for NaN


def without_masked(leaf: Any) -> Any:
    """Return the elements of a masked array that are not masked, whose others mean nothing."""
    return leaf.compressed() if _is_masked(leaf) else leaf


def comparable(value: Any) -> Any:
    """Return a result whose masked arrays are pairs of elements and mask, with 0 where masked."""
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value] if any(map(_is_masked, value)) else value
    if not _is_masked(value):
        return value
    return [value.filled(_zero_of(value)), sys.modules["numpy.ma"].getmaskarray(value)]


def _zero_of(array: Any) -> Any:
    """Return the zero of an array's dtype."""
    return array.dtype.type() if array.dtype.kind in "biufcmMSU" else None


def _is_masked(leaf: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(leaf, getattr(masked, "MaskedArray", ()))


def as_array(leaf: Any) -> Any:
    """Return the elements of an array or tensor as a numpy array; None for anything else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
        return None
    try:
        if hasattr(leaf, "detach"):
            leaf = leaf.detach().cpu()
            leaf = leaf.float() if str(leaf.dtype) == "torch.bfloat16" else leaf
        return numpy.asarray(leaf)
    except Exception:  # noqa: BLE001 - symbolic, sparse and meta tensors have no readable elements
        return None


# --- mutation -----------------------------------------------------------------------------------


def snapshot(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the state of each argument by name, for a later call of `changed`."""
    return {name: _state(value, 0) for name, value in arguments.items()}


def _state(value: Any, depth: int) -> Any:
    """Return a state that is equal for equal values, also if they contain NaN."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        return [(repr(key), _state(item, depth + 1)) for key, item in value.items()]
    if isinstance(value, (list, tuple)) and depth < _MAX_DEPTH:
        return [_state(item, depth + 1) for item in value]
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return repr(value)
    if _is_masked(value):
        return [_state(part, depth) for part in comparable(value)]
    array = as_array(value)
    if array is None or array.dtype.kind == "O":
        return type(value).__name__
    return (str(array.dtype), array.shape, array.tobytes())


def changed(before: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    """Return the names of the arguments whose state differs from a snapshot.

    Args:
        before: what `snapshot` returned before the call.
        arguments: arguments by name, after the call.
    """
    after = snapshot(arguments)
    return [name for name, state in before.items() if after[name] != state]
