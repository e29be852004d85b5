"""What a tag must be to be released, and what is written for its release."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement

import ciguard

ROOT = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = '"""Something."""\n\n__version__ = "0.2.0"\n'
CHANGELOG = """# Changelog

## 0.2.0 (2026-02-03)

- Newer.
  Still newer.

## 0.1.0 (unreleased)

- Older.

## 0.0.1 (2026-01-01)
"""

_spec = importlib.util.spec_from_file_location("release", ROOT / "setup" / "release.py")
assert _spec is not None
assert _spec.loader is not None
release = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(release)


def test_notes_are_the_versions_section_without_its_heading() -> None:
    assert release.notes("v0.2.0", changelog=CHANGELOG) == "- Newer.\n  Still newer.\n"


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("v0.3.0", "no section '## 0.3.0 (YYYY-MM-DD)'"),
        ("v0.1.0", "write the day of the release"),
        ("v0.0.1", "is empty"),
    ],
)
def test_missing_notes_raise(tag: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=re.escape(message)):
        release.notes(tag, changelog=CHANGELOG)


@pytest.mark.parametrize(
    ("tag", "message"), [("v0.2.1", "has version 0.2.0"), ("v0.2", "three numbers"), ("0.2.0", "v")]
)
def test_tag_of_another_version_raises(tag: str, message: str) -> None:
    with pytest.raises(release.ReleaseError, match=message):
        release.check_version(tag, source=SOURCE)


def test_tag_of_the_version_is_accepted() -> None:
    release.check_version("v0.2.0", source=SOURCE)


def test_version_is_that_of_the_package() -> None:
    source = (ROOT / "ciguard" / "__init__.py").read_text("utf-8")

    assert release.version_of(source) == ciguard.__version__


@pytest.mark.parametrize(
    ("tags", "moving"),
    [
        (["v0.10.0"], "v0"),
        (["v0.9.0", "v0.10.0", "v0", "v0.10.1rc1", "else"], "v0"),
        (["v0.10.0", "v1.0.0"], "v0"),
        (["v0.10.0", "v0.11.0"], ""),
        (["v0.10.0", "v0.10.1"], ""),
    ],
)
def test_major_version_tag_moves_only_forward(tags: list[str], moving: str) -> None:
    assert release.moving_tag("v0.10.0", tags) == moving


def test_bill_of_materials_is_valid_and_has_all_pins_with_hashes() -> None:
    pins = (ROOT / "action" / "requirements.txt").read_text("utf-8")

    bom = release.sbom(f"owner/ciguard@{COMMIT}", version="0.2.0", pins=pins)

    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bom))
    assert problem is None, problem
    assert bom == release.sbom(f"owner/ciguard@{COMMIT}", version="0.2.0", pins=pins)
    lines = [line for line in pins.splitlines() if "==" in line]
    pinned = {str(Requirement(line.partition(";")[0].rstrip(" \\"))) for line in lines}
    assert {f"{each['name']}=={each['version']}" for each in bom["components"]} == pinned
    for component in bom["components"]:
        assert component["externalReferences"][0]["hashes"]


def test_requirement_without_a_version_raises() -> None:
    with pytest.raises(release.ReleaseError, match="pins no version"):
        release.sbom(f"owner/ciguard@{COMMIT}", version="0.2.0", pins="numpy @ a==b\n")


def test_unknown_command_raises() -> None:
    with pytest.raises(release.ReleaseError, match="write check, notes or sbom"):
        release.main("publish", "v0.2.0")
