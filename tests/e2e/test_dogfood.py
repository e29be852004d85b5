"""The project's own guard on itself: it must see what was broken, and call its own workflows."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from action_file import ROOT, parsed
from action_runner import Trigger
from action_scenarios import BEFORE, commit, git
from ciguard_command import answer, command
from github_repository import NAME
from runner_protocol import executed_commands
from workflow_runner import GitHub, WorkflowRun

if TYPE_CHECKING:
    from pathlib import Path

    from node_tools import Expressions

DOGFOOD = ROOT / ".github" / "workflows" / "dogfood.yml"
LIBRARY = {"default_branch": "main", "full_name": NAME}
PUSH = Trigger("push", {"repository": LIBRARY}, "refs/heads/main", NAME)


def checkout(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return a clone of this checkout in which texts of dogfood.yml are replaced, committed."""
    git(folder, "clone", "--quiet", "--no-hardlinks", str(ROOT), "ciguard")
    clone = folder / "ciguard"
    git(clone, "checkout", "--quiet", "-B", "main")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in (one for one in listed if (ROOT / one).is_file()):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes((ROOT / name).read_bytes())
    path = clone / DOGFOOD.relative_to(ROOT)
    text = path.read_text("utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, "utf-8")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "what is tested")
    return clone


def dogfood(folder: Path, expressions: Expressions, clone: Path, *, keep: str) -> WorkflowRun:
    """Run dogfood.yml of a clone, without the other jobs than those named."""
    github = GitHub(
        folder=folder / "runs",
        expressions=expressions,
        repositories={NAME: clone},
        workflows_of=NAME,
        commit=git(clone, "rev-parse", "HEAD"),
    )
    run = WorkflowRun(github, clone / DOGFOOD.relative_to(ROOT), PUSH, number="1")
    run.keep_only(keep.split())
    run.start()
    return run


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "conclusion"),
    [
        ((), "success"),
        ((("wheel: wheels/broken", "wheel: wheels/healthy"),), "failure"),
        (((" wheel: wheels/healthy", " wheel: wheels/broken"),), "failure"),
    ],
    ids=["as it is", "nothing is broken", "everything is broken"],
)
def test_dogfood_is_green_only_if_the_guard_sees_what_was_broken(
    tmp_path: Path,
    expressions: Expressions,
    changes: tuple[tuple[str, str], ...],
    conclusion: str,
) -> None:
    clone = checkout(tmp_path, ("budget: 30s", "budget: 15s"), *changes)
    run = dogfood(tmp_path, expressions, clone, keep="broken")

    assert run.result("broken") == conclusion, run.log
    if conclusion == "failure":
        (demand,) = executed_commands(run.only("broken").step("Demand red and green").log)
        assert demand[1].startswith("the broken library: ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "expected"),
    [
        ("planted.double", {"compare": "success", "answer": "success"}),
        ("planted.checked", {"compare": "failure", "answer": "skipped"}),
    ],
)
def test_dogfood_compares_with_the_baseline_that_its_branch_holds(
    tmp_path: Path, expressions: Expressions, api: str, expected: dict[str, str]
) -> None:
    clone = checkout(tmp_path, ("    with:\n      mode: batch", PLANTED))
    settings = f'api = ["{api}"]\nseed = 1\nmax-cases = 160\n'
    (clone / ".github" / "dogfood" / "ciguard.toml").write_text(settings, "utf-8")
    commit(clone, README__md="guarded\n")
    git(clone, "commit", "--quiet", "--all", "--message", "the planted library instead of torch")
    baseline = f"git+{clone.as_uri()}#ciguard-baseline"
    earlier = ("--target", BEFORE, "--api", "planted.double", "--max-cases", "16")
    done = answer(command("run", *earlier, "--baseline", baseline), tmp_path)
    assert done.returncode == 0, done.stderr

    run = dogfood(tmp_path, expressions, clone, keep="compare answer")

    assert {job: run.result(job) for job in run.jobs} == expected, run.log


PLANTED = f"""    with:
      targets: {BEFORE}
      plugins: {ROOT / "tests" / "planted"}
      budget: 10s
      mode: batch"""


@pytest.mark.slow
def test_without_a_baseline_dogfood_is_green_only_until_there_is_one(
    tmp_path: Path, expressions: Expressions
) -> None:
    job = parsed(DOGFOOD)["jobs"]["answer"]
    clone = checkout(tmp_path)

    numbers = itertools.count(1)

    def answered(verdict: str) -> str:
        github = GitHub(
            folder=tmp_path / "runs",
            expressions=expressions,
            repositories={NAME: clone},
            workflows_of=NAME,
            commit=git(clone, "rev-parse", "HEAD"),
        )
        run = WorkflowRun(github, DOGFOOD, PUSH, number=str(next(numbers)))
        return run.alone("answer", {"compare": {"outputs": {"verdict": verdict}}}).conclusion

    before = [answered(verdict) for verdict in ("no-baseline", "nothing-new")]
    git(clone, "branch", "ciguard-baseline")
    after = [answered(verdict) for verdict in ("no-baseline", "nothing-new", "not-run", "")]

    assert job["needs"] == "compare"
    assert before == ["success", "success"]
    assert after == ["failure", "success", "failure", "failure"]


def test_dogfood_baseline_is_written_by_the_public_workflow() -> None:
    filing = parsed(ROOT / ".github" / "workflows" / "dogfood-file.yml")
    (job,) = filing["jobs"].values()

    assert filing["on"]["workflow_run"]["workflows"] == [parsed(DOGFOOD)["name"]]
    assert job["uses"] == "./.github/workflows/file-issues.yml"
    assert job["with"]["config"] == parsed(DOGFOOD)["jobs"]["compare"]["with"]["config"]
    wanted = parsed(ROOT / ".github" / "workflows" / "file-issues.yml")["jobs"].values()
    for inner in wanted:
        for name, level in inner["permissions"].items():
            assert job["permissions"][name] in {level, "write"}, name
