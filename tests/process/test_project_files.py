"""Files that GitHub reads of this repository: forms, settings of Dependabot, the action's page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import yaml
from action_file import ACTION, ROOT, WORKFLOWS, parsed
from workflow_checkers import tool

if TYPE_CHECKING:
    from pathlib import Path

GITHUB = ROOT / ".github"
FORMS = tuple(sorted(GITHUB.glob("ISSUE_TEMPLATE/*.yml")))
PINNING = (
    ACTION,
    *WORKFLOWS,
    *sorted((ROOT / "ciguard" / "actions" / "scaffold").glob("*.yml.j2")),
)
MAX_DESCRIPTION = 125
"""Characters that the Marketplace takes."""
_PIN = re.compile(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (v[\d.]+)")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_issue_forms_keep_to_their_schema(path: Path) -> None:
    kind = "config" if path.name == "config.yml" else "forms"

    done = tool("check-jsonschema", "--builtin-schema", f"vendor.github-issue-{kind}", path)

    assert done.returncode == 0, done.stdout


def test_dependabot_keeps_to_its_schema_and_knows_every_pinned_file() -> None:
    path = GITHUB / "dependabot.yml"

    done = tool("check-jsonschema", "--builtin-schema", "vendor.dependabot", path)

    assert done.returncode == 0, done.stdout
    updates = yaml.safe_load(path.read_text("utf-8"))["updates"]
    assert {(each["package-ecosystem"], each["directory"]) for each in updates} == {
        ("github-actions", "/"),
        ("pip", "/action"),
        ("npm", "/tests/actions"),
    }
    assert (ROOT / "action" / "requirements.txt").is_file()
    assert (ROOT / "tests" / "actions" / "package-lock.json").is_file()


def test_the_action_can_be_listed_on_the_marketplace() -> None:
    """Icon and colour are in the schema of actions; the name must be nobody else's user name."""
    read = parsed(ACTION)

    assert len(read["description"].strip()) <= MAX_DESCRIPTION
    assert re.fullmatch(r"[a-z]+", read["name"])
    assert read["branding"].keys() == {"icon", "color"}
    assert list(ROOT.glob("action.y*ml")) == [ACTION]
    assert (ROOT / "README.md").is_file()


def test_an_action_has_the_same_pin_wherever_it_is_used_or_shown() -> None:
    """Dependabot updates workflows, and neither what `ciguard init` writes nor the docs."""
    pins: dict[str, set[tuple[str, str]]] = {}
    for path in PINNING:
        for name, commit, version in _PIN.findall(path.read_text("utf-8")):
            pins.setdefault(name, set()).add((commit, version))

    assert len(pins) >= 10
    assert {name: used for name, used in pins.items() if len(used) > 1} == {}


def test_owners_of_code_are_paths_that_exist_and_name_nobody_invented() -> None:
    lines = (GITHUB / "CODEOWNERS").read_text("utf-8").splitlines()
    paths = [line.removeprefix("#").strip() for line in lines if line.startswith(("# /", "/"))]

    assert len(paths) >= 5
    for path in paths:
        assert (ROOT / path.split()[0].strip("/")).exists(), path
