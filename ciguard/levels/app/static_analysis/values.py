"""Abstract values: the sources that flow into an expression, and the steps on the way."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.levels.app.providers.description import Operation, ServiceClient

_MAX_STEPS = 16
"""Maximum number of steps in a flow."""
_MAX_FLOWS = 3
"""Maximum number of flows from one source in a value."""


_CONSTANT_INDEX = re.compile(r"\[(?P<key>-?\d+|'[^']*')\]$|\.(?:get|pop)\((?P<name>'[^']*')")
"""Step that reads the item under a constant index."""
_INTEGER_INDEX = re.compile(r"\[-?\d+\]")
_FIELD = re.compile(r"\.(?P<attribute>\w+)|\['(?P<key>\w+)'\]")
"""Step that reads a field."""


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
ITEM = "item "
"""Begin of a step from a value to a tuple or dictionary that has it under a constant index."""
KEYED, VALUED = "as a key", "as a value"
"""Steps from an object to a dictionary that has it as any key, or as the value of one."""
INTO = "into "
"""Begin of a step into a function of the application, which changes nothing."""
DECIDES = "decides"
"""Step from a condition to a literal that its branch assigns or returns, or by which it counts."""
MORE = "…"
"""Step that replaces all steps beyond the limit."""
_READS_KEYS = frozenset({EACH, ".keys()", "list()", "set()", "sorted()", "tuple()"})
"""Steps from a dictionary to its keys, besides a search for one."""
_LISTS = {".values()": LISTED}
_PAIR = {"0": KEYED, "1": VALUED}
"""Index in a pair → step to the dictionary of a list of such pairs."""
_KEEPS_TUPLES = frozenset({"list()", "reversed()", "set()", "sorted()", "tuple()"})
"""Steps from a list to a list of the same tuples or dictionaries."""


@dataclass(frozen=True, slots=True)
class ValueFlow:
    """A source, and the steps that its value went through."""

    source: Source
    steps: tuple[str, ...] = ()

    def then(self, step: str) -> ValueFlow | None:
        """Return the flow with one more step; a repeat is dropped unless it takes an item.

        None if the step reads another item of a tuple or dictionary than this one, or the results
        of another operation than this one.
        """
        if isinstance(self.source, Answer) and self.source.operation.fields_of_others:
            field = _field_of(step)
            if field in self.source.operation.fields_of_others:
                return None
            if field in self.source.operation.fills:
                into = (known for known in self.steps if known.startswith(INTO))
                return ValueFlow(self.source, (*into, step))
        item = _item_of(self.steps)
        if item and _CONSTANT_INDEX.match(step):
            return self._taken_out() if _is_index_of(step, item) else None
        if _outer_step(self.steps) in {KEYED, VALUED}:
            return self._out_of_dictionary(step)
        return self._out_of_list(step) or self._appended(step)

    def then_all(self, *steps: str) -> ValueFlow | None:
        """Return the flow with more steps; None if one of them reads something else."""
        flow: ValueFlow | None = self
        for step in steps:
            flow = flow.then(step) if flow is not None else None
        return flow

    def _appended(self, step: str) -> ValueFlow:
        is_item_step = step.startswith(("[", ITEM)) or step == EACH
        is_repeated = self.steps[-1:] == (step,) and not is_item_step
        if not step or is_repeated or self.steps[-1:] == (MORE,):
            return self
        return ValueFlow(self.source, (*self.steps, step if len(self.steps) < _MAX_STEPS else MORE))

    def _out_of_list(self, step: str) -> ValueFlow | None:
        """Return the flow of a list of tuples or dictionaries after a step from the list.

        None if it is no such list, or if the step has no meaning of its own for it.
        """
        inner = ValueFlow(self.source, self.steps[:-1])
        item = _item_of(inner.steps)
        is_dictionary = _outer_step(inner.steps) in {KEYED, VALUED}
        if self.steps[-1:] != (LISTED,) or not (item or is_dictionary):
            return None
        if step == EACH or _INTEGER_INDEX.fullmatch(step):
            return inner
        if step == "dict()" and item in _PAIR:
            return inner._taken_out().then(_PAIR[item])
        return self if step in _KEEPS_TUPLES else None

    def _out_of_dictionary(self, step: str) -> ValueFlow | None:
        """Return the flow of a dictionary's key or value after a step from the dictionary.

        None if the step reads only the keys and this is a value, or the other way round.
        """
        if step == "dict()":
            return self
        if step.startswith((INTO, ITEM)) or step in {LISTED, KEYED, VALUED}:
            return self._appended(step)
        is_key, inner = _outer_step(self.steps) == KEYED, self._taken_out()
        reads_keys = step in _READS_KEYS or step.startswith(("in ", "not in "))
        if (reads_keys and not is_key) or (step == ".values()" and is_key):
            return None
        is_look_up = step.startswith(("[", ".get(", ".pop("))
        if step == EACH or (is_look_up and _item_of(inner.steps)):
            return inner
        if step == ".items()":
            return inner.then_all(f"{ITEM}{0 if is_key else 1}", LISTED)
        return inner.then_all(LISTED, step) if reads_keys else inner.then(_LISTS.get(step, step))

    def _taken_out(self) -> ValueFlow:
        """Return the flow without the step into its tuple or dictionary."""
        steps = self.steps
        index = max(at for at, known in enumerate(steps) if not known.startswith(INTO))
        return ValueFlow(self.source, (*steps[:index], *steps[index + 1 :]))

    def unpacked(self, index: int) -> ValueFlow | None:
        """Return the flow to a variable that is assigned the item at an index."""
        return self.then(f"[{index}]") if _item_of(self.steps) else self


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
        flows = _shortest(filter(None, (flow.then(step) for flow in self.flows)))
        is_list_step = step in {EACH, LISTED} or step.startswith("[")
        if not is_list_step:
            return Value(flows)
        return Value(flows, instances=self.instances, operations=self.operations)

    def as_item(self, index: object) -> Value:
        """Return the value as an item of a tuple or dictionary, which still has its objects."""
        return self.inside(f"{ITEM}{index!r}")

    def inside(self, step: str) -> Value:
        """Return the value after a step into a collection, which still has its objects."""
        return replace(self, flows=frozenset(filter(None, (one.then(step) for one in self.flows))))

    def unpacked(self, index: int) -> Value:
        """Return the value of a variable that is assigned an item of this value."""
        flows = filter(None, (flow.unpacked(index) for flow in self.flows))
        return replace(self, flows=frozenset(flows))


NOTHING = Value()
OTHER_SOURCE = Value(frozenset({ValueFlow(OtherSource())}))


def join_values(values: Iterable[Value]) -> Value:
    """Return the join of values."""
    joined = NOTHING
    for value in values:
        joined |= value
    return joined


def dictionary_value(keys: Value, values: Value) -> Value:
    """Return the value of a dictionary, by those of its keys and its values."""
    return keys.inside(KEYED) | values.inside(VALUED)


def paired_value(elements: Iterable[Value]) -> Value:
    """Return the value of a list of tuples, by those of the elements of its tuples."""
    return join_values(
        element.as_item(index).then(LISTED) for index, element in enumerate(elements)
    )


def _outer_step(steps: tuple[str, ...]) -> str:
    """Return the last step that changes the value; empty if none does."""
    return next((step for step in reversed(steps) if not step.startswith(INTO)), "")


def _item_of(steps: tuple[str, ...]) -> str:
    """Return the index under which a tuple or dictionary has a value; empty if none has it."""
    outer = _outer_step(steps)
    return outer.removeprefix(ITEM) if outer.startswith(ITEM) else ""


def _field_of(step: str) -> str:
    """Return the field that a step reads, as an attribute or by its key; empty if it reads none."""
    match = _FIELD.fullmatch(step)
    return (match["attribute"] or match["key"]) if match else ""


def _is_index_of(step: str, item: str) -> bool:
    """Return whether a step reads the item under an index; also one counted from the end."""
    match = _CONSTANT_INDEX.match(step)
    index = (match["key"] or match["name"]) if match else ""
    return index == item or index.startswith("-")


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
