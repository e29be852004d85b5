"""Every mode of a real library: it gives the results of eager execution, and owns its refusals."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.values import LiteralValue, MemberValue, TensorValue, TupleValue, Uniform, Value
from ciguard.execution import Dispatcher, Job, ServerProcess
from ciguard.libraries import LIBRARIES
from ciguard.oracles.comparing import outcome_difference
from ciguard.oracles.relations import encode
from ciguard.targets import EAGER, Environment

if TYPE_CHECKING:
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


def outcomes_of(environment: Environment, *cases: ApiCall) -> tuple[Outcome, ...]:
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


INEXPRESSIBLE = [
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
    environment_of: EnvironmentOf, library: str, mode: str, case: ApiCall
) -> None:
    (outcome,) = outcomes_of(in_mode(environment_of(library), library, mode), case)

    assert isinstance(outcome, Rejected)
    assert outcome.stage is Stage.MODE
