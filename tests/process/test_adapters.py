"""Every adapter implements its interface in the interpreter of its library."""

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
    """Environment with a library."""

    python: Path
    variables: Mapping[str, str]


Ask = Callable[[str, str], Any]


class Probe:
    """Process with a loaded library that answers questions about its adapter."""

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


def test_tensors_survive_a_round_trip(ask: Ask, library: str) -> None:
    results = ask(library, "round-trips")

    lacking = {dtype for dtype, result in results.items() if result is not True}
    assert lacking == LACKING[library]
    assert False not in results.values()


def test_a_tensor_without_gradient_has_the_same_elements(ask: Ask, library: str) -> None:
    assert ask(library, "without gradient") == [[0.0, 1.0], [1.0, 0.0]]


def test_jax_returns_shapes_of_other_dtypes_and_messages_without_frames(
    ask: Ask, library: str
) -> None:
    answers = ask(library, "jax contents and message")

    assert bool(answers) is (library == "jax")
    for contents, message in [answers] if answers else []:
        assert contents == {"dtype": "float8_e4m3fn", "shape": [2, 3], "note": "no numpy equal"}
        assert "recall_target out of range" in message
        assert ".py" not in message


def test_an_array_of_jax_without_memory_is_classified_as_exhausted(ask: Ask, library: str) -> None:
    assert ask(library, "too large for jax") == ("exhausted" if library == "jax" else "")


def test_an_object_that_is_not_a_tensor_has_no_contents(ask: Ask, library: str) -> None:
    assert ask(library, "non-tensors") == [None] * 9


def test_changed_and_shared_tensors_are_detected(ask: Ask, library: str) -> None:
    effects = ask(library, "effects")

    no_effects: list[list[int]] = [[], []]
    torch_effects = [no_effects, [[0], [1]], [[0], [0]]]
    assert effects == (torch_effects if library == "torch" else [no_effects, no_effects])


def test_operators_are_observed_with_those_of_the_gradient(ask: Ask, library: str) -> None:
    operators = ask(library, "observed")

    backward = (
        "aten::max_pool2d_with_indices_backward"
        "(ceil_mode, dilation, grad_output, indices, kernel_size, padding, self, stride)"
    )
    assert bool(operators) is (library == "torch")
    assert not operators or backward in operators


def test_random_numbers_depend_on_the_seed_only(ask: Ask, library: str) -> None:
    first, repeated, other, after_use = ask(library, "draws")

    assert first == repeated == after_use
    # JAX, also as Keras's backend, draws from keys; Python's generator is always restored.
    assert (other == first) is (library in {"keras", "jax"})


def test_settings_that_a_case_changes_are_restored(ask: Ask, library: str) -> None:
    assert ask(library, "restored") == [True, True, True]


def test_a_process_forked_after_loading_can_compute(ask: Ask, library: str) -> None:
    assert ask(library, "survives-fork") == 0


def test_loading_starts_no_thread_and_the_runtime_can_be_started(ask: Ask, library: str) -> None:
    before, after = ask(library, "started")

    assert before == 1
    assert (after > 1) is (library not in {"torch", "jittor"})


def test_registries_are_filled_before_the_fork(ask: Ask, library: str) -> None:
    assert ask(library, "filled") is (library == "tensorflow")


def test_a_rehearsal_passes_and_rejects_without_side_effects(ask: Ask, library: str) -> None:
    outcomes = ["P", "R"] if library == "torch" else []  # the others have no rehearsal

    assert ask(library, "rehearsed") == [outcomes, True, 0]


def test_an_absent_device_is_an_error_with_its_name(ask: Ask, library: str) -> None:
    assert "'cuda:7' is absent" in ask(library, "absent")


def test_exhausted_memory_and_user_errors_are_classified_differently(
    ask: Ask, library: str
) -> None:
    assert ask(library, "classifications") == ["exhausted", "rejected"]


def test_the_catalogue_has_each_api_once_and_all_names_resolve(ask: Ask, library: str) -> None:
    described = ask(library, "described")

    records = [record_from_json(item) for item in described]
    assert len(records) >= MIN_RECORDS[library]
    assert len({record.api for record in records}) == len(records)
    assert [item["api"] for item in described if "unresolved" in item] == []


OPEN = {
    "torch": {
        *("torch.argsort", "torch.Tensor.scatter", "torch.index_copy", "torch.Tensor.put_"),
        *("torch.Tensor.index_put_", "torch.nn.MaxUnpool2d", "torch.nn.functional.max_unpool1d"),
    },
    "tensorflow": {"tensorflow.tensor_scatter_nd_update", "tensorflow.raw_ops.ArgMax"},
    "jax": {"jax.lax.scatter"},
}
OPEN_INDICES = {"topk", "sort", "kthvalue", "median"}
CLOSED = {
    *("torch.add", "torch.conv2d", "torch.cumsum", "torch.gather", "torch.linalg.svd"),
    *("tensorflow.gather", "tensorflow.einsum", "jax.numpy.take", "jax.numpy.argsort"),
}


def test_results_that_documentation_leaves_open_are_noted(ask: Ask, library: str) -> None:
    records = [record_from_json(item) for item in ask(library, "described")]

    noted = {record.api for record in records if "open-values" in record.on_devices}
    assert OPEN.get(library, set()) <= noted
    assert not noted & CLOSED
    assert len(noted) < 30
    with_indices = {r.api.rpartition(".")[2] for r in records if "open-indices" in r.on_devices}
    assert library != "torch" or with_indices >= OPEN_INDICES
    nondeterministic = {r.api for r in records if "nondeterministic" in r.on_devices}
    assert library != "torch" or {"torch.nn.Conv2d", "torch.cumsum"} <= nondeterministic
    assert "torch.gather" not in nondeterministic  # only its gradient is
    # Builds for CPUs do not know the kernels of devices.
    assert [r.api for r in records if "no-kernel" in r.on_devices] == []


def test_weights_for_a_device_are_drawn_on_the_cpu(ask: Ask, library: str) -> None:
    expected = ["cpu", "meta"] if library == "torch" else []

    assert ask(library, "built for a device") == expected


def test_kernels_are_read_from_the_dispatcher(ask: Ask, library: str) -> None:
    found = ask(library, "kernels")

    # In this build for CPUs, only a few operators that call others have kernels for devices.
    expected = {"aten::histogram": True, "aten::_foreach_mm": False, "aten::conv2d": False}
    assert found == (expected if library == "torch" else {})


def test_raw_operations_that_draw_random_numbers_are_tagged(ask: Ask, library: str) -> None:
    tagged = {item["api"] for item in ask(library, "described") if "random" in item.get("tags", ())}

    names = ("RandomUniform", "StatefulUniform", "StatelessRandomNormalV2", "StatelessShuffle")
    drawing = {f"tensorflow.raw_ops.{name}" for name in names}
    assert drawing & tagged == (drawing if library == "tensorflow" else set())
    assert "tensorflow.raw_ops.Relu" not in tagged


def test_definitions_of_operators_state_dtypes_and_layouts(ask: Ask, library: str) -> None:
    records = {r.api: r for r in map(record_from_json, ask(library, "described")) if r.parameters}

    if library != "torch":  # no other library defines operators for tensors without elements
        assert not [record.api for record in records.values() if "layout" in record.tags]
        return
    assert "int64" not in records["torch.Tensor.acos_"].parameters[0].dtypes
    assert "float32" in records["torch.Tensor.acos_"].parameters[0].dtypes
    assert records["torch.Tensor.acos"].parameters[0].dtypes == ()
    assert "bool" not in records["torch.positive"].parameters[0].dtypes
    assert "layout" in records["torch.q_scale"].tags
    assert "layout" not in records["torch.abs"].tags
    assert records["torch.Tensor.take"].parameters[1].schema_type == "Tensor"
    assert not next(p for p in records["torch.abs"].parameters if p.name == "out").required
