"""Which files hold annotated functions, told from their text: nothing of them is run for it."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING

from ciguard.functions.sidecar import SUFFIX as SIDECAR_SUFFIX
from ciguard.functions.sidecar import target_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.functions.programs import Program

_LANGUAGE = "annotations"
"""Last part of the name of the module that the language is in, ciguard's or a copy of it."""
_TESTED = frozenset({"arg", "require", "ensure", "raises", "timeout", "cc_example", "module_test"})
"""What a function, or the module, is tested for; the rest of the language serves these."""
_MOST_BYTES = 4_000_000


def is_annotated(file: Path) -> bool:
    """Tell whether a program says of its functions how they are tested."""
    if file.name.endswith(SIDECAR_SUFFIX):
        return False
    try:
        source = file.read_bytes()
    except OSError:
        return False
    if _LANGUAGE.encode() not in source or len(source) > _MOST_BYTES:
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
    """Tell whether a program defines tests of its own beside annotated functions."""
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
    """Tell whether a node calls or names a word of the language."""
    function = node.func if isinstance(node, ast.Call) else node
    if isinstance(function, ast.Name):
        return function.id in names and isinstance(node, ast.Call | ast.Name)
    if isinstance(function, ast.Attribute) and function.attr in _TESTED:
        return ast.unparse(function.value) in modules
    return False
