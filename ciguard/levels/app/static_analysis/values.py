"""What is known of the value of an expression: where it comes from, and on which way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.levels.app.providers.description import Operation, ServiceClient

_MAX_STEPS = 16
_MAX_FLOWS = 3


@dataclass(frozen=True, slots=True, order=True)
class FunctionParameter:
    """A function's parameter."""

    routine: str
    name: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a service answers to one call in the text."""

    operation: Operation
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Anything else: a literal, what another function returns."""


Source: TypeAlias = FunctionParameter | Answer | Elsewhere
EACH = "each"
"""Step from a list to what is in it."""
LISTED = "in a list"
"""Step from what is put into a list to the list."""
MORE = "…"
"""Step for those that are too many to tell."""


@dataclass(frozen=True, slots=True)
class ValueFlow:
    """A source, and what was done to what came from it."""

    source: Source
    steps: tuple[str, ...] = ()

    def then(self, step: str) -> ValueFlow:
        """Return it after one more step; the same twice in a row counts once."""
        is_taken_out = step.startswith("[") or step == EACH
        is_repeated = self.steps[-1:] == (step,) and not is_taken_out
        if not step or is_repeated or self.steps[-1:] == (MORE,):
            return self
        return ValueFlow(self.source, (*self.steps, step if len(self.steps) < _MAX_STEPS else MORE))


@dataclass(frozen=True, slots=True)
class Value:
    """All that an expression may come from, and what it may be."""

    flows: frozenset[ValueFlow] = frozenset()
    clients: frozenset[ServiceClient] = frozenset()
    instances: frozenset[str] = frozenset()
    """Classes of the application, qualified, that it may be an object of."""
    operations: frozenset[Operation] = frozenset()
    """Methods of clients that it may be."""

    def __or__(self, other: Value) -> Value:
        if other is NOTHING or (
            other.flows <= self.flows
            and other.clients <= self.clients
            and other.instances <= self.instances
            and other.operations <= self.operations
        ):
            return self
        return Value(
            _few(self.flows | other.flows),
            self.clients | other.clients,
            self.instances | other.instances,
            self.operations | other.operations,
        )

    def __bool__(self) -> bool:
        return bool(self.flows or self.clients or self.instances or self.operations)

    def size(self) -> int:
        """Return how much is known of it."""
        known = (self.flows, self.clients, self.instances, self.operations)
        return sum(map(len, known))

    def then(self, step: str) -> Value:
        """Return what a step makes of it: no client any more, the same only out of a list."""
        flows = _few({flow.then(step) for flow in self.flows})
        is_held = step in {EACH, LISTED} or step.startswith("[")
        if not is_held:
            return Value(flows)
        return Value(flows, instances=self.instances, operations=self.operations)


NOTHING = Value()
ELSEWHERE = Value(frozenset({ValueFlow(Elsewhere())}))


def together(values: Iterable[Value]) -> Value:
    """Return what is known of a value that comes from any of these."""
    found = NOTHING
    for value in values:
        found |= value
    return found


def _few(flows: Iterable[ValueFlow]) -> frozenset[ValueFlow]:
    """Return the shortest ways from each source, and a note where there are more."""
    flows = frozenset(flows)
    if len(flows) <= 1:
        return flows
    kept: dict[Source, list[ValueFlow]] = {}
    for flow in sorted(flows, key=lambda flow: (len(flow.steps), flow.steps)):
        known = kept.setdefault(flow.source, [])
        if len(known) < _MAX_FLOWS:
            known.append(flow)
        elif len(known) == _MAX_FLOWS:
            known.append(ValueFlow(flow.source, (MORE,)))
    return frozenset(flow for known in kept.values() for flow in known)
