"""Abstract values: the sources that flow into an expression, and the steps on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.levels.app.providers.description import Operation, ServiceClient

_MAX_STEPS = 16
"""Maximum number of steps in a flow."""
_MAX_FLOWS = 3
"""Maximum number of flows from one source in a value."""


@dataclass(frozen=True, slots=True, order=True)
class FunctionParameter:
    """A parameter of a function, as a source."""

    routine: str
    name: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A source: the answer of a service to one call in the source text."""

    operation: Operation
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class OtherSource:
    """Any other source, such as a literal or the result of a library function."""


Source: TypeAlias = FunctionParameter | Answer | OtherSource
EACH = "each"
"""Step from a list to an element."""
LISTED = "in a list"
"""Step from an element to a list that contains it."""
MORE = "…"
"""Step that replaces all steps beyond the limit."""


@dataclass(frozen=True, slots=True)
class ValueFlow:
    """A source, and the steps that its value went through."""

    source: Source
    steps: tuple[str, ...] = ()

    def then(self, step: str) -> ValueFlow:
        """Return the flow with one more step; a repeat is dropped unless it takes an item."""
        is_item_step = step.startswith("[") or step == EACH
        is_repeated = self.steps[-1:] == (step,) and not is_item_step
        if not step or is_repeated or self.steps[-1:] == (MORE,):
            return self
        return ValueFlow(self.source, (*self.steps, step if len(self.steps) < _MAX_STEPS else MORE))


@dataclass(frozen=True, slots=True)
class Value:
    """Abstract value of an expression: its flows, and the objects that it may be."""

    flows: frozenset[ValueFlow] = frozenset()
    clients: frozenset[ServiceClient] = frozenset()
    instances: frozenset[str] = frozenset()
    """Classes of the application that the value may be an instance of, by qualified name."""
    operations: frozenset[Operation] = frozenset()
    """Operations whose client methods the value may be."""

    def __or__(self, other: Value) -> Value:
        if other is NOTHING or (
            other.flows <= self.flows
            and other.clients <= self.clients
            and other.instances <= self.instances
            and other.operations <= self.operations
        ):
            return self
        return Value(
            _shortest(self.flows | other.flows),
            self.clients | other.clients,
            self.instances | other.instances,
            self.operations | other.operations,
        )

    def __bool__(self) -> bool:
        return bool(self.flows or self.clients or self.instances or self.operations)

    def size(self) -> int:
        """Return the number of facts in the value."""
        known = (self.flows, self.clients, self.instances, self.operations)
        return sum(map(len, known))

    def then(self, step: str) -> Value:
        """Return the value after a step; only steps into and out of lists keep objects."""
        flows = _shortest({flow.then(step) for flow in self.flows})
        is_list_step = step in {EACH, LISTED} or step.startswith("[")
        if not is_list_step:
            return Value(flows)
        return Value(flows, instances=self.instances, operations=self.operations)


NOTHING = Value()
OTHER_SOURCE = Value(frozenset({ValueFlow(OtherSource())}))


def join_values(values: Iterable[Value]) -> Value:
    """Return the join of values."""
    joined = NOTHING
    for value in values:
        joined |= value
    return joined


def _shortest(flows: Iterable[ValueFlow]) -> frozenset[ValueFlow]:
    """Return the shortest flows from each source, with `MORE` where flows were dropped."""
    flows = frozenset(flows)
    if len(flows) <= 1:
        return flows
    flows_by_source: dict[Source, list[ValueFlow]] = {}
    for flow in sorted(flows, key=lambda flow: (len(flow.steps), flow.steps)):
        known = flows_by_source.setdefault(flow.source, [])
        if len(known) < _MAX_FLOWS:
            known.append(flow)
        elif len(known) == _MAX_FLOWS:
            known.append(ValueFlow(flow.source, (MORE,)))
    return frozenset(flow for known in flows_by_source.values() for flow in known)
