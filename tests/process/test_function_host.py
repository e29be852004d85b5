"""The process that runs annotated functions: it responds, crashes, hangs, and restarts."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.execution import Answered, ProcessEnded, TimedOut
from ciguard.functions.hosting import (
    CollectedProgram,
    Execution,
    FailureKind,
    ProgramHosts,
    ProgramSettings,
    SkippedProgram,
    UnimportableProgram,
    collect,
)
from ciguard.functions.hosting.host import ProgramHost
from ciguard.functions.hosting.verdicts import CallFailure, CallPassed, Discarded, Undecided
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


def test_calls_get_verdicts_and_a_crashed_process_is_replaced(
    host: ProgramHost, program: ProgramFile
) -> None:
    execution = Execution(host, program, limit_s=0.5)

    verdicts = {n: execution.verdict(call(n)) for n in (0, 1, 7, 2, 3, 4, 5, 6)}

    assert isinstance(verdicts[0], CallPassed)
    assert verdicts[7] == Discarded("n != 7")
    assert isinstance(verdicts[5], CallPassed)
    failures = {n: verdict for n, verdict in verdicts.items() if isinstance(verdict, CallFailure)}
    assert {n: verdict.kind for n, verdict in failures.items()} == {
        1: FailureKind.EXCEPTION,
        2: FailureKind.CRASH,
        3: FailureKind.TIMEOUT,
        4: FailureKind.EXIT,
        6: FailureKind.TIMEOUT,
    }
    assert all(failure.frames[-1].function == "f" for failure in failures.values())
    assert failures[2].type == "SIGSEGV"
    assert failures[4].message == "the interpreter terminated with exit status 0"
    assert failures[3].key == failures[6].key


def test_a_call_after_a_crash_runs_in_a_fresh_process(
    host: ProgramHost, program: ProgramFile
) -> None:
    execution = Execution(host, program, limit_s=5)
    execution.verdict(call(0))
    later = execution.verdict(call(8))
    execution.verdict(call(2))

    fresh = execution.verdict(call(8))

    assert isinstance(later, CallFailure)
    assert isinstance(fresh, CallPassed)


def test_the_output_contains_only_the_last_call(host: ProgramHost, program: ProgramFile) -> None:
    execution = Execution(host, program, limit_s=5)

    execution.verdict(call(0))
    execution.verdict(call(1))

    assert host.output() == ("out 1\n", "err 1\n")


def test_a_defect_of_ciguard_is_reported_as_such(host: ProgramHost, tmp_path: Path) -> None:
    (tmp_path / "breaking.py").write_text(
        "from ciguard.annotations import arg, ints\n"
        "from ciguard.functions.in_target.calling import caller\n"
        "caller.snapshot = None\n"
        "@arg('n', ints())\ndef f(n): return n\n"
    )
    execution = Execution(host, ProgramFile.at(tmp_path / "breaking.py"), limit_s=5)

    verdict = execution.verdict(call(1))

    assert isinstance(verdict, Undecided)
    assert verdict.report.startswith("ciguard itself failed: TypeError: 'NoneType'")
    assert len(verdict.report.splitlines()) < 20


def test_a_program_is_described_or_the_reason_is_returned(
    host: ProgramHost, tmp_path: Path
) -> None:
    texts = {
        "model": PROGRAM,
        "raises": "def f():\n    return 1 / 0\nf()\n",
        "crashes": "import os\nos.abort()\n",
        "missing": "import surely_not_installed\n",
        "lost": "import json.gone\n",
        "torn": "def f(:\n",
        "types": PROGRAM,
    }
    collections = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
        collections[name] = collect(host, ProgramFile.at(tmp_path / f"{name}.py"))

    model, shadowing = collections["model"], collections["types"]
    assert isinstance(model, CollectedProgram)
    assert [function.name for function in model.module.functions] == ["f"]
    assert isinstance(shadowing, CollectedProgram)
    assert shadowing.module.file == str(tmp_path / "types.py")
    texts_of_failures = {
        name: collection.text
        for name, collection in collections.items()
        if isinstance(collection, UnimportableProgram)
    }
    assert texts_of_failures.keys() == {"raises", "crashes", "lost", "torn"}
    assert "line 2, in f\n    return 1 / 0\n" in texts_of_failures["raises"]
    assert texts_of_failures["raises"].endswith("ZeroDivisionError: division by zero")
    assert (
        "the program's import terminates the interpreter with SIGABRT"
        in texts_of_failures["crashes"]
    )
    assert "torn.py" in texts_of_failures["torn"]
    assert "SyntaxError" in texts_of_failures["torn"]
    missing = collections["missing"]
    assert isinstance(missing, SkippedProgram)
    assert "surely_not_installed" in missing.reason


def test_answers_report_crashes_and_timeouts_of_the_process(
    host: ProgramHost, program: ProgramFile
) -> None:
    assert isinstance(host.call(program, call(0), limit_s=5), Answered)
    crashed = host.call(program, call(2), limit_s=5)
    assert isinstance(crashed, ProcessEnded)
    assert crashed.is_signal
    assert not host.is_running
    timed_out = host.call(program, call(6), limit_s=0.1)
    assert isinstance(timed_out, TimedOut)
    assert timed_out.frames[-1].function == "f"


def test_programs_of_one_import_path_share_a_process(tmp_path: Path) -> None:
    for name in ("one/a.py", "one/b.py", "two/a.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROGRAM)
    hosts = ProgramHosts(ProgramSettings(path=sys.path))

    first, same, other = (
        hosts.of(ProgramFile.at(tmp_path / name)) for name in ("one/a.py", "one/b.py", "two/a.py")
    )
    hosts.close()

    assert first is same
    assert first is not other


def test_endless_output_of_a_program_is_truncated(host: ProgramHost, tmp_path: Path) -> None:
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
