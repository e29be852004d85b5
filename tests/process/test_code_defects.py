"""The benchmark's defects of programs, planted into the real torch: each does what it says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.targets import Environment

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROBE = Path(__file__).with_name("code_defects_probe.py")

pytestmark = [pytest.mark.library("torch"), pytest.mark.slow]


def probed(environment: Environment, *arguments: str) -> Any:
    done = subprocess.run(
        [str(environment.python), "-I", str(PROBE), str(BENCHMARKS), *arguments],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("group", ["checks", "programs", "values"])
def test_each_defect_shows_and_changes_nothing_else(
    environment_of: Callable[[str], Environment], group: str
) -> None:
    environment = environment_of("torch==2.13.0")

    planted, healthy = probed(environment, group), probed(environment, group, "healthy")

    assert planted["shows"]
    same = [name for name, came in planted["shows"].items() if came == healthy["shows"][name]]
    assert same == []
    assert planted["usual"] == healthy["usual"]
    assert (planted["leaked"] > 0) is (group == "programs")
