"""The benchmarks' defects, planted into the real torch: each does what its kind says."""

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
PROBE = Path(__file__).with_name("planting_probe.py")

pytestmark = pytest.mark.library("torch")


def ask(environment: Environment, seed: str = "") -> Any:
    """Return what the probe sees, with the defects of a seed."""
    variables = {**environment.variables, "PLANTED_DEFECTS": seed} if seed else {}
    done = subprocess.run(
        [str(environment.python), "-I", str(PROBE), str(BENCHMARKS)],
        env={**environment.variables, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def seen(environment_of: Callable[[str], Environment]) -> Any:
    return ask(environment_of("torch"))


@pytest.mark.parametrize(
    "claim",
    [
        "wrong value",
        "wrong dtype",
        "off-by-one shape",
        "ignored argument",
        "missing bounds check",
        "wrong gradient",
        "wrong NaN handling",
        "non-contiguous input read wrongly",
        "in-place corruption of an input",
        "changed exception class",
        "crash for an edge value",
        "3x slowdown",
        "leak",
    ],
)
def test_each_kind_does_what_its_name_says_and_nothing_else(seen: Any, claim: str) -> None:
    assert seen[claim] == {"shows": True, "only then": True}


def test_a_planted_function_is_found_under_every_name_it_has(seen: Any) -> None:
    assert seen["names"] == [True, "softplus", True, True]


def test_every_defect_of_several_seeds_finds_its_function(
    environment_of: Callable[[str], Environment],
) -> None:
    environment = environment_of("torch")

    counts = [ask(environment, seed)["planted"] for seed in ("0", "1", "2")]

    assert [count >= 40 for count in counts] == [True, True, True]


def test_without_a_seed_torch_stays_as_it_is(seen: Any) -> None:
    assert seen["planted"] == 0
