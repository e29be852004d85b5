"""Kernels that inductor generates are compiled together, with the same results."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.targets import Environment

REPOSITORY = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("joint_kernels_probe.py")


@pytest.mark.slow
@pytest.mark.library("torch")
def test_the_kernels_of_a_function_are_one_library(
    environment_of: Callable[[str], Environment], tmp_path: Path
) -> None:
    python = str(environment_of("torch").python)

    ran = subprocess.run(
        [python, "-I", str(PROBE), str(REPOSITORY), str(tmp_path)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["equal"] == [True] * 4
    assert found["libraries"] == 1
    assert found["values"] == {"one": 7.0, "two": 8.0, "macro": 9.0}
    assert found["broken"] == {"error": "CppCompileError"}
