"""Children of ciguard: what each is given, and that nothing of it outlives its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ciguard.execution.child import Child, Launch
from ciguard.programs import run_program

LEAVES_A_SLEEPER = """
import subprocess, sys, time
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(sleeper.pid, flush=True)
time.sleep(600)
"""


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def launch(code: str, **how: object) -> Launch:
    given = {"environment": {}, "output": subprocess.PIPE, **how}
    return Launch(argv=[sys.executable, "-c", code], **given)  # type: ignore[arg-type]


def test_child_gets_no_variable_and_no_descriptor_that_it_is_not_given() -> None:
    secret, theirs = os.pipe()
    code = """
import os
listed = map(int, os.listdir("/proc/self/fd"))
opened = sorted(fd for fd in listed if os.path.exists(f"/proc/self/fd/{fd}"))
print(sorted(set(os.environ) - {"LC_CTYPE"}), opened)
print(repr(open(0).read()))
"""
    child = Child(launch(code, environment={"GIVEN": "1"}, descriptors=[theirs]))
    try:
        printed = child.output(30.0).decode().splitlines()
    finally:
        child.close()
        os.close(secret)
        os.close(theirs)

    assert printed == [f"['GIVEN'] [0, 1, 2, {theirs}]", "''"]


def test_all_that_a_child_has_started_ends_with_it(tmp_path: Path) -> None:
    with (tmp_path / "printed").open("wb+") as printed:
        child = Child(launch(LEAVES_A_SLEEPER, output=printed.fileno()))
        deadline = time.monotonic() + 30
        while not (tmp_path / "printed").read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        sleeper = int((tmp_path / "printed").read_text())
        assert is_alive(sleeper)

        child.close()

    assert not child.is_running
    assert child.wait() == -signal.SIGKILL
    assert is_gone(sleeper)


def test_stopped_child_receives_its_termination() -> None:
    child = Child(launch("import time; time.sleep(600)"))
    child.send(signal.SIGSTOP)

    child.terminate()

    assert child.wait(30.0) == -signal.SIGTERM
    child.close()


def test_output_of_a_child_that_does_not_end_in_time_is_nothing() -> None:
    child = Child(launch("import time; print('begun', flush=True); time.sleep(600)"))

    printed = child.output(1.0)
    child.close()

    assert printed == b""
    assert not child.is_running


def test_program_gets_its_input_and_returns_how_it_ended(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd(), input()); print('!', file=sys.stderr); sys.exit(3)"

    ended = run_program(
        [sys.executable, "-c", code], limit_s=30.0, given=b"text\n", folder=tmp_path
    )

    assert (ended.code, ended.text) == (3, f"{tmp_path} text\n")
    assert ended.complaint == "!\n"


def test_program_that_takes_too_long_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    noted = tmp_path / "sleeper"
    code = LEAVES_A_SLEEPER.replace(
        "print(sleeper.pid, flush=True)", f"open({str(noted)!r}, 'w').write(str(sleeper.pid))"
    )

    with pytest.raises(TimeoutError, match="exceeded its timeout of 5 s"):
        run_program([sys.executable, "-c", code], limit_s=5.0)

    assert is_gone(int(noted.read_text("ascii")))
