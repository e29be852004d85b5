"""What the runner of workflows takes over from GitHub: which jobs run, and what they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from action_runner import Trigger
from action_scenarios import commit, git
from github_services import Services
from node_tools import Expressions
from workflow_runner import GitHub, WorkflowRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORKFLOW = """
on:
  workflow_call:
    inputs:
      missing: {type: string}
      matrix: {type: string}
      count: {type: number, default: 3}
      is-on: {type: boolean}
    outputs:
      said: {value: "${{ jobs.first.outputs.said }}"}
jobs:
  first:
    runs-on: any
    timeout-minutes: 1
    outputs: {said: "${{ steps.say.outputs.said }}"}
    steps:
      - name: Say
        id: say
        shell: bash
        env: {IT: "${{ inputs.count }} ${{ inputs.is-on }}"}
        run: echo "said=$IT" >> "$GITHUB_OUTPUT"; mkdir out; echo > out/x
      - name: Keep
        uses: actions/upload-artifact@commit
        with: {name: kept-1, path: out}
      - name: Take what matches nothing
        uses: actions/download-artifact@commit
        with: {pattern: "no-*", path: none}
      - name: Take what is missing
        if: inputs.missing != ''
        uses: actions/download-artifact@commit
        with: {name: "${{ inputs.missing }}"}
  rows:
    name: row ${{ matrix.row }}
    needs: first
    runs-on: any
    timeout-minutes: 1
    strategy: {matrix: "${{ fromJSON(inputs.matrix) }}"}
    steps:
      - {name: See nothing of others, shell: bash, run: "test ! -e out"}
  by-default: {needs: rows, runs-on: any, timeout-minutes: 1, steps: []}
  always: {needs: rows, if: always(), runs-on: any, timeout-minutes: 1, steps: []}
  on-failure: {needs: rows, if: failure(), runs-on: any, timeout-minutes: 1, steps: []}
"""
MATRIX = '{"include": [{"row": 1}, {"row": 2}]}'
TRIGGER = Trigger(event={"repository": {}})


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    with Expressions() as engine:
        yield GitHub(
            folder=tmp_path / "runs",
            expressions=engine,
            repositories={},
            workflows_of="somebody/workflows",
            commit="0" * 40,
        )


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    path = tmp_path / "workflow.yml"
    path.write_text(WORKFLOW, "utf-8")
    return path


def results(run: WorkflowRun) -> list[str]:
    return [run.result(job) for job in run.jobs]


def test_jobs_run_after_what_they_need_on_machines_of_their_own(
    github: GitHub, workflow: Path
) -> None:
    run = WorkflowRun(github, workflow, TRIGGER, number="1", matrix=MATRIX)

    run.start()

    assert results(run) == ["success", "success", "success", "success", "skipped"], run.log
    assert list(run.jobs["rows"]) == ["row 1", "row 2"]
    assert run.outputs == {"said": "3 false"}
    assert [path.name for path in run.artifacts.iterdir()] == ["kept-1"]


def test_failed_job_skips_dependent_jobs_and_keeps_its_outputs(
    github: GitHub, workflow: Path
) -> None:
    run = WorkflowRun(github, workflow, TRIGGER, number="1", matrix=MATRIX, missing="kept-2")

    run.start()

    assert results(run) == ["failure", "skipped", "skipped", "success", "success"], run.log
    assert run.only("first").steps[-1].log.endswith("Artifact not found for name: kept-2\n")
    assert run.outputs == {"said": "3 false"}


def test_only_unsuccessful_jobs_run_again(github: GitHub, workflow: Path) -> None:
    run = WorkflowRun(github, workflow, TRIGGER, number="1", matrix=MATRIX)

    run.start(lost=" 2")
    before, lost = dict(run.jobs["rows"]), results(run)
    run.start()

    assert lost == ["success", "cancelled", "skipped", "success", "skipped"]
    assert results(run) == ["success", "success", "success", "success", "skipped"]
    assert run.jobs["rows"]["row 1"] is before["row 1"]


@pytest.mark.parametrize("given", [{"count": "3"}, {"is_on": 1}, {"unknown": ""}])
def test_inputs_have_types(github: GitHub, workflow: Path, given: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        WorkflowRun(github, workflow, TRIGGER, number="1", **given)


@pytest.mark.parametrize("depth", ["0", "1"])
def test_a_checkout_has_the_commit_of_the_event_however_many_branches_there_are(
    tmp_path: Path, depth: str
) -> None:
    remote, workspace = tmp_path / "remote", tmp_path / "workspace"
    for folder in (remote, workspace):
        folder.mkdir()
    git(remote, "init", "--quiet", "--initial-branch", "main")
    for name in ("a-first-branch", "another"):
        git(remote, "checkout", "--quiet", "-B", name)
        commit(remote, **{name: name})
    wanted = git(remote, "rev-parse", "another")
    git(remote, "update-ref", "refs/pull/7/merge", wanted)
    services = Services(workspace, tmp_path, tmp_path, {"owner/name": remote}, "owner/name")

    taken = services.use("actions/checkout", {"ref": "refs/pull/7/merge", "fetch-depth": depth})

    assert taken["commit"] == wanted
