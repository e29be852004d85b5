"""The files of a program's project, read as text: modules, notebooks, examples in READMEs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.files import read_text
from ciguard.sources import code_of_notebook, files_below, imports_in, imports_of, parse

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.sources import Imports

MAX_BYTES = 1024 * 1024
"""Of a file that is read."""
MAX_FILES = 2000
_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_APART = ("build", "dist")
_FENCE = re.compile(r"^```(?:python|py)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A file of the project that could be read."""

    path: Path
    shown: str
    """How reasons call it."""
    tree: ast.Module
    imports: Imports
    origins: dict[str, str]
    """Last part of the module that each imported name comes from, relative imports too."""
    lines: tuple[int, ...] = ()
    """Of the file, for each of the tree; empty where they are the same."""

    def place(self, node: ast.expr | ast.stmt) -> str:
        """Return file and line of a node."""
        line = self.lines[min(node.lineno, len(self.lines)) - 1] if self.lines else node.lineno
        return f"{self.shown}:{line}"


def module_of(source: str, path: Path, shown: str, lines: tuple[int, ...] = ()) -> ProjectModule:
    """Read a module.

    Raises:
        UnreadableSourceError: if it is no Python, or nested too deep.
    """
    tree = parse(source)
    imports = imports_of(tree).with_aliases(tree)
    origins = {one.local: one.module.rpartition(".")[2] for one in imports_in(tree)}
    return ProjectModule(path, shown, tree, imports, origins, lines)


def others_of(file: Path) -> list[ProjectModule]:
    """Return the other files of the project that a file belongs to; those that fail are left out.

    Without anything that marks a project's root, these are the files in the same folder.
    """
    root = _root(file)
    paths = files_below(root, _APART) if root else sorted(file.parent.iterdir())
    found: list[ProjectModule] = []
    for path in paths:
        if path != file and len(found) < MAX_FILES:
            found += _read(path, path.relative_to(root or file.parent).as_posix())
    return found


def _root(file: Path) -> Path | None:
    for folder in file.parents:
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return None


def _read(path: Path, shown: str) -> list[ProjectModule]:
    is_readme = path.stem.lower() == "readme" and path.suffix in {".md", ".rst"}
    if path.suffix not in {".py", ".ipynb"} and not is_readme:
        return []
    try:
        text = read_text(path, most=MAX_BYTES)
        if path.suffix == ".ipynb":
            code = code_of_notebook(text.encode())
            return [module_of(str(code.source), path, shown, code.file_lines)]
        if is_readme:
            return list(_examples(text, path, shown))
        return [module_of(text, path, shown)]
    except (OSError, ValueError):
        return []  # others' files: what cannot be read says nothing


def _examples(text: str, path: Path, shown: str) -> Iterator[ProjectModule]:
    for block in _FENCE.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = tuple(range(first, first + block[1].count("\n") + 1))
        try:
            yield module_of(block[1].replace(">>> ", ""), path, shown, lines)
        except ValueError:
            continue  # a fragment
