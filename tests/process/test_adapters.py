"""Every adapter keeps its contract in the interpreter of its own library."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from ciguard.domain import record_from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REPOSITORY = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("adapter_probe.py")

pytestmark = pytest.mark.parametrize(
    "library",
    [
        pytest.param("torch", marks=pytest.mark.library("torch")),
        pytest.param("tensorflow", marks=pytest.mark.library("tensorflow")),
        pytest.param("jittor", marks=[pytest.mark.library("jittor"), pytest.mark.slow]),
        pytest.param("keras", marks=pytest.mark.library("keras")),
        pytest.param("jax", marks=pytest.mark.library("jax")),
    ],
)

LACKING = {
    "torch": {"string"},
    "tensorflow": set[str](),
    "jittor": {"complex64", "complex128", "string"},
    # Without JAX_ENABLE_X64, JAX has no 64-bit types.
    "keras": {"int64", "uint64", "float64", "complex128", "string"},
    "jax": {"int64", "uint64", "float64", "complex128", "string"},
}
FEWEST_RECORDS = {"torch": 1600, "tensorflow": 2400, "jittor": 700, "keras": 700, "jax": 800}


class Environment(Protocol):
    """Where a library is installed."""

    python: Path
    variables: Mapping[str, str]


def ask(environment: Environment, library: str, question: str) -> Any:
    done = subprocess.run(
        [str(environment.python), "-I", str(PROBE), str(REPOSITORY), library, question],
        env=dict(environment.variables),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_tensors_come_back_as_they_were_made(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    found = ask(environment_of(library), library, "round-trips")

    lacking = {dtype for dtype, result in found.items() if result is not True}
    assert lacking == LACKING[library]
    assert False not in found.values()


def test_what_is_no_tensor_is_not_read(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    assert ask(environment_of(library), library, "strangers") == [None] * 9


def test_changed_and_shared_tensors_are_seen_where_tensors_can_be(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    seen = ask(environment_of(library), library, "effects")

    nothing: list[list[int]] = [[], []]
    of_torch = [nothing, [[0], [1]], [[0], [0]]]
    assert seen == (of_torch if library == "torch" else [nothing, nothing])


def test_a_seed_decides_what_is_drawn(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    first, again, other, after_use = ask(environment_of(library), library, "draws")

    assert first == again == after_use
    # Keras on JAX and JAX itself draw from keys; what is left is Python's generator, always alike.
    assert (other == first) is (library in {"keras", "jax"})


def test_settings_that_a_case_changes_are_put_back(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    assert ask(environment_of(library), library, "restored") == [True, True, True]


def test_a_process_forked_after_loading_can_work(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    assert ask(environment_of(library), library, "survives-fork") == 0


def test_a_rehearsal_passes_and_refuses_and_leaves_nothing_behind(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    ends = ["P", "R"] if library == "torch" else []  # the others rehearse nothing

    assert ask(environment_of(library), library, "rehearsed") == [ends, True, 0]


def test_an_absent_device_is_named(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    assert "'cuda:7' is absent" in ask(environment_of(library), library, "absent")


def test_exhausted_memory_and_user_errors_are_told_apart(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    assert ask(environment_of(library), library, "verdicts") == ["exhausted", "rejected"]


def test_the_catalogue_names_each_api_once_and_every_name_resolves(
    environment_of: Callable[[str], Environment], library: str
) -> None:
    found = ask(environment_of(library), library, "described")

    records = [record_from_json(item) for item in found]
    assert len(records) >= FEWEST_RECORDS[library]
    assert len({record.api for record in records}) == len(records)
    assert [item["api"] for item in found if "unresolved" in item] == []
