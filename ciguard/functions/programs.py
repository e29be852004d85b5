"""A program whose functions are tested: its file, and the name that it is imported by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain import Json


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
