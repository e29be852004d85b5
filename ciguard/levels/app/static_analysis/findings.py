"""Result of the analysis: functions that call services, and the conditions that answers decide."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.constructors import constructor_name
from ciguard.levels.app.static_analysis.reachability import (
    reachable_flows,
    shortest_call_paths,
    update_once,
)
from ciguard.levels.app.static_analysis.statements import analyse_function
from ciguard.levels.app.static_analysis.summaries import AnalysisState, parameter_flows
from ciguard.levels.app.static_analysis.values import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.levels.app.providers.description import ProviderDescription
    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.summaries import QualifiedRoutine
    from ciguard.levels.app.static_analysis.values import ValueFlow

_MAX_ROUNDS = 12
"""Maximum number of fixed-point rounds; flows that recursion would add later are left out."""


@dataclass(frozen=True, slots=True)
class ServiceCallInputs:
    """Parameters of one function that reach a service call."""

    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Parameters that reach the request, each with the steps on the way."""
    clients: tuple[str, ...] = ()
    """Parameters that hold the client."""


@dataclass(frozen=True, slots=True)
class ServiceCallSite:
    """A service call that a function reaches, and the parameters that reach the call."""

    answer: Answer
    call_path: tuple[str, ...] = ()
    """Call path from the function to the call; empty if the call is in its own body."""
    call_inputs: ServiceCallInputs = ServiceCallInputs()
    """Parameters of the function that reach the call."""
    constructor_inputs: ServiceCallInputs = ServiceCallInputs()
    """Parameters of the constructor that reach the call, if the function is a method."""


@dataclass(frozen=True, slots=True)
class ServiceCondition:
    """A sub-condition that answers decide, and all flows into it."""

    goal: Goal
    flows: frozenset[ValueFlow]

    @property
    def answers(self) -> tuple[tuple[Answer, tuple[str, ...]], ...]:
        """The answers that the sub-condition depends on, each with the fewest steps to it."""
        steps_by_answer: dict[Answer, tuple[str, ...]] = {}
        for flow in sorted(self.flows, key=lambda flow: (len(flow.steps), flow.steps)):
            if isinstance(flow.source, Answer):
                steps_by_answer.setdefault(flow.source, flow.steps)
        return tuple(sorted(steps_by_answer.items(), key=lambda item: _position(item[0])))


@dataclass(frozen=True, slots=True)
class ServiceFunction:
    """A function that calls services, itself or through its callees."""

    name: str
    """Qualified name within the application."""
    file: str
    line: int
    calls: tuple[ServiceCallSite, ...]
    goals: tuple[ServiceCondition, ...]
    """Goals of the function and its callees; those of one branch are adjacent."""

    def branches(self) -> dict[Branch, list[ServiceCondition]]:
        """Return the goals of each branch, in the order of the source text."""
        conditions: dict[Branch, list[ServiceCondition]] = {}
        for decided in self.goals:
            conditions.setdefault(decided.goal.branch, []).append(decided)
        return conditions


def find_service_functions(
    application: Application, providers: Sequence[ProviderDescription]
) -> tuple[ServiceFunction, ...]:
    """Return the functions that call services, in the order of the source text.

    Args:
        application: the parsed application.
        providers: the providers whose service calls are searched for.
    """
    packages = [package for provider in providers for package in provider.packages]
    if not any(
        module.names.imports(package) for module in application.modules for package in packages
    ):
        return ()
    state = AnalysisState(application, providers)
    _analyse(state)
    call_inputs = reachable_flows(
        state, {name: summary.call_inputs for name, summary in state.summaries.items()}
    )
    clients = reachable_flows(
        state, {name: summary.clients for name, summary in state.summaries.items()}
    )
    goals = reachable_flows(
        state, {name: summary.goals for name, summary in state.summaries.items()}
    )
    order = sorted(
        {goal for reachable in goals.values() for goal in reachable},
        key=lambda goal: (goal.branch, goal.index),
    )
    position = {goal: index for index, goal in enumerate(order)}

    @cache  # functions share the flows of their callees
    def depends_on_answer(flows: frozenset[ValueFlow]) -> bool:
        return any(isinstance(flow.source, Answer) for flow in flows)

    answers = {answer for reachable in call_inputs.values() for answer in reachable}
    paths = {answer: shortest_call_paths(state, answer) for answer in answers}
    return tuple(
        ServiceFunction(
            name=name,
            file=function.module.file,
            line=function.routine.line,
            calls=tuple(
                ServiceCallSite(
                    answer,
                    paths[answer][name],
                    *(
                        _call_inputs(
                            names, call_inputs[name][answer], clients[name].get(answer, ())
                        )
                        for names in ([name], _constructors(state, function))
                    ),
                )
                for answer in sorted(call_inputs[name], key=_position)
            ),
            goals=tuple(
                ServiceCondition(goal, flows)
                for goal, flows in sorted(goals[name].items(), key=lambda item: position[item[0]])
                if depends_on_answer(flows)
            ),
        )
        for name, function in state.routines.items()
        if call_inputs[name]
    )


def _analyse(state: AnalysisState) -> None:
    """Analyse functions until summaries and variables reach a fixed point."""

    def update(name: str) -> bool:
        before = state.summaries[name].size()
        state.set_summary(name, analyse_function(state, state.routines[name]))
        return state.summaries[name].size() != before

    stale, known = set(state.routines), -1
    for _ in range(_MAX_ROUNDS):
        if known != (known := state.size()):
            stale = set(state.routines)
        if not stale:
            return
        update_once(state, stale, update)


def _position(answer: Answer) -> tuple[str, int, str]:
    return answer.file, answer.line, answer.operation.name


def _constructors(state: AnalysisState, function: QualifiedRoutine) -> list[str]:
    """Return the qualified names of the constructors that may create a method's object."""
    if not function.routine.owner:
        return []
    owner = f"{function.module.name}.{function.routine.owner}"
    constructor = state.method(owner, "__init__")
    # A generated constructor also takes the fields of the base classes.
    return (
        [constructor]
        if constructor
        else [constructor_name(ancestor) for ancestor in state.lineage(owner)]
    )


def _call_inputs(
    functions: Sequence[str], inputs_flows: Iterable[ValueFlow], client_flows: Iterable[ValueFlow]
) -> ServiceCallInputs:
    """Return the parameters of functions that reach the request, and those that hold the client."""
    inputs_flows, client_flows = list(inputs_flows), list(client_flows)
    inputs = {
        (source.name, flow.steps)
        for name in functions
        for flow, source in parameter_flows(name, inputs_flows).items()
    }
    client_parameters = {
        source.name for name in functions for source in parameter_flows(name, client_flows).values()
    }
    return ServiceCallInputs(tuple(sorted(inputs)), tuple(sorted(client_parameters)))
