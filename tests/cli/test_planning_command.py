from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_server import answer, environment
from git_examples import git
from published_schemas import schema_violations

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "requirements.txt").write_text("tensorflow-cpu==2.12.0\n", "utf-8")
    (folder / "a.py").write_text("import tensorflow as tf\ntf.abs(1)\n", "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    (folder / "requirements.txt").write_text("tensorflow-cpu==2.21.0\n", "utf-8")
    git(folder, "commit", "--quiet", "--all", "--message", "upgrade")
    return folder


def _ciguard(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return answer(*words, folder=folder, variables=environment(**variables))


def test_plan_prints_an_explanation_and_writes_a_file(repository: Path) -> None:
    words = ("--against", "HEAD~1", "--device", "cpu", "--device", "cuda", "--shards", "2")

    answer = _ciguard(repository, "plan", *words, "--out", "p.json")

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("plan: pull-request, jobs: 2, skipped rows: 1\n")
    assert (
        "job: tensorflow-cpu==2.21.0 against tensorflow-cpu==2.12.0 (cpu, ubuntu" in answer.stdout
    )
    assert answer.stdout.count("job: ") == 1
    assert "skipped: tensorflow-cpu==2.21.0@cuda on cuda: the package is built" in answer.stdout
    assert "focus: tensorflow.abs\n" in answer.stdout
    assert (
        "run it: ciguard run --plan p.json --base tensorflow-cpu==2.12.0 "
        "--target tensorflow-cpu==2.21.0\n"
    ) in answer.stdout
    plan = json.loads((repository / "p.json").read_text("utf-8"))
    assert schema_violations("plan", plan) == []
    assert plan["uses"] == {"tensorflow.abs": [{"path": "a.py", "line": 2}]}
    assert [job["shard"] for job in plan["jobs"]] == ["1/2", "2/2"]


def test_plan_prints_json(repository: Path) -> None:
    answer = _ciguard(repository, "plan", "--json", "--against", "HEAD~1")

    printed = json.loads(answer.stdout)
    assert printed == json.loads((repository / "plan.json").read_text("utf-8"))
    assert (printed["schema"], printed["mode"]) == (1, "pull-request")


def test_plan_uses_targets_of_the_environment(repository: Path) -> None:
    answer = _ciguard(repository, "plan", "--json", CIGUARD_TARGETS="torch==2.13.0\ntorch==2.12.0")

    jobs = json.loads(answer.stdout)["jobs"]
    assert [job["targets"] for job in jobs] == [["torch==2.13.0", "torch==2.12.0"]]


def test_plan_with_only_skipped_rows_exits_with_3(repository: Path) -> None:
    answer = _ciguard(repository, "plan", "--target", "torch==2.13.0@cuda:0", "--device", "cuda")

    assert answer.returncode == 3, answer.stderr
    assert "no runner with a GPU is configured" in answer.stdout


def test_plan_for_several_gpus_has_one_row(repository: Path) -> None:
    words = ("--device", "cuda", "--device", "cuda:0", "--device", "cuda:1")
    runner = ("--gpu-runner", "two-gpus", "--target", "torch==2.13.0")

    answer = _ciguard(repository, "plan", "--json", *words, *runner)

    (job,) = json.loads(answer.stdout)["jobs"]
    assert (job["device"], job["runs_on"]) == ("cuda", ["two-gpus"])
    assert job["targets"] == ["torch==2.13.0@cuda", "torch==2.13.0@cuda:1"]


def test_plan_skips_gpus_that_a_change_cannot_affect(repository: Path) -> None:
    (repository / "a.py").write_text("import tensorflow as tf\ntf.square(1)\n", "utf-8")
    git(repository, "commit", "--quiet", "--all", "--message", "change")

    answer = _ciguard(repository, "plan", "--against", "HEAD~1", "--device", "cuda")

    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("plan: pull-request, jobs: 0, skipped rows: 0\n")
    assert "  - Skipped on cuda:0: this pull request changes no device code, " in answer.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--against", "nowhere"), "git fetch origin"),
        (("--mode", "pull-request"), "needs the base commit. Add --against"),
        (("--base-wheel", "x.whl"), "--base-wheel needs --wheel"),
        (("--wheel", "x.whl"), "Keep the file name that the build gave the wheel"),
        (("--device", "gpu"), "unknown device 'gpu'. Write cpu, cuda or cuda:1."),
        (("--target", "nothing==1"), "ciguard cannot test any of nothing"),
        (("--out", "no/such/folder/plan.json"), "Name another file with --out"),
    ],
)
def test_invalid_plan_options_exit_with_2(
    repository: Path, words: tuple[str, ...], said: str
) -> None:
    answer = _ciguard(repository, "plan", *words)

    assert answer.returncode == 2
    assert said in answer.stderr
    assert answer.stderr.startswith("ciguard: error: ")


def test_run_exercises_the_apis_of_its_plan_first(tmp_path: Path) -> None:
    plan = {
        "schema": 1,
        "mode": "batch",
        **{key: [] for key in ("reasons", "changes", "jobs", "skipped")},
        "focus": ["planted.checked", "planted.nothing"],
        "uses": {},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan), "utf-8")
    targets = ("--target", "current[planted]", "--target", "current[planted] PLANTED_VERSION=2.0")
    words = ("--api", "planted.checked", "--api", "planted.fragile", "--max-cases", "96")

    answer = _ciguard(tmp_path, "run", *targets, *words, "--plan", "plan.json")

    assert answer.returncode == 0, answer.stderr
    assert "focus: 1 of 2 globs match no tested API: planted.nothing" in answer.stdout
    run = json.loads((tmp_path / ".ciguard" / "run" / "run.json").read_text("utf-8"))
    assert run["parameters"]["focus"] == ["planted.checked", "planted.nothing"]
    assert run["parameters"]["plan"] == "plan.json"


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, '{"schema": 7}', "\0"])
def test_run_rejects_an_invalid_plan(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.json").write_text(content, "utf-8")

    answer = _ciguard(tmp_path, "run", "--target", "current[planted]", "--plan", "plan.json")

    assert answer.returncode == 2
    assert "--plan plan.json: not a plan: " in answer.stderr
    assert not (tmp_path / ".ciguard").exists()
