from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from command_server import answer, environment

from ciguard.cli.run import console_name

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = ("current[planted]", "current[planted] PLANTED_VERSION=2.0")
"""The planted library in the environment of these tests: nothing is installed."""


def _command(*words: str) -> list[str]:
    targets = [word for target in TARGETS for word in ("--target", target)]
    return [sys.executable, "-m", "ciguard", "run", *targets, *words]


def _run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return answer(*_command(*words)[3:], folder=folder, variables=environment(**variables))


def test_first_run_establishes_a_baseline_and_second_reports_known_buckets(tmp_path: Path) -> None:
    words = ("--api", "planted.checked", "--max-cases", "320")

    first = _run(tmp_path, *words)
    second = _run(tmp_path, *words)

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert "BASELINE ESTABLISHED" in first.stdout
    assert "NOTHING NEW" in second.stdout
    out = tmp_path / ".ciguard" / "run"
    run = json.loads((out / "run.json").read_text("utf-8"))
    assert (run["schema"], run["exit_code"], run["buckets"]["known"]) == (1, 0, 1)
    assert run["parameters"]["max_cases"] == 320
    for name in ("findings.jsonl", "buckets.jsonl"):
        lines = (out / name).read_text("utf-8").splitlines()
        assert [json.loads(line)["api"] for line in lines] == ["planted.checked"]
    assert (out / "summary.md").is_file()
    assert (out / "junit.xml").is_file()


def test_case_text_is_never_a_workflow_command(tmp_path: Path) -> None:
    answer = _run(tmp_path, "--api", "planted.double", "--max-cases", "32", GITHUB_ACTIONS="true")

    lines = answer.stdout.splitlines()
    assert lines[0].startswith("::stop-commands::")
    assert "::group::Run" in lines
    assert lines[-1].startswith("::")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_interrupted_run_writes_its_reports_and_exits_with_130(
    number: signal.Signals, tmp_path: Path
) -> None:
    with subprocess.Popen(
        _command("--budget", "60s"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        while "== Run ==" not in child.stdout.readline():
            assert child.poll() is None
        time.sleep(1)
        began_s = time.monotonic()
        child.send_signal(number)
        stdout, stderr = child.communicate(timeout=30)

    assert child.returncode == 130, stderr
    assert "INTERRUPTED" in stdout
    assert time.monotonic() - began_s < 15
    run = json.loads((tmp_path / ".ciguard" / "run" / "run.json").read_text("utf-8"))
    assert (run["verdict"], run["exit_code"]) == ("INTERRUPTED", 130)


def test_unwritable_report_exits_with_3_and_keeps_other_reports(
    tmp_path: Path,
) -> None:
    (tmp_path / "out" / "junit.xml").mkdir(parents=True)

    answer = _run(tmp_path, "--api", "planted.double", "--max-cases", "32", "--out", "out")

    assert answer.returncode == 3
    assert "ciguard: error: the junit report failed: out/junit.xml: cannot be written" in (
        answer.stderr
    )
    assert (tmp_path / "out" / "summary.md").is_file()
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert run["exit_code"] == 3


class _Stream:
    def __init__(self, *, is_terminal: bool) -> None:
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.mark.parametrize(
    ("environment", "is_terminal", "name"),
    [
        ({}, True, "terminal"),
        ({}, False, "plain"),
        ({"CI": "true"}, True, "plain"),
        ({"CI": "true", "GITHUB_ACTIONS": "true"}, False, "github"),
    ],
)
def test_console_depends_on_the_environment(
    environment: dict[str, str], *, is_terminal: bool, name: str
) -> None:
    stream = _Stream(is_terminal=is_terminal)

    assert console_name(environment, stream) == name  # type: ignore[arg-type]  # only isatty is used
