"""Reachability over the call graph: services, and sub-conditions that answers decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.summaries import parameter_flows
from ciguard.levels.app.static_analysis.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from ciguard.levels.app.static_analysis.summaries import AnalysisState
    from ciguard.levels.app.static_analysis.values import Answer, ValueFlow

    _Key = TypeVar("_Key")


def callees_first(state: AnalysisState) -> list[str]:
    """Return all functions in postorder of the call graph: callees first, except in cycles."""
    order: dict[str, None] = {}
    entered: set[str] = set()
    for start in state.summaries:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            if name in entered:
                order.setdefault(waiting.pop())
            else:
                entered.add(name)
                waiting += sorted(state.summaries[name].callees - entered, reverse=True)
    return list(order)


def update_once(state: AnalysisState, stale: set[str], update: Callable[[str], bool]) -> None:
    """Update each stale function once, callees first; callers of a grown one become stale.

    Args:
        state: the state of the analysis.
        stale: functions to update; changed in place.
        update: updates the facts of a function, and returns whether they grew.
    """
    for name in callees_first(state):
        if name in stale:
            stale.discard(name)
            if update(name):
                stale |= state.callers.get(name, set())


def reachable_flows(
    state: AnalysisState, known: Mapping[str, Mapping[_Key, frozenset[ValueFlow]]]
) -> dict[str, dict[_Key, frozenset[ValueFlow]]]:
    """Return all goals or service calls that each function reaches, with the flows into them.

    Args:
        state: the state of the analysis.
        known: the goals or service calls in each function's summary, with the flows into them.
    """
    reachable: dict[str, dict[_Key, frozenset[ValueFlow]]] = {name: {} for name in known}

    def update(name: str) -> bool:
        before = reachable[name]
        own = {
            key: flows.difference(parameter_flows(name, flows))
            for key, flows in known[name].items()
        }
        callees = state.summaries[name].callees
        reachable[name] = _merged([own, *(reachable[callee] for callee in sorted(callees))])
        return _size(reachable[name]) != _size(before)

    stale = set(known)
    while stale:
        update_once(state, stale, update)
    return {name: _merged([reachable[name], known[name]]) for name in known}


def _merged(
    mappings: Iterable[Mapping[_Key, frozenset[ValueFlow]]],
) -> dict[_Key, frozenset[ValueFlow]]:
    largest, *others = sorted(mappings, key=len, reverse=True)
    merged = dict(largest)
    for other in others:
        for key, flows in other.items():
            known = merged.get(key)
            if known is None:
                merged[key] = flows
            elif known is not flows:
                merged[key] = (Value(known) | Value(flows)).flows
    return merged


def _size(known: Mapping[_Key, frozenset[ValueFlow]]) -> tuple[int, int]:
    return len(known), sum(map(len, known.values()))


def shortest_call_paths(state: AnalysisState, answer: Answer) -> dict[str, tuple[str, ...]]:
    """Return the shortest call path from each function that reaches a service call.

    A path lists the callees, so that it is empty for functions with the call in their own body.
    """
    nearest = [name for name, summary in state.summaries.items() if answer in summary.direct_calls]
    paths: dict[str, tuple[str, ...]] = dict.fromkeys(nearest, ())
    while nearest:
        callers = {caller for name in nearest for caller in state.callers.get(name, ())}
        nearest, reached_before = sorted(callers - paths.keys()), nearest
        for name in nearest:
            callee = min(state.summaries[name].callees.intersection(reached_before))
            paths[name] = (callee, *paths[callee])
    return paths
