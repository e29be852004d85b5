"""What is found of an application: who calls services, and which branches depend on answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.finding.reading import read
from ciguard.applications.finding.summaries import World
from ciguard.applications.finding.values import Answer, Parameter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.applications.finding.application import Application
    from ciguard.applications.finding.conditions import Branch, Goal
    from ciguard.applications.finding.summaries import Placed, Summary
    from ciguard.applications.finding.values import Flow
    from ciguard.applications.providers.description import Provider

_ROUNDS = 12
"""After so many, what recursion still brings is left out."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One call of a service, and how it gets what it is asked about."""

    answer: Answer
    through: tuple[str, ...] = ()
    """Functions on the way to it; none where it stands in the function itself."""
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Parameters of the function that it is given, and what is done to each before."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A sub-condition that answers decide, and all that it depends on."""

    goal: Goal
    flows: frozenset[Flow]

    @property
    def answers(self) -> tuple[tuple[Answer, tuple[str, ...]], ...]:
        """The answers that it depends on, each with the least that is done to it before."""
        found: dict[Answer, tuple[str, ...]] = {}
        for flow in sorted(self.flows, key=lambda flow: (len(flow.steps), flow.steps)):
            if isinstance(flow.source, Answer):
                found.setdefault(flow.source, flow.steps)
        return tuple(sorted(found.items(), key=lambda item: _position(item[0])))


@dataclass(frozen=True, slots=True)
class Found:
    """A function that calls services, itself or through others."""

    name: str
    """Qualified within the application."""
    file: str
    line: int
    calls: tuple[Reach, ...]
    goals: tuple[Decided, ...]
    """Of the function and of what it calls, those of one branch side by side."""

    def branches(self) -> dict[Branch, list[Decided]]:
        """Return the goals of each branch, in the order of the text."""
        found: dict[Branch, list[Decided]] = {}
        for decided in self.goals:
            found.setdefault(decided.goal.branch, []).append(decided)
        return found


def find(application: Application, providers: Sequence[Provider]) -> tuple[Found, ...]:
    """Return the functions that call services, in the order of the text.

    Args:
        application: as read.
        providers: whose services count.
    """
    packages = [package for provider in providers for package in provider.packages]
    if not any(one.names.imports(p) for one in application.modules for p in packages):
        return ()
    world = World(application, providers)
    _learn(world)
    return tuple(
        _found(placed, world)
        for name, placed in world.placed.items()
        if world.summaries[name].asked
    )


def _learn(world: World) -> None:
    """Read functions again while more comes to be known of what they call, or of variables."""
    grown, known = set(world.placed), -1
    for _ in range(_ROUNDS):
        is_same = known == (known := world.size())
        waiting = [
            (name, placed)
            for name, placed in world.placed.items()
            if not is_same or name in grown or world.summaries[name].callees & grown
        ]
        grown = set()
        for name, placed in waiting:
            before = world.summaries[name].size()
            world.summaries[name] = read(world, placed)
            if world.summaries[name].size() != before:
                grown.add(name)
        if not grown and known == world.size():
            return


def _found(placed: Placed, world: World) -> Found:
    summary = world.summaries[placed.qualified]
    calls = sorted(summary.asked, key=_position)
    return Found(
        name=placed.qualified,
        file=placed.module.file,
        line=placed.routine.line,
        calls=tuple(
            Reach(
                answer,
                _way(placed.qualified, answer, world),
                _inputs(placed.qualified, summary.asked[answer]),
            )
            for answer in calls
        ),
        goals=tuple(_decided(summary)),
    )


def _position(answer: Answer) -> tuple[str, int, str]:
    return answer.file, answer.line, answer.operation.name


def _inputs(name: str, flows: Iterable[Flow]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        sorted(
            (flow.source.name, flow.steps)
            for flow in flows
            if isinstance(flow.source, Parameter) and flow.source.routine == name
        )
    )


def _decided(summary: Summary) -> Iterable[Decided]:
    for goal, flows in sorted(summary.goals.items(), key=lambda one: (one[0].branch, one[0].at)):
        if any(isinstance(flow.source, Answer) for flow in flows):
            yield Decided(goal, flows)


def _way(start: str, answer: Answer, world: World) -> tuple[str, ...]:
    """Return the functions on the shortest way from one to a call of a service."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen = {start}
    while ways:
        way = ways.pop(0)
        summary = world.summaries[way[-1]]
        if answer in summary.own:
            return way[1:]
        for callee in sorted(summary.callees - seen):
            seen.add(callee)
            ways.append((*way, callee))
    return ()
