"""A program whose functions are tested: its file, its name, and how it is told from other files.

Whether a file holds annotated functions is told from its text: nothing of it is run for that.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ciguard.functions.in_target.describing.sidecar import SUFFIX as SIDECAR_SUFFIX
from ciguard.functions.in_target.describing.sidecar import target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.domain import Json

_LANGUAGE = "annotations"
"""Last part of the name of the module that the language is in, ciguard's or a copy of it."""
_TESTED = frozenset({"arg", "require", "ensure", "raises", "timeout", "cc_example", "module_test"})
"""What a function, or the module, is tested for; the rest of the language serves these."""
_MAX_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Program:
    """One Python file."""

    file: Path
    """Absolute."""
    root: Path
    """Folder that is put on the import path: above the outermost package."""
    name: str
    """Dotted name below `root`."""
    sidecar: Path | None = None
    """File of annotations that stand apart from the program."""

    @classmethod
    def at(cls, file: Path) -> Program:
        """Return the program in `file`."""
        root, parts = file.parent, [] if file.name == "__init__.py" else [file.stem]
        while (root / "__init__.py").is_file() and root.name.isidentifier():
            parts.insert(0, root.name)
            root = root.parent
        return cls(file, root, ".".join(parts))

    def with_sidecar(self, sidecar: Path | None) -> Program:
        """Return the program with annotations that stand apart."""
        return replace(self, sidecar=sidecar)

    def to_json(self) -> Json:
        """Return what the process that runs it is told."""
        return {
            "file": str(self.file),
            "root": str(self.root),
            "name": self.name,
            "sidecar": str(self.sidecar) if self.sidecar is not None else "",
        }


def is_annotated(file: Path) -> bool:
    """Return whether a program says of its functions how they are tested."""
    if file.name.endswith(SIDECAR_SUFFIX):
        return False
    try:
        source = file.read_bytes()
    except OSError:
        return False
    if _LANGUAGE.encode() not in source or len(source) > _MAX_BYTES:
        return False
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        # Python 2, or torn: if its annotations are meant, its import will say what is wrong.
        return b".annotations import" in source
    names, modules = _imported(tree)
    return any(_is_of_language(node, names, modules) for node in ast.walk(tree))


def sidecar_of(program: Program, folders: Iterable[Path] = ()) -> Path | None:
    """Return the file of annotations that stand apart from a program, if there is one.

    Args:
        program: that they are for.
        folders: searched for a file that names the program as its target, or is called as it is.
    """
    file = program.file
    beside = file.parent / (file.stem + SIDECAR_SUFFIX)
    if beside.is_file():
        return beside
    return next((path for folder in folders for path in _for(program, folder)), None)


def _for(program: Program, folder: Path) -> Iterator[Path]:
    own_name = program.file.stem + SIDECAR_SUFFIX
    for path, target in _targets(folder):
        # The target may be named from higher up than the program's own folders tell.
        names_it = target == program.file.stem or f".{target}".endswith(f".{program.name}")
        if names_it if target else path.name == own_name:
            yield path


@cache
def _targets(folder: Path) -> tuple[tuple[Path, str], ...]:
    """Return the sidecars in a folder with the modules that they name."""
    return tuple((path, _target(path)) for path in sorted(folder.glob(f"*{SIDECAR_SUFFIX}")))


def _target(path: Path) -> str:
    try:
        return target_of(str(path))
    except (OSError, SyntaxError):
        return ""  # its import will say what is wrong with it


def has_plain_tests(file: Path) -> bool:
    """Return whether a program defines tests of its own beside annotated functions."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    names, modules = _imported(tree)
    return any(_is_plain_test(node, names, modules) for node in tree.body)


def _is_plain_test(node: ast.stmt, names: set[str], modules: set[str]) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test")
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    annotated = any(_is_of_language(d, names, modules) for d in node.decorator_list)
    return node.name.startswith("test") and not annotated


def _imported(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names that words of the language have here, and those of its module."""
    names: set[str] = set()
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            _note_from(node, names, modules)
        elif isinstance(node, ast.Import):
            modules |= {a.asname or a.name for a in node.names if _is_language(a.name)}
    return names, modules


def _note_from(node: ast.ImportFrom, names: set[str], modules: set[str]) -> None:
    if _is_language(node.module or ""):
        for alias in node.names:
            if alias.name == "*":
                names |= _TESTED
            elif alias.name in _TESTED:
                names.add(alias.asname or alias.name)
    else:
        modules |= {a.asname or a.name for a in node.names if a.name == _LANGUAGE}


def _is_language(module: str) -> bool:
    return module.rpartition(".")[2] == _LANGUAGE


def _is_of_language(node: ast.AST, names: set[str], modules: set[str]) -> bool:
    """Return whether a node calls or names a word of the language."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Name):
        return function.id in names and isinstance(node, ast.Call | ast.Name)
    if isinstance(function, ast.Attribute) and function.attr in _TESTED:
        return ast.unparse(function.value) in modules
    return False
