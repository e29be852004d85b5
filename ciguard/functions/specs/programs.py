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
from ciguard.sources import (
    EVERYTHING,
    MAX_BYTES,
    Function,
    UnreadableSourceError,
    chain,
    import_root,
    imports_in,
    module_name,
    parse,
    parse_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.domain.values import Json

_LANGUAGE = "annotations"
"""Last part of the name of the module that the language is in, ciguard's or a copy of it."""
_TESTED = frozenset({"arg", "require", "ensure", "raises", "timeout", "cc_example", "module_test"})
"""What a function, or the module, is tested for; the rest of the language serves these."""


@dataclass(frozen=True, slots=True)
class ProgramFile:
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
    def at(cls, file: Path) -> ProgramFile:
        """Return the program in `file`."""
        root = import_root(file.parent)
        return cls(file, root, module_name(file.relative_to(root).as_posix()))

    def with_sidecar(self, sidecar: Path | None) -> ProgramFile:
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
    if _LANGUAGE.encode() not in source or len(source) > MAX_BYTES:
        return False
    try:
        tree = parse(source)
    except UnreadableSourceError:
        # Python 2, or torn: if its annotations are meant, its import will say what is wrong.
        return b".annotations import" in source
    language = _Language(tree)
    return any(language.has(node) for node in ast.walk(tree))


def sidecar_of(program: ProgramFile, folders: Iterable[Path] = ()) -> Path | None:
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


def _for(program: ProgramFile, folder: Path) -> Iterator[Path]:
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
        tree = parse_file(file)
    except (OSError, UnreadableSourceError):
        return False
    language = _Language(tree)
    return any(_is_plain_test(node, language) for node in tree.body)


def _is_plain_test(node: ast.stmt, language: _Language) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test")
    if not isinstance(node, Function):
        return False
    return node.name.startswith("test") and not any(map(language.has, node.decorator_list))


class _Language:
    """Words of the language of annotations, as a program imports them."""

    def __init__(self, tree: ast.Module) -> None:
        imports = [one for one in imports_in(tree) if one.module != "__future__"]
        self._meanings = {one.local: one.meaning for one in imports}
        self._has_all = any(one.local == EVERYTHING and _is_language(one.module) for one in imports)

    def has(self, node: ast.AST) -> bool:
        """Return whether a node calls or names a word of the language."""
        root, parts = chain(node.func if isinstance(node, ast.Call) else node)
        if not parts and self._has_all and root in _TESTED:
            return True
        module, _, word = ".".join((self._meanings.get(root, ""), *parts)).rpartition(".")
        return word in _TESTED and _is_language(module)


def _is_language(module: str) -> bool:
    return module.rpartition(".")[2] == _LANGUAGE
