"""Programs with annotated functions: their files and names, and how ciguard recognises them.

A program is recognised by its source text, which is not run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ciguard.functions.in_target.describing.sidecar import SUFFIX as SIDECAR_SUFFIX
from ciguard.functions.in_target.describing.sidecar import target_of
from ciguard.sources import (
    ALL_NAMES,
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

_ANNOTATIONS_MODULE = "annotations"
"""Last part of the dotted name of ciguard's module of annotations, or of a copy of this module."""
_TESTED_NAMES = frozenset(
    {"arg", "require", "ensure", "raises", "timeout", "cc_example", "include", "module_test"}
)
"""Annotations that request a test of a function; other annotations only support tests."""


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """The file of a program."""

    file: Path
    """Absolute path of the file."""
    root: Path
    """Folder above the outermost package, which is added to the import path."""
    name: str
    """Dotted name of the module, relative to `root`."""
    sidecar: Path | None = None
    """Path of the file with the annotations; None if the program contains them."""

    @classmethod
    def at(cls, file: Path) -> ProgramFile:
        """Return the program in a file."""
        root = import_root(file.parent)
        return cls(file, root, module_name(file.relative_to(root).as_posix()))

    def with_sidecar(self, sidecar: Path | None) -> ProgramFile:
        """Return the program with the annotations of a sidecar."""
        return replace(self, sidecar=sidecar)

    def to_json(self) -> Json:
        """Return the JSON form of the program, for the process that runs it."""
        return {
            "file": str(self.file),
            "root": str(self.root),
            "name": self.name,
            "sidecar": str(self.sidecar) if self.sidecar is not None else "",
        }


def is_annotated(file: Path) -> bool:
    """Return whether a program annotates functions for tests."""
    if file.name.endswith(SIDECAR_SUFFIX):
        return False
    try:
        source = file.read_bytes()
    except OSError:
        return False
    if _ANNOTATIONS_MODULE.encode() not in source or len(source) > MAX_BYTES:
        return False
    try:
        tree = parse(source)
    except UnreadableSourceError:
        # A file that imports annotations counts as annotated: its import then reports the error.
        return b".annotations import" in source
    annotations = _AnnotationImports(tree)
    return any(annotations.has(node) for node in ast.walk(tree))


def sidecar_of(program: ProgramFile, folders: Iterable[Path] = ()) -> Path | None:
    """Return the path of a program's sidecar; None if it has none.

    Args:
        program: the annotated program.
        folders: folders to search if the program's folder contains no sidecar. A sidecar there
            names the program as its target, or has the program's name.
    """
    file = program.file
    sidecar = file.parent / (file.stem + SIDECAR_SUFFIX)
    if sidecar.is_file():
        return sidecar
    return next((path for folder in folders for path in _matching_sidecars(program, folder)), None)


def _matching_sidecars(program: ProgramFile, folder: Path) -> Iterator[Path]:
    """Yield the sidecars in a folder that belong to a program."""
    default_name = program.file.stem + SIDECAR_SUFFIX
    for path, target in _sidecar_targets(folder):
        # The target may include packages above the program's import root.
        is_target = target == program.file.stem or f".{target}".endswith(f".{program.name}")
        if is_target if target else path.name == default_name:
            yield path


@cache
def _sidecar_targets(folder: Path) -> tuple[tuple[Path, str], ...]:
    """Return the paths of the sidecars in a folder, each with the name of its target module.

    The name is empty for a sidecar that names no target.
    """
    return tuple((path, _read_target(path)) for path in sorted(folder.glob(f"*{SIDECAR_SUFFIX}")))


def _read_target(path: Path) -> str:
    try:
        return target_of(str(path))
    except (OSError, SyntaxError):
        return ""  # the import of the sidecar reports the error


def has_plain_tests(file: Path) -> bool:
    """Return whether a program defines tests of pytest that are not annotated."""
    try:
        tree = parse_file(file)
    except (OSError, UnreadableSourceError):
        return False
    annotations = _AnnotationImports(tree)
    return any(_is_plain_test(node, annotations) for node in tree.body)


def _is_plain_test(node: ast.stmt, annotations: _AnnotationImports) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test")
    if not isinstance(node, Function):
        return False
    return node.name.startswith("test") and not any(map(annotations.has, node.decorator_list))


class _AnnotationImports:
    """Names under which a program imports annotations."""

    def __init__(self, tree: ast.Module) -> None:
        imports = [imported for imported in imports_in(tree) if imported.module != "__future__"]
        self._qualified_names = {imported.local: imported.qualified_name for imported in imports}
        self._imports_all = any(
            imported.local == ALL_NAMES and _is_annotations_module(imported.module)
            for imported in imports
        )

    def has(self, node: ast.AST) -> bool:
        """Return whether a node is, or calls, an annotation that requests a test."""
        root, parts = chain(node.func if isinstance(node, ast.Call) else node)
        if not parts and self._imports_all and root in _TESTED_NAMES:
            return True
        module, _, name = ".".join((self._qualified_names.get(root, ""), *parts)).rpartition(".")
        return name in _TESTED_NAMES and _is_annotations_module(module)


def _is_annotations_module(module: str) -> bool:
    return module.rpartition(".")[2] == _ANNOTATIONS_MODULE
