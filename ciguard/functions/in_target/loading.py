"""Import of a user's program, as by pytest: with the folder above its package in `sys.path`.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import traceback
import zlib
from typing import Any

from ciguard.functions.in_target.calling.judging import frames_of

Json = Any

_PYTHON_2_MODULES = {
    "ConfigParser", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer", "StringIO",
    "Tkinter", "__builtin__", "cPickle", "cStringIO", "commands", "copy_reg", "httplib",
    "itertools.izip", "md5", "sets", "tkMessageBox", "urllib2", "urlparse",
}  # fmt: skip
"""Modules of Python 2; a program that imports one is faulty, and no package is missing."""


def load(file: str, root: str, name: str) -> Any:
    """Import a program and return its module.

    Args:
        file: absolute path of the program.
        root: folder with the program or its package; it becomes the first entry of `sys.path`.
        name: dotted name of the module, relative to `root`.

    Raises:
        BaseException: any exception that the program raises.
    """
    _put_first(root)
    if all(part.isidentifier() for part in name.split(".")):
        module = importlib.import_module(name)
        if _is_at(module, file):
            return module
    # The name is not an identifier, or belongs to another module, such as `types`.
    return _from_location(file, f"ciguard_program_{zlib.crc32(file.encode()):08x}")


def _put_first(folder: str) -> None:
    """Make a folder the first entry of `sys.path`."""
    if sys.path[:1] != [folder]:
        sys.path[:] = [folder, *(path for path in sys.path if path != folder)]


def _is_at(module: Any, file: str) -> bool:
    """Return whether a module was imported from a file."""
    module_file = getattr(module, "__file__", None)
    return isinstance(module_file, str) and os.path.realpath(module_file) == os.path.realpath(file)


def _from_location(file: str, name: str) -> Any:
    """Import a file under a given module name, and return the module."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return loaded
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:  # a script may exit; drop the half-imported module
        del sys.modules[name]
        raise
    return module


def import_problem(error: BaseException) -> Json:
    """Return the problem of a failed import: `{"skip": reason}` or `{"error": …, "frames": …}`."""
    kind = type(error).__name__
    if kind in ("Skipped", "SkipTest"):  # of pytest and unittest, raised to skip the program
        return {"skip": str(error)}
    if isinstance(error, ModuleNotFoundError) and _is_missing(error.name or ""):
        return {"skip": f"could not import {error.name!r}: {error}"}
    lines = traceback.format_exception_only(type(error), error)
    text = "\n".join(filter(None, [advice_on(str(error)), "".join(lines).strip()]))
    return {"error": text, "frames": user_frames(error)}


_OLD_NUMPY = re.compile(
    r"module 'numpy' has no attribute|removed in the NumPy 2\.0|compiled using NumPy 1"
    r"|numpy\.dtype size changed|numpy\.core\.multiarray failed"
)


def advice_on(message: str) -> str:
    """Return what to do if a message shows that a program needs an older NumPy; else empty."""
    if not _OLD_NUMPY.search(message):
        return ""
    return (
        "The program needs an older NumPy than this environment has. Keep its libraries in an "
        "environment of their own: with pytest, set ciguard_python to the interpreter of that "
        "environment; in campaigns, run with VIRTUAL_ENV=FOLDER and `--target current`, or pin "
        "NumPy, as in `--target 'torch==1.13.1 + numpy<1.24'`."
    )


def _is_missing(name: str) -> bool:
    """Return whether the package of a module is not installed.

    False if the package is installed but does not contain the module.
    """
    top = name.partition(".")[0]
    if not top or name in _PYTHON_2_MODULES or top in _PYTHON_2_MODULES:
        return False
    return top not in sys.modules and importlib.util.find_spec(top) is None


def user_frames(error: BaseException) -> list[list[Any]]:
    """Return the stack frames of an exception without those of Python's import system.

    Each frame is `[file, line, function]`; the outermost frame is first.
    """
    return [list(frame) for frame in frames_of(error) if not _is_machinery(frame[0])]


def _is_machinery(file: str) -> bool:
    """Return whether a file belongs to Python's import system."""
    runpy = sys.modules.get("runpy")
    return file.startswith("<frozen ") or file == getattr(runpy, "__file__", "")
