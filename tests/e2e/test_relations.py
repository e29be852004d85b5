"""Every metamorphic relation on a call of the real library: the twin runs, and the law holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.outcomes import Outcome, Passed
from ciguard.domain.values import LiteralValue, TensorValue, Uniform, Value
from ciguard.execution import Dispatcher, Job, ServerProcess, decode_outputs
from ciguard.oracles import input_precision_of
from ciguard.oracles.relations import RELATIONS, encode, observed_in
from ciguard.targets import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping

EnvironmentOf = Callable[[str], Environment]


def tensor(*shape: int, dtype: str = "float32") -> TensorValue:
    return TensorValue(dtype, shape, Uniform(5, 0.5, 3.0))


def call(api: str, *arguments: Value) -> ApiCall:
    return ApiCall(api=api, kind=CallKind.FUNCTION, arguments=arguments, seed=7)


TORCH = {
    "arguments stay as they are": call("torch.relu", tensor(2, 3)),
    "batch in parts": call("torch.conv2d", tensor(3, 2, 5, 5), tensor(4, 2, 3, 3)),
    "batch reversed": call("torch.relu", tensor(3, 2)),
    "broadcasting by hand": call("torch.add", tensor(3, 1), tensor(4)),
    "device round trip": call("torch.relu", tensor(2, 3)),
    "double precision": call("torch.matmul", tensor(3, 4), tensor(4, 2)),
    "empty batch": call("torch.nn.functional.avg_pool2d", tensor(2, 3, 4, 4), LiteralValue(2)),
    "forward-mode gradient": call("torch.sin", tensor(2, 3)),
    "function and layer": call("torch.nn.functional.hardtanh", tensor(2, 3)),
    "function and method": call("torch.add", tensor(2, 3), tensor(2, 3)),
    "in place": call("torch.exp", tensor(2, 3)),
    "into out": call("torch.exp", tensor(2, 3)),
    "into strided out": call("torch.exp", tensor(2, 3)),
    "number as tensor": call("torch.mul", tensor(2, 3), LiteralValue(2.5)),
    "numeric gradient": call("torch.matmul", tensor(2, 3), tensor(3, 2)),
    "permuted memory": call("torch.matmul", tensor(3, 4), tensor(4, 2)),
    "promotion by hand": call("torch.mul", tensor(2, dtype="int32"), tensor(2)),
    "reversed reduction": call("torch.logsumexp", tensor(2, 3), LiteralValue(1)),
    "same call twice": call("torch.cumsum", tensor(2, 3), LiteralValue(0)),
    "second-order gradient": call("torch.exp", tensor(2, 3)),
    "shifted memory": call("torch.matmul", tensor(3, 4), tensor(4, 2)),
    "strided memory": call("torch.matmul", tensor(3, 4), tensor(4, 2)),
    "torch.compile": call("torch.softmax", tensor(2, 3), LiteralValue(1)),
    "torch.jit.trace": call("torch.matmul", tensor(3, 4), tensor(4, 2)),
    "vmap and call": call("torch.softmax", tensor(2, 3), LiteralValue(1)),
    "written and read back": call("torch.exp", tensor(2, 3)),
}
TENSORFLOW = {
    "arguments stay as they are": call("tensorflow.nn.relu", tensor(2, 3)),
    "broadcasting by hand": call("tensorflow.add", tensor(3, 1), tensor(4)),
    "double precision": call("tensorflow.matmul", tensor(3, 4), tensor(4, 2)),
    "same call twice": call("tensorflow.nn.relu", tensor(2, 3)),
    "tf.function": call("tensorflow.matmul", tensor(3, 4), tensor(4, 2)),
    "tf.function with XLA": call("tensorflow.matmul", tensor(3, 4), tensor(4, 2)),
}
JAX = {
    "broadcasting by hand": call("jax.numpy.add", tensor(3, 1), tensor(4)),
    "jax.jit": call("jax.nn.softmax", tensor(2, 3), LiteralValue(1)),
    "vmap and call": call("jax.numpy.sin", tensor(2, 3)),
    "written and read back": call("jax.numpy.sin", tensor(2, 3)),
}


def outcomes_of(environment: Environment, calls: Mapping[str, ApiCall]) -> dict[str, Outcome]:
    """Run each call with its relation in a worker of the library."""
    name = environment.target.name
    related = {relation: encode(_with(case, relation)) for relation, case in calls.items()}
    found: dict[str, Outcome] = {}
    with Dispatcher() as dispatcher:
        server = dispatcher.start([worker_spec(name, environment, Config())])[name]
        assert isinstance(server, ServerProcess), server
        for relation, case in related.items():
            dispatcher.add(Job(name, relation, (case,)))
        deadline = time.monotonic() + 240
        while len(found) < len(calls) and time.monotonic() < deadline:
            for result in dispatcher.wait(1.0):
                found[str(result.job.key)] = result.outcomes[0]
    return found


def _with(case: ApiCall, relation: str) -> ApiCall:
    return ApiCall(
        api=case.api, kind=case.kind, arguments=case.arguments, seed=case.seed, relation=relation
    )


def assert_all_hold(outcomes: Mapping[str, Outcome], calls: Mapping[str, ApiCall]) -> None:
    """Check that each twin came to a result, and to the right one."""
    assert outcomes.keys() == calls.keys()
    for name, outcome in outcomes.items():
        assert isinstance(outcome, Passed), (name, outcome)
        output = decode_outputs(outcome.encoded)
        assert output is not None
        observed = observed_in(output, input_precision_of(calls[name]))
        assert observed is not None, name
        assert observed.raised == "", (name, observed.message)
        assert RELATIONS.get(name).find_violation(observed) is None, name


@pytest.mark.library("torch")
def test_relations_hold_on_torch(environment_of: EnvironmentOf) -> None:
    assert_all_hold(outcomes_of(environment_of("torch"), TORCH), TORCH)


@pytest.mark.library("tensorflow")
def test_relations_hold_on_tensorflow(environment_of: EnvironmentOf) -> None:
    found = outcomes_of(environment_of("tensorflow-cpu==2.21.0"), TENSORFLOW)

    assert_all_hold(found, TENSORFLOW)


@pytest.mark.slow
@pytest.mark.library("keras")
def test_relations_hold_on_jax(environment_of: EnvironmentOf) -> None:
    assert_all_hold(outcomes_of(environment_of("jax==0.10.2"), JAX), JAX)


def test_every_relation_is_tried_on_a_library() -> None:
    assert RELATIONS.items().keys() == {*TORCH, *TENSORFLOW, *JAX}
