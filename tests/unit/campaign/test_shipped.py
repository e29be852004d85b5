"""The constraints that come with ciguard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from packaging.version import Version

from ciguard.campaign.shipped import shipped_files, shipped_folder
from ciguard.knowledge import knowledge_version, read_constraints, read_provenance
from ciguard.knowledge.references import DOCUMENTATION_SOURCES, without_prose
from ciguard.libraries import LIBRARIES, description_version

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = sorted(shipped_folder().glob("*.jsonl"))
LIBRARIES_SHIPPED = {"torch", "tensorflow", "keras", "jax", "jittor"}
MAX_BYTES = 11_000_000


# --- finding files --------------------------------------------------------------------------------


def test_the_newest_shipped_version_comes_first(tmp_path: Path) -> None:
    for name in ("torch-2.9.0", "torch-2.13.0", "torch-vision-1.0", "jax-3.0"):
        (tmp_path / f"{name}.jsonl").touch()

    found = [path.stem for path in shipped_files("torch", tmp_path)]

    assert found == ["torch-2.13.0", "torch-2.9.0"]


# --- the files themselves -------------------------------------------------------------------------


def test_constraints_of_every_library_are_shipped() -> None:
    assert {path.name.partition("-")[0] for path in SHIPPED} == LIBRARIES_SHIPPED
    assert sum(path.stat().st_size for path in SHIPPED) < MAX_BYTES


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_file_is_named_after_library_and_version(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        origin = read_provenance(lines.readline(), name=str(path))

    assert path.stem == f"{origin.library}-{origin.version}"
    assert Version(origin.requirement.partition("==")[2]) == Version(origin.version)
    assert origin.device == "cpu"
    assert origin.knowledge


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.lengthy
def test_a_shipped_file_is_complete_and_sorted(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        known = read_constraints(lines, name=str(path))

    assert list(known.records) == sorted(known.records)
    assert len(known.records) > 700
    assert known.api(next(iter(known.records))).record in known.records.values()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.lengthy
def test_a_shipped_file_quotes_no_documentation(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        known = read_constraints(lines, name=str(path))

    for name, record in known.records.items():
        assert record == without_prose(record), name
        for item in (item for p in known.api(name).parameters for item in p.evidence):
            assert bool(item.digest) == (item.source in DOCUMENTATION_SOURCES) != bool(item.text), (
                name
            )


@pytest.mark.release
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_file_equals_a_new_extraction(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        said = json.loads(lines.readline())

    remedy = "written by older code: run `make constraints` and commit what it writes"
    assert said["knowledge"] == knowledge_version(), remedy
    assert said["adapter"] == description_version(LIBRARIES.get(said["library"])), remedy
