"""What each function of an application does with what it is given, until nothing more comes out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.levels.app.static_analysis.application import MAIN
from ciguard.levels.app.static_analysis.values import (
    ELSEWHERE,
    NOTHING,
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
    """Of one function, in terms of its parameters."""

    returned: Value = NOTHING
    goals: dict[Goal, frozenset[ValueFlow]] = field(default_factory=dict)
    """Its own and those of what it calls that depend on what it gives, with what they depend on."""
    asked: dict[Answer, frozenset[ValueFlow]] = field(default_factory=dict)
    """Calls of services, its own and those that are given what it gives, with what they are given.
    """
    clients: dict[Answer, frozenset[ValueFlow]] = field(default_factory=dict)
    """Calls of services, by clients that come from outside, and where those come from."""
    own: set[Answer] = field(default_factory=set)
    """Calls of services in its own text."""
    callees: set[str] = field(default_factory=set)
    """Functions of the application that it calls, qualified."""

    def size(self) -> int:
        """Return how much is known: it only grows."""
        flows = (*self.goals.values(), *self.asked.values(), *self.clients.values())
        seen = len(self.goals) + len(self.asked) + len(self.own) + len(self.callees)
        return sum(len(one) for one in flows) + seen + self.returned.size()


@dataclass(frozen=True, slots=True)
class Placed:
    """A function and where it is."""

    module: ApplicationModule
    routine: Routine

    @property
    def qualified(self) -> str:
        """Its name within the application."""
        return f"{self.module.name}.{self.routine.name}" if self.module.name else self.routine.name


class World:
    """What is known of all functions by now."""

    def __init__(self, application: Application, providers: Sequence[ProviderDescription]) -> None:
        self.providers = tuple(providers)
        self.placed = {
            placed.qualified: placed
            for module in application.modules
            for placed in (Placed(module, routine) for routine in module.routines)
        }
        self.summaries = {name: Summary() for name in self.placed}
        self.callers: dict[str, set[str]] = {}
        outer = {f"{one.module.name}.{one.routine.outer}" for one in self.placed.values()}
        mains = {f"{module.name}.{MAIN}" for module in application.modules}
        self._seen_from_inside = outer | mains
        self.variables: dict[tuple[str, str], Value] = {}
        """Of modules, and of functions that others stand in: (qualified owner, name)."""
        self.fields: dict[str, dict[str, Value]] = {}
        """Of objects: attribute → qualified class → what it may be."""
        self.passed: dict[tuple[str, str], frozenset[ServiceClient]] = {}
        """Clients that parameters of functions may be: (qualified function, name)."""
        self._lineages: dict[str, list[str]] = {}
        self._bases = {
            f"{module.name}.{name}": [
                base if "." in base else f"{module.name}.{base}" for base in bases
            ]
            for module in application.modules
            for name, bases in module.classes.items()
        }
        self._given = {
            f"{module.name}.{name}": fields
            for module in application.modules
            for name, fields in module.fields.items()
        }
        self._makers: dict[str, list[ServiceClient]] = {}
        for provider in providers:
            for client in provider.clients:
                for maker in client.made_by:
                    self._makers.setdefault(maker, []).append(client)

    # --- names ----------------------------------------------------------------------------------

    def is_class(self, name: str) -> bool:
        """Return whether that is a class of the application."""
        return name in self._bases

    def method(self, of: str, name: str) -> str:
        """Return the method of a class, its own or inherited, by its qualified name; else empty."""
        for one in self.lineage(of):
            if f"{one}.{name}" in self.placed:
                return f"{one}.{name}"
        return ""

    def lineage(self, of: str) -> list[str]:
        """Return a class and those of the application that it inherits from."""
        if of not in self._lineages:
            found, waiting = list[str](), [of]
            while waiting:
                one = waiting.pop(0)
                if one in self._bases and one not in found:
                    found.append(one)
                    waiting += self._bases[one]
            self._lineages[of] = found
        return self._lineages[of]

    def given_fields(self, of: str) -> list[str]:
        """Return the fields that a class's generated constructor takes, in its order."""
        several = (self._given.get(one, ()) for one in reversed(self.lineage(of)))
        return list(dict.fromkeys(name for fields in several for name in fields))

    def makers(self, name: str) -> Sequence[ServiceClient]:
        """Return the clients that something of this qualified name makes."""
        return self._makers.get(name, ())

    def likely(self, module: ApplicationModule, method: str) -> Operation | None:
        """Return the operation that a method of an unknown object is, where it can be told.

        Only in a module that imports the provider's client, and if no other operation of the
        provider has the same name: that is how what is handed around out of sight is found.
        """
        found = [
            operation
            for provider in self.providers
            if any(module.names.imports(package) for package in provider.packages)
            for operation in provider.operations(method)
        ]
        return found[0] if len(found) == 1 and method not in _COMMON else None

    # --- what is learned ------------------------------------------------------------------------

    def set_summary(self, name: str, summary: Summary) -> None:
        """Note what a function does."""
        self.summaries[name] = summary
        for callee in summary.callees:
            self.callers.setdefault(callee, set()).add(name)

    def set_variable(self, owner: str, name: str, value: Value) -> None:
        """Note what a variable may be, if functions elsewhere see it."""
        if owner in self._seen_from_inside:
            self.variables[owner, name] = self.variables.get((owner, name), NOTHING) | value

    def set_clients(self, of: str, name: str, clients: frozenset[ServiceClient]) -> None:
        """Note which clients a parameter of a function may be, as a caller hands them on."""
        known = self.passed.get((of, name), frozenset())
        self.passed[of, name] = known | clients

    def set_field(self, of: str, name: str, value: Value) -> None:
        """Note what an attribute of a class's objects may be."""
        known = self.fields.setdefault(name, {})
        known[of] = known.get(of, NOTHING) | value

    def field(self, of: str, name: str) -> Value:
        """Return what an attribute of objects of a class, or one below it, may be."""
        found = NOTHING
        for one, value in self.fields.get(name, {}).items():
            if one == ANY or one in self.lineage(of) or of in self.lineage(one):
                found |= value
        return found

    def size(self) -> int:
        """Return how much is known of variables and objects: it only grows."""
        fields = (value for known in self.fields.values() for value in known.values())
        values = (*self.variables.values(), *fields)
        return sum(value.size() for value in values) + sum(map(len, self.passed.values()))


_COMMON = frozenset({
    "analyze", "analyze_image", "classify_document", "compare_faces", "crop_hints", "detect",
    "detect_language", "detect_objects", "entities", "product_search", "recognize",
    "recognize_once", "sentiment", "annotate_image", "annotate_text",
})  # fmt: skip
"""Methods of other things too."""
ANY = "*"
"""Stands for the class of an object of which nobody knows the class."""


def applied(summary: Summary, placed: Placed, given: Mapping[str, Value], step: str) -> Summary:
    """Return what a call comes to: its result, and the goals and services that it has a part in.

    Args:
        summary: of what is called.
        placed: what is called.
        given: by parameter.
        step: what the call is called in the way of a value.
    """

    def through(flows: Iterable[ValueFlow]) -> frozenset[ValueFlow]:
        begun = open_in(placed.qualified, flows)
        found = set(flows).difference(begun)
        for flow, source in begun.items():
            for before in given.get(source.name, NOTHING).flows or ELSEWHERE.flows:
                after = before.then(step)
                for one in flow.steps:
                    after = after.then(one)
                found.add(after)
        return frozenset(found)

    def given_to(known: Mapping[_Key, frozenset[ValueFlow]]) -> dict[_Key, frozenset[ValueFlow]]:
        several = ((one, open_in(placed.qualified, flows)) for one, flows in known.items())
        return {one: through(flows) for one, flows in several if flows}

    return Summary(
        returned=replace(summary.returned, flows=through(summary.returned.flows)),
        goals=given_to(summary.goals),
        asked=given_to(summary.asked),
        clients={
            answer: frozenset(
                flow
                for source in open_in(placed.qualified, flows).values()
                for flow in given.get(source.name, NOTHING).flows
                if not flow.steps  # what is made of something is no client that comes from outside
            )
            for answer, flows in summary.clients.items()
        },
    )


def open_in(name: str, flows: Iterable[ValueFlow]) -> dict[ValueFlow, FunctionParameter]:
    """Return the ways that begin at a parameter of a function: its callers decide what they are."""
    sources = ((flow, flow.source) for flow in flows)
    return {
        flow: source
        for flow, source in sources
        if isinstance(source, FunctionParameter) and source.routine == name
    }
