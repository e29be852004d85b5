"""What functions reach through others: services, and the sub-conditions that answers decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.summaries import open_in
from ciguard.levels.app.static_analysis.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    from ciguard.levels.app.static_analysis.summaries import World
    from ciguard.levels.app.static_analysis.values import Answer, ValueFlow

    _Key = TypeVar("_Key")


def callees_first(world: World) -> list[str]:
    """Return all functions, each after those that it calls, except where these call it too."""
    found: dict[str, None] = {}
    entered: set[str] = set()
    for start in world.summaries:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            if name in entered:
                found.setdefault(waiting.pop())
            else:
                entered.add(name)
                waiting += sorted(world.summaries[name].callees - entered, reverse=True)
    return list(found)


def once_through(world: World, stale: set[str], grows: Callable[[str], bool]) -> None:
    """Work through stale functions, callees first, and leave those stale that have to wait.

    Args:
        world: where they are.
        stale: functions to work through. One that grows makes those stale that call it.
        grows: works on a function, and tells whether there is more of it now.
    """
    for name in callees_first(world):
        if name in stale:
            stale.discard(name)
            if grows(name):
                stale |= world.callers.get(name, set())


def reached(
    world: World, known: Mapping[str, Mapping[_Key, frozenset[ValueFlow]]]
) -> dict[str, dict[_Key, frozenset[ValueFlow]]]:
    """Add to what is known of each function what those that it calls reach without its part.

    Args:
        world: where they are.
        known: goals or services that each has a part in, and what they depend on or are given.
    """
    found: dict[str, dict[_Key, frozenset[ValueFlow]]] = {name: {} for name in known}

    def grows(name: str) -> bool:
        before = found[name]
        own = {key: flows.difference(open_in(name, flows)) for key, flows in known[name].items()}
        callees = world.summaries[name].callees
        found[name] = _union([own, *(found[one] for one in sorted(callees))])
        return _size(found[name]) != _size(before)

    stale = set(known)
    while stale:
        once_through(world, stale, grows)
    return {name: _union([found[name], known[name]]) for name in known}


def _union(
    several: Iterable[Mapping[_Key, frozenset[ValueFlow]]],
) -> dict[_Key, frozenset[ValueFlow]]:
    largest, *others = sorted(several, key=len, reverse=True)
    found = dict(largest)
    for other in others:
        for key, flows in other.items():
            known = found.get(key)
            if known is None:
                found[key] = flows
            elif known is not flows:
                found[key] = (Value(known) | Value(flows)).flows
    return found


def _size(known: Mapping[_Key, frozenset[ValueFlow]]) -> tuple[int, int]:
    return len(known), sum(map(len, known.values()))


def ways(world: World, answer: Answer) -> dict[str, tuple[str, ...]]:
    """Return the functions on the shortest way from each function to a call of a service."""
    nearest = [name for name, summary in world.summaries.items() if answer in summary.own]
    found: dict[str, tuple[str, ...]] = dict.fromkeys(nearest, ())
    while nearest:
        callers = {caller for one in nearest for caller in world.callers.get(one, ())}
        nearest, last = sorted(callers - found.keys()), nearest
        for name in nearest:
            first = min(world.summaries[name].callees.intersection(last))
            found[name] = (first, *found[first])
    return found
