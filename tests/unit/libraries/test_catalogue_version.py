"""The digest of the code that describes a library changes only with that code."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from ciguard.libraries import LIBRARIES, description_version


def version_of(folder: Path, **modules: str) -> str:
    """Write an adapter of the given modules, and return the version of its description."""
    adapter_folder = Path(tempfile.mkdtemp(dir=folder))
    for name, text in modules.items():
        (adapter_folder / f"{name}.py").write_text(text, "utf-8")
    return description_version(replace(LIBRARIES.get("torch"), adapter=adapter_folder / "mine.py"))


def test_different_libraries_have_different_versions() -> None:
    versions = {description_version(LIBRARIES.get(name)) for name in ("torch", "jittor", "keras")}

    assert len(versions) == 3


def test_the_version_does_not_depend_on_the_adapter_beside_a_catalogue(tmp_path: Path) -> None:
    before = version_of(tmp_path, mine="1", catalogue="2")

    assert version_of(tmp_path, mine="another way to make tensors", catalogue="2") == before
    assert version_of(tmp_path, mine="1", catalogue="another way to describe") != before


def test_the_version_depends_on_an_adapter_without_a_catalogue(tmp_path: Path) -> None:
    before = version_of(tmp_path, mine="1")

    assert version_of(tmp_path, mine="2") != before


def test_the_version_depends_on_imports_of_describing_code(tmp_path: Path) -> None:
    plain = version_of(tmp_path, mine="import os")

    for line in (
        "from ciguard.libraries.in_target import introspection",
        "from ciguard.libraries.in_target.introspection import each",
        "import ciguard.libraries.in_target.introspection",
    ):
        assert version_of(tmp_path, mine=line) != plain


def test_an_import_of_a_missing_module_is_ignored(tmp_path: Path) -> None:
    assert version_of(tmp_path, mine="from ciguard.libraries.in_target import no_such_thing")
