"""The constraints that come with ciguard, and for which environments they hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.version import Version

from ciguard.campaign.shipped import (
    holds_for,
    pinned_requirement,
    shipped_file,
    shipped_files,
    shipped_folder,
)
from ciguard.knowledge import Provenance, knowledge_version, read_constraints, read_provenance
from ciguard.libraries import LIBRARIES, Library, description_version
from ciguard.targets import Environment, parse_target

SHIPPED = sorted(shipped_folder().glob("*.jsonl"))
LIBRARIES_SHIPPED = {"torch", "tensorflow", "keras", "jax", "jittor"}
MAX_BYTES = 15_000_000


def torch() -> Library:
    return LIBRARIES.get("torch")


def environment(text: str, version: str, library: str = "torch") -> Environment:
    return Environment(
        target=parse_target(text),
        library=LIBRARIES.get(library),
        python=Path("python"),
        root=Path(),
        packages={},
        version=version,
        python_version="3.11.7",
        readable=(),
        cache=None,
        variables={},
        key="key",
    )


def provenance() -> Provenance:
    return Provenance(
        library="torch",
        version="2.13.0",
        requirement="torch==2.13.0",
        device="cpu",
        adapter=description_version(torch()),
    )


# --- which environments ---------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.13.0", "2.13.0+cpu", "2.13.0+cu129"])
def test_shipped_constraints_hold_for_the_exact_published_version(version: str) -> None:
    assert holds_for(provenance(), environment("torch==2.13.0", version))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("torch==2.12.0", "2.12.0"),
        ("torch", "2.13.0"),
        ("torch>=2.13", "2.13.0"),
        ("torch==2.13.*", "2.13.0"),
        ("torch-nightly==2.13.0", "2.13.0"),
        ("torch==2.13.0", "2.13.0a0+git1234567"),
        ("torch==2.13.0", "2.13.0+my.build"),
        ("./torch-2.13.0-cp311-cp311-linux_x86_64.whl", "2.13.0"),
        ("current[torch]", "2.13.0"),
        ("torch==2.13.0@cuda", "2.13.0"),
    ],
)
def test_shipped_constraints_do_not_hold_for_what_may_be_another_build(
    text: str, version: str
) -> None:
    assert not holds_for(provenance(), environment(text, version))


def test_shipped_constraints_do_not_hold_for_another_library() -> None:
    other = environment("keras==3.15.1 + torch==2.13.0", "2.13.0", library="keras")

    assert not holds_for(provenance(), other)


def test_shipped_constraints_do_not_hold_once_libraries_are_described_otherwise() -> None:
    older = replace(provenance(), adapter="0" * 12)

    assert not holds_for(older, environment("torch==2.13.0", "2.13.0"))


def test_builds_of_one_library_are_told_apart() -> None:
    tensorflow = LIBRARIES.get("tensorflow")

    assert pinned_requirement(parse_target("tensorflow_cpu==2.21.0"), tensorflow) == (
        "tensorflow-cpu==2.21.0"
    )
    assert pinned_requirement(parse_target("tensorflow==2.21.0"), tensorflow) == (
        "tensorflow==2.21.0"
    )


# --- finding files --------------------------------------------------------------------------------


def test_the_newest_shipped_version_comes_first(tmp_path: Path) -> None:
    for name in ("torch-2.9.0", "torch-2.13.0", "torch-vision-1.0", "jax-3.0"):
        (tmp_path / f"{name}.jsonl").touch()

    found = [path.stem for path in shipped_files("torch", tmp_path)]

    assert found == ["torch-2.13.0", "torch-2.9.0"]


def test_a_target_finds_the_file_of_its_version_only(tmp_path: Path) -> None:
    (tmp_path / "torch-2.13.0.jsonl").touch()

    assert shipped_file(parse_target("torch==2.13.0"), torch(), tmp_path) is not None
    assert shipped_file(parse_target("torch==2.12.0"), torch(), tmp_path) is None
    assert shipped_file(parse_target("torch"), torch(), tmp_path) is None
    assert shipped_file(parse_target("current[torch]"), torch(), tmp_path) is None


# --- the files themselves -------------------------------------------------------------------------


def test_constraints_of_every_library_are_shipped() -> None:
    assert {path.name.partition("-")[0] for path in SHIPPED} == LIBRARIES_SHIPPED
    assert sum(path.stat().st_size for path in SHIPPED) < MAX_BYTES


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_file_is_named_after_what_it_holds(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        origin = read_provenance(lines.readline(), name=str(path))

    assert path.stem == f"{origin.library}-{origin.version}"
    assert Version(origin.requirement.partition("==")[2]) == Version(origin.version)
    assert origin.device == "cpu"
    assert origin.knowledge


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.lengthy
def test_a_shipped_file_is_whole_and_in_order(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        known = read_constraints(lines, name=str(path))

    assert list(known.records) == sorted(known.records)
    assert len(known.records) > 700
    assert known.api(next(iter(known.records))).record in known.records.values()


@pytest.mark.release
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_released_file_is_what_would_be_extracted_today(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        said = json.loads(lines.readline())

    remedy = "written by older code: run `make constraints` and commit what it writes"
    assert said["knowledge"] == knowledge_version(), remedy
    assert said["adapter"] == description_version(LIBRARIES.get(said["library"])), remedy
