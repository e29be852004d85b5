"""Reachability over the call graph: services, and sub-conditions that answers decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.summaries import open_in
from ciguard.levels.app.static_analysis.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from ciguard.levels.app.static_analysis.summaries import AnalysisState
    from ciguard.levels.app.static_analysis.values import Answer, ValueFlow

    _Key = TypeVar("_Key")


def callees_first(world: AnalysisState) -> list[str]:
    """Return all functions in postorder of the call graph: callees first, except in cycles."""
    order: dict[str, None] = {}
    entered: set[str] = set()
    for start in world.summaries:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            if name in entered:
                order.setdefault(waiting.pop())
            else:
                entered.add(name)
                waiting += sorted(world.summaries[name].callees - entered, reverse=True)
    return list(order)


def once_through(world: AnalysisState, stale: set[str], grows: Callable[[str], bool]) -> None:
    """Update stale functions once, callees first; callers of one that grew become stale.

    Args:
        world: the state of the analysis.
        stale: functions to update; changed in place.
        grows: updates a function, and returns whether its summary grew.
    """
    for name in callees_first(world):
        if name in stale:
            stale.discard(name)
            if grows(name):
                stale |= world.callers.get(name, set())


def reached(
    world: AnalysisState, known: Mapping[str, Mapping[_Key, frozenset[ValueFlow]]]
) -> dict[str, dict[_Key, frozenset[ValueFlow]]]:
    """Return the goals or service calls of each function, with those that its callees reach.

    Args:
        world: the state of the analysis.
        known: the goals or service calls in each function's summary, with their flows.
    """
    reachable: dict[str, dict[_Key, frozenset[ValueFlow]]] = {name: {} for name in known}

    def grows(name: str) -> bool:
        before = reachable[name]
        own = {key: flows.difference(open_in(name, flows)) for key, flows in known[name].items()}
        callees = world.summaries[name].callees
        reachable[name] = _merged([own, *(reachable[callee] for callee in sorted(callees))])
        return _size(reachable[name]) != _size(before)

    stale = set(known)
    while stale:
        once_through(world, stale, grows)
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


def ways(world: AnalysisState, answer: Answer) -> dict[str, tuple[str, ...]]:
    """Return the shortest call path from each function to a call of a service."""
    nearest = [name for name, summary in world.summaries.items() if answer in summary.own]
    paths: dict[str, tuple[str, ...]] = dict.fromkeys(nearest, ())
    while nearest:
        callers = {caller for name in nearest for caller in world.callers.get(name, ())}
        nearest, reached_before = sorted(callers - paths.keys()), nearest
        for name in nearest:
            callee = min(world.summaries[name].callees.intersection(reached_before))
            paths[name] = (callee, *paths[callee])
    return paths
