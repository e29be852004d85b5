"""The folder in which a confined application runs: its files, copies of its inputs, its output.

Applications write beside their sources, and move or remove the files that they get. A confined
process may write to its own folder only, so the current folder is a mirror of the application's
folder there. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import os
import shutil
from typing import Any, List, Set

Json = Any
_MAX_FILES = 2_000
"""Largest number of files and folders that are mirrored."""
_MAX_COPIED = 1 << 20
"""Largest size of a file that is copied, in bytes; larger ones are linked and cannot be changed."""
_LINKED_SUFFIXES = (".py",)
"""Sources are linked, so that tracebacks and instrumentation know their place."""


_ROOTS: List[str] = []
"""Folders of the applications of this process."""


def application_folder() -> str:
    """Return the folder of the application: the current one, unless a workspace replaces it."""
    return _ROOTS[-1] if _ROOTS else os.getcwd()


class Workspace:
    """The current folder of an application's process."""

    def __init__(self, root: str, home: str, inputs: str) -> None:
        """Create a workspace; nothing is written yet.

        Args:
            root: the folder of the application.
            home: the folder that the process may write; if empty, the application runs in `root`.
            inputs: the folder with files that are passed to functions; empty if there is none.
        """
        self._root = root
        self._home = home
        self._inputs = inputs
        self._known: Set[str] = set()

    def enter(self) -> None:
        """Mirror the application's folder, and make the mirror the current folder."""
        os.chdir(self._root)
        _ROOTS.append(os.getcwd())
        if not self._home:
            return
        mirror = os.path.join(self._home, "application")
        if os.path.isdir(mirror):
            shutil.rmtree(mirror, ignore_errors=True)
        if _mirrored(self._root, mirror):
            os.chdir(mirror)
        else:
            shutil.rmtree(mirror, ignore_errors=True)
        self.remember()

    def entries(self) -> Set[str]:
        """Return the paths of all files and folders that the application may write."""
        return {
            os.path.join(folder, name)
            for folder, folders, files in os.walk(self._home or os.devnull)
            for name in (*folders, *files)
        }

    def remember(self, since: Any = None) -> None:
        """Keep the present files from now on.

        Args:
            since: earlier entries; if given, only files that are new since then are kept.
        """
        self._known |= self.entries() - (since or set())

    def put_back(self) -> bool:
        """Remove the files and folders that calls have made; return whether there were any."""
        made = sorted(self.entries() - self._known, reverse=True)  # the content of folders first
        for path in made:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.remove(path)
        return bool(made)

    def with_own_files(self, form: Json) -> Json:
        """Return the form of an argument with its input files replaced by copies of them."""
        if not self._home or not self._inputs:
            return form
        if isinstance(form, dict):
            return {name: self.with_own_files(value) for name, value in form.items()}
        if isinstance(form, list):
            return [self.with_own_files(value) for value in form]
        if isinstance(form, str) and form.startswith(f"{self._inputs}{os.sep}"):
            return self._own_copy(form)
        return form

    def _own_copy(self, path: str) -> str:
        copy = os.path.join(self._home, "inputs", os.path.relpath(path, self._inputs))
        if os.path.isdir(path):
            os.makedirs(copy, exist_ok=True)
            for name in os.listdir(path):
                self._own_copy(os.path.join(path, name))
        elif os.path.isdir(os.path.dirname(path)):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isfile(path):
                shutil.copyfile(path, copy)  # without its mode, which must not be set
        return copy


def _mirrored(root: str, mirror: str) -> bool:
    """Mirror a folder; return False, after a part of it, if it has too many files."""
    count = 0
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not _is_left_out(os.path.join(folder, name))]
        target = os.path.join(mirror, os.path.relpath(folder, root))
        os.makedirs(target, exist_ok=True)
        count += len(folders) + len(files)
        if count > _MAX_FILES:
            return False
        for name in files:
            _mirror_file(os.path.join(folder, name), os.path.join(target, name))
    return True


def _is_left_out(folder: str) -> bool:
    """Return whether a folder belongs to a tool or holds installed packages."""
    name = os.path.basename(folder)
    is_environment = os.path.isfile(os.path.join(folder, "pyvenv.cfg"))
    return (
        name in {".git", "node_modules", "__pycache__"} or is_environment or os.path.islink(folder)
    )


def _mirror_file(path: str, target: str) -> None:
    try:
        is_copied = not path.endswith(_LINKED_SUFFIXES) and os.path.getsize(path) <= _MAX_COPIED
        if is_copied:
            shutil.copyfile(path, target)
            return
    except OSError:  # the process may not read it: reading the link fails likewise
        pass
    os.symlink(path, target)
