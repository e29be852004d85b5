"""Cases as readable Python source: imports, arguments and the call."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.graphs import ASSIGN, READ
from ciguard.domain.values import (
    ArrayValue,
    CallValue,
    DictValue,
    DtypeValue,
    ListValue,
    LiteralValue,
    MemberValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Value,
)
from ciguard.execution.worker.fills import storage_dtype
from ciguard.writing.arrays import constant_element, content, has_explicit_elements, numpy_array
from ciguard.writing.literals import dotted_expression, is_name, nested_lists, scalar, shape_text
from ciguard.writing.writers import PLAIN_DTYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ciguard.libraries import Writer

WIDTH = 92
_NONE = LiteralValue(None)
_MAX_INLINE_LENGTH = 44
"""Maximum length in characters of an argument that is written within the call."""
_RESERVED_NAMES = frozenset(
    {"np", "os", "sys", "unit", "result", "layer", "value", "tf", "jt", "jnp"}
    | {"twin", "kept", "arguments", "keywords", "inputs", "found", "call", "Module", "program"}
    | {"resource", "statistics", "time", "began_s", "call_times", "memory_before"}
    | {"resident_kib", "repeats"}
)
"""Names that scripts bind themselves, and that arguments therefore must not have."""


@dataclass(slots=True)
class ScriptSource:
    """The imports and statements of a script, collected while a case is written."""

    writer: Writer
    device: str = "cpu"
    names: set[str] = field(default_factory=set)
    """Names of the variables that the script binds so far."""
    modules: set[str] = field(default_factory=set)
    """Submodules that the script must import by their full names."""
    standard: set[str] = field(default_factory=set)
    """Modules of the standard library to import."""
    assignments: list[str] = field(default_factory=list)
    """Statements before the call."""
    needs_numpy: bool = False
    """True if the script must import numpy as `np`."""
    needs_unit: bool = False
    """True if the script must define the function `unit`."""
    lifted: list[str] | None = None
    """Names of the tensors that the call's function takes; None for calls without a mode."""
    results: dict[int, str] = field(default_factory=dict)
    """Names of the results of a graph's steps."""

    def call_in_mode(self, case: ApiCall, mode: str) -> list[str]:
        """Return the statement that makes the call in a mode (`compile`) and binds `result`.

        As in the worker, the call becomes a function of its tensors. If the library's writer does
        not support the mode, the call is made without it.
        """
        is_object = case.kind is CallKind.LAYER and not case.inputs
        if mode not in self.writer.modes or is_object:
            return self.call(case)
        if case.kind is CallKind.LAYER:
            statements = [self._layer(case)]
            self.lifted = []
            inputs = self._arguments(case.inputs, (), stem="input")
            call = _bound("result", "layer", inputs)
            if self.writer.builds_layers_late and inputs == self.lifted and len(inputs) == 1:
                statements.append(
                    f'if not getattr(layer, "built", True):\n    layer.build({inputs[0]}.shape)'
                )
        else:
            self.lifted = []
            *statements, call = self.call(case)
        tensors = ", ".join(self.lifted)
        callee = "layer"
        if call != f"result = layer({tensors})":
            callee, body = "call", textwrap.indent(call.replace("result = ", "return ", 1), "    ")
            statements.append(f"\n\ndef call({tensors}):\n{body}\n")
        comma = "," * (len(self.lifted) == 1)
        fill = {"call": callee, "row": tensors, "tuple": f"({tensors}{comma})", "options": ""}
        definition, run = (text.format(**fill) for text in self.writer.modes[mode])
        self.assignments += filter(None, [*statements, definition])
        return [run]

    def _layer(self, case: ApiCall) -> str:
        """Return the statement that builds a layer, on the device if there is one."""
        arguments = self._arguments(case.arguments, case.keywords)
        statement = _bound("layer", self.name_of(case.api), arguments)
        if self.device == "cpu" or not self.writer.layer_on_device:
            return statement
        inner = textwrap.indent(statement, "    ")
        return self.writer.layer_on_device.format(layer=inner, device=scalar(self.device))

    def call(self, case: ApiCall) -> list[str]:
        """Return the statements that make the call and bind `result`."""
        if case.kind is CallKind.LAYER and case.inputs:
            layer = self._layer(case)
            inputs = self._arguments(case.inputs, (), stem="input")
            return [layer, _bound("result", "layer", inputs)]
        if case.kind is CallKind.METHOD and case.api.rpartition(".")[2] in {READ, ASSIGN}:
            return [self._subscript(*case.arguments)]
        arguments = self._arguments(case.arguments, case.keywords)
        if case.kind is CallKind.METHOD:
            return self._method(case.api, arguments)
        return [_bound("result", self.name_of(case.api), arguments)]

    def steps(self, steps: Sequence[ApiCall | TensorValue]) -> list[str]:
        """Return the statements of a graph, and record the names of its inputs in `lifted`.

        Each statement binds the result of a step. Layers are built before.
        """
        self.lifted = []
        statements = []
        for number, step in enumerate(steps):
            if isinstance(step, TensorValue):
                self.results[number] = self._lift(step)
                continue
            name = self.results[number] = f"v{number}"
            if step.kind is CallKind.LAYER:
                lifted, self.lifted = self.lifted, None
                layer = f"layer{number}"
                self.assignments.append(self._layer(step).replace("layer = ", f"{layer} = ", 1))
                self.lifted = lifted
                statements.append(_bound(name, layer, self._arguments(step.inputs, (), "input")))
            else:
                *_, call = self.call(step)
                statements.append(call.replace("result = ", f"{name} = ", 1))
        return statements

    def call_with_kept_arguments(self, case: ApiCall) -> list[str]:
        """Return the statements that make the call, and bind `kept` to its arguments afterwards."""
        values = ", ".join(map(self.expression, case.arguments))
        keywords = ", ".join(f"{k!a}: {self.expression(v)}" for k, v in case.keywords)
        inputs = ", ".join(map(self.expression, case.inputs))
        self.assignments += [f"arguments = [{values}]", f"keywords = {{{keywords}}}"]
        kept = "[*arguments, *keywords.values()]"
        if case.kind is CallKind.METHOD:
            name = case.api.rpartition(".")[2]
            call = f"getattr(arguments[0], {name!a})(*arguments[1:], **keywords)"
        else:
            call = f"{self.name_of(case.api)}(*arguments, **keywords)"
        if case.kind is CallKind.LAYER and case.inputs:
            self.assignments.append(f"inputs = [{inputs}]")
            call, kept = f"{call}(*inputs)", "[*arguments, *keywords.values(), *inputs]"
        return [f"result = {call}", f"kept = {kept}"]

    def _subscript(self, owner: Value, index: Value, *values: Value) -> str:
        """Return the statements that read elements of a tensor, or assign a value to them."""
        tensor = self.expression(owner)
        items = index.items if isinstance(index, TupleValue) and index.items else (index,)
        element = f"{tensor}[{', '.join(map(self._index_item, items))}]"
        if not values:
            return f"result = {element}"
        (value,) = values
        return f"{element} = {self.expression(value)}\nresult = {tensor}"

    def _index_item(self, item: Value) -> str:
        match item:
            case MemberValue("builtins.Ellipsis"):
                return "..."
            case CallValue("builtins.slice", (start, stop, step)):
                bounds = [
                    "" if bound == _NONE else self.expression(bound)
                    for bound in (start, stop, step)
                ]
                return ":".join(bounds if bounds[2] else bounds[:2])
            case _:
                return self.expression(item)

    def _method(self, api: str, arguments: list[str]) -> list[str]:
        """Return the statement that calls a method of the first argument."""
        if not arguments:
            msg = f"{api!r} is a method, but the case has no argument for its object"
            raise ValueError(msg)
        owner, *others = arguments
        name = api.rpartition(".")[2]
        if not is_name(owner) and not self.results:  # a result is an expression of a graph
            owner_name = "x"
            while owner_name in self.names:
                owner_name += "_"
            self.assignments.append(f"{owner_name} = {owner}")
            owner = owner_name
        function = f"{owner}.{name}" if is_name(name) else f"getattr({owner}, {name!a})"
        return [_bound("result", function, others)]

    def _arguments(
        self, values: Iterable[Value], keywords: Iterable[tuple[str, Value]], stem: str = "arg"
    ) -> list[str]:
        """Return the source texts of arguments; long ones are variables named by `stem`."""
        arguments = [self._argument(value, f"{stem}{n}") for n, value in enumerate(values)]
        quoted_keywords = []
        for key, value in keywords:
            if is_name(key):
                arguments.append(f"{key}={self._argument(value, key)}")
            else:
                quoted_keywords.append(f"{key!a}: {self.expression(value)}")
        return [*arguments, f"**{{{', '.join(quoted_keywords)}}}"] if quoted_keywords else arguments

    def _argument(self, value: Value, name: str) -> str:
        """Return the source text of an argument, or a variable's name for a long text."""
        text = self.expression(value)
        if len(text) <= _MAX_INLINE_LENGTH:
            return text
        while name in self.names or name in _RESERVED_NAMES or self._is_import(name):
            name += "_"
        self.names.add(name)
        self.assignments.append(f"{name} = {text}")
        return name

    def _bound_object(self, owner: CallValue) -> str:
        """Bind an object to a name, so that it lives as long as a part of it, and return the name.

        A handle, for example, is invalid after its owner is deleted.
        """
        text = self.expression(owner)
        name = f"held{sum(bound.startswith('held') for bound in self.names)}"
        self.names.add(name)
        self.assignments.append(f"{name} = {text}")
        return name

    def _lift(self, tensor: TensorValue) -> str:
        """Bind a tensor to a name, a new parameter of the call's function, and return the name."""
        lifted, self.lifted = self.lifted or [], None
        name = f"x{len(lifted)}"
        while name in self.names or name in _RESERVED_NAMES:
            name += "_"
        self.names.add(name)
        self.assignments.append(f"{name} = {self.expression(tensor)}")
        self.lifted = [*lifted, name]
        return name

    def _bound_outside_call(self, value: CallValue) -> str:
        """Bind an object to a name outside the compiled function, and return the name."""
        lifted, self.lifted = self.lifted, None
        name = self._bound_object(value)
        self.lifted = lifted
        return name

    def _is_import(self, name: str) -> bool:
        return any(line.split()[-1] == name for line in self.writer.imports)

    def expression(self, value: Value) -> str:
        """Return the source text of a value."""
        match value:
            case CallValue() if self.lifted is not None:
                text = self._bound_outside_call(value)
            case ListValue(items):
                text = f"[{', '.join(map(self.expression, items))}]"
            case TupleValue(items):
                text = f"({', '.join(map(self.expression, items))}{',' * (len(items) == 1)})"
            case DictValue(pairs):
                text = f"{{{', '.join(self._pairs(pairs))}}}"
            case CallValue(
                "builtins.getattr", (CallValue() as owner, LiteralValue(str() as part))
            ) if is_name(part):
                text = f"{self._bound_object(owner)}.{part}"
            case CallValue("builtins.next", (CallValue("builtins.map", (called, *lists)),)):
                inner = [item.items[0] for item in lists if isinstance(item, ListValue)]
                text = f"{self.expression(called)}({', '.join(map(self.expression, inner))})"
            case CallValue(function, arguments, keywords):
                parts = [self.expression(item) for item in arguments]
                parts += self._keywords(keywords) if keywords else []
                text = f"{self.name_of(function)}({', '.join(parts)})"
            case _:
                text = self._leaf(value)
        return text

    def _leaf(
        self,
        value: LiteralValue | TensorValue | ArrayValue | DtypeValue | MemberValue | ResultValue,
    ) -> str:
        """Return the source text of a value that is not a container."""
        match value:
            case LiteralValue(literal):
                return scalar(literal)
            case TensorValue():
                return self._tensor(value) if self.lifted is None else self._lift(value)
            case ArrayValue():
                return self._array(value)
            case DtypeValue(name):
                return self.dtype(name)
            case MemberValue(path):
                return self.name_of(path)
            case ResultValue():
                return self._result(value)

    def _result(self, value: ResultValue) -> str:
        name = self.results[value.step]
        text = name if value.item < 0 else f"{name}[{value.item}]"
        if value.other is None:
            return text
        return f"({text} if {text}.shape[0] <= {value.beyond} else {self._result(value.other)})"

    def _pairs(self, pairs: Iterable[tuple[str, Value]]) -> list[str]:
        return [f"{key!a}: {self.expression(item)}" for key, item in pairs]

    def _keywords(self, keywords: tuple[tuple[str, Value], ...]) -> list[str]:
        if all(is_name(key) for key, _ in keywords):
            return [f"{key}={self.expression(item)}" for key, item in keywords]
        return [f"**{{{', '.join(self._pairs(keywords))}}}"]

    def dtype(self, name: str) -> str:
        """Return an expression for the library's dtype object.

        Raises:
            ValueError: if `name` is not an identifier.
        """
        if not is_name(name):
            msg = f"{name!r} is not a valid dtype name"
            raise ValueError(msg)
        return self.writer.dtype.format(name=name)

    def name_of(self, path: str) -> str:
        """Return an expression for a dotted name, and record the imports that it needs."""
        root, _, rest = path.partition(".")
        if root == "builtins":
            return dotted_expression(rest)  # no import needed
        if root in sys.stdlib_module_names:
            self.standard.add(root)
            return dotted_expression(path)
        module = path.rpartition(".")[0]
        if "." in module and not self.writer.aliases and module not in self.writer.loaded:
            dotted_expression(module)  # raises for invalid names
            if all(map(is_name, module.split("."))):
                self.modules.add(module)
        alias = self.writer.aliases.get(root, root)
        return dotted_expression(f"{alias}.{rest}" if rest else alias)

    def _tensor(self, value: TensorValue) -> str:
        """Return an expression for a tensor of the library."""
        writer, dtype = self.writer, self.dtype(value.dtype)
        try:
            stored = str(storage_dtype(value.dtype))
        except TypeError as error:
            msg = f"numpy has no dtype for elements of {value.dtype!r}"
            raise ValueError(msg) from error
        name = value.dtype
        fill = {"dtype": dtype, "name": name, "stored": stored, "shape": shape_text(value.shape)}
        plain = value.dtype in PLAIN_DTYPES
        if plain and 0 in value.shape:
            return writer.zeros.format(**fill)
        constant = constant_element(value)
        if plain and constant is not None and prod(value.shape) > 1:
            return writer.full.format(value=constant, **fill)
        if has_explicit_elements(value) and 0 not in value.shape:
            data = nested_lists(content(value))
            tensor = _wrap(writer.literal.format(data=data, **fill), name)
            if stored in {name, "object"} or not writer.casts_literals:
                return tensor
            return writer.cast.format(tensor=tensor, **fill)
        array = writer.from_array.format(array=self._array(value), **fill)
        if stored in {value.dtype, "object"}:
            return array
        return writer.cast.format(tensor=array, **fill)

    def _array(self, value: ArrayValue | TensorValue) -> str:
        text = numpy_array(value)
        self.needs_numpy = True
        self.needs_unit |= "unit(" in text
        return _wrap(text, value.dtype)


def _wrap(text: str, dtype: str) -> str:
    """Wrap a long line of numbers at spaces; strings may contain spaces and stay unwrapped."""
    if len(text) <= WIDTH or dtype == "string":
        return text
    return textwrap.fill(
        text,
        WIDTH,
        break_long_words=False,
        break_on_hyphens=False,
        subsequent_indent="    ",
    )


def _bound(name: str, function: str, arguments: list[str]) -> str:
    """Return the statement `name = function(arguments)`, with one argument per line if too long."""
    line = f"{name} = {function}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    return "\n".join([f"{name} = {function}(", *(f"    {part}," for part in arguments), ")"])
