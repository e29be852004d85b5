"""What no checker of workflows sees: names in `action.yml` that nothing stands behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from action_file import ACTION, ROOT, WORKFLOWS, parsed, steps_of
from packaging.requirements import Requirement

from ciguard.actions import FILES
from ciguard.actions.inputs import INPUTS, variable_of
from ciguard.actions.results import COUNTED
from ciguard.config import SETTINGS

if TYPE_CHECKING:
    from pathlib import Path

TEXT = ACTION.read_text("utf-8")
PAGE = ROOT / "docs" / "action.md"
_READ_INPUT = re.compile(r"\binputs\.([\w-]+)")
_READ_STEP = re.compile(r"\bsteps\.([\w-]+)\.outputs\.([\w-]+)")
_PINNED = re.compile(r"uses: (?!\./)[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+( #|$)")


def test_action_declares_the_inputs_that_ciguard_reads() -> None:
    assert list(parsed(ACTION)["inputs"]) == list(INPUTS)


def test_declared_inputs_are_the_inputs_that_are_read() -> None:
    assert set(_READ_INPUT.findall(TEXT)) == set(parsed(ACTION)["inputs"])


def test_every_input_is_passed_by_its_own_variable() -> None:
    for step in steps_of(ACTION):
        for variable, value in step.get("env", {}).items():
            if variable.startswith("INPUT_"):
                (name,) = _READ_INPUT.findall(value)
                assert variable == variable_of(name)


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_sets_a_setting_or_is_read_by_the_action(name: str) -> None:
    known = INPUTS[name]
    sources = "".join(p.read_text("utf-8") for p in (ROOT / "ciguard" / "actions").glob("*.py"))
    sources += (ROOT / "ciguard" / "cli" / "action.py").read_text("utf-8")

    read_by_steps = len(re.findall(rf"\binputs\.{name}\b", TEXT)) > 1
    read_by_us = sources.count(f'"{name}"') > 1 or f'= "{name}"' in sources

    assert known.setting in SETTINGS or read_by_steps or read_by_us


def test_every_used_output_is_set_by_the_step_with_its_id() -> None:
    command = (ROOT / "ciguard" / "cli" / "action.py").read_text("utf-8")
    ids = {step["id"] for step in steps_of(ACTION) if "id" in step}
    ours = set(re.findall(r'"([\w-]+)":', command)) | set(COUNTED) | set(FILES)
    ours |= {"verdict", "exit-code", "folder", "cache-hit"}

    used = _READ_STEP.findall(TEXT)

    assert {step for step, _ in used} <= ids
    assert {output for _, output in used} <= ours


def test_every_input_and_output_is_described_on_the_page_of_the_action() -> None:
    page = PAGE.read_text("utf-8")

    missing = [
        name
        for kind in ("inputs", "outputs")
        for name in parsed(ACTION)[kind]
        if f"| `{name}` |" not in page
    ]

    assert not missing


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_no_expression_reaches_a_shell(path: Path) -> None:
    scripts = [step["run"] for step in steps_of(path) if "run" in step]

    assert not [script for script in scripts if "${{" in script]


@pytest.mark.parametrize("path", [ACTION, *WORKFLOWS], ids=lambda path: path.name)
def test_every_other_action_is_pinned_by_a_commit_with_its_version(path: Path) -> None:
    lines = [
        line
        for line in path.read_text("utf-8").splitlines()
        if "uses: " in line and line.strip()[0] != "#"
    ]

    loose = [line for line in lines if "uses: ./" not in line and not _PINNED.search(line)]

    assert not loose


def test_the_verdict_of_the_matrix_is_never_skipped() -> None:
    """GitHub takes a required check that was skipped for one that passed."""
    merge = parsed(ROOT / ".github" / "workflows" / "guard.yml")["jobs"]["merge"]

    assert merge["if"] == "always()"


def test_only_steps_without_fuzzed_code_have_a_token() -> None:
    with_token = {s["name"] for s in steps_of(ACTION) if "INPUT_GITHUB_TOKEN" in s.get("env", {})}

    with_secret = {
        s["name"] for s in steps_of(ACTION) if "INPUT_SECURITY_TOKEN" in s.get("env", {})
    }

    assert with_token == {"Compare with the baseline", "Publish on the pull request"}
    assert with_secret == {"Compare with the baseline"}


def test_requirements_of_the_action_are_pinned_and_match_the_package() -> None:
    pinned = dict(
        line.split(" ")[0].split("==")
        for line in (ROOT / "action" / "requirements.txt").read_text("utf-8").splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    )
    needed = [Requirement(text) for text in _dependencies()]

    for requirement in needed:
        assert pinned[requirement.name] in requirement.specifier, "run `make action-lock`"


def _dependencies() -> list[str]:
    import tomllib  # noqa: PLC0415 - one test

    described = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    found: list[str] = described["project"]["dependencies"]
    return [*found, *described["build-system"]["requires"]]
