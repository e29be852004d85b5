"""Relations of execution modes: compiled, traced and eager execution give the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, LiteralValue, TensorValue, TupleValue, Value
from ciguard.execution import Scalar
from ciguard.oracles.relations.contract import Applies, ObservedPair, Relation, compare_pair, relate
from ciguard.oracles.relations.expressions import (
    apply,
    as_function,
    leading_tensors,
    library_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.relations.contract import Twin

_DYNAMO_PERIOD = 48
"""A call of `torch.compile` takes as long as hundreds of other calls."""
_XLA_PERIOD = 12
_TRACE_PERIOD = 6


def _is_call_of(*libraries: str) -> Applies:
    """Return a function that accepts the APIs of some libraries whose results are reproducible."""

    def applies(record: ApiRecord, names: Collection[str]) -> bool:
        del names
        # Keras draws a layer's weights when it is first called, in a graph with other seeds.
        draws_weights_when_called = (
            record.kind is CallKind.LAYER and library_of(record.api) != "torch"
        )
        is_known = library_of(record.api) in libraries and not record.api.endswith("_")
        return is_known and not draws_weights_when_called

    return applies


def _wrapper_twin(wrapper: str, **settings: str | bool) -> Twin:
    """Return a twin that calls `wrapper` on the function and then calls the result.

    Args:
        wrapper: qualified name of the function that compiles another function.
        settings: keyword arguments of the wrapper.
    """
    keywords = tuple((key, LiteralValue(setting)) for key, setting in settings.items())

    def twin(case: ApiCall) -> Value | None:
        function, arguments = as_function(case)
        if not leading_tensors(arguments):
            return None
        return apply(CallValue(wrapper, (function,), keywords), *arguments)

    return twin


def _trace_twin(case: ApiCall) -> Value | None:
    """Return the call of the traced function; None unless all arguments are tensors."""
    function, arguments = as_function(case)
    tensors = leading_tensors(arguments)
    if not tensors or len(tensors) != len(arguments):
        return None
    example = TupleValue(tensors)
    settings = (("check_trace", LiteralValue(value=False)),)
    trace = CallValue("torch.jit.trace", (function, example), settings)
    return apply(trace, *tensors)


def _jit_twin(case: ApiCall) -> Value | None:
    """Return the call of the compiled function. Arguments that are not arrays are static."""
    function, arguments = as_function(case)
    if not leading_tensors(arguments):
        return None
    static = [n for n, value in enumerate(arguments) if not isinstance(value, TensorValue)]
    positions = TupleValue(tuple(map(LiteralValue, static)))
    compiled = CallValue("jax.jit", (function,), (("static_argnums", positions),))
    return apply(compiled, *arguments)


def _find_violation(observed: ObservedPair) -> Difference | None:
    """Return how the results differ; None for a number, for which a mode may return a tensor."""
    return None if isinstance(observed.first, Scalar) else compare_pair(observed)


def _register_mode_relation(name: str, applies: Applies, twin: Twin, *, every: int) -> Relation:
    """Register a relation between eager execution and a mode, and return it."""
    return relate(
        Relation(
            name=name,
            law="A call gives the same result in every execution mode.",
            source="the documentation of torch.compile, torch.jit.trace, tf.function and jax.jit",
            applies=applies,
            twin=twin,
            find_violation=_find_violation,
            every=every,
        )
    )


TORCH_COMPILE = _register_mode_relation(
    "torch.compile",
    _is_call_of("torch"),
    _wrapper_twin("torch.compile", backend="aot_eager"),
    every=_DYNAMO_PERIOD,
)
TORCH_TRACE = _register_mode_relation(
    "torch.jit.trace", _is_call_of("torch"), _trace_twin, every=_TRACE_PERIOD
)
TF_FUNCTION = _register_mode_relation(
    "tf.function",
    _is_call_of("tensorflow"),
    _wrapper_twin("tensorflow.function"),
    every=_TRACE_PERIOD,
)
TF_XLA = _register_mode_relation(
    "tf.function with XLA",
    _is_call_of("tensorflow"),
    _wrapper_twin("tensorflow.function", jit_compile=True),
    every=_XLA_PERIOD,
)
JAX_JIT = _register_mode_relation("jax.jit", _is_call_of("jax"), _jit_twin, every=_TRACE_PERIOD)
