"""Commands that a step of the action runs: what they see, what they say, how they are stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
import venv
from pathlib import Path

import pytest
from action_file import ROOT
from git_examples import git, served
from github_git import SIGNED, GitDatabase
from github_repository import NAME
from github_server import TOKEN, GitHubServer
from runner_protocol import executed_commands, read_outputs

from ciguard.actions import InputError, Steps, request_of
from ciguard.actions.children import run_command
from ciguard.domain.plan import Plan, PlanMode, PlannedJob, plan_to_json

PROGRAM = """
import os, sys
from pathlib import Path
from ciguard.actions.children import run_command
sys.exit(run_command(sys.argv[1:], folder=Path.cwd(), environment=os.environ))
"""


@pytest.fixture(autouse=True)
def python(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a Python that has ciguard from this checkout even where it looks at no variables."""
    folder = tmp_path_factory.mktemp("python")
    venv.create(folder, with_pip=False)
    scheme = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
    paths = f"{ROOT}\n{sysconfig.get_path('purelib')}\n"
    (Path(scheme) / "checkout.pth").write_text(paths, "utf-8")
    python = str(folder / "bin" / "python")
    monkeypatch.setattr(sys, "executable", python)
    return python


def test_working_folder_is_not_on_the_module_path(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('taken over')\n", "utf-8")

    code = run_command(["version"], folder=tmp_path, environment=os.environ)

    said = capfd.readouterr()
    assert code == 0, said.err
    assert "taken over" not in said.out + said.err


def test_output_is_without_workflow_commands_and_its_error_is_an_annotation(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run_command(["run", "--target", "::error::x"], folder=tmp_path, environment=os.environ)

    said = capfd.readouterr()
    assert code == 2
    (annotation,) = executed_commands(said.out)
    assert annotation[0] == "error"
    assert executed_commands(said.err) == []


def _fuzzing(folder: Path, python: str) -> subprocess.Popen[bytes]:
    """Return a step whose command has begun to fuzz."""
    target = ["--target", "current[planted]", "--budget", "90s", "--out", str(folder / "out")]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    process = subprocess.Popen([python, "-c", PROGRAM, "run", *target], cwd=folder, env=environment)
    journal = folder / "out" / "journal.jsonl"
    # Before its first batch a run has nothing to report.
    while not (journal.exists() and '{"type":"progress"' in journal.read_text("utf-8")):
        assert process.poll() is None
        time.sleep(0.1)
    return process


def test_killed_command_exits_with_128_plus_the_signal(tmp_path: Path, python: str) -> None:
    process = _fuzzing(tmp_path, python)
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()

    os.kill(int(child), signal.SIGKILL)

    assert process.wait(timeout=60) == 128 + signal.SIGKILL


def test_only_the_first_signal_is_forwarded_to_the_command(tmp_path: Path, python: str) -> None:
    process = _fuzzing(tmp_path, python)

    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=60) == 130
    assert (tmp_path / "out" / "run.json").is_file()


def _merging(folder: Path, environment: dict[str, str], **inputs: str) -> int:
    """Merge the results of `folder` as the action does, and return the exit code."""
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    fixed = {"INPUT_TASK": "merge", "INPUT_BASELINE": ".ciguard/baseline"}
    request = request_of({**fixed, **given}, workspace=folder)
    return Steps(request=request, environment=environment).merge()


@pytest.fixture
def part(tmp_path: Path) -> Path:
    """Return a folder with a part of a campaign and its plan."""
    part = ["run", "--target", "current[planted]", "--api", "planted.checked", "--part"]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    limits = ["--max-cases", "160", "--budget", "60s", "--out", str(tmp_path / "results" / "a")]
    assert run_command([*part, *limits], folder=tmp_path, environment=environment) == 0
    job = PlannedJob(name="planted", targets=("current[planted]",))
    plan = plan_to_json(Plan(mode=PlanMode.PULL_REQUEST, jobs=(job,)))
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    return tmp_path


def test_results_without_a_plan_are_not_merged(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with_it = _merging(part, dict(os.environ), results="results", plan="plan.json")
    without = _merging(part, dict(os.environ), results="results", plan="gone.json")

    assert (with_it, without) == (0, 2)
    assert "gone.json: cannot be read" in capfd.readouterr().err


@pytest.mark.parametrize(("rows", "code"), [(0, 0), (1, 3)])
def test_plan_without_jobs_is_not_published_but_lost_results_are(
    tmp_path: Path, rows: int, code: int
) -> None:
    head = {"sha": "a" * 40, "repo": {"full_name": "owner/name"}}
    event = {"pull_request": {"number": 7, "head": head, "base": head}}
    (tmp_path / "event.json").write_text(json.dumps(event), "utf-8")
    (tmp_path / "out").mkdir()
    jobs = (PlannedJob(name="planted", targets=("current[planted]",)),) * rows
    plan = plan_to_json(Plan(mode=PlanMode.PULL_REQUEST, jobs=jobs))
    (tmp_path / "out" / "plan.json").write_text(json.dumps(plan), "utf-8")
    environment = {
        **os.environ,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "owner/name",
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "INPUT_CHECK": "true",
        "INPUT_OUT": "out",
    }

    steps = Steps(request=request_of(environment, workspace=tmp_path), environment=environment)

    assert steps.publish() == code


def test_reports_link_to_the_project_whose_action_runs(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    downloaded = f"/home/runner/work/_actions/somebody/ciguard/{'c' * 40}"
    environment = {**os.environ, "GITHUB_ACTION_PATH": downloaded}

    code = _merging(part, environment, results="results", plan="plan.json", out="out")

    assert code == 0, capfd.readouterr().err
    (run,) = json.loads((part / "out" / "report.sarif").read_text("utf-8"))["runs"]
    assert run["tool"]["driver"]["informationUri"] == "https://github.com/somebody/ciguard"


HEAD = "a" * 40
EVIL = {"event": "pull_request", "head_branch": "main", "head_sha": HEAD}


def _received(folder: Path, server: GitHubServer, *, of: str = "evil/x") -> dict[str, str]:
    """Return the environment of a step that takes what a pull request of `of` left."""
    ran = {**EVIL, "head_repository": {"full_name": of}}
    event = {
        "repository": {"default_branch": "main", "full_name": NAME},
        "workflow_run": ran,
    }
    (folder / "event.json").write_text(json.dumps(event), "utf-8")
    (folder / "temp").mkdir()
    return {
        **os.environ,
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_REPOSITORY": NAME,
        "GITHUB_API_URL": server.address(),
        "INPUT_TASK": "file",
        "INPUT_BASELINE": ".ciguard/baseline",
        "INPUT_CHECK": "true",
        "INPUT_RESULTS": "results",
        "INPUT_GITHUB_TOKEN": TOKEN,
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_OUTPUT": str(folder / "output"),
    }


def _taken(folder: Path, environment: dict[str, str]) -> dict[str, int]:
    """Take the results of `folder` as the steps of the action do; return the codes of the steps."""
    codes = {"prepare": run_command(["action", "prepare"], folder=folder, environment=environment)}
    request = read_outputs(folder / "output")["request"]
    for step in ("merge", "report", "publish"):
        words = ["action", step, request]
        codes[step] = run_command(words, folder=folder, environment=environment)
    return codes


@pytest.mark.slow
@pytest.mark.parametrize(
    "left",
    [
        {"plan.json": '{"schema": 1, "mode": "batch", "jobs": 7}'},
        {"run.json": "{}", "plan.json": "[" * 100_000},
        {"run.json": '{"verdict": "NOTHING NEW"}'},
    ],
)
def test_unreadable_results_of_a_pull_request_are_published_and_fail_no_job(
    tmp_path: Path, left: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    for name, text in left.items():
        path = tmp_path / "results" / "ciguard-job-1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    earlier = tmp_path / ".ciguard" / "run" / "run.json"
    earlier.parent.mkdir(parents=True)
    earlier.write_text("{}", "utf-8")

    with GitHubServer() as server:
        codes = _taken(tmp_path, _received(tmp_path, server))
        (check,) = server.checks.runs
        violations = server.violations

    assert codes == dict.fromkeys(("prepare", "merge", "report", "publish"), 0), capfd.readouterr()
    assert read_outputs(tmp_path / "output")["verdict"] == "not-run"
    assert (check["conclusion"], check["output"]["title"][:7]) == ("failure", "NOT RUN")
    assert violations == []


@pytest.mark.slow
def test_projects_of_one_repository_have_a_check_run_each(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (part / "results" / "plan.json").write_text((part / "plan.json").read_text("utf-8"), "utf-8")
    with GitHubServer() as server:
        environment = _received(part, server) | {"INPUT_BASELINE": "nowhere"}
        for artifact in ("ciguard-vision-filed", "ciguard-text-filed", "ciguard-text-filed"):
            request = request_of(environment | {"INPUT_ARTIFACT": artifact}, workspace=part)
            steps = Steps(request=request, environment=environment)
            assert (steps.merge(), steps.publish()) == (0, 0), capfd.readouterr()
        names = [check["name"] for check in server.checks.runs]

    assert names == ["ciguard-vision", "ciguard-text"]


@pytest.mark.parametrize(
    ("artifact", "name"),
    [
        ("ciguard", "ciguard"),
        ("", "ciguard"),
        ("ciguard-filed", "ciguard"),
        ("results of ${{ x }}", "ciguard (results of --- x --)"),
    ],
)
def test_the_name_of_an_artifact_names_the_check(
    tmp_path: Path, artifact: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []

    def recorded(words: list[str], **_: object) -> int:
        called.extend(words)
        return 0

    monkeypatch.setattr("ciguard.actions.steps.run_command", recorded)
    with GitHubServer() as server:
        environment = _received(tmp_path, server) | {"INPUT_ARTIFACT": artifact}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "run.json").write_text("{}", "utf-8")

    Steps(request=request_of(environment, workspace=tmp_path), environment=environment).publish()

    assert f"--name={name}" in called


@pytest.mark.slow
def test_results_that_cannot_be_published_fail_the_job_that_is_there_for_that(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "plan.json").write_text("not a plan", "utf-8")

    with GitHubServer() as server:
        environment = _received(tmp_path, server) | {"GITHUB_REPOSITORY": "owner/unknown"}
        codes = _taken(tmp_path, environment)

    assert codes["merge"] == 0, capfd.readouterr()
    assert codes["publish"] == 2


@pytest.mark.parametrize(
    ("runner", "labels"),
    [("big", ("big",)), ('["self-hosted", "linux"]', ("self-hosted", "linux"))],
)
def test_a_runner_is_one_label_or_an_array_of_them(
    tmp_path: Path, runner: str, labels: tuple[str, ...]
) -> None:
    git(tmp_path, "init", "--quiet")
    given = {"INPUT_TASK": "plan", "INPUT_MODE": "batch", "INPUT_RUNNER": runner}
    request = request_of({**given, "INPUT_TARGETS": "torch==2.13.0"}, workspace=tmp_path)
    steps = Steps(request=request, environment=dict(os.environ))

    assert steps.plan() == 0

    assert {job.runs_on for job in steps.read_plan().jobs} == {labels}


def test_a_tracker_that_the_configuration_names_is_not_asked_by_a_pull_request(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (part / "ciguard.toml").write_text('issues = "github:owner/name"\n', "utf-8")
    environment = {**os.environ, "GITHUB_API_URL": "http://127.0.0.1:9"}

    code = _merging(part, environment, results="results", plan="plan.json")

    assert code == 0, capfd.readouterr().err
    assert not (part / ".ciguard" / "issues").exists()


def test_the_step_that_writes_the_baseline_has_the_token_where_a_push_is_refused(
    part: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database = GitDatabase(tmp_path / "served" / f"{NAME}.git")
    database.require(SIGNED)
    event = {"repository": {"default_branch": "main"}}
    (tmp_path / "event.json").write_text(json.dumps(event), "utf-8")
    with GitHubServer() as server, served(tmp_path / "served") as address:
        server.database = database
        environment = {
            **os.environ,
            "GITHUB_EVENT_NAME": "push",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_API_URL": server.address(),
            "GITHUB_SERVER_URL": "http://127.0.0.1",
            "INPUT_TASK": "guard",
            "INPUT_BASELINE": f"git+{address}/{NAME}.git",
            "INPUT_PLAN": "plan.json",
            "INPUT_OUT": str(part / "results" / "all"),
        }
        request = request_of(environment, workspace=part)
        jobs = request.out.with_name("all-jobs")
        jobs.mkdir()
        (part / "results" / "a").rename(jobs / "0")

        code = Steps(
            request=request, environment={**environment, "INPUT_GITHUB_TOKEN": TOKEN}
        ).merge()

    assert code == 0, capfd.readouterr().err
    branch = database.repository, "ciguard-baseline"
    assert "gpgsig" in git(branch[0], "cat-file", "commit", branch[1])
    files = git(branch[0], "ls-tree", "-r", "--name-only", branch[1]).split()
    assert {"runs.jsonl", "index.html", "badge.json"} <= set(files)
    # An API has 4 calls in its first batch, 64 in its third, and those at limits in between.
    cases = re.search(r'"cases": (\d+)', git(branch[0], "show", f"{branch[1]}:runs.jsonl"))
    assert cases is not None
    assert 4 + 64 < int(cases.group(1)) <= 160
    assert "BASELINE ESTABLISHED" in git(branch[0], "show", f"{branch[1]}:index.html")
    assert server.violations == []


def _planned(folder: Path, environment: str) -> tuple[int, Steps]:
    git(folder, "init", "--quiet")
    given = {"INPUT_TASK": "plan", "INPUT_MODE": "batch", "INPUT_ENVIRONMENT": environment}
    targets = "torch==2.13.0\njax==0.10.2 JAX_ENABLE_X64=1"
    request = request_of({**given, "INPUT_TARGETS": targets}, workspace=folder)
    steps = Steps(request=request, environment=dict(os.environ))
    return steps.plan(), steps


def test_variables_of_the_input_are_those_of_every_target_but_where_it_sets_its_own(
    tmp_path: Path,
) -> None:
    code, steps = _planned(tmp_path, "JAX_ENABLE_X64=0\n\n  OMP_NUM_THREADS=a b\n")

    assert code == 0
    assert sorted(steps.targets()) == [
        "jax==0.10.2 JAX_ENABLE_X64=1 OMP_NUM_THREADS='a b'",
        "torch==2.13.0 JAX_ENABLE_X64=0 OMP_NUM_THREADS='a b'",
    ]


@pytest.mark.parametrize(
    "variable", ["LD_PRELOAD=x.so", "PYTHONPATH=.", "MY_API_KEY=x", "CIGUARD_ISSUES=x"]
)
def test_a_variable_that_no_target_may_set_ends_the_plan(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], variable: str
) -> None:
    code, _ = _planned(tmp_path, f"OMP_NUM_THREADS=1\n{variable}")

    assert code == 2
    assert f"{variable.partition('=')[0]} cannot be set" in capfd.readouterr().err


@pytest.mark.parametrize("text", ["NAME", "=x", "A=1\nno variable", "A B=1", "A=\n" * 40 + "?"])
def test_malformed_variable_is_an_error_with_the_input(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="input 'environment'"):
        request_of({"INPUT_ENVIRONMENT": text}, workspace=tmp_path)
