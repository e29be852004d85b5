"""The benchmark's defects of layers, planted into the real Keras: each does what it says."""

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
PROBE = Path(__file__).with_name("model_defects_probe.py")

pytestmark = [pytest.mark.library("keras"), pytest.mark.slow]


@pytest.fixture(scope="module")
def seen(environment_of: Callable[[str], Environment]) -> Any:
    environment = environment_of("keras==3.15.1 + torch==2.13.0")
    done = subprocess.run(
        [str(environment.python), "-I", str(PROBE), str(BENCHMARKS)],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_each_defect_of_values_shows_where_it_says(seen: Any) -> None:
    assert seen["shows"] == seen["expected"]
    assert seen["untold"] == []


def test_planted_defect_changes_only_its_condition(seen: Any) -> None:
    assert seen["changed"] == []


def test_some_defects_change_gradients_a_saved_configuration_or_end_the_process(seen: Any) -> None:
    assert seen["slopes"] == ["subtract-gradient", "unit"]
    assert "negative_slope" not in seen["saved"]
    assert seen["ended"] == [True, False]
