"""Import of a user's program, as pytest imports: from the folder above its package.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
import zlib
from typing import Any

from ciguard.functions.in_target.calling.judging import frames_of

Json = Any

_RENAMED = {
    "ConfigParser", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer", "StringIO",
    "Tkinter", "__builtin__", "cPickle", "cStringIO", "commands", "copy_reg", "httplib",
    "itertools.izip", "md5", "sets", "tkMessageBox", "urllib2", "urlparse",
}  # fmt: skip
"""Modules of Python 2: a program that needs one is wrong, nothing is missing."""


def load(file: str, root: str, name: str) -> Any:
    """Import a program and return the module.

    Args:
        file: its absolute path.
        root: folder that its package, or it, lies in; first on the path from now on.
        name: its dotted name below `root`.

    Raises:
        BaseException: whatever the program raises.
    """
    _put_first(root)
    if all(part.isidentifier() for part in name.split(".")):
        module = importlib.import_module(name)
        if _is_at(module, file):
            return module
    # Another module has that name, as where a program is called `types`, or it is no name.
    return _from_location(file, f"ciguard_program_{zlib.crc32(file.encode()):08x}")


def _put_first(folder: str) -> None:
    if sys.path[:1] != [folder]:
        sys.path[:] = [folder, *(path for path in sys.path if path != folder)]


def _is_at(module: Any, file: str) -> bool:
    found = getattr(module, "__file__", None)
    return isinstance(found, str) and os.path.realpath(found) == os.path.realpath(file)


def _from_location(file: str, name: str) -> Any:
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:  # a script may exit; half a module must not be found by the next import
        del sys.modules[name]
        raise
    return module


def import_problem(error: BaseException) -> Json:
    """Return why a program could not be imported: `{"skip": …}` or `{"error": …}`."""
    kind = type(error).__name__
    if kind in ("Skipped", "SkipTest"):  # of pytest and unittest: the program asked for it
        return {"skip": str(error)}
    if isinstance(error, ModuleNotFoundError) and _is_missing(error.name or ""):
        return {"skip": f"could not import {error.name!r}: {error}"}
    lines = traceback.format_exception_only(type(error), error)
    return {"error": "".join(lines).strip(), "frames": users_frames(error)}


def _is_missing(name: str) -> bool:
    """Return whether a package is not installed, as opposed to a module that it no longer has."""
    top = name.partition(".")[0]
    if not top or name in _RENAMED or top in _RENAMED:
        return False
    return top not in sys.modules and importlib.util.find_spec(top) is None


def users_frames(error: BaseException) -> list[list[Any]]:
    """Return `[file, line, function]` of each frame, outermost first, less those of the import."""
    return [list(frame) for frame in frames_of(error) if not _is_machinery(frame[0])]


def _is_machinery(file: str) -> bool:
    runpy = sys.modules.get("runpy")
    return file.startswith("<frozen ") or file == getattr(runpy, "__file__", "")
