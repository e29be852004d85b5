"""Every mode of a real library: it gives the results of eager execution, and owns its refusals."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import GraphCase
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.values import (
    Constant,
    Explicit,
    LiteralValue,
    MemberValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.execution import (
    Container,
    Dispatcher,
    Job,
    ServerProcess,
    TensorOutput,
    decode_outputs,
)
from ciguard.execution.worker.fills import elements
from ciguard.levels.graph.indexing import indexed
from ciguard.libraries import LIBRARIES
from ciguard.libraries.tensorflow.in_target.options import OPTIONS
from ciguard.oracles.comparing import outcome_difference
from ciguard.oracles.relations import encode
from ciguard.targets import EAGER, Environment
from ciguard.writing import writer_of

if TYPE_CHECKING:
    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome

EnvironmentOf = Callable[[str], Environment]


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(5, 0.5, 3.0))


def call(api: str, *arguments: Value, **keywords: Value) -> ApiCall:
    named = tuple(keywords.items())
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=arguments, keywords=named, seed=7)


def layer(api: str, *arguments: Value, fed: Value, **keywords: Value) -> ApiCall:
    return replace(call(api, *arguments, **keywords), kind=CallKind.LAYER, inputs=(fed,))


def method(api: str, *arguments: Value) -> ApiCall:
    return replace(call(api, *arguments), kind=CallKind.METHOD)


TORCH = (
    call("torch.softmax", tensor(2, 3), LiteralValue(1)),
    call("torch.cat", TupleValue((tensor(2, 3), tensor(1, 3))), dim=LiteralValue(0)),
    call("torch.sum", tensor(2, 3), dtype=MemberValue("torch.float64")),
    method("torch.Tensor.add_", tensor(2), tensor(2)),
    layer("torch.nn.Linear", LiteralValue(3), LiteralValue(2), fed=tensor(2, 3)),
)
TENSORFLOW = (
    call("tensorflow.matmul", tensor(3, 4), tensor(4, 2)),
    call("tensorflow.concat", TupleValue((tensor(2, 3), tensor(1, 3))), LiteralValue(0)),
    # Weights that are drawn differ from process to process.
    layer(
        "tensorflow.keras.layers.Dense",
        LiteralValue(2),
        fed=tensor(2, 3),
        kernel_initializer=LiteralValue("ones"),
    ),
)
JAX = (
    call("jax.numpy.add", tensor(3, 1), tensor(4)),
    call("jax.nn.softmax", tensor(2, 3), axis=LiteralValue(1)),
)
JITTOR = (
    call("jittor.matmul", tensor(3, 4), tensor(4, 2)),
    method("jittor.Var.add", tensor(2), tensor(2)),
)
CASES = {"torch": TORCH, "tensorflow": TENSORFLOW, "jax": JAX, "jittor": JITTOR}
SLOW = {"aot_eager", "compile", "export", "jit", "lazy", "xla"}
"""One mode that is none of these shows for each library that modes are entered at all."""
MODES = [
    pytest.param(
        name,
        mode,
        marks=[
            pytest.mark.library("keras" if name == "jax" else name),
            *([pytest.mark.slow] if mode in SLOW else []),
        ],
    )
    for name in CASES
    for mode in LIBRARIES.get(name).modes
]


def in_mode(environment: Environment, library: str, mode: str) -> Environment:
    target = replace(environment.target, mode=mode)
    return replace(environment, target=target, library=LIBRARIES.get(library))


def outcomes_of(environment: Environment, *cases: Case) -> tuple[Outcome, ...]:
    """Run cases in a worker of the target."""
    name = environment.target.name
    with Dispatcher() as dispatcher:
        server = dispatcher.start([worker_spec(name, environment, Config())])[name]
        assert isinstance(server, ServerProcess), server
        dispatcher.add(Job(name, "modes", tuple(map(encode, cases))))
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            for result in dispatcher.wait(1.0):
                return result.outcomes
    pytest.fail(f"{name}: no result in time")


@pytest.mark.parametrize(("library", "mode"), MODES)
def test_a_mode_gives_what_eager_execution_gives(
    environment_of: EnvironmentOf, library: str, mode: str
) -> None:
    environment = environment_of(library)
    cases = CASES[library]

    eager = outcomes_of(in_mode(environment, library, EAGER), *cases)
    compiled = outcomes_of(in_mode(environment, library, mode), *cases)

    for case, mine, theirs in zip(cases, eager, compiled, strict=True):
        assert isinstance(mine, Passed), (case.api, mine)
        assert isinstance(theirs, Passed), (case.api, theirs)
        difference = outcome_difference(mine, theirs)
        # Compiled code has arguments of its own: what it does to them is not compared.
        assert difference is None or difference.kind in {"mutation", "aliasing"}, case.api


def graph_of(first: str, second: str) -> GraphCase:
    """Return a graph that applies one function, and another to its result and the input."""
    exp = call(first, ResultValue(0, -1, tensor(4)))
    power = call(second, ResultValue(1, -1, tensor(4)), ResultValue(0, -1, tensor(4)))
    return GraphCase(api=second, steps=(tensor(4), exp, power), outputs=(2,), seed=3)


GRAPHS = {
    "torch": graph_of("torch.exp", "torch.sub"),
    "tensorflow": graph_of("tensorflow.exp", "tensorflow.subtract"),
    "jax": graph_of("jax.numpy.exp", "jax.numpy.subtract"),
}
VARIED = [
    pytest.param(
        name,
        mode,
        marks=[pytest.mark.library("keras" if name == "jax" else name), pytest.mark.slow],
    )
    for name in GRAPHS
    for mode, description in LIBRARIES.get(name).modes.items()
    if description.stages or description.options
]


@pytest.mark.parametrize(("library", "mode"), VARIED)
def test_a_graph_has_the_same_result_at_every_stage_and_with_all_options_of_a_compiler(
    environment_of: EnvironmentOf, library: str, mode: str
) -> None:
    environment, description = environment_of(library), LIBRARIES.get(library).modes[mode]
    case = GRAPHS[library]
    staged = [replace(case, runs_stage=stage) for stage in ("", *description.stages)]
    differentiated = replace(case, has_gradients=True)
    varied = [replace(differentiated, options=name) for name in description.options]

    eager = outcomes_of(in_mode(environment, library, EAGER), case, differentiated)
    compiled = outcomes_of(in_mode(environment, library, mode), *staged, *varied)

    expected = [eager[0]] * len(staged) + [eager[1]] * len(varied)
    for variant, mine, theirs in zip([*staged, *varied], expected, compiled, strict=True):
        assert isinstance(mine, Passed), mine
        assert isinstance(theirs, Passed), (variant, theirs)
        assert outcome_difference(mine, theirs) is None, (variant.runs_stage, variant.options)


def indexing(library: str, seed: int) -> GraphCase:
    """Return a graph that indexes the result of a call several times in a row."""
    subscripts = LIBRARIES.get(library).operations.subscripts
    assert subscripts is not None
    rng = random.Random(seed)
    form = tensor(4, 3)
    called = replace(GRAPHS[library].calls[0], arguments=(ResultValue(0, -1, form),))
    steps: list[TensorValue | ApiCall] = [form, called]
    while len(steps) < 6:
        found = indexed(rng, ResultValue(len(steps) - 1, -1, form), subscripts)
        if found is None:
            break
        step, form = found
        steps.append(step)
    last = steps[-1]
    assert isinstance(last, ApiCall)
    return GraphCase(api=last.api, steps=tuple(steps), outputs=(len(steps) - 1,), seed=seed)


@pytest.mark.parametrize(
    ("library", "mode"),
    [
        pytest.param("torch", "compile", marks=pytest.mark.library("torch")),
        pytest.param("tensorflow", "function", marks=pytest.mark.library("tensorflow")),
        pytest.param("tensorflow", "xla", marks=pytest.mark.library("tensorflow")),
        pytest.param("jax", "jit", marks=pytest.mark.library("keras")),
    ],
)
@pytest.mark.slow
def test_indexing_has_the_same_result_in_compiled_code(
    environment_of: EnvironmentOf, library: str, mode: str
) -> None:
    environment = environment_of(library)
    cases = [indexing(library, seed) for seed in range(6)]

    eager = outcomes_of(in_mode(environment, library, EAGER), *cases)
    compiled = outcomes_of(in_mode(environment, library, mode), *cases)

    for case, mine, theirs in zip(cases, eager, compiled, strict=True):
        assert isinstance(mine, Passed), (case, mine)
        assert isinstance(theirs, Passed), (case, theirs)
        assert outcome_difference(mine, theirs) is None, case


SEEN_OPTIONS = """
import json

import tensorflow as tf

from ciguard.libraries.tensorflow.in_target import modes

read = tf.config.optimizer.get_experimental_options
seen = []


def graph(tensor):
    seen.append(read())
    return tensor


for run in modes.with_options("function").values():
    run(graph, [tf.zeros(1)])
print(json.dumps([seen, read()]))
"""


@pytest.mark.library("tensorflow")
@pytest.mark.slow
def test_options_of_grappler_hold_for_one_graph_only(environment_of: EnvironmentOf) -> None:
    done = subprocess.run(
        [environment_of("tensorflow").python, "-c", SEEN_OPTIONS],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )

    seen, afterwards = json.loads(done.stdout)
    assert len(seen) == len(OPTIONS)
    for options, found in zip(OPTIONS.values(), seen, strict=True):
        assert found.items() >= options.items()
        assert all(afterwards.get(key) != value for key, value in options.items())


@pytest.mark.slow
@pytest.mark.parametrize(
    "library",
    [
        pytest.param(name, marks=pytest.mark.library("keras" if name == "jax" else name))
        for name in GRAPHS
    ],
)
def test_a_graph_in_double_precision_is_exact(environment_of: EnvironmentOf, library: str) -> None:
    case = GRAPHS[library]
    environment = in_mode(environment_of(library), library, EAGER)

    outcomes = outcomes_of(environment, replace(case, is_wide=True), case)

    wide, single = (decode_outputs(o.encoded) for o in outcomes if isinstance(o, Passed))
    assert isinstance(wide, TensorOutput)
    assert isinstance(single, TensorOutput)
    assert (wide.dtype, single.dtype) == ("float64", "float32")
    inputs = elements(["u", 5, 0.5, 3.0], "float32", [4]).astype("float64")
    assert wide.elements == pytest.approx(np.exp(inputs) - inputs, rel=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "mode"),
    [
        pytest.param(name, mode, marks=pytest.mark.library("keras" if name == "jax" else name))
        for name, compiled in (("torch", "aot_eager"), ("tensorflow", "xla"), ("jax", "jit"))
        for mode in (EAGER, compiled)
    ],
)
def test_gradients_of_a_graph_are_those_of_its_weighted_sum(
    environment_of: EnvironmentOf, library: str, mode: str
) -> None:
    environment = in_mode(environment_of(library), library, mode)

    (outcome,) = outcomes_of(environment, replace(GRAPHS[library], has_gradients=True))

    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    assert isinstance(output, Container), outcome
    gradients = output.items[1]
    assert isinstance(gradients, Container)
    (gradient,) = gradients.items
    assert isinstance(gradient, TensorOutput)
    inputs = elements(["u", 5, 0.5, 3.0], "float32", [4])
    assert gradient.elements == pytest.approx(
        np.linspace(0.5, 1.5, 4) * (np.exp(inputs) - 1), rel=1e-5
    )


@pytest.mark.slow
@pytest.mark.library("torch")
def test_a_graph_is_compiled_again_for_larger_tensors(environment_of: EnvironmentOf) -> None:
    environment = in_mode(environment_of("torch"), "torch", "aot_eager")

    (outcome,) = outcomes_of(environment, replace(GRAPHS["torch"], grows=True))

    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    assert isinstance(output, Container), outcome
    first, second = output.items
    assert isinstance(first, TensorOutput)
    assert isinstance(second, TensorOutput)
    assert second.elements == pytest.approx(np.tile(first.elements, 2), rel=1e-6)


@pytest.mark.slow
@pytest.mark.library("tensorflow")
@pytest.mark.parametrize("mode", [EAGER, "function", "xla"])
def test_a_graph_with_an_operator_without_gradient_is_run_without_gradients(
    environment_of: EnvironmentOf, mode: str
) -> None:
    truncated = call("tensorflow.truncatemod", ResultValue(0, -1, tensor(4)), tensor(4))
    case = GraphCase(
        api=truncated.api, steps=(tensor(4), truncated), outputs=(1,), has_gradients=True
    )

    (outcome,) = outcomes_of(in_mode(environment_of("tensorflow"), "tensorflow", mode), case)

    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    assert isinstance(output, Container), outcome
    assert output.items[1] == Container("list", (), (), 0)


@pytest.mark.slow
@pytest.mark.library("keras")
def test_a_compiler_computes_two_examples_at_once(environment_of: EnvironmentOf) -> None:
    """The second one has the elements in reverse order, so the results have, too."""
    case = replace(GRAPHS["jax"], is_mapped=True)
    environment = environment_of("jax")

    outcomes = [outcomes_of(in_mode(environment, "jax", mode), case)[0] for mode in (EAGER, "jit")]

    for outcome in outcomes:
        output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
        assert isinstance(output, Container), outcome
        first, second = output.items
        assert isinstance(first, TensorOutput)
        assert isinstance(second, TensorOutput)
        assert second.elements == pytest.approx(first.elements[::-1], rel=1e-6)


@pytest.mark.slow
@pytest.mark.library("torch")
@pytest.mark.parametrize("mode", [EAGER, "aot_eager"])
def test_autocast_lets_products_compute_in_the_lower_type(
    environment_of: EnvironmentOf, mode: str
) -> None:
    square = tensor(3, 3)
    product = call("torch.mm", ResultValue(0, -1, square), ResultValue(0, -1, square))
    total = call("torch.sum", ResultValue(1, -1, square))
    case = GraphCase(api="torch.sum", steps=(square, product, total), outputs=(1, 2))
    variants = (replace(case, autocast="bfloat16"), case, replace(case, is_wide=True))
    environment = in_mode(environment_of("torch"), "torch", mode)

    outcomes = outcomes_of(environment, *variants, replace(variants[0], is_wide=True))

    results = [decode_outputs(o.encoded) for o in outcomes if isinstance(o, Passed)]
    kinds = [
        tuple(item.dtype for item in output.items if isinstance(item, TensorOutput))
        for output in results
        if isinstance(output, Container)
    ]
    assert kinds == [
        ("bfloat16", "bfloat16"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("float64", "float64"),
    ]


@pytest.mark.slow
@pytest.mark.library("torch")
@pytest.mark.parametrize("mode", ["aot_eager", "compile", "export", "trace"])
def test_modes_return_copies_of_views_of_tensors_in_every_layout(
    environment_of: EnvironmentOf, mode: str
) -> None:
    square = tensor(3, 3)
    rows = call("torch.split", ResultValue(0, -1, square), LiteralValue(2))
    part = call("torch.narrow", ResultValue(0, -1, square), *map(LiteralValue, (1, 0, 2)))
    case = GraphCase(api="torch.split", steps=(square, rows, part), outputs=(1, 2), copies=True)
    layouts = ["", *writer_of("torch").layouts]
    cases = [replace(case, layout=layout) for layout in layouts]

    pairs = zip(
        outcomes_of(in_mode(environment_of("torch"), "torch", EAGER), *cases),
        outcomes_of(in_mode(environment_of("torch"), "torch", mode), *cases),
        strict=True,
    )

    for eager, compiled in pairs:
        assert isinstance(eager, Passed), eager
        assert isinstance(compiled, Passed), compiled
        assert outcome_difference(eager, compiled) is None


@pytest.mark.slow
@pytest.mark.library("torch")
def test_inductor_compiles_without_the_program_openssl(
    environment_of: EnvironmentOf, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if program.name != "openssl":
            (programs / program.name).symlink_to(program)
    environment = in_mode(environment_of("torch"), "torch", "compile")
    environment = replace(
        environment,
        variables={**environment.variables, "PATH": str(programs)},
        readable=(*environment.readable, programs),
    )

    (eager,) = outcomes_of(in_mode(environment, "torch", EAGER), GRAPHS["torch"])
    (compiled,) = outcomes_of(environment, GRAPHS["torch"])

    assert shutil.which("g++", path=str(programs))
    assert isinstance(eager, Passed), eager
    assert isinstance(compiled, Passed), compiled
    assert outcome_difference(eager, compiled) is None


@pytest.mark.slow
@pytest.mark.library("torch")
@pytest.mark.parametrize("mode", [EAGER, "aot_eager"])
def test_larger_tensors_take_the_other_side_of_a_choice(
    environment_of: EnvironmentOf, mode: str
) -> None:
    fed = ResultValue(0, -1, tensor(4))
    choice = ResultValue(1, -1, tensor(4), other=fed, beyond=4)
    case = GraphCase(
        api="torch.neg",
        steps=(tensor(4), call("torch.exp", fed), call("torch.neg", choice)),
        outputs=(2,),
        grows=True,
    )

    (outcome,) = outcomes_of(in_mode(environment_of("torch"), "torch", mode), case)

    output = decode_outputs(outcome.encoded) if isinstance(outcome, Passed) else None
    assert isinstance(output, Container), outcome
    small, large = (item.elements for item in output.items if isinstance(item, TensorOutput))
    inputs = elements(["u", 5, 0.5, 3.0], "float32", [4])
    assert small == pytest.approx(-np.exp(inputs), rel=1e-6)
    assert large == pytest.approx(-np.tile(inputs, 2), rel=1e-6)


MASK = TensorValue("float32", (2,), Explicit((0.0, 1.0)))
ROWS = TensorValue("int64", (1, 1), Constant(0))
BROADCAST = GraphCase(
    api="torch.isclose",
    steps=(
        call("torch.nonzero", MASK),
        call("torch.isclose", replace(ROWS, shape=(2, 1)), ResultValue(0, -1, ROWS)),
    ),
    outputs=(1,),
)
"""A graph that broadcasts a result whose size depends on numbers."""

MADE = GraphCase(
    api="torch.Tensor.add_",
    steps=(
        call("torch.nn.utils.clip_grad_norm_", MASK, LiteralValue(1.0)),
        method("torch.Tensor.add_", ResultValue(0, -1, replace(ROWS, shape=())), LiteralValue(1.0)),
    ),
    outputs=(1,),
)
"""A graph that changes a tensor in place which its first call makes without its arguments."""

INEXPRESSIBLE = [
    pytest.param(
        "torch", "export", BROADCAST, marks=[pytest.mark.library("torch"), pytest.mark.slow]
    ),
    pytest.param(
        "torch",
        "aot_eager",
        call("torch.is_nonzero", tensor()),
        marks=[pytest.mark.library("torch"), pytest.mark.slow],
    ),
    pytest.param(
        "torch",
        "export",
        call("torch.allclose", tensor(2), tensor(2)),
        marks=[pytest.mark.library("torch"), pytest.mark.slow],
    ),
    pytest.param(
        "torch", "trace", call("torch.Tensor.tolist", tensor(2)), marks=pytest.mark.library("torch")
    ),
    pytest.param("torch", "trace", MADE, marks=pytest.mark.library("torch")),
    pytest.param(
        "tensorflow",
        "function",
        call("tensorflow.type_spec_from_value", tensor(2)),
        marks=pytest.mark.library("tensorflow"),
    ),
    pytest.param(
        "jax",
        "jit",
        call("jax.numpy.nonzero", tensor(2)),
        marks=[pytest.mark.library("keras"), pytest.mark.slow],
    ),
]


@pytest.mark.parametrize(("library", "mode", "case"), INEXPRESSIBLE)
def test_call_that_a_mode_cannot_express_is_not_an_outcome(
    environment_of: EnvironmentOf, library: str, mode: str, case: Case
) -> None:
    (outcome,) = outcomes_of(in_mode(environment_of(library), library, mode), case)

    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.MODE


@pytest.mark.slow
@pytest.mark.library("keras")
def test_a_call_that_jax_cannot_trace_is_named_by_its_step(environment_of: EnvironmentOf) -> None:
    """The first line that JAX's message names is that of the whole graph."""
    exp = call("jax.numpy.exp", ResultValue(0, -1, tensor(2)))
    nonzero = call("jax.numpy.nonzero", ResultValue(1, -1, tensor(2)))
    case = GraphCase(api=exp.api, steps=(tensor(2), exp, nonzero), outputs=(1, 2))

    (outcome,) = outcomes_of(in_mode(environment_of("jax"), "jax", "jit"), case)

    assert isinstance(outcome, Rejected)
    assert outcome.message.startswith("step 2: ")
