"""Simpler variants of a case: each leaves one thing out, or makes one thing plainer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import (
    ApiCall,
    ArrayValue,
    CallValue,
    DictValue,
    FunctionCase,
    ListValue,
    LiteralValue,
    ModelCase,
    ProgramCase,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.functions import Call, about_from_json, is_valid
from ciguard.triage.buckets import simplicity
from ciguard.triage.simpler import (
    MAX_ITEMS,
    AnyArray,
    shorter,
    simpler_arrays,
    simpler_scalars,
    simpler_together,
)
from ciguard.triage.simpler_models import simpler_models
from ciguard.triage.simpler_programs import simpler_programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ciguard.domain import Case


def reductions(case: Case) -> list[Case]:
    """Return the simpler variants of a case that differ from it in one place, the simplest first.

    Every one is less by `simplicity`, so whoever follows them comes to an end.
    """
    limit = simplicity(case)
    found = {simplicity(variant): variant for variant in _variants(case)}
    return [found[key] for key in sorted(found) if key < limit]


def _variants(case: Case) -> Iterator[Case]:
    match case:
        case ApiCall():
            yield from _simpler_calls(case)
        case ModelCase():
            yield from simpler_models(case)
        case ProgramCase():
            yield from simpler_programs(case)
        case FunctionCase():
            yield from _simpler_function_calls(case)
        case _:
            return  # the plainest are tried first


def _simpler_function_calls(case: FunctionCase) -> Iterator[FunctionCase]:
    """Yield calls with plainer arguments that keep to the annotations."""
    try:
        call, about = Call.from_json(case.call), about_from_json(case.about, case.file)
    except (KeyError, TypeError, ValueError):
        return  # nothing is called, or a case of somebody else's baseline
    if case.seed:
        yield replace(case, seed=0)
    for simpler in _plainer(call):
        if is_valid(simpler, about.module):
            yield replace(case, call=simpler.to_json())


def _plainer(call: Call) -> Iterator[Call]:
    for arguments in _simpler_pairs(call.arguments):
        yield replace(call, arguments=arguments)
    for change in simpler_together(_arrays_in(value for _, value in call.arguments)):
        changed = tuple((name, _with_arrays(value, change)) for name, value in call.arguments)
        yield replace(call, arguments=changed)
    for constructor in _simpler_pairs(call.constructor or ()):
        yield replace(call, constructor=constructor)


def _simpler_calls(case: ApiCall) -> Iterator[ApiCall]:
    if case.relation:
        yield replace(case, relation="")
    keywords = dict(case.keywords)
    for kept in shorter(case.keywords):
        yield replace(case, keywords=kept)
    for name, value in case.keywords:
        for simpler in simpler_values(value):
            yield replace(case, keywords=tuple({**keywords, name: simpler}.items()))
    # Positions matter: only the last arguments can be left out without moving the others.
    for count in range(len(case.arguments)):
        yield replace(case, arguments=case.arguments[:count])
    for arguments in _one_simpler(case.arguments):
        yield replace(case, arguments=arguments)
    for count in range(len(case.inputs)):
        yield replace(case, inputs=case.inputs[:count])
    for inputs in _one_simpler(case.inputs):
        yield replace(case, inputs=inputs)
    for change in simpler_together(_arrays(case)):
        yield _changed(case, change)


def _arrays(case: ApiCall) -> list[AnyArray]:
    return _arrays_in([*case.arguments, *case.inputs, *(value for _, value in case.keywords)])


def _arrays_in(values: Iterable[Value]) -> list[AnyArray]:
    return [value for value in values if isinstance(value, TensorValue | ArrayValue)]


def _with_arrays(value: Value, change: Callable[[AnyArray], Value]) -> Value:
    return change(value) if isinstance(value, TensorValue | ArrayValue) else value


def _changed(case: ApiCall, change: Callable[[AnyArray], Value]) -> ApiCall:
    """Return the case with every array that is an argument changed at once."""
    return replace(
        case,
        arguments=tuple(_with_arrays(value, change) for value in case.arguments),
        keywords=tuple((name, _with_arrays(value, change)) for name, value in case.keywords),
        inputs=tuple(_with_arrays(value, change) for value in case.inputs),
    )


def _one_simpler(values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    for position, value in enumerate(values[:MAX_ITEMS]):
        for simpler in simpler_values(value):
            yield (*values[:position], simpler, *values[position + 1 :])


def simpler_values(value: Value) -> Iterator[Value]:
    """Yield plainer values in the place of one. Not every one need be less by `simplicity`."""
    match value:
        case LiteralValue(scalar):
            yield from map(LiteralValue, simpler_scalars(scalar))
        case TensorValue() | ArrayValue():
            yield from simpler_arrays(value)
        case ListValue(items):
            yield from map(ListValue, _simpler_items(items))
        case TupleValue(items):
            yield from map(TupleValue, _simpler_items(items))
        case DictValue(pairs):
            yield from map(DictValue, shorter(pairs))
            yield from map(DictValue, _simpler_pairs(pairs))
        case CallValue(_, arguments, keywords):
            yield from (one for one in arguments[:1] if isinstance(one, TensorValue))
            yield from (replace(value, arguments=a) for a in _simpler_items(arguments))
            yield from (replace(value, keywords=k) for k in shorter(keywords))
            yield from (replace(value, keywords=k) for k in _simpler_pairs(keywords))
        case _:
            return


def _simpler_items(items: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
    yield from shorter(items)
    yield from _one_simpler(items)


def _simpler_pairs(
    pairs: tuple[tuple[str, Value], ...],
) -> Iterator[tuple[tuple[str, Value], ...]]:
    for position, (name, value) in enumerate(pairs[:MAX_ITEMS]):
        for simpler in simpler_values(value):
            yield (*pairs[:position], (name, simpler), *pairs[position + 1 :])
