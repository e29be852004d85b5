"""Draws whole calls of annotated functions: valid ones, by construction as far as that goes.

Arguments are drawn in the order in which they depend on each other. Preconditions that can be
answered here are; what only living objects can answer is left to the callee.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

from ciguard.domain.values import CallValue, ListValue, LiteralValue, TupleValue, Value
from ciguard.functions.drawing.plan import DrawingPlan, plan_of
from ciguard.functions.drawing.values import Drawer, HypothesisSource, RandomSource, SeededSource
from ciguard.functions.in_target.describing.encoding import generator_call
from ciguard.functions.solving.constraints import int_range, lengths
from ciguard.functions.solving.expressions import RaisesError, UnknownError, evaluate, truth
from ciguard.functions.solving.narrowing import narrowed
from ciguard.functions.solving.resolving import ImpossibleError, resolved
from ciguard.functions.solving.views import ObjectView, view
from ciguard.functions.specs.calls import MAIN, Arguments, Call
from ciguard.functions.specs.kinds import IntsIn, Lists
from ciguard.values import OneOf

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import DrawFn, SearchStrategy

    from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec
    from ciguard.functions.specs.kinds import Spec


class NoValidCallError(Exception):
    """No valid call was found with what is drawn so far."""


def call_strategy(function: FunctionSpec, module: ModuleSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy of valid calls; what is not valid it rejects."""
    from hypothesis import reject  # noqa: PLC0415 - takes long to import; campaigns never need it
    from hypothesis import strategies as st  # noqa: PLC0415 - as above

    @st.composite
    def calls(draw: DrawFn) -> Call:
        try:
            return _Caller(module, HypothesisSource(draw)).call(function)
        except NoValidCallError:
            return reject()

    return calls()


def call_sampler(
    function: FunctionSpec, module: ModuleSpec
) -> Callable[[random.Random], Call | None]:
    """Return a function that draws a valid call, or None where what it drew is not valid."""

    def sample(rng: random.Random) -> Call | None:
        try:
            return _Caller(module, SeededSource(rng)).call(function)
        except NoValidCallError:
            return None

    return sample


def main_strategy(main: MainSpec) -> SearchStrategy[Call]:
    """Return a Hypothesis strategy of runs of a module as a script."""
    from hypothesis import strategies as st  # noqa: PLC0415 - as above

    return st.composite(lambda draw: _main_call(main, HypothesisSource(draw)))()


def main_sampler(main: MainSpec) -> Callable[[random.Random], Call]:
    """Return a function that draws a run of a module as a script."""
    return lambda rng: _main_call(main, SeededSource(rng))


def _main_call(main: MainSpec, source: RandomSource) -> Call:
    def no_call(name: str) -> Value:
        raise NoValidCallError(name)

    args = Drawer(source, no_call).draw(main.args)
    return Call(function=MAIN, arguments=(("args", args),))


class _Caller:
    """Draws one call, with the calls inside it."""

    def __init__(self, module: ModuleSpec, source: RandomSource) -> None:
        self._module = module
        self._source = source

    def call(self, function: FunctionSpec) -> Call:
        outer = self.call(self._module.function(function.outer)) if function.outer else None
        made_with = self._constructor(function.constructor) if function.constructor else None
        known = {} if made_with is None else {"self": self._object(function.constructor, made_with)}
        return Call(
            function=function.name,
            arguments=self._arguments(function, known),
            constructor=made_with,
            outer=outer,
        )

    def _object(self, constructor: str, made_with: Arguments) -> ObjectView:
        """Return what is known of an object that is made with such arguments."""
        function = self._module.function(constructor)
        scope = {**plan_of(function).defaults, **{name: view(value) for name, value in made_with}}
        found = {}
        for name, expression in function.attributes:
            with suppress(UnknownError, RaisesError):
                found[name] = evaluate(expression, scope)
        return ObjectView(found)

    def _constructor(self, name: str) -> Arguments:
        """Return the arguments of what makes an instance or another object."""
        constructor = self._module.function(name)
        if constructor.examples:
            return constructor.examples[self._source.index(len(constructor.examples))]
        return self._arguments(constructor)

    def _made(self, name: str) -> Value:
        return CallValue(generator_call(name), (), self._constructor(name))

    def _arguments(
        self, function: FunctionSpec, known: Mapping[str, Any] | None = None
    ) -> Arguments:
        plan = plan_of(function)
        drawer = Drawer(self._source, self._made)
        drawn: dict[str, Value] = {}
        scope: dict[str, Any] = {**plan.defaults, **(known or {})}
        for name in plan.order:
            drawn[name] = self._argument(plan, name, drawer, scope)
            scope[name] = self._view(drawn[name])
        return tuple((p.name, drawn[p.name]) for p in function.parameters if p.name in drawn)

    def _view(self, value: Value) -> Any:
        """Return what expressions see of a value; of an object what its constructor keeps."""
        if isinstance(value, CallValue):
            made_by = self._module.by_name.get(value.function.lstrip(":"))
            if made_by is not None and made_by.kind == "constructor":
                return self._object(made_by.name, value.keywords)
        return view(value)

    def _argument(
        self, plan: DrawingPlan, name: str, drawer: Drawer, scope: dict[str, Any]
    ) -> Value:
        """Return a value that no condition refuses which is decided with it."""
        conditions = plan.parts_decided_with(name)
        try:
            spec = resolved(plan.specs[name], scope)
            if plan.about[name]:
                spec = narrowed(spec, name, plan.about[name], scope, plan.undrawn(scope))
            for attempt in range(self._source.tries):
                value = drawer.draw(spec)
                if holds(conditions, {**scope, name: self._view(value)}):
                    return value
                if attempt == _PLAIN_TRIES:
                    spec = _counted_out(spec, conditions, name, scope)
        except (ImpossibleError, UnknownError) as error:
            raise NoValidCallError(name) from error
        raise NoValidCallError(name)


_PLAIN_TRIES = 1
"""After so many values were refused, all of a few are tried in turn."""
_SHORT = 1024


def _counted_out(spec: Spec, conditions: tuple[str, ...], name: str, scope: dict[str, Any]) -> Spec:
    """Return those of a few integers, or lists of them, that conditions allow; else the same."""
    match spec:
        case IntsIn() if (numbers := _few(spec)) is not None:
            values: list[Value] = [LiteralValue(number) for number in numbers]
        case Lists(item=IntsIn() as item) if (numbers := _few(item)) is not None:
            least, most = lengths(spec.min_len, spec.max_len)
            if sum(len(numbers) ** length for length in range(least, most + 1)) > _SHORT:
                return spec
            values = _lists(numbers, range(least, most + 1), is_tuple=spec.is_tuple)
        case _:
            return spec
    return OneOf(tuple(v for v in values if holds(conditions, {**scope, name: view(v)})))


def _few(spec: IntsIn) -> range | None:
    """Return the integers of a short range."""
    least, most = int_range(spec)
    numbers = range(least, most + 1, spec.step)
    return numbers if len(numbers) <= _SHORT else None


def _lists(numbers: range, sizes: range, *, is_tuple: bool) -> list[Value]:
    make = TupleValue if is_tuple else ListValue
    drawn = [LiteralValue(number) for number in numbers]
    return [make(items) for size in sizes for items in product(drawn, repeat=size)]


def holds(conditions: tuple[str, ...], scope: dict[str, Any]) -> bool:
    """Return whether no condition is known to fail."""
    for text in conditions:
        try:
            if not truth(evaluate(text, scope)):
                return False
        except RaisesError:
            return False
        except UnknownError:
            continue  # left to the callee
    return True
