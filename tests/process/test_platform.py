"""Where ciguard cannot run, it says so in one line, however the command was started."""

from __future__ import annotations

import subprocess
import sys

import pytest

ELSEWHERE = """
import platform, sys, sysconfig
for module in ("fcntl", "pwd", "resource", "termios"):
    sys.modules[module] = None
platform.system = lambda: {system!r}
sysconfig.get_config_vars()["HOST_GNU_TYPE"] = {host!r}
from ciguard.cli import main
sys.exit(main(["run"]))
"""


@pytest.mark.parametrize(
    ("system", "host", "reason", "remedy"),
    [
        ("Windows", "", "runs Windows", "WSL 2"),
        ("Darwin", "", "runs Darwin", "Linux container"),
        ("FreeBSD", "", "runs FreeBSD", "another machine"),
        ("Linux", "x86_64-pc-linux-musl", "built for musl", "Debian"),
    ],
)
def test_other_platform_is_refused(system: str, host: str, reason: str, remedy: str) -> None:
    program = ELSEWHERE.format(system=system, host=host)

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert reason in line
    assert remedy in line
