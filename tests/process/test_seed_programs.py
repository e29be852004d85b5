"""The seed programs of level `code` run in targets of their libraries, old ones and new."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.levels.code.seed_sources import shipped_programs

if TYPE_CHECKING:
    from collections.abc import Callable

    from _pytest.mark import ParameterSet

    from ciguard.targets import Environment

PROBE = Path(__file__).with_name("seed_program_probe.py")
SEEDS = Path(__file__).parents[2] / "seeds" / "models"
FORECASTS = {"lstm", "pointnet"}


def left_by_programs(
    environment: Environment, library: str, names: tuple[str, ...]
) -> dict[str, Any]:
    """Run programs of a library; return what each left behind."""
    programs = [SEEDS / library / f"{name}.py" for name in names]
    done = subprocess.run(
        [str(environment.python), "-I", str(PROBE), library, *map(str, programs)],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=3500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def param(
    library: str, target: str, *names: str, marks: list[pytest.MarkDecorator] | None = None
) -> ParameterSet:
    """Return a library, a target of it and the names of programs to be run there."""
    return pytest.param(
        library,
        target,
        names,
        marks=[pytest.mark.library(library), *(marks or [])],
        id=f"{target}-{len(names)}",
    )


@pytest.mark.parametrize(
    ("library", "target", "names"),
    [
        param("torch", "torch==2.13.0", *shipped_programs("torch")),
        param("torch", "torch==2.0.1", *shipped_programs("torch"), marks=[pytest.mark.slow]),
        param("tensorflow", "tensorflow-cpu==2.12.0", "lenet", "lstm", marks=[pytest.mark.slow]),
        param(
            "tensorflow",
            "tensorflow-cpu==2.21.0",
            *shipped_programs("tensorflow"),
            marks=[pytest.mark.slow],
        ),
        param("jittor", "jittor==1.3.11.0", "lenet", "lstm", marks=[pytest.mark.slow]),
        param(
            "jittor",
            "jittor==1.3.11.0",
            *shipped_programs("jittor"),
            # Each kernel is compiled on first use, which takes half an hour on two cores.
            marks=[pytest.mark.release, pytest.mark.timeout(3600)],
        ),
    ],
)
def test_programs_train_and_evaluate(
    environment_of: Callable[[str], Environment], library: str, target: str, names: tuple[str, ...]
) -> None:
    found = left_by_programs(environment_of(target), library, names)

    assert {name: left["error"] for name, left in found.items() if "error" in left} == {}
    assert tuple(found) == names
    for name, left in found.items():
        measure, outputs = ("error", 1) if name in FORECASTS else ("accuracy", 10)
        assert left["numbers"].keys() == {"loss", measure}, name
        assert {kind for kind, _ in left["numbers"].values()} == {"float"}, name
        assert all(math.isfinite(number) for _, number in left["numbers"].values()), name
        assert left["is_tensor"], name
        assert left["shape"] == [left["tests"], outputs], name
        assert left["samples"] == 100, name
        assert left["printed"].startswith("loss "), name
