"""Writes a call of an annotated function as a standalone script that shows its failure."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from ciguard.functions.hosting.verdicts import CallFailure, FailureKind
from ciguard.functions.solving.parsing import expression_tree, names_in
from ciguard.functions.writing.call_source import CallSource, string_literal
from ciguard.writing import is_name, scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.specs.calls import Call
    from ciguard.functions.specs.functions import FunctionSpec
    from ciguard.functions.specs.programs import ProgramFile


def script_of(call: Call, failure: CallFailure, source: CallSource, program: ProgramFile) -> str:
    """Return a script that makes a call, and shows its failure.

    Args:
        call: the call.
        failure: the failure of the call.
        source: writer of source text, without recorded imports.
        program: the program.
    """
    function = source.module.function(call.function)
    statements = outer_statements(call, source) + _statements(call, function, failure, source)
    parts = [
        "\n".join(
            ["import sys", *(line for line in source.import_lines() if line != "import sys")]
        ),
        "\n".join(
            [
                f"sys.path.insert(0, {string_literal(str(program.root))})",
                *import_of_program(source, program),
            ]
        ),
        *source.definitions(),
        "\n".join(statements),
    ]
    return "\n\n".join(parts)


def import_of_program(source: CallSource, program: ProgramFile) -> list[str]:
    """Return the statements that import the recorded names of a program, one per line.

    They assume that the program's root is in `sys.path`.
    """
    names = ", ".join(sorted(source.program_names))
    if all(map(is_name, program.name.split("."))):
        return [f"from {program.name} import {names}"] if names else [f"import {program.name}"]
    assignments = [f"{name} = program.{name}" for name in sorted(source.program_names)]
    file = string_literal(str(program.file))
    return [
        "import importlib.util",
        f'spec = importlib.util.spec_from_file_location("program", {file})',
        "program = importlib.util.module_from_spec(spec)",
        "spec.loader.exec_module(program)",
        *assignments,
    ]


def outer_statements(call: Call, source: CallSource) -> list[str]:
    """Return the statements that define a nested function by a call of its outer function.

    The list is empty for other functions.
    """
    if call.outer is None:
        return []
    return [
        "defined = {}",
        "for module in list(sys.modules.values()):",
        '    listeners = vars(module).get("LISTENERS", [])',
        "    listeners.append(lambda f: defined.update({f.__qualname__: f}))",
        *outer_statements(call.outer, source),
        source.call(call.outer),
    ]


def _statements(
    call: Call, function: FunctionSpec, failure: CallFailure, source: CallSource
) -> list[str]:
    """Return the statements that make a call and show its failure."""
    if failure.kind is FailureKind.ENSURE:
        return postconditions(call, function, source)
    text = source.result_expression(source.call(call), function)
    if failure.kind in (FailureKind.NAN, FailureKind.MUTATION):
        return [f"print({text})  # {failure.message.splitlines()[0]}"]
    return [f"{text}  # {failure.message}"] if failure.kind is FailureKind.TIMEOUT else [text]


def postconditions(call: Call, function: FunctionSpec, source: CallSource) -> list[str]:
    """Return statements that make a call and assert its postconditions.

    Each argument has a variable, because postconditions may use it.
    """
    named = {name for condition in function.postconditions for name in names_in(condition.text)}
    values = {name: source.expression(value) for name, value in call.arguments}
    for parameter in function.parameters:
        if parameter.name in named - values.keys() and parameter.default_value is not None:
            values[parameter.name] = source.expression(parameter.default_value)
    if function.constructor and "self" in named:
        values["self"] = source.instance(function, call)
    elif function.kind == "classmethod" and "cls" in named:
        values["cls"] = source.program_name(function.owner)
    lines = [f"{name} = {text}" for name, text in values.items()]
    kinds = {parameter.name: parameter.kind for parameter in function.parameters}
    passed = [passed_by_name(name, kinds.get(name, "")) for name, _ in call.arguments]
    text = source.call_with(function, call, passed, "self" if "self" in values else "")
    lines.append(f"result = {source.result_expression(text, function)}")
    other_names = named - values.keys() - {"result"} - set(vars(builtins))
    if function.annotations_file and other_names:
        # Each name is that of the program, or that of the sidecar.
        source.stub_name("")
        scope = f"{{**vars(stubs), **vars(sys.modules[{string_literal(source.module.name)}])}}"
        lines[:0] = [f"scope = {scope}", *(f'{n} = scope["{n}"]' for n in sorted(other_names))]
    else:
        source.program_names |= other_names
    for condition in function.postconditions:
        has_source = expression_tree(condition.text) is not None
        assertion = f"assert {condition.text}, {string_literal(condition.text)}"
        lines.append(assertion if has_source else f"print(result)  # {condition.text}")
    return lines


def passed_by_name(name: str, kind: str) -> str:
    """Return the source text that passes a variable as the argument with the same name.

    Args:
        name: name of the variable and the parameter.
        kind: kind of the parameter; see `ParameterSpec.kind`.
    """
    texts = {"var_positional": f"*{name}", "var_keyword": f"**{name}", "positional_only": name}
    return texts.get(kind, f"{name}={name}")


def command_line(program: ProgramFile, arguments: Sequence[str]) -> str:
    """Return the shell command that runs a program as a script."""
    words = [argument if argument.isalnum() else scalar(argument) for argument in arguments]
    return " ".join(["python", str(program.file), *words])
