"""Every adapter keeps its contract in the interpreter of its own library."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pytest
from adapter_probe import END

from ciguard.domain.records import record_from_json

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
MIN_RECORDS = {"torch": 1600, "tensorflow": 2400, "jittor": 700, "keras": 700, "jax": 800}


class Environment(Protocol):
    """Where a library is installed."""

    python: Path
    variables: Mapping[str, str]


Ask = Callable[[str, str], Any]


class Probe:
    """A process that has loaded a library and answers questions about its adapter."""

    def __init__(self, environment: Environment, library: str) -> None:
        self._process = subprocess.Popen(
            [str(environment.python), "-I", str(PROBE), str(REPOSITORY), library],
            env=dict(environment.variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def ask(self, question: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        lines: list[str] = []
        for line in self._process.stdout:
            if line.startswith(END):
                assert line == f"{END}0\n", lines
                return json.loads(lines[-2])
            lines.append(line)
        raise AssertionError(lines)

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def ask(environment_of: Callable[[str], Environment]) -> Iterator[Ask]:
    with ExitStack() as stack:

        @cache
        def probe(library: str) -> Probe:
            return stack.enter_context(closing(Probe(environment_of(library), library)))

        yield lambda library, question: probe(library).ask(question)


def test_tensors_come_back_as_they_were_made(ask: Ask, library: str) -> None:
    found = ask(library, "round-trips")

    lacking = {dtype for dtype, result in found.items() if result is not True}
    assert lacking == LACKING[library]
    assert False not in found.values()


def test_jax_gives_shapes_of_types_that_numpy_lacks_and_no_frames(ask: Ask, library: str) -> None:
    answers = ask(library, "of jax")

    assert bool(answers) is (library == "jax")
    for read, said in [answers] if answers else []:
        assert read == {"dtype": "float8_e4m3fn", "shape": [2, 3], "note": "no numpy equal"}
        assert "recall_target out of range" in said
        assert ".py" not in said


def test_an_array_of_jax_that_has_no_memory_is_exhaustion(ask: Ask, library: str) -> None:
    assert ask(library, "too large for jax") == ("exhausted" if library == "jax" else "")


def test_what_is_no_tensor_is_not_read(ask: Ask, library: str) -> None:
    assert ask(library, "strangers") == [None] * 9


def test_changed_and_shared_tensors_are_seen_where_tensors_can_be(ask: Ask, library: str) -> None:
    seen = ask(library, "effects")

    nothing: list[list[int]] = [[], []]
    of_torch = [nothing, [[0], [1]], [[0], [0]]]
    assert seen == (of_torch if library == "torch" else [nothing, nothing])


def test_a_seed_decides_what_is_drawn(ask: Ask, library: str) -> None:
    first, again, other, after_use = ask(library, "draws")

    assert first == again == after_use
    # Keras on JAX and JAX itself draw from keys; what is left is Python's generator, always alike.
    assert (other == first) is (library in {"keras", "jax"})


def test_settings_that_a_case_changes_are_put_back(ask: Ask, library: str) -> None:
    assert ask(library, "restored") == [True, True, True]


def test_a_process_forked_after_loading_can_work(ask: Ask, library: str) -> None:
    assert ask(library, "survives-fork") == 0


def test_a_rehearsal_passes_and_refuses_and_leaves_nothing_behind(ask: Ask, library: str) -> None:
    ends = ["P", "R"] if library == "torch" else []  # the others rehearse nothing

    assert ask(library, "rehearsed") == [ends, True, 0]


def test_an_absent_device_is_named(ask: Ask, library: str) -> None:
    assert "'cuda:7' is absent" in ask(library, "absent")


def test_exhausted_memory_and_user_errors_are_told_apart(ask: Ask, library: str) -> None:
    assert ask(library, "verdicts") == ["exhausted", "rejected"]


def test_the_catalogue_names_each_api_once_and_every_name_resolves(ask: Ask, library: str) -> None:
    found = ask(library, "described")

    records = [record_from_json(item) for item in found]
    assert len(records) >= MIN_RECORDS[library]
    assert len({record.api for record in records}) == len(records)
    assert [item["api"] for item in found if "unresolved" in item] == []
