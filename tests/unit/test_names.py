"""One class name means one thing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "ciguard"
MAX_PRIVATE = 2
"""Files that may hold a private class of the same name."""


def files_of_classes() -> dict[str, list[str]]:
    """Return the files of each top-level class of the package, by the class's name."""
    files = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path.relative_to(PACKAGE.parent).as_posix())
    return files


def test_public_class_name_occurs_in_one_file() -> None:
    public = {name: files for name, files in files_of_classes().items() if name[0] != "_"}

    assert "Case" in public
    assert {name: files for name, files in public.items() if len(files) > 1} == {}


def test_private_class_name_occurs_in_at_most_two_files() -> None:
    counts = Counter({name: len(files) for name, files in files_of_classes().items()})

    assert [name for name, count in counts.items() if count > MAX_PRIVATE] == []
