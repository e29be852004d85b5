"""Summaries of an application's functions, in terms of their parameters, up to a fixed point."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.values import (
    NOTHING,
    OTHER_SOURCE,
    Answer,
    FunctionParameter,
    Value,
    ValueFlow,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from ciguard.levels.app.providers.description import (
        Operation,
        ProviderDescription,
        ServiceClient,
    )
    from ciguard.levels.app.static_analysis.application import (
        Application,
        ApplicationModule,
        Routine,
    )
    from ciguard.levels.app.static_analysis.conditions import Goal

    _Key = TypeVar("_Key", Goal, Answer)


@dataclass(slots=True)
class Summary:
    """Summary of one function, in terms of its parameters."""

    returned: Value = NOTHING
    """Value that the function returns or yields."""
    goals: dict[Goal, frozenset[ValueFlow]] = field(default_factory=dict)
    """Goals of the function and of callees that its arguments reach → flows into them."""
    call_inputs: dict[Answer, frozenset[ValueFlow]] = field(default_factory=dict)
    """Service calls of the function and of callees that its arguments reach → input flows."""
    clients: dict[Answer, frozenset[ValueFlow]] = field(default_factory=dict)
    """Service calls whose client comes from outside the function → flows of the client."""
    direct_calls: set[Answer] = field(default_factory=set)
    """Service calls in the function's own body."""
    callees: set[str] = field(default_factory=set)
    """Qualified names of the application's functions that it calls."""

    def size(self) -> int:
        """Return the number of facts, which only grows."""
        flows = (*self.goals.values(), *self.call_inputs.values(), *self.clients.values())
        entries = (
            len(self.goals) + len(self.call_inputs) + len(self.direct_calls) + len(self.callees)
        )
        return sum(len(flow_set) for flow_set in flows) + entries + self.returned.size()


@dataclass(frozen=True, slots=True)
class QualifiedRoutine:
    """A function and its module."""

    module: ApplicationModule
    routine: Routine

    @property
    def qualified_name(self) -> str:
        """Qualified name within the application."""
        return f"{self.module.name}.{self.routine.name}" if self.module.name else self.routine.name


class AnalysisState:
    """State of the analysis: summaries of all functions, variables and fields."""

    def __init__(self, application: Application, providers: Sequence[ProviderDescription]) -> None:
        self.providers = tuple(providers)
        self.routines = {
            function.qualified_name: function
            for module in application.modules
            for function in (QualifiedRoutine(module, routine) for routine in module.routines)
        }
        self.summaries = {name: Summary() for name in self.routines}
        self.callers: dict[str, set[str]] = {}
        outer = {
            f"{function.module.name}.{function.routine.outer}"
            for function in self.routines.values()
        }
        mains = {f"{module.name}.{MAIN}" for module in application.modules}
        self._owners_of_shared_variables = outer | mains
        self.variables: dict[tuple[str, str], Value] = {}
        """Variables of modules and of enclosing functions, by (qualified owner, name)."""
        self.fields: dict[str, dict[str, Value]] = {}
        """Attribute → qualified class → value of that attribute of its instances."""
        self.passed_clients: dict[tuple[str, str], frozenset[ServiceClient]] = {}
        """Clients that callers pass as arguments, by (qualified function, parameter)."""
        self._lineages: dict[str, list[str]] = {}
        self._bases = {
            f"{module.name}.{name}": [
                base if "." in base else f"{module.name}.{base}" for base in bases
            ]
            for module in application.modules
            for name, bases in module.classes.items()
        }
        self._constructor_fields = {
            f"{module.name}.{name}": fields
            for module in application.modules
            for name, fields in module.fields.items()
        }
        self._clients_by_constructor: dict[str, list[ServiceClient]] = {}
        for provider in providers:
            for client in provider.clients:
                for constructor in client.factories:
                    self._clients_by_constructor.setdefault(constructor, []).append(client)

    # --- names ----------------------------------------------------------------------------------

    def is_class(self, name: str) -> bool:
        """Return whether a qualified name is a class of the application."""
        return name in self._bases

    def method(self, class_name: str, name: str) -> str:
        """Return the qualified name of a method, own or inherited; empty if there is none."""
        for ancestor in self.lineage(class_name):
            if f"{ancestor}.{name}" in self.routines:
                return f"{ancestor}.{name}"
        return ""

    def lineage(self, class_name: str) -> list[str]:
        """Return a class and its bases within the application."""
        if class_name not in self._lineages:
            ancestors, waiting = list[str](), [class_name]
            while waiting:
                current = waiting.pop(0)
                if current in self._bases and current not in ancestors:
                    ancestors.append(current)
                    waiting += self._bases[current]
            self._lineages[class_name] = ancestors
        return self._lineages[class_name]

    def constructor_fields(self, class_name: str) -> list[str]:
        """Return the parameters of a class's generated constructor; empty if it has none."""
        fields_by_class = (
            self._constructor_fields.get(ancestor, ())
            for ancestor in reversed(self.lineage(class_name))
        )
        return list(dict.fromkeys(name for fields in fields_by_class for name in fields))

    def clients_created_by(self, name: str) -> Sequence[ServiceClient]:
        """Return the clients that a constructor or factory creates, by its qualified name."""
        return self._clients_by_constructor.get(name, ())

    def operation_by_name(self, module: ApplicationModule, method: str) -> Operation | None:
        """Return the operation that a method of an unknown object probably is; None if unclear.

        The module must import the provider's client, and the method's name must be unambiguous.
        Calls of clients that the analysis could not follow are found in this way.
        """
        operations = [
            operation
            for provider in self.providers
            if any(module.names.imports(package) for package in provider.packages)
            for operation in provider.operations(method)
        ]
        return operations[0] if len(operations) == 1 and method not in _AMBIGUOUS_NAMES else None

    # --- facts ----------------------------------------------------------------------------------

    def set_summary(self, name: str, summary: Summary) -> None:
        """Store the summary of a function, and update the callers of its callees."""
        self.summaries[name] = summary
        for callee in summary.callees:
            self.callers.setdefault(callee, set()).add(name)

    def join_variable(self, owner: str, name: str, value: Value) -> None:
        """Join a value into a variable, unless no other function can read it."""
        if owner in self._owners_of_shared_variables:
            self.variables[owner, name] = self.variables.get((owner, name), NOTHING) | value

    def add_clients(self, function: str, name: str, clients: frozenset[ServiceClient]) -> None:
        """Add clients that a caller passes as a parameter of a function."""
        known = self.passed_clients.get((function, name), frozenset())
        self.passed_clients[function, name] = known | clients

    def join_field(self, class_name: str, name: str, value: Value) -> None:
        """Join a value into an attribute of a class's instances."""
        known = self.fields.setdefault(name, {})
        known[class_name] = known.get(class_name, NOTHING) | value

    def field(self, class_name: str, name: str) -> Value:
        """Return the join of an attribute's values in a class, its bases and its subclasses."""
        joined = NOTHING
        for owner, value in self.fields.get(name, {}).items():
            if (
                owner == ANY
                or owner in self.lineage(class_name)
                or class_name in self.lineage(owner)
            ):
                joined |= value
        return joined

    def size(self) -> int:
        """Return the number of facts about variables and fields, which only grows."""
        fields = (value for known in self.fields.values() for value in known.values())
        values = (*self.variables.values(), *fields)
        return sum(value.size() for value in values) + sum(map(len, self.passed_clients.values()))


_AMBIGUOUS_NAMES = frozenset({
    "analyze", "analyze_image", "classify_document", "compare_faces", "crop_hints", "detect",
    "detect_language", "detect_objects", "entities", "product_search", "recognize",
    "recognize_once", "sentiment", "annotate_image", "annotate_text",
})  # fmt: skip
"""Operation names that are common method names of other objects too."""
ANY = "*"
"""Wildcard for the class of an object of unknown class."""


def applied_summary(
    summary: Summary, callee: QualifiedRoutine, arguments: Mapping[str, Value], step: str
) -> Summary:
    """Return the summary of a callee applied to arguments, in terms of the caller's sources.

    Args:
        summary: the callee's summary.
        callee: the called function.
        arguments: the value of each argument, by parameter.
        step: the step that is added to each flow through the call.
    """

    def substitute(flows: Iterable[ValueFlow]) -> frozenset[ValueFlow]:
        open_flows = parameter_flows(callee.qualified_name, flows)
        substituted_flows = set(flows).difference(open_flows)
        for flow, source in open_flows.items():
            for argument_flow in arguments.get(source.name, NOTHING).flows or OTHER_SOURCE.flows:
                extended = argument_flow.then_all(step, *flow.steps)
                if extended is not None:
                    substituted_flows.add(extended)
        return frozenset(substituted_flows)

    def substitute_open(
        flows_by_key: Mapping[_Key, frozenset[ValueFlow]],
    ) -> dict[_Key, frozenset[ValueFlow]]:
        open_flows_by_key = (
            (key, parameter_flows(callee.qualified_name, flows))
            for key, flows in flows_by_key.items()
        )
        return {key: substitute(flows) for key, flows in open_flows_by_key if flows}

    return Summary(
        returned=replace(summary.returned, flows=substitute(summary.returned.flows)),
        goals=substitute_open(summary.goals),
        call_inputs=substitute_open(summary.call_inputs),
        clients={
            answer: frozenset(
                flow
                for source in parameter_flows(callee.qualified_name, flows).values()
                for flow in arguments.get(source.name, NOTHING).flows
                if not flow.steps  # a value derived from a parameter is not a client from outside
            )
            for answer, flows in summary.clients.items()
        },
    )


def parameter_flows(name: str, flows: Iterable[ValueFlow]) -> dict[ValueFlow, FunctionParameter]:
    """Return the flows that begin at a parameter of a function, each with the parameter."""
    sources = ((flow, flow.source) for flow in flows)
    return {
        flow: source
        for flow, source in sources
        if isinstance(source, FunctionParameter) and source.routine == name
    }
