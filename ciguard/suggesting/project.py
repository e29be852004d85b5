"""Parses the files of a program's project: modules, notebooks, and examples in READMEs."""

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
"""Maximum size of a file in bytes; larger files are skipped."""
MAX_FILES = 2000
"""Maximum number of parsed modules and examples besides the program."""
_ROOT_MARKERS = (".git", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
_SKIPPED_FOLDERS = ("build", "dist")
_CODE_BLOCK = re.compile(r"^```(?:python|py)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ProjectModule:
    """A parsed module, notebook or example of the project."""

    path: Path
    """Path of the file."""
    display_path: str
    """Path of the file in reasons."""
    tree: ast.Module
    """Syntax tree of the code."""
    imports: Imports
    """Names that the code imports."""
    origins: dict[str, str]
    """Last part of the name of the module from which a name is imported, by name."""
    lines: tuple[int, ...] = ()
    """Line number in the file for each line of the code; empty if both numbers are equal."""

    def location(self, node: ast.expr | ast.stmt) -> str:
        """Return the file and line of a node, as `FILE:LINE`."""
        line = self.lines[min(node.lineno, len(self.lines)) - 1] if self.lines else node.lineno
        return f"{self.display_path}:{line}"


def module_of(
    source: str, path: Path, display_path: str, lines: tuple[int, ...] = ()
) -> ProjectModule:
    """Return the parsed module of a source text; for the arguments see `ProjectModule`.

    Raises:
        UnreadableSourceError: if the source is not valid Python, or nested too deeply.
    """
    tree = parse(source)
    imports = imports_of(tree).with_aliases(tree)
    origins = {imported.local: imported.module.rpartition(".")[2] for imported in imports_in(tree)}
    return ProjectModule(path, display_path, tree, imports, origins, lines)


def other_modules_of(file: Path) -> list[ProjectModule]:
    """Return the other modules of a file's project; unreadable files are left out.

    Without a marker of the project's root, such as `.git`, only the file's folder is searched.
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


def _read(path: Path, display_path: str) -> list[ProjectModule]:
    """Return the modules in a file: one, several for a README, or none if it is unreadable."""
    is_readme = path.stem.lower() == "readme" and path.suffix in {".md", ".rst"}
    if path.suffix not in {".py", ".ipynb"} and not is_readme:
        return []
    try:
        text = read_text(path, most=MAX_BYTES)
        if path.suffix == ".ipynb":
            code = code_of_notebook(text.encode())
            return [module_of(str(code.source), path, display_path, code.file_lines)]
        if is_readme:
            return list(_examples(text, path, display_path))
        return [module_of(text, path, display_path)]
    except (OSError, ValueError):
        return []  # only the program itself must be readable


def _examples(text: str, path: Path, display_path: str) -> Iterator[ProjectModule]:
    """Yield the complete programs in the code blocks of a README as modules."""
    for block in _CODE_BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = tuple(range(first, first + block[1].count("\n") + 1))
        try:
            yield module_of(block[1].replace(">>> ", ""), path, display_path, lines)
        except ValueError:
            continue  # not a complete program
