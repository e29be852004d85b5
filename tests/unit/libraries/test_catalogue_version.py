"""The digest of the code that describes a library changes with that code, and with no other."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from ciguard.libraries import LIBRARIES, description_version


def written(folder: Path, **files: str) -> str:
    """Return the version of an adapter made of these files."""
    made = Path(tempfile.mkdtemp(dir=folder))
    for name, text in files.items():
        (made / f"{name}.py").write_text(text, "utf-8")
    return description_version(replace(LIBRARIES.get("torch"), adapter=made / "mine.py"))


def test_libraries_are_described_by_different_code() -> None:
    versions = {description_version(LIBRARIES.get(name)) for name in ("torch", "jittor", "keras")}

    assert len(versions) == 3


def test_how_a_library_is_used_does_not_count(tmp_path: Path) -> None:
    before = written(tmp_path, mine="1", catalogue="2")

    assert written(tmp_path, mine="another way to make tensors", catalogue="2") == before
    assert written(tmp_path, mine="1", catalogue="another way to describe") != before


def test_an_adapter_without_a_catalogue_describes_by_itself(tmp_path: Path) -> None:
    before = written(tmp_path, mine="1")

    assert written(tmp_path, mine="2") != before


def test_what_describing_code_imports_counts(tmp_path: Path) -> None:
    plain = written(tmp_path, mine="import os")

    for line in (
        "from ciguard.libraries.in_target import introspection",
        "from ciguard.libraries.in_target.introspection import each",
        "import ciguard.libraries.in_target.introspection",
    ):
        assert written(tmp_path, mine=line) != plain


def test_a_file_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    assert written(tmp_path, mine="from ciguard.libraries.in_target import no_such_thing")
