"""Cases of level `function` in a worker: their status, name and message."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ciguard.domain.values import ArrayValue, Explicit, value_to_json
from ciguard.functions.in_target.loading import import_problem
from ciguard.functions.in_target.worker import CaseResult, Runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """\
import numpy as np
from ciguard.annotations import arg, ensure, ints, np_arrays, raises, require, timeout


@arg("x", ints(0, 9))
@ensure("result < 5")
@raises(KeyError)
@require("x != 1")
def f(x):
    if x == 8:
        raise KeyError("declared")
    if x == 9:
        return inner(x)
    if x == 7:
        raise PermissionError(13, "Permission denied")
    if x == 6:
        raise MemoryError("no more")
    return x


def inner(x):
    return [][x]


@arg("x", np_arrays("float64", (2,)))
def emptied(x):
    x[0] = 0
    return x / x


@arg("x", ints(0, 9))
@timeout(0.0001)
def slow(x):
    return sum(range(10**6))


@arg("x", ints(0, 9))
def drawn(x):
    return np.random.rand()
"""


@pytest.fixture(autouse=True)
def _interpreter() -> Iterator[None]:
    """Restore the import state after the programs of a test."""
    path, modules = sys.path[:], set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name in {"program_of_worker", "odd_of_worker"}:
            del sys.modules[name]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    source, home = tmp_path / "project", tmp_path / "home"
    (source / "src").mkdir(parents=True)
    home.mkdir()
    (source / "src" / "program_of_worker.py").write_text(PROGRAM, "utf-8")
    (source / "odd_of_worker.py").write_text("import ciguard\n\n\n1 / 0\n", "utf-8")
    for name in ("src", "odd_of_worker.py"):
        (home / name).symlink_to(source / name)
    monkeypatch.chdir(home)
    files = {
        "src/program_of_worker.py": {"root": "src", "name": "program_of_worker", "sidecar": ""},
        "odd_of_worker.py": {"root": ".", "name": "odd_of_worker", "sidecar": ""},
    }
    programs = {"folder": str(source), "files": files}
    return Runner(programs, lambda _: None, lambda error: isinstance(error, MemoryError))


def call_function(runner: Runner, function: str, seed: int = 0, **arguments: Any) -> CaseResult:
    call = {"function": function, "arguments": [*map(list, arguments.items())], "constructor": None}
    return runner.run({"file": "src/program_of_worker.py", "call": call, "seed": seed})


def test_a_returned_value_is_reported(runner: Runner) -> None:
    assert call_function(runner, "f", x=3) == CaseResult("passed", value=3, mutated=[])


def test_a_documented_exception_is_reported_as_rejected(runner: Runner) -> None:
    result = call_function(runner, "f", x=8)

    assert (result.status, result.name) == ("rejected", "KeyError")


@pytest.mark.parametrize("x", [1, 6, 7], ids=["precondition", "memory", "sandbox"])
def test_failed_preconditions_and_worker_limits_are_reported_as_unbuilt(
    runner: Runner, x: int
) -> None:
    assert call_function(runner, "f", x=x).status == "unbuilt"


def test_an_exception_is_reported_with_the_innermost_frame_of_the_program(runner: Runner) -> None:
    result = call_function(runner, "f", x=9)

    assert (result.status, result.name) == ("failed", "IndexError")
    assert result.message == "src/program_of_worker.py:22: list index out of range"
    assert result.frames == [
        ("src/program_of_worker.py", "inner", "return [][x]"),
        ("src/program_of_worker.py", "f", "return inner(x)"),
    ]


def test_a_failed_postcondition_is_reported_at_its_line(runner: Runner) -> None:
    result = call_function(runner, "f", x=5)

    assert (result.status, result.name) == ("failed", "@ensure")
    assert result.message == "src/program_of_worker.py:6: result < 5 does not hold"


def test_nan_and_timeouts_are_reported_under_special_names(runner: Runner) -> None:
    zeros = value_to_json(ArrayValue("float64", (2,), Explicit((1.0, 1.0))))

    with np.errstate(invalid="ignore"):
        assert call_function(runner, "emptied", x=zeros).name == "NaN"
    assert call_function(runner, "slow", x=1).name == "@timeout"


def test_random_numbers_are_determined_by_the_seed(runner: Runner) -> None:
    first, again, other = (call_function(runner, "drawn", seed, x=1).value for seed in (4, 4, 5))

    assert first == again != other


def test_a_failing_import_is_reported_as_failed(runner: Runner) -> None:
    result = runner.run({"file": "odd_of_worker.py"})

    assert (result.status, result.name) == ("failed", "ZeroDivisionError")
    assert result.message == "odd_of_worker.py:4: division by zero"
    assert runner.run({"file": "src/program_of_worker.py"}).status == "passed"


def test_an_unknown_program_is_reported_as_unbuilt(runner: Runner) -> None:
    assert runner.run({"file": "other.py"}).status == "unbuilt"


def test_a_description_has_relative_paths(runner: Runner) -> None:
    record = runner.describe({"file": "src/program_of_worker.py", "calls": []})

    assert record["description"]["file"] == "src/program_of_worker.py"
    files = {function["file"] for function in record["description"]["functions"]}
    assert files == {"src/program_of_worker.py"}


def test_a_failed_description_is_reported_with_its_location(runner: Runner) -> None:
    record = runner.describe({"file": "odd_of_worker.py", "calls": []})

    assert record == {
        "error": "odd_of_worker.py:4: ZeroDivisionError: division by zero",
        "skip": False,
    }


def test_a_failure_of_ciguard_is_not_shown_as_that_of_the_program(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        msg = "our own"
        raise RuntimeError(msg)

    monkeypatch.setattr("ciguard.functions.in_target.calling.caller.snapshot", fail)
    result = call_function(runner, "f", x=3)

    assert (result.status, result.name) == ("unbuilt", "ciguard")
    assert result.message.startswith("ciguard itself failed: RuntimeError: our own (test_worker")


def test_a_failing_reset_is_not_shown_as_that_of_the_program(tmp_path: Path) -> None:
    def reset(_: int) -> None:
        msg = "set_seed"
        raise AttributeError(msg)

    runner = Runner({"folder": str(tmp_path), "files": {"m.py": {}}}, reset, lambda _: False)

    assert runner.run({"file": "m.py"}).status == "unbuilt"


def test_programs_import_from_the_configured_folders_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "odd_of_worker.py").write_text("", "utf-8")
    (tmp_path / "program_of_worker.py").write_text("import odd_of_worker\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    files = {"program_of_worker.py": {"root": ".", "name": "program_of_worker", "sidecar": ""}}
    programs = {
        "folder": str(tmp_path), "files": files, "path": [str(tmp_path / "elsewhere")],
    }  # fmt: skip

    result = Runner(programs, lambda _: None, lambda _: False).run({"file": "program_of_worker.py"})

    assert result.status == "passed"


@pytest.mark.parametrize(
    "message",
    [
        "module 'numpy' has no attribute 'int'.",
        "`np.float_` was removed in the NumPy 2.0 release. Use `np.float64` instead.",
    ],
)
def test_the_answer_to_an_old_numpy_comes_first(message: str) -> None:
    problem = import_problem(AttributeError(message))

    advice, _, reason = problem["error"].partition("\n")
    assert "ciguard_python" in advice
    assert "VIRTUAL_ENV" in advice
    assert reason == f"AttributeError: {message}"
    assert import_problem(AttributeError("module 'torch' has no attribute 'int'"))["error"] == (
        "AttributeError: module 'torch' has no attribute 'int'"
    )
