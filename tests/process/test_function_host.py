"""The process that runs annotated functions: it answers, dies, hangs, and starts again."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.execution import Answered, ProcessEnded, TimedOut
from ciguard.functions.hosting import (
    Broken,
    Collected,
    Execution,
    FailureKind,
    Hosts,
    ProgramSettings,
    SkippedProgram,
    collect,
)
from ciguard.functions.hosting.host import ProgramHost
from ciguard.functions.hosting.verdicts import CallFailure, CallPassed, Discarded
from ciguard.functions.specs import ProgramFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
import os, signal, sys, time
from ciguard.annotations import arg, ints, require
calls = []

@require("n != 7")
@arg("n", ints(0, 9))
def f(n):
    calls.append(n)
    print("out", n)
    print("err", n, file=sys.stderr)
    if n == 1:
        raise ValueError("one")
    if n == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if n == 3:
        time.sleep(60)
    if n == 4:
        os._exit(0)
    if n == 5 and os.fork() == 0:
        return "a copy must not answer"
    if n == 6:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        time.sleep(60)
    if n == 8:
        assert len(calls) == 1, "not the first"
"""


@pytest.fixture
def host() -> Iterator[ProgramHost]:
    with ProgramHost(ProgramSettings(path=sys.path)) as started:
        yield started


@pytest.fixture
def program(tmp_path: Path) -> ProgramFile:
    (tmp_path / "model.py").write_text(PROGRAM)
    return ProgramFile.at(tmp_path / "model.py")


def call(n: int) -> dict[str, object]:
    return {"function": "f", "arguments": [["n", n]], "constructor": None, "outer": None}


def test_calls_are_judged_and_a_new_process_follows_one_that_ended(
    host: ProgramHost, program: ProgramFile
) -> None:
    execution = Execution(host, program, limit_s=0.5)

    verdicts = {n: execution.verdict(call(n)) for n in (0, 1, 7, 2, 3, 4, 5, 6)}

    assert isinstance(verdicts[0], CallPassed)
    assert verdicts[7] == Discarded("n != 7")
    assert isinstance(verdicts[5], CallPassed)
    failures = {n: v for n, v in verdicts.items() if isinstance(v, CallFailure)}
    assert {n: v.kind for n, v in failures.items()} == {
        1: FailureKind.EXCEPTION,
        2: FailureKind.CRASH,
        3: FailureKind.TIMEOUT,
        4: FailureKind.EXIT,
        6: FailureKind.TIMEOUT,
    }
    assert all(failure.frames[-1].function == "f" for failure in failures.values())
    assert failures[2].type == "SIGSEGV"
    assert failures[4].message == "the interpreter ended with exit status 0"
    assert failures[3].key == failures[6].key


def test_a_call_after_a_crash_runs_in_a_process_that_knows_nothing_of_it(
    host: ProgramHost, program: ProgramFile
) -> None:
    execution = Execution(host, program, limit_s=5)
    execution.verdict(call(0))
    later = execution.verdict(call(8))
    execution.verdict(call(2))

    fresh = execution.verdict(call(8))

    assert isinstance(later, CallFailure)
    assert isinstance(fresh, CallPassed)


def test_the_output_is_that_of_the_last_call_alone(host: ProgramHost, program: ProgramFile) -> None:
    execution = Execution(host, program, limit_s=5)

    execution.verdict(call(0))
    execution.verdict(call(1))

    assert host.output() == ("out 1\n", "err 1\n")


def test_a_program_is_described_or_it_is_said_why_not(host: ProgramHost, tmp_path: Path) -> None:
    texts = {
        "model": PROGRAM,
        "raises": "def f():\n    return 1 / 0\nf()\n",
        "crashes": "import os\nos.abort()\n",
        "missing": "import surely_not_installed\n",
        "lost": "import json.gone\n",
        "torn": "def f(:\n",
        "types": PROGRAM,
    }
    found = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
        found[name] = collect(host, ProgramFile.at(tmp_path / f"{name}.py"))

    model, shadowing = found["model"], found["types"]
    assert isinstance(model, Collected)
    assert [function.name for function in model.module.functions] == ["f"]
    assert isinstance(shadowing, Collected)
    assert shadowing.module.file == str(tmp_path / "types.py")
    said = {name: one.text for name, one in found.items() if isinstance(one, Broken)}
    assert said.keys() == {"raises", "crashes", "lost", "torn"}
    assert "line 2, in f\n    return 1 / 0\n" in said["raises"]
    assert said["raises"].endswith("ZeroDivisionError: division by zero")
    assert "its import ends the interpreter with SIGABRT" in said["crashes"]
    assert "torn.py" in said["torn"]
    assert "SyntaxError" in said["torn"]
    missing = found["missing"]
    assert isinstance(missing, SkippedProgram)
    assert "surely_not_installed" in missing.reason


def test_answers_say_what_became_of_the_process(host: ProgramHost, program: ProgramFile) -> None:
    assert isinstance(host.call(program, call(0), limit_s=5), Answered)
    died = host.call(program, call(2), limit_s=5)
    assert isinstance(died, ProcessEnded)
    assert died.is_signal
    assert not host.is_running
    late = host.call(program, call(6), limit_s=0.1)
    assert isinstance(late, TimedOut)
    assert late.frames[-1].function == "f"


def test_programs_of_one_import_path_share_a_process(tmp_path: Path) -> None:
    for name in ("one/a.py", "one/b.py", "two/a.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROGRAM)
    hosts = Hosts(ProgramSettings(path=sys.path))

    first, same, other = (
        hosts.of(ProgramFile.at(tmp_path / name)) for name in ("one/a.py", "one/b.py", "two/a.py")
    )
    hosts.close()

    assert first is same
    assert first is not other


def test_what_a_program_prints_for_ever_does_not_fill_the_disk(
    host: ProgramHost, tmp_path: Path
) -> None:
    (tmp_path / "talkative.py").write_text(
        """
import time
from ciguard.annotations import arg, ints

@arg("n", ints(0, 9))
def f(n):
    for _ in range(80):
        print("x" * 1_000_000)
        time.sleep(0.02)
"""
    )
    execution = Execution(host, ProgramFile.at(tmp_path / "talkative.py"), limit_s=60)

    verdict = execution.verdict(call(1))

    assert isinstance(verdict, CallPassed)
    cut = re.match(r"\[… (\d+) characters\]", host.output()[0])
    kept = int(cut[1]) if cut else 0
    assert kept < 60_000_000
