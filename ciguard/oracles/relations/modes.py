"""Compiled, traced and eager: the mode of execution does not change the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import CallValue, LiteralValue, TensorValue, TupleValue, Value
from ciguard.execution import Scalar
from ciguard.oracles.relations.contract import Applies, ObservedPair, Relation, relate, same
from ciguard.oracles.relations.expressions import (
    applied,
    as_function,
    leading,
    library_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.relations.contract import Twin

_COMPILES = 12
_TRACES = 6


def _calls_of(*libraries: str) -> Applies:
    def applies(record: ApiRecord, names: Collection[str]) -> bool:
        del names
        # Keras draws a layer's weights when it is first called: in a graph, from other seeds.
        draws_late = record.kind is CallKind.LAYER and library_of(record.api) != "torch"
        is_known = library_of(record.api) in libraries and not record.api.endswith("_")
        return is_known and not draws_late

    return applies


def _wrapped(wrapper: str, **settings: str | bool) -> Twin:
    """Return the twin that wraps the function and then calls it."""
    keywords = tuple((key, LiteralValue(setting)) for key, setting in settings.items())

    def twin(case: ApiCall) -> Value | None:
        called, row = as_function(case)
        if not leading(row):
            return None
        return applied(CallValue(wrapper, (called,), keywords), *row)

    return twin


def _traced(case: ApiCall) -> Value | None:
    called, row = as_function(case)
    given = leading(row)
    if not given or len(given) != len(row):
        return None
    example = TupleValue(given)
    settings = (("check_trace", LiteralValue(value=False)),)
    trace = CallValue("torch.jit.trace", (called, example), settings)
    return applied(trace, *given)


def _jitted(case: ApiCall) -> Value | None:
    """Tell jax which arguments are no arrays: they are part of what is compiled."""
    called, row = as_function(case)
    if not leading(row):
        return None
    fixed = [n for n, value in enumerate(row) if not isinstance(value, TensorValue)]
    places = TupleValue(tuple(map(LiteralValue, fixed)))
    function = CallValue("jax.jit", (called,), (("static_argnums", places),))
    return applied(function, *row)


def _broken(observed: ObservedPair) -> Difference | None:
    """Compare tensors: a mode may return a number as a tensor."""
    return None if isinstance(observed.first, Scalar) else same(observed)


def _mode(name: str, applies: Applies, twin: Twin, *, every: int) -> Relation:
    return relate(
        Relation(
            name=name,
            law="A call gives the same result however it is executed.",
            source="the documentation of torch.compile, torch.jit.trace, tf.function and jax.jit",
            applies=applies,
            twin=twin,
            broken=_broken,
            every=every,
        )
    )


TORCH_COMPILE = _mode(
    "torch.compile",
    _calls_of("torch"),
    _wrapped("torch.compile", backend="aot_eager"),
    every=_COMPILES,
)
TORCH_TRACE = _mode("torch.jit.trace", _calls_of("torch"), _traced, every=_TRACES)
TF_FUNCTION = _mode(
    "tf.function", _calls_of("tensorflow"), _wrapped("tensorflow.function"), every=_TRACES
)
TF_XLA = _mode(
    "tf.function with XLA",
    _calls_of("tensorflow"),
    _wrapped("tensorflow.function", jit_compile=True),
    every=_COMPILES,
)
JAX_JIT = _mode("jax.jit", _calls_of("jax"), _jitted, every=_TRACES)
