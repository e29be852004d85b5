"""Graphs derived from a graph: fewer steps, or inputs in place of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.api_calls import ApiCall
from ciguard.domain.graphs import ASSIGN, OUT, GraphCase, results_used
from ciguard.domain.values import (
    CallValue,
    DictValue,
    ListValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ciguard.domain.graphs import Step

ChangeResult: TypeAlias = Callable[[ResultValue], Value]
"""Function that returns the replacement of a result."""


def with_results(step: Step, change: ChangeResult) -> Step:
    """Return a step in which `change` has replaced each result of another step."""
    if isinstance(step, TensorValue):
        return step
    return replace(
        step,
        arguments=tuple(_changed(value, change) for value in step.arguments),
        keywords=tuple((key, _changed(value, change)) for key, value in step.keywords),
        inputs=tuple(_changed(value, change) for value in step.inputs),
    )


def _changed(value: Value, change: ChangeResult) -> Value:
    match value:
        case ResultValue():
            return _changed_result(value, change)
        case ListValue(items) | TupleValue(items):
            return replace(value, items=tuple(_changed(item, change) for item in items))
        case DictValue(pairs):
            return DictValue(tuple((key, _changed(item, change)) for key, item in pairs))
        case CallValue(function, arguments, keywords):
            return CallValue(
                function,
                tuple(_changed(item, change) for item in arguments),
                tuple((key, _changed(item, change)) for key, item in keywords),
            )
        case _:
            return value


def _changed_result(result: ResultValue, change: ChangeResult) -> Value:
    """Return the replacement of a result, and of the other one if it has a choice."""
    changed = change(result)
    if not isinstance(changed, ResultValue) or changed.other is None:
        return changed
    if changed.other is not result.other:
        return changed
    other = change(changed.other)
    if isinstance(other, ResultValue):
        return replace(changed, other=other)
    return replace(changed, other=None, beyond=0)


def without_links(call: ApiCall) -> ApiCall:
    """Return a call with tensors in place of results."""
    changed = with_results(call, lambda result: result.form)
    return changed if isinstance(changed, ApiCall) else call


def kept_steps(steps: Sequence[Step], kept: Collection[int]) -> tuple[Step, ...]:
    """Return the steps with these indices; tensors replace the results of the others."""
    numbers = {old: new for new, old in enumerate(sorted(kept))}

    def change(result: ResultValue) -> Value:
        if result.step in numbers:
            return replace(result, step=numbers[result.step])
        return result.form

    return tuple(with_results(steps[old], change) for old in sorted(kept))


def changes_in_place(step: Step) -> bool:
    """Return whether a step may change a tensor in place: by the name of its API, or by `out`."""
    if not isinstance(step, ApiCall):
        return False
    name = step.api.rpartition(".")[2]
    is_named = name == ASSIGN or (name.endswith("_") and not name.endswith("__"))
    return is_named or any(key == OUT for key, _ in step.keywords)


def needed_steps(steps: Sequence[Step], outputs: Iterable[int]) -> set[int]:
    """Return the steps on which the results of some steps depend, and these themselves.

    A call that may change a tensor in place is needed if one of its tensors is.
    """
    needed: set[int] = set()
    pending = [*outputs]
    while pending:
        number = pending.pop()
        if number in needed:
            continue
        needed.add(number)
        pending += [result.step for result in results_used(steps[number])]
        pending += [
            later
            for later in range(number + 1, len(steps))
            if changes_in_place(steps[later])
            and any(result.step == number for result in results_used(steps[later]))
        ]
    return needed


def connected_steps(steps: Sequence[Step], start: int) -> set[int]:
    """Return the steps that depend on a step or on which it depends, directly or not."""
    links: dict[int, set[int]] = {number: set() for number in range(len(steps))}
    for number, step in enumerate(steps):
        for result in results_used(step):
            links[number].add(result.step)
            links[result.step].add(number)
    connected: set[int] = set()
    pending = [start]
    while pending:
        number = pending.pop()
        if number not in connected:
            connected.add(number)
            pending += links[number]
    return connected


def unused_steps(steps: Sequence[Step]) -> tuple[int, ...]:
    """Return the calls whose results no other step uses."""
    used = {result.step for step in steps for result in results_used(step)}
    return tuple(
        number
        for number, step in enumerate(steps)
        if isinstance(step, ApiCall) and number not in used
    )


def sliced(case: GraphCase, output: int) -> GraphCase:
    """Return the part of a graph that the result of one step depends on, with that output only.

    Its API is that of its last call, which made the result or changed it in place.
    """
    return _with_steps(case, case.steps, needed_steps(case.steps, [output]), [output])


def without_step(case: GraphCase, number: int) -> GraphCase:
    """Return the graph without a step, and without steps that only it needs.

    Tensors replace the step's results. An output must not be left out. The API of the graph is then
    that of its last call.
    """
    steps = tuple(
        with_results(step, lambda result: result.form if result.step == number else result)
        for step in case.steps
    )
    return _with_steps(case, steps, needed_steps(steps, case.outputs) - {number}, case.outputs)


def _with_steps(
    case: GraphCase, steps: Sequence[Step], kept: Collection[int], outputs: Sequence[int]
) -> GraphCase:
    """Return a graph of the steps with the indices `kept`, named after its last call."""
    order = sorted(kept)
    remaining = kept_steps(steps, kept)
    calls = [step.api for step in remaining if isinstance(step, ApiCall)]
    return replace(
        case,
        api=calls[-1] if calls else case.api,
        steps=remaining,
        outputs=tuple(order.index(output) for output in outputs),
    )


def joined(graphs: Sequence[Sequence[Step]]) -> tuple[Step, ...]:
    """Return one graph with the steps of several, which do not depend on each other."""
    steps: list[Step] = []
    for graph in graphs:
        start = len(steps)
        steps += [with_results(step, partial(_moved, by=start)) for step in graph]
    return tuple(steps)


def _moved(result: ResultValue, by: int) -> ResultValue:
    return replace(result, step=result.step + by)
