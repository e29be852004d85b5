"""The test of one function as text."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.functions.drawing.plan import needs_of, plan_of
from ciguard.functions.solving.box import Box
from ciguard.functions.solving.parsing import names_in, parsed
from ciguard.functions.writing.bounds import ArgumentBounds, bounds_of
from ciguard.functions.writing.call_source import quoted
from ciguard.functions.writing.strategies import Strategies, strategy_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.specs.functions import Example, FunctionSpec, ModuleSpec

SELF = "self"
"""Name of the instance in tests of methods, as conditions have it."""
_TAKEN = frozenset(
    ("st", "np", "npst", "draw", "given", "assume", "settings", "arrays", "arguments")
)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """How one argument is drawn."""

    name: str
    strategy: str
    guards: tuple[str, ...]
    """Without which there is no value."""
    assumed: tuple[str, ...]
    is_bound: bool
    """Whether its strategy depends on other arguments."""


@dataclass(slots=True)
class TestWriter:
    """Writes the tests of a module's functions."""

    module: ModuleSpec
    strategies: Strategies
    written: set[str] = field(default_factory=set)
    """Strategies of arguments that are in the file already."""

    __test__ = False

    def test(self, function: FunctionSpec) -> str:
        """Return the test of a function, with the strategies that only it needs."""
        parts = []
        drawn = self._drawn(function)
        plain = self._is_plain(function, drawn)
        if not plain and drawn:
            parts += self._composite(function, drawn)
        constructor = self.module.by_name.get(function.constructor)
        made_with = self._made_with(constructor, parts) if constructor is not None else ""
        parts.append(self._test(function, drawn, made_with, plain=plain))
        return "\n\n\n".join(parts)

    def generator(self, function: FunctionSpec) -> str:
        """Return the strategy of what a function makes."""
        lines = self._body(function, self._drawn(function))
        made = _called(self._own(function), function, "")
        name = strategy_name(function.name)
        return "\n".join(["@st.composite", f"def {name}(draw):", *lines, f"    return {made}"])

    def _own(self, function: FunctionSpec) -> str:
        if ":" in function.name:
            module, _, name = function.name.partition(":")
            self.strategies.source.other_imports.add(f"import {module}")
            return f"{module}.{name}"
        return self.strategies.source.own(function.name)

    # --- drawing ----------------------------------------------------------------------------

    def _drawn(self, function: FunctionSpec) -> list[_Drawn]:
        plan, needs = plan_of(function), needs_of(function)
        found: list[_Drawn] = []
        self.strategies.box = Box(plan.defaults, plan.specs)
        for name in plan.order:
            spec = plan.specs[name]
            earlier = [one.name for one in found]
            conditions = [t for t in plan.decided_with(name) if SELF not in names_in(t)]
            bounds = bounds_of(name, spec, tuple(conditions), earlier)
            self.strategies.symbols.clear()
            self.strategies.guards.clear()
            strategy = self.strategies.of(spec, bounds)
            guards = tuple(dict.fromkeys(self.strategies.guards))
            bounds.left = [text for text in bounds.left if not self._is_certain(text)]
            self._note_names(function, bounds.left)
            is_bound = bool(needs[name] or guards or self.strategies.symbols or not bounds.is_plain)
            found.append(_Drawn(name, strategy, guards, tuple(bounds.left), is_bound))
        return found

    def _is_certain(self, text: str) -> bool:
        """Return whether a condition holds of all that the annotations allow."""
        tree = parsed(text)
        return tree is not None and self.strategies.box.verdict(tree) is True

    def _note_names(self, function: FunctionSpec, conditions: list[str]) -> None:
        """Import from the program what its conditions name beside arguments."""
        known = {p.name for p in function.parameters}
        source = self.strategies.source
        for text in conditions:
            if parsed(text) is None:
                continue
            for name in names_in(text) - known - _BUILTIN:
                if name == "np":
                    source.needs_numpy = True
                else:
                    source.program_names.add(name)

    def _is_plain(self, function: FunctionSpec, drawn: list[_Drawn]) -> bool:
        """Return whether each argument is drawn by itself."""
        root = (function.owner or function.name).partition(".")[0]
        names = {one.name for one in drawn}
        return not any(one.is_bound for one in drawn) and not names & (_TAKEN | {root})

    def _body(self, function: FunctionSpec, drawn: list[_Drawn]) -> list[str]:
        symbols: dict[str, str] = {}
        for parameter in function.parameters:
            if parameter.spec is not None:
                self.strategies.symbols.clear()
                self.strategies.of(parameter.spec, ArgumentBounds())
                symbols.update(self.strategies.symbols)
        lines = [f"    {line}" for line in symbols.values()]
        for one in drawn:
            lines += [f"    assume({guard})" for guard in one.guards]
            lines.append(f"    {one.name} = draw({one.strategy})")
            lines += [f"    assume({condition})" for condition in one.assumed]
        return lines

    def _composite(self, function: FunctionSpec, drawn: list[_Drawn]) -> list[str]:
        """Return the strategy of a function's arguments, once."""
        name = _arguments_of(function)
        if name in self.written:
            return []
        self.written.add(name)
        pairs = ", ".join(f"{quoted(one.name)}: {one.name}" for one in drawn)
        lines = ["@st.composite", f"def {name}(draw):", *self._body(function, drawn)]
        return ["\n".join([*lines, f"    return {{{pairs}}}"])]

    def _made_with(self, constructor: FunctionSpec, parts: list[str]) -> str:
        """Return the strategy of the arguments that instances are made with."""
        if constructor.examples:
            return f"st.sampled_from([{', '.join(map(self._example, constructor.examples))}])"
        drawn = self._drawn(constructor)
        if self._is_plain(constructor, drawn) and not any(one.assumed for one in drawn):
            pairs = ", ".join(f"{quoted(one.name)}: {one.strategy}" for one in drawn)
            return f"st.fixed_dictionaries({{{pairs}}})"
        parts += self._composite(constructor, drawn)
        return f"{_arguments_of(constructor)}()"

    # --- the test ---------------------------------------------------------------------------

    def _test(
        self, function: FunctionSpec, drawn: list[_Drawn], made_with: str, *, plain: bool
    ) -> str:
        given: dict[str, str] = {}
        if plain:
            given = {one.name: one.strategy for one in drawn}
        elif drawn:
            given = {"arguments": f"{_arguments_of(function)}()"}
        if made_with:
            given["made_with"] = made_with
        lines = [f"    assume({text})" for one in drawn for text in one.assumed if plain]
        callee = self._callee(function, lines)
        call = self._call(callee, function, "" if plain else "arguments")
        of_self = [c.text for c in function.requires if SELF in names_in(c.text)]
        texts = [c.text for c in function.ensures]
        self._note_names(function, of_self)
        lines += self._named(function, [*of_self, *texts], plain=plain)
        lines += [f"    assume({text})" for text in of_self]
        lines += self._checked(function, call)
        head = [self._settings(function)]
        if given:
            texts = [f"{name}={text}" for name, text in given.items()]
            head.append(_given(texts))
        name = f"test_{_word(function.name.removesuffix('.__init__'))}"
        return "\n".join([*filter(None, head), f"def {name}({', '.join(given)}):", *lines])

    def _settings(self, function: FunctionSpec) -> str:
        if function.timeout is None:
            return "@relaxed"
        return f"@settings(relaxed, deadline={1000 * function.timeout:g})"

    def _callee(self, function: FunctionSpec, lines: list[str]) -> str:
        """Return what is called; of a method add how its instance is made."""
        if not function.constructor:
            return self._own(function)
        name = function.name.rpartition(".")[2]
        constructor = self.module.function(function.constructor)
        owner = self.strategies.source.own(function.owner)
        lines += [
            "    try:",
            f"        {SELF} = {_called(owner, constructor, 'made_with')}",
            "    except Exception:",
            "        reject()  # its own test tells of that",
        ]
        return SELF if function.calls_instance else f"{SELF}.{name}"

    def _example(self, example: Example) -> str:
        pairs = [f"{quoted(name)}: {self.strategies.source.expression(v)}" for name, v in example]
        return f"{{{', '.join(pairs)}}}"

    def _call(self, callee: str, function: FunctionSpec, held: str) -> str:
        if function.kind == "property":
            return callee
        return self.strategies.source.taken(_called(callee, function, held), function)

    def _named(self, function: FunctionSpec, texts: list[str], *, plain: bool) -> list[str]:
        """Return what gives conditions the names that they use, beside those of what is drawn."""
        used = frozenset[str]().union(*map(names_in, texts))
        lines = []
        for parameter in function.parameters:
            name = parameter.name
            if name not in used:
                continue
            if parameter.spec is not None and not plain:
                lines.append(f"    {name} = arguments[{quoted(name)}]")
            elif parameter.spec is None and parameter.value is not None:
                lines.append(f"    {name} = {self.strategies.source.expression(parameter.value)}")
        if function.kind == "classmethod" and "cls" in used:
            lines.append(f"    cls = {self.strategies.source.own(function.owner)}")
        return lines

    def _checked(self, function: FunctionSpec, call: str) -> list[str]:
        if not function.ensures and not function.raises:
            return [f"    {call}"]
        bound = f"result = {call}" if function.ensures else call
        lines = [f"    {bound}"]
        if function.raises:
            lines = ["    try:", f"        {bound}", *_expected(function.raises)]
        texts = [c.text for c in function.ensures]
        self._note_names(function, [*texts])
        self.strategies.source.program_names.discard("result")
        return [*lines, *(f"    assert {text}" for text in texts)]


_BUILTIN = frozenset((*dir(builtins), "result", SELF, "cls"))


def _expected(names: Sequence[str]) -> list[str]:
    """Return the handlers of exceptions that a function declares or documents."""
    known = [name for name in names if name in _BUILTIN]
    other = [name for name in names if name not in _BUILTIN]
    lines = []
    if known:
        listed = known[0] if len(known) == 1 else f"({', '.join(known)})"
        lines += [f"    except {listed}:", "        return"]
    if other:
        listed = ", ".join(map(quoted, other))
        lines += [
            "    except Exception as error:",
            f"        if {{kind.__name__ for kind in type(error).__mro__}} & {{{listed}}}:",
            "            return",
            "        raise",
        ]
    return lines


def _word(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def _given(texts: list[str]) -> str:
    line = f"@given({', '.join(texts)})"
    if len(line) <= 96:  # noqa: PLR2004 - columns
        return line
    return "\n".join(["@given(", *(f"    {text}," for text in texts), ")"])


def _arguments_of(function: FunctionSpec) -> str:
    return f"arguments_of_{_word(function.name.removesuffix('.__init__'))}"


def _called(callee: str, function: FunctionSpec, held: str) -> str:
    """Return a call that passes each drawn argument in the way that it must be passed.

    Args:
        callee: expression of what is called.
        function: whose arguments they are.
        held: dictionary that the arguments are in; empty where they have names of their own.
    """
    drawn = [p for p in function.parameters if p.spec is not None]
    if held and all(p.kind in ("positional_or_keyword", "keyword_only") for p in drawn):
        return f"{callee}(**{held})" if drawn else f"{callee}()"
    takes_rest = any(p.kind == "var_positional" for p in drawn)
    parts = []
    for parameter in drawn:
        text = f"{held}[{quoted(parameter.name)}]" if held else parameter.name
        if parameter.kind == "var_positional":
            parts.append(f"*{text}")
        elif parameter.kind == "var_keyword":
            parts.append(f"**{text}")
        elif parameter.kind == "positional_only" or (
            takes_rest and parameter.kind == "positional_or_keyword"
        ):
            parts.append(text)
        else:
            parts.append(f"{parameter.name}={text}")
    return f"{callee}({', '.join(parts)})"
