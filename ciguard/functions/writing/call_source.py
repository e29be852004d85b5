"""Writes a call of an annotated function as source text."""

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
from ciguard.functions.in_target.describing.sidecar import MODULE_PREFIX as SIDECAR_MODULE
from ciguard.functions.writing.definitions import (
    CONSUME_HELPER,
    FIRST_HELPER,
    LISTED_HELPER,
    SIDECAR_IMPORT,
)
from ciguard.functions.writing.listed import choice_selector, example_selector
from ciguard.writing import (
    UNIT_FUNCTION,
    WIDTH,
    ScriptSource,
    dotted_expression,
    is_name,
    scalar,
    writer_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.domain.values import Value
    from ciguard.functions.specs.calls import Arguments, Call
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec


@dataclass(slots=True)
class CallSource(ScriptSource):
    """Writer of calls as source text, which records the imports and definitions that they need."""

    module: ModuleSpec = field(kw_only=True)
    program_names: set[str] = field(default_factory=set)
    """Names to import from the program."""
    other_imports: set[str] = field(default_factory=set)
    """Further import statements, one per line."""
    needs_listed: bool = False
    """True if the text calls the helper function `listed`."""
    needs_first: bool = False
    """True if the text calls the helper function `first`."""
    needs_consume: bool = False
    """True if the text calls the helper function `consume`."""
    reads_notes: bool = False
    """True if the text reads stored annotations, which only ciguard's decorators store."""
    checks: list[str] = field(default_factory=list)
    """Definitions of functions that check a result."""
    sidecar: str = ""
    """Path of the sidecar that the text needs as module `stubs`; empty if it needs none."""

    @classmethod
    def for_module(cls, module: ModuleSpec, library: str) -> CallSource:
        """Return a writer without recorded imports.

        Args:
            module: module of the program.
            library: name of the library whose tensors the program uses; empty for none.
        """
        return cls(writer_of(library) if library else writer_of("numpy"), module=module)

    # --- values -----------------------------------------------------------------------------

    def expression(self, value: Value) -> str:
        """Return the source text of a value."""
        match value:
            case CallValue(name, (), keywords) if ":" in name:
                return self._generator_call(name, keywords)
            case CallValue(function, arguments) if function == CHOICE:
                return self._choice(*(_text(item) for item in arguments))
            case CallValue(function, (LiteralValue(library), ArrayValue() as array)) if (
                function == TENSOR
            ):
                return self._tensor_from_array(str(library), array)
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
        """Return an expression for a dotted name, and record its import."""
        root, _, rest = path.partition(".")
        if root.startswith(SIDECAR_MODULE):
            return self.stub_name(rest)
        if root == "numpy" and rest:
            self.needs_numpy = True
            return dotted_expression(f"np.{rest}")
        if root in self.writer.aliases:
            self.other_imports |= set(self.writer.imports)
        elif root != "builtins" and root not in sys.stdlib_module_names:
            self.other_imports.add(f"import {root}")
        return ScriptSource.name_of(self, path)

    def _generator_call(self, name: str, keywords: Arguments) -> str:
        """Return the call of a generator function."""
        module, _, function = name.rpartition(":")
        if module.startswith(SIDECAR_MODULE):
            stub = self.stub_name(function)
            return call_text(stub, self._argument_list(self.module.function(name), keywords))
        if module:
            self.other_imports.add(f"import {module}")
            spec = self.module.functions_by_name.get(name)
            return call_text(f"{module}.{function}", self._argument_list(spec, keywords))
        return call_text(
            self.program_name(function),
            self._argument_list(self.module.functions_by_name.get(function), keywords),
        )

    def _choice(self, function: str, argument: str, number: str, name: str) -> str:
        """Return an expression for an object without a JSON form: its name, or a look-up."""
        if name:
            return self.program_name(name)
        spec = self.module.function(function)
        if spec.annotations_file:
            function = self.stub_name(function)
        else:
            self.program_name(function)
        self.reads_notes = True
        if argument == EXAMPLES:
            return f'{function}.__ciguard__["examples"]{example_selector(spec, int(number))}'
        self.needs_listed = True
        path = choice_selector(spec, argument, int(number))
        return f"listed({function}, {string_literal(argument)}){path}"

    def _tensor_from_array(self, library: str, array: ArrayValue) -> str:
        """Return an expression for a library's tensor with the elements of an array."""
        writer = writer_of(library)
        self.other_imports |= set(writer.imports)
        text = self._array(array)
        dtype = writer.dtype.format(name=array.dtype)
        return writer.from_array.format(
            array=text, dtype=dtype, name=array.dtype, stored=array.dtype
        )

    def stub_name(self, path: str) -> str:
        """Return an expression for a name of the sidecar, and record that the text needs it."""
        files = (function.annotations_file for function in self.module.functions)
        self.sidecar = next(filter(None, files))
        self.other_imports.add("import importlib.util")
        return f"stubs.{path}"

    def program_name(self, path: str) -> str:
        """Return an expression for a name of the program, and record its import."""
        self.program_names.add(path.partition(".")[0])
        return path.removesuffix(".__init__")

    # --- calls ------------------------------------------------------------------------------

    def call(self, call: Call) -> str:  # type: ignore[override] # writes functions' calls, not APIs'
        """Return the source text of a call as one expression."""
        function = self.module.function(call.function)
        return self.call_with(function, call, self._argument_list(function, call.arguments))

    def report_text(self, call: Call) -> str:
        """Return the text of a call for reports, with the outer call of a nested function."""
        if call.outer is None:
            return self.call(call)
        function = self.module.function(call.function)
        text = call_text(call.function, self._argument_list(function, call.arguments))
        return f"{text}, defined by {self.report_text(call.outer)}"

    def call_with(
        self, function: FunctionSpec, call: Call, passed: list[str], instance: str = ""
    ) -> str:
        """Return the source text of a call, with given texts as arguments.

        Args:
            function: the called function.
            call: the call.
            passed: source texts of the arguments.
            instance: expression for a method's instance; empty for a call of its constructor.
        """
        if call.outer is not None:
            return call_text(f"defined[{string_literal(function.name)}]", passed)
        if not function.constructor:
            return call_text(self.program_name(function.name), passed)
        instance = instance or self.instance(function, call)
        name = function.name.rpartition(".")[2]
        if function.kind == "property":
            return f"{instance}.{name}"
        if function.is_instance_called:
            return call_text(instance, passed)
        return call_text(f"{instance}.{name}", passed)

    def result_expression(self, text: str, function: FunctionSpec) -> str:
        """Return an expression for a call's result: awaited, or a list of the first items.

        Args:
            text: source text of the call.
            function: the called function, which may be asynchronous or lazy.
        """
        if function.is_async:
            self.standard.add("asyncio")
            self.needs_first |= function.is_lazy
            inner = f"first({text}, {MAX_ITEMS})" if function.is_lazy else text
            return f"asyncio.run({inner})"
        if function.is_lazy:
            self.standard.add("itertools")
            return f"list(itertools.islice({text}, {MAX_ITEMS}))"
        if function.is_consumed:
            self.standard.add("itertools")
            self.needs_consume = True
            return f"consume({text})"
        return text

    def instance(self, function: FunctionSpec, call: Call) -> str:
        """Return the source text of the constructor call for a method's instance."""
        constructor = self.module.functions_by_name.get(function.constructor)
        return call_text(
            self.program_name(function.owner),
            self._argument_list(constructor, call.constructor or ()),
        )

    def _argument_list(self, function: FunctionSpec | None, arguments: Arguments) -> list[str]:
        """Return the source texts of a call's arguments, by position or by name."""
        kinds = (
            {parameter.name: parameter.kind for parameter in function.parameters}
            if function is not None
            else {}
        )
        passes_varargs = any(
            kinds.get(name) == "var_positional" and value != TupleValue(())
            for name, value in arguments
        )
        return [
            text
            for name, value in arguments
            for text in self._argument_texts(
                name, value, kinds.get(name, ""), positional=passes_varargs
            )
        ]

    def _argument_texts(
        self, name: str, value: Value, kind: str, *, positional: bool
    ) -> Iterable[str]:
        """Return the source texts for one parameter; several for `*args` and `**options`."""
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
        is_positional = kind == "positional_only" or (
            positional and kind == "positional_or_keyword"
        )
        return [text if is_positional else f"{name}={text}"]

    # --- what the text needs ----------------------------------------------------------------

    def import_lines(self) -> list[str]:
        """Return the import statements of the recorded imports, except those of the program."""
        lines = [f"import {module}" for module in sorted(self.standard)]
        others = {*self.other_imports}
        if self.needs_numpy:
            others.add("import numpy as np")
        roots = {line.split()[1] for line in others}
        others |= {f"import {module}" for module in self.modules - roots}
        return [*lines, *sorted(others)]

    def definitions(self) -> list[str]:
        """Return the import of the sidecar, and the definitions of helper functions, if needed."""
        sidecar = SIDECAR_IMPORT.format(file=string_literal(self.sidecar))
        definitions = [sidecar] if self.sidecar else []
        definitions += [UNIT_FUNCTION] if self.needs_unit else []
        definitions += [LISTED_HELPER] if self.needs_listed else []
        definitions += [FIRST_HELPER] if self.needs_first else []
        definitions += [CONSUME_HELPER.format(count=MAX_ITEMS)] if self.needs_consume else []
        return [*definitions, *self.checks]


def _text(value: Value) -> str:
    return str(value.value) if isinstance(value, LiteralValue) else ""


def call_text(name: str, arguments: Sequence[str]) -> str:
    """Return the source text of a call, with one argument per line if it is too long."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    inner = [part.replace("\n", "\n    ") for part in arguments]
    return "\n".join([f"{name}(", *(f"    {part}," for part in inner), ")"])


def string_literal(text: str) -> str:
    """Return a string literal, in double quotes if the text needs no escapes."""
    return scalar(text) if any(character in text for character in "\"'\\") else f'"{text}"'
