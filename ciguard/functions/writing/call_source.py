"""A call of an annotated function as source text."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)
from ciguard.functions.in_target.calling.running import MAX_ITEMS
from ciguard.functions.in_target.describing.encoding import CHOICE, DTYPE, EXAMPLES, TENSOR
from ciguard.functions.writing.listed import place_in_examples, place_of_choice
from ciguard.writing import UNIT_FUNCTION, WIDTH, ScriptSource, dotted, is_name, scalar, writer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.domain.values import Value
    from ciguard.functions.specs.calls import Arguments, Call
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec

LISTED_HELPER = '''
def listed(function, argument):
    """Return the values that an annotation names."""
    return next(values for name, values, _ in function.__ciguard__["args"] if name == argument)
'''.strip()
"""Needed by text that names objects by their place in an annotation."""

FIRST_HELPER = '''
async def first(items, most):
    """Return the first items of an asynchronous generator."""
    found = []
    async for item in items:
        found.append(item)
        if len(found) == most:
            break
    return found
'''.strip()
"""Needed by text that takes what comes one by one and is awaited."""


@dataclass(slots=True)
class CallSource(ScriptSource):
    """Source text of calls, and what it takes to run it; filled while text is written."""

    module: ModuleSpec = field(kw_only=True)
    program_names: set[str] = field(default_factory=set)
    """Of the program, to be imported from it."""
    other_imports: set[str] = field(default_factory=set)
    """Lines."""
    needs_listed: bool = False
    needs_first: bool = False

    @classmethod
    def of(cls, module: ModuleSpec, library: str) -> CallSource:
        """Return an empty one.

        Args:
            module: the program's.
            library: whose tensors the program takes.
        """
        return cls(writer_of(library) if library else writer_of("numpy"), module=module)

    # --- values -----------------------------------------------------------------------------

    def expression(self, value: Value) -> str:
        """Return the source text of a value."""
        match value:
            case CallValue(name, (), keywords) if ":" in name:
                return self._generated(name, keywords)
            case CallValue(function, arguments) if function == CHOICE:
                return self._choice(*(_text(item) for item in arguments))
            case CallValue(function, (LiteralValue(library), ArrayValue() as array)) if (
                function == TENSOR
            ):
                return self._tensor_of(str(library), array)
            case CallValue(function, (LiteralValue(library), LiteralValue(name))) if (
                function == DTYPE
            ):
                writer = writer_of(str(library))
                self.other_imports |= set(writer.imports)
                return writer.dtype.format(name=name)
            case _:
                if isinstance(value, TensorValue | DtypeValue):
                    self.other_imports |= set(self.writer.imports)
                return ScriptSource.expression(self, value)

    def name_of(self, path: str) -> str:
        """Return an expression for a dotted name, and remember what it takes to import it."""
        root, _, rest = path.partition(".")
        if root == "numpy" and rest:
            self.needs_numpy = True
            return dotted(f"np.{rest}")
        if root in self.writer.aliases:
            self.other_imports |= set(self.writer.imports)
        elif root != "builtins" and root not in sys.stdlib_module_names:
            self.other_imports.add(f"import {root}")
        return ScriptSource.name_of(self, path)

    def _generated(self, name: str, keywords: Arguments) -> str:
        module, _, function = name.rpartition(":")
        if module:
            self.other_imports.add(f"import {module}")
            spec = self.module.by_name.get(name)
            return called(f"{module}.{function}", self._passed(spec, keywords))
        return called(self.own(function), self._passed(self.module.by_name.get(function), keywords))

    def _choice(self, function: str, argument: str, number: str, name: str) -> str:
        if name:
            return self.own(name)
        spec = self.module.function(function)
        self.own(function)
        if argument == EXAMPLES:
            return f'{function}.__ciguard__["examples"]{place_in_examples(spec, int(number))}'
        self.needs_listed = True
        return (
            f"listed({function}, {quoted(argument)}){place_of_choice(spec, argument, int(number))}"
        )

    def _tensor_of(self, library: str, array: ArrayValue) -> str:
        writer = writer_of(library)
        self.other_imports |= set(writer.imports)
        text = self._array(array)
        dtype = writer.dtype.format(name=array.dtype)
        return writer.from_array.format(
            array=text, dtype=dtype, name=array.dtype, stored=array.dtype
        )

    def own(self, path: str) -> str:
        """Return an expression for what the program defines, and remember to import it."""
        self.program_names.add(path.partition(".")[0])
        return path.removesuffix(".__init__")

    # --- calls ------------------------------------------------------------------------------

    def call(self, call: Call) -> str:  # type: ignore[override]
        """Return the call as one expression."""
        function = self.module.function(call.function)
        return self.called_with(function, call, self._passed(function, call.arguments))

    def shown(self, call: Call) -> str:
        """Return the call for a person; of a nested function with what defines it."""
        if call.outer is None:
            return self.call(call)
        function = self.module.function(call.function)
        text = called(call.function, self._passed(function, call.arguments))
        return f"{text}, defined by {self.shown(call.outer)}"

    def called_with(
        self, function: FunctionSpec, call: Call, passed: list[str], instance: str = ""
    ) -> str:
        """Return the call of a function with arguments that are written already.

        Args:
            function: that is called.
            call: of it.
            passed: the arguments.
            instance: what a method is called on; by default what makes it.
        """
        if call.outer is not None:
            return called(f"defined[{quoted(function.name)}]", passed)
        if not function.constructor:
            return called(self.own(function.name), passed)
        instance = instance or self.instance(function, call)
        name = function.name.rpartition(".")[2]
        if function.kind == "property":
            return f"{instance}.{name}"
        if function.calls_instance:
            return called(instance, passed)
        return called(f"{instance}.{name}", passed)

    def taken(self, text: str, function: FunctionSpec) -> str:
        """Return a call whose result is awaited, or of which the first items are taken."""
        if function.is_async:
            self.standard.add("asyncio")
            self.needs_first |= function.is_lazy
            inner = f"first({text}, {MAX_ITEMS})" if function.is_lazy else text
            return f"asyncio.run({inner})"
        if function.is_lazy:
            self.standard.add("itertools")
            return f"list(itertools.islice({text}, {MAX_ITEMS}))"
        return text

    def instance(self, function: FunctionSpec, call: Call) -> str:
        """Return what makes the object that a method is called on."""
        constructor = self.module.by_name.get(function.constructor)
        return called(self.own(function.owner), self._passed(constructor, call.constructor or ()))

    def _passed(self, function: FunctionSpec | None, arguments: Arguments) -> list[str]:
        kinds = {p.name: p.kind for p in function.parameters} if function is not None else {}
        positional = any(
            kinds.get(name) == "var_positional" and value != TupleValue(())
            for name, value in arguments
        )
        return [
            text
            for name, value in arguments
            for text in self._argument_of(name, value, kinds.get(name, ""), positional=positional)
        ]

    def _argument_of(
        self, name: str, value: Value, kind: str, *, positional: bool
    ) -> Iterable[str]:
        match kind, value:
            case "var_positional", TupleValue(items) | ListValue(items):
                return [self.expression(item) for item in items]
            case "var_keyword", DictValue(items) if all(is_name(key) for key, _ in items):
                return [f"{key}={self.expression(item)}" for key, item in items]
            case "var_keyword", _:
                return [f"**{self.expression(value)}"]
            case _:
                pass
        text = self.expression(value)
        by_place = kind == "positional_only" or (positional and kind == "positional_or_keyword")
        return [text if by_place else f"{name}={text}"]

    # --- what the text needs ----------------------------------------------------------------

    def import_lines(self) -> list[str]:
        """Return the imports of libraries."""
        lines = [f"import {module}" for module in sorted(self.standard)]
        used = {*self.other_imports}
        if self.needs_numpy:
            used.add("import numpy as np")
        roots = {line.split()[1] for line in used}
        used |= {f"import {module}" for module in self.modules - roots}
        return [*lines, *sorted(used)]

    def definitions(self) -> list[str]:
        """Return the functions that the text calls."""
        found = [UNIT_FUNCTION] if self.needs_unit else []
        found += [LISTED_HELPER] if self.needs_listed else []
        return [*found, FIRST_HELPER] if self.needs_first else found


def _text(value: Value) -> str:
    return str(value.value) if isinstance(value, LiteralValue) else ""


def called(name: str, arguments: Sequence[str]) -> str:
    """Return a call, one argument a line where it is long."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    inner = [part.replace("\n", "\n    ") for part in arguments]
    return "\n".join([f"{name}(", *(f"    {part}," for part in inner), ")"])


def quoted(text: str) -> str:
    """Return a text in double quotes, as people write it."""
    return scalar(text) if any(c in text for c in "\"'\\") else f'"{text}"'
