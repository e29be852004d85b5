"""Writes the Hypothesis test of one function as source text."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.functions.drawing.plan import dependencies_of, plan_of
from ciguard.functions.solving.box import Box
from ciguard.functions.solving.parsing import expression_tree, names_in
from ciguard.functions.writing.bounds import ArgumentBounds, bounds_of
from ciguard.functions.writing.call_source import string_literal
from ciguard.functions.writing.strategies import Strategies, strategy_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.specs.functions import Example, FunctionSpec, ModuleSpec

SELF = "self"
"""Name of the instance in tests of methods, the same as in conditions."""
_RESERVED_NAMES = frozenset(
    ("st", "np", "npst", "draw", "given", "assume", "settings", "arrays", "arguments")
)


@dataclass(frozen=True, slots=True)
class _DrawnArgument:
    """The strategy of one argument, and its conditions."""

    name: str
    strategy: str
    """Source text of the strategy."""
    guards: tuple[str, ...]
    """Conditions under which the strategy has a value, assumed before it is drawn."""
    assumptions: tuple[str, ...]
    """Conditions that are assumed after the argument is drawn."""
    is_bound: bool
    """True if the strategy depends on other arguments."""


@dataclass(slots=True)
class TestWriter:
    """Writer of the tests of a module's functions."""

    module: ModuleSpec
    strategies: Strategies
    written: set[str] = field(default_factory=set)
    """Names of the strategies that the file already contains."""

    __test__ = False  # pytest must not collect the class

    def test(self, function: FunctionSpec) -> str:
        """Return the test of a function, after the strategies that it needs."""
        parts = []
        drawn = self._drawn_arguments(function)
        plain = self._is_drawn_independently(function, drawn)
        if not plain and drawn:
            parts += self._arguments_strategy(function, drawn)
        constructor = self.module.functions_by_name.get(function.constructor)
        constructor_arguments = (
            self._constructor_strategy(constructor, parts) if constructor is not None else ""
        )
        parts.append(self._test(function, drawn, constructor_arguments, plain=plain))
        return "\n\n\n".join(parts)

    def generator(self, function: FunctionSpec) -> str:
        """Return the strategy for the values that a function generates."""
        lines = self._drawing_lines(function, self._drawn_arguments(function))
        call = _call_text(self._function_expression(function), function, "")
        name = strategy_name(function.name)
        return "\n".join(["@st.composite", f"def {name}(draw):", *lines, f"    return {call}"])

    def _function_expression(self, function: FunctionSpec) -> str:
        """Return an expression for a function, and record the import that it needs."""
        if ":" in function.name:
            module, _, name = function.name.partition(":")
            self.strategies.source.other_imports.add(f"import {module}")
            return f"{module}.{name}"
        return self.strategies.source.program_name(function.name)

    # --- drawing ----------------------------------------------------------------------------

    def _drawn_arguments(self, function: FunctionSpec) -> list[_DrawnArgument]:
        """Return the strategies of a function's arguments, in the order of drawing."""
        plan, dependencies = plan_of(function), dependencies_of(function)
        drawn: list[_DrawnArgument] = []
        self.strategies.box = Box(plan.defaults, plan.specs)
        for name in plan.order:
            spec = plan.specs[name]
            earlier = [argument.name for argument in drawn]
            conditions = [
                text for text in plan.conditions_ready_after(name) if SELF not in names_in(text)
            ]
            bounds = bounds_of(name, spec, tuple(conditions), earlier)
            self.strategies.symbols.clear()
            self.strategies.guards.clear()
            strategy = self.strategies.strategy_of(spec, bounds)
            guards = tuple(dict.fromkeys(self.strategies.guards))
            bounds.assumptions = [text for text in bounds.assumptions if not self._is_certain(text)]
            self._import_names(function, bounds.assumptions)
            is_bound = bool(
                dependencies[name] or guards or self.strategies.symbols or not bounds.is_independent
            )
            drawn.append(
                _DrawnArgument(name, strategy, guards, tuple(bounds.assumptions), is_bound)
            )
        return drawn

    def _is_certain(self, text: str) -> bool:
        """Return whether a condition holds for all values that the annotations allow."""
        tree = expression_tree(text)
        return tree is not None and self.strategies.box.verdict(tree) is True

    def _import_names(self, function: FunctionSpec, conditions: list[str]) -> None:
        """Record imports from the program of the names in conditions that are not arguments."""
        arguments = {parameter.name for parameter in function.parameters}
        source = self.strategies.source
        for text in conditions:
            if expression_tree(text) is None:
                continue
            for name in names_in(text) - arguments - _BUILTIN:
                if name == "np":
                    source.needs_numpy = True
                else:
                    source.program_names.add(name)

    def _is_drawn_independently(self, function: FunctionSpec, drawn: list[_DrawnArgument]) -> bool:
        """Return whether each argument can be drawn without the others, as an option of `given`."""
        root = (function.owner or function.name).partition(".")[0]
        names = {argument.name for argument in drawn}
        return not any(argument.is_bound for argument in drawn) and not names & (
            _RESERVED_NAMES | {root}
        )

    def _drawing_lines(self, function: FunctionSpec, drawn: list[_DrawnArgument]) -> list[str]:
        """Return the lines of a composite strategy that draw a function's arguments."""
        symbols: dict[str, str] = {}
        for parameter in function.parameters:
            if parameter.spec is not None:
                self.strategies.symbols.clear()
                self.strategies.strategy_of(parameter.spec, ArgumentBounds())
                symbols.update(self.strategies.symbols)
        lines = [f"    {line}" for line in symbols.values()]
        for argument in drawn:
            lines += [f"    assume({guard})" for guard in argument.guards]
            lines.append(f"    {argument.name} = draw({argument.strategy})")
            lines += [f"    assume({condition})" for condition in argument.assumptions]
        return lines

    def _arguments_strategy(self, function: FunctionSpec, drawn: list[_DrawnArgument]) -> list[str]:
        """Return the strategy for a function's arguments, as the only item of a list.

        The list is empty if the file already contains the strategy.
        """
        name = _arguments_strategy_name(function)
        if name in self.written:
            return []
        self.written.add(name)
        pairs = ", ".join(f"{string_literal(argument.name)}: {argument.name}" for argument in drawn)
        lines = ["@st.composite", f"def {name}(draw):", *self._drawing_lines(function, drawn)]
        return ["\n".join([*lines, f"    return {{{pairs}}}"])]

    def _constructor_strategy(self, constructor: FunctionSpec, parts: list[str]) -> str:
        """Return the strategy for a constructor's arguments.

        Args:
            constructor: the constructor.
            parts: definitions before the test; the definitions for the strategy are added.
        """
        if constructor.examples:
            return f"st.sampled_from([{', '.join(map(self._example, constructor.examples))}])"
        drawn = self._drawn_arguments(constructor)
        if self._is_drawn_independently(constructor, drawn) and not any(
            argument.assumptions for argument in drawn
        ):
            pairs = ", ".join(
                f"{string_literal(argument.name)}: {argument.strategy}" for argument in drawn
            )
            return f"st.fixed_dictionaries({{{pairs}}})"
        parts += self._arguments_strategy(constructor, drawn)
        return f"{_arguments_strategy_name(constructor)}()"

    # --- the test ---------------------------------------------------------------------------

    def _test(
        self,
        function: FunctionSpec,
        drawn: list[_DrawnArgument],
        constructor_arguments: str,
        *,
        plain: bool,
    ) -> str:
        """Return the test function of a function."""
        given: dict[str, str] = {}
        if plain:
            given = {argument.name: argument.strategy for argument in drawn}
        elif drawn:
            given = {"arguments": f"{_arguments_strategy_name(function)}()"}
        if constructor_arguments:
            given["constructor_arguments"] = constructor_arguments
        lines = [
            f"    assume({text})" for argument in drawn for text in argument.assumptions if plain
        ]
        callee = self._callee(function, lines)
        call = self._call(callee, function, "" if plain else "arguments")
        instance_conditions = [
            condition.text
            for condition in function.preconditions
            if SELF in names_in(condition.text)
        ]
        texts = [condition.text for condition in function.postconditions]
        self._import_names(function, instance_conditions)
        lines += self._assignments(function, [*instance_conditions, *texts], plain=plain)
        lines += [f"    assume({text})" for text in instance_conditions]
        lines += self._checked_call(function, call)
        head = [self._settings(function)]
        if given:
            texts = [f"{name}={text}" for name, text in given.items()]
            head.append(_given_decorator(texts))
        name = f"test_{_identifier(function.name.removesuffix('.__init__'))}"
        return "\n".join([*filter(None, head), f"def {name}({', '.join(given)}):", *lines])

    def _settings(self, function: FunctionSpec) -> str:
        """Return the decorator with the settings of a test."""
        if function.timeout is None:
            return "@relaxed"
        return f"@settings(relaxed, deadline={1000 * function.timeout:g})"

    def _callee(self, function: FunctionSpec, lines: list[str]) -> str:
        """Return the expression to call.

        Args:
            function: the called function.
            lines: lines of the test; the lines that build a method's instance are added.
        """
        if not function.constructor:
            return self._function_expression(function)
        name = function.name.rpartition(".")[2]
        constructor = self.module.function(function.constructor)
        owner = self.strategies.source.program_name(function.owner)
        lines += [
            "    try:",
            f"        {SELF} = {_call_text(owner, constructor, 'constructor_arguments')}",
            "    except Exception:",
            "        reject()  # the constructor has its own test",
        ]
        return SELF if function.is_instance_called else f"{SELF}.{name}"

    def _example(self, example: Example) -> str:
        pairs = [
            f"{string_literal(name)}: {self.strategies.source.expression(v)}" for name, v in example
        ]
        return f"{{{', '.join(pairs)}}}"

    def _call(self, callee: str, function: FunctionSpec, dictionary: str) -> str:
        if function.kind == "property":
            return callee
        return self.strategies.source.result_expression(
            _call_text(callee, function, dictionary), function
        )

    def _assignments(self, function: FunctionSpec, texts: list[str], *, plain: bool) -> list[str]:
        """Return assignments of the arguments and defaults that conditions use.

        Args:
            function: the tested function.
            texts: source texts of the conditions.
            plain: whether the arguments are variables already.
        """
        names = frozenset[str]().union(*map(names_in, texts))
        lines = []
        for parameter in function.parameters:
            name = parameter.name
            if name not in names:
                continue
            if parameter.spec is not None and not plain:
                lines.append(f"    {name} = arguments[{string_literal(name)}]")
            elif parameter.spec is None and parameter.default_value is not None:
                lines.append(
                    f"    {name} = {self.strategies.source.expression(parameter.default_value)}"
                )
        if function.kind == "classmethod" and "cls" in names:
            lines.append(f"    cls = {self.strategies.source.program_name(function.owner)}")
        return lines

    def _checked_call(self, function: FunctionSpec, call: str) -> list[str]:
        """Return the lines that make the call, and check its exception and postconditions."""
        if not function.postconditions and not function.allowed_exceptions:
            return [f"    {call}"]
        statement = f"result = {call}" if function.postconditions else call
        lines = [f"    {statement}"]
        if function.allowed_exceptions:
            lines = [
                "    try:",
                f"        {statement}",
                *_expected_exception_handlers(function.allowed_exceptions),
            ]
        texts = [condition.text for condition in function.postconditions]
        self._import_names(function, [*texts])
        self.strategies.source.program_names.discard("result")
        return [*lines, *(f"    assert {text}" for text in texts)]


_BUILTIN = frozenset((*dir(builtins), "result", SELF, "cls"))


def _expected_exception_handlers(names: Sequence[str]) -> list[str]:
    """Return `except` clauses for the exceptions that a function declares or documents."""
    builtin_names = [name for name in names if name in _BUILTIN]
    other_names = [name for name in names if name not in _BUILTIN]
    lines = []
    if builtin_names:
        classes = builtin_names[0] if len(builtin_names) == 1 else f"({', '.join(builtin_names)})"
        lines += [f"    except {classes}:", "        return"]
    if other_names:
        classes = ", ".join(map(string_literal, other_names))
        lines += [
            "    except Exception as error:",
            f"        if {{kind.__name__ for kind in type(error).__mro__}} & {{{classes}}}:",
            "            return",
            "        raise",
        ]
    return lines


def _identifier(name: str) -> str:
    return "".join(character if character.isalnum() else "_" for character in name)


def _given_decorator(texts: list[str]) -> str:
    """Return the decorator `given`, with one argument per line if it is too long."""
    line = f"@given({', '.join(texts)})"
    if len(line) <= 96:  # noqa: PLR2004 - maximum length of a line
        return line
    return "\n".join(["@given(", *(f"    {text}," for text in texts), ")"])


def _arguments_strategy_name(function: FunctionSpec) -> str:
    return f"arguments_of_{_identifier(function.name.removesuffix('.__init__'))}"


def _call_text(callee: str, function: FunctionSpec, dictionary: str) -> str:
    """Return a call that passes each drawn argument by position or by name, as required.

    Args:
        callee: expression for the callee.
        function: the called function.
        dictionary: name of a dictionary with the arguments; empty if each has its own variable.
    """
    drawn = [parameter for parameter in function.parameters if parameter.spec is not None]
    if dictionary and all(
        parameter.kind in ("positional_or_keyword", "keyword_only") for parameter in drawn
    ):
        return f"{callee}(**{dictionary})" if drawn else f"{callee}()"
    takes_varargs = any(parameter.kind == "var_positional" for parameter in drawn)
    parts = []
    for parameter in drawn:
        text = f"{dictionary}[{string_literal(parameter.name)}]" if dictionary else parameter.name
        if parameter.kind == "var_positional":
            parts.append(f"*{text}")
        elif parameter.kind == "var_keyword":
            parts.append(f"**{text}")
        elif parameter.kind == "positional_only" or (
            takes_varargs and parameter.kind == "positional_or_keyword"
        ):
            parts.append(text)
        else:
            parts.append(f"{parameter.name}={text}")
    return f"{callee}({', '.join(parts)})"
