"""What is found of an application: who calls services, and which branches depend on answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.constructing import constructor_name
from ciguard.levels.app.static_analysis.reaching import once_through, reached, ways
from ciguard.levels.app.static_analysis.reading import read
from ciguard.levels.app.static_analysis.summaries import World, open_in
from ciguard.levels.app.static_analysis.values import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.levels.app.providers.description import ProviderDescription
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.summaries import Placed
    from ciguard.levels.app.static_analysis.values import ValueFlow

_ROUNDS = 12
"""After so many, what recursion still brings is left out."""


@dataclass(frozen=True, slots=True)
class ServiceCallInputs:
    """What a call of a service gets from the parameters of one function."""

    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Those that it is asked about, and what is done to each before."""
    clients: tuple[str, ...] = ()
    """Those that are the client."""


@dataclass(frozen=True, slots=True)
class ServiceCallSite:
    """One call of a service, and how it gets what it is asked about."""

    answer: Answer
    through: tuple[str, ...] = ()
    """Functions on the way to it; none where it stands in the function itself."""
    called_with: ServiceCallInputs = ServiceCallInputs()
    """What it gets from the parameters of the function."""
    made_with: ServiceCallInputs = ServiceCallInputs()
    """What it gets from those of the constructor, where the function is a method."""


@dataclass(frozen=True, slots=True)
class ServiceCondition:
    """A sub-condition that answers decide, and all that it depends on."""

    goal: Goal
    flows: frozenset[ValueFlow]

    @property
    def answers(self) -> tuple[tuple[Answer, tuple[str, ...]], ...]:
        """The answers that it depends on, each with the least that is done to it before."""
        found: dict[Answer, tuple[str, ...]] = {}
        for flow in sorted(self.flows, key=lambda flow: (len(flow.steps), flow.steps)):
            if isinstance(flow.source, Answer):
                found.setdefault(flow.source, flow.steps)
        return tuple(sorted(found.items(), key=lambda item: _position(item[0])))


@dataclass(frozen=True, slots=True)
class ServiceFunction:
    """A function that calls services, itself or through others."""

    name: str
    """Qualified within the application."""
    file: str
    line: int
    calls: tuple[ServiceCallSite, ...]
    goals: tuple[ServiceCondition, ...]
    """Of the function and of what it calls, those of one branch side by side."""

    def branches(self) -> dict[Branch, list[ServiceCondition]]:
        """Return the goals of each branch, in the order of the text."""
        found: dict[Branch, list[ServiceCondition]] = {}
        for decided in self.goals:
            found.setdefault(decided.goal.branch, []).append(decided)
        return found


def find(
    application: Application, providers: Sequence[ProviderDescription]
) -> tuple[ServiceFunction, ...]:
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
    asked = reached(world, {name: one.asked for name, one in world.summaries.items()})
    clients = reached(world, {name: one.clients for name, one in world.summaries.items()})
    goals = reached(world, {name: one.goals for name, one in world.summaries.items()})
    order = sorted(
        {goal for one in goals.values() for goal in one}, key=lambda one: (one.branch, one.at)
    )
    place = {goal: at for at, goal in enumerate(order)}

    @cache  # functions share what is known of those that they call
    def is_decided(flows: frozenset[ValueFlow]) -> bool:
        return any(isinstance(flow.source, Answer) for flow in flows)

    answers = {answer for one in asked.values() for answer in one}
    way = {answer: ways(world, answer) for answer in answers}
    return tuple(
        ServiceFunction(
            name=name,
            file=placed.module.file,
            line=placed.routine.line,
            calls=tuple(
                ServiceCallSite(
                    answer,
                    way[answer][name],
                    *(
                        _given(several, asked[name][answer], clients[name].get(answer, ()))
                        for several in ([name], _constructors(world, placed))
                    ),
                )
                for answer in sorted(asked[name], key=_position)
            ),
            goals=tuple(
                ServiceCondition(goal, flows)
                for goal, flows in sorted(goals[name].items(), key=lambda one: place[one[0]])
                if is_decided(flows)
            ),
        )
        for name, placed in world.placed.items()
        if asked[name]
    )


def _learn(world: World) -> None:
    """Read functions again while more comes to be known of what they call, or of variables."""

    def grows(name: str) -> bool:
        before = world.summaries[name].size()
        world.set_summary(name, read(world, world.placed[name]))
        return world.summaries[name].size() != before

    stale, known = set(world.placed), -1
    for _ in range(_ROUNDS):
        if known != (known := world.size()):
            stale = set(world.placed)
        if not stale:
            return
        once_through(world, stale, grows)


def _position(answer: Answer) -> tuple[str, int, str]:
    return answer.file, answer.line, answer.operation.name


def _constructors(world: World, placed: Placed) -> list[str]:
    """Return the qualified names of what may make the object of a method."""
    if not placed.routine.owner:
        return []
    owner = f"{placed.module.name}.{placed.routine.owner}"
    written = world.method(owner, "__init__")
    # A generated constructor takes the fields of the classes above, too.
    return [written] if written else [constructor_name(one) for one in world.lineage(owner)]


def _given(
    several: Sequence[str], asked: Iterable[ValueFlow], clients: Iterable[ValueFlow]
) -> ServiceCallInputs:
    """Return what parameters of functions go into what is asked, and who asks it."""
    asked, clients = list(asked), list(clients)
    inputs = {
        (source.name, flow.steps)
        for name in several
        for flow, source in open_in(name, asked).items()
    }
    asking = {source.name for name in several for source in open_in(name, clients).values()}
    return ServiceCallInputs(tuple(sorted(inputs)), tuple(sorted(asking)))
