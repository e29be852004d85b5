"""Reads the files of a program's project as text: modules, notebooks, examples in READMEs."""

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
"""Size of a file that is read, in bytes."""
MAX_FILES = 2000
"""Number of other files that are read."""
_ROOT_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_SKIPPED_FOLDERS = ("build", "dist")
_CODE_BLOCK = re.compile(r"^```(?:python|py)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A Python file of the project, parsed."""

    path: Path
    shown: str
    """Name of the file in reasons."""
    tree: ast.Module
    imports: Imports
    origins: dict[str, str]
    """Last part of the module that each imported name comes from, by name."""
    lines: tuple[int, ...] = ()
    """Line in the file for each line of the tree; empty if they are the same."""

    def place(self, node: ast.expr | ast.stmt) -> str:
        """Return file and line of a node."""
        line = self.lines[min(node.lineno, len(self.lines)) - 1] if self.lines else node.lineno
        return f"{self.shown}:{line}"


def module_of(source: str, path: Path, shown: str, lines: tuple[int, ...] = ()) -> ProjectModule:
    """Parse a module.

    Raises:
        UnreadableSourceError: if it is not valid Python, or nested too deeply.
    """
    tree = parse(source)
    imports = imports_of(tree).with_aliases(tree)
    origins = {imported.local: imported.module.rpartition(".")[2] for imported in imports_in(tree)}
    return ProjectModule(path, shown, tree, imports, origins, lines)


def other_modules_of(file: Path) -> list[ProjectModule]:
    """Return the other readable files of a file's project.

    Without a marker of the project's root these are the files in the same folder.
    """
    root = _root(file)
    paths = files_below(root, _SKIPPED_FOLDERS) if root else sorted(file.parent.iterdir())
    modules: list[ProjectModule] = []
    for path in paths:
        if path != file and len(modules) < MAX_FILES:
            modules += _read(path, path.relative_to(root or file.parent).as_posix())
    return modules


def _root(file: Path) -> Path | None:
    for folder in file.parents:
        if any((folder / mark).exists() for mark in _ROOT_MARKERS):
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
        return []  # unreadable files give no clues


def _examples(text: str, path: Path, shown: str) -> Iterator[ProjectModule]:
    for block in _CODE_BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = tuple(range(first, first + block[1].count("\n") + 1))
        try:
            yield module_of(block[1].replace(">>> ", ""), path, shown, lines)
        except ValueError:
            continue  # not a complete program
