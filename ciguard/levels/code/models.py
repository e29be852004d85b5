"""Where in a program the model is that data goes through, layer by layer."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.programs import elements_of, method_of
from ciguard.sources import Function, bound_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.programs import Program


class Style(Enum):
    """How a model is written."""

    METHOD = "method"
    """A class with `forward`, `call` or `execute`."""
    SYMBOLIC = "symbolic"
    """`x = layer(x)` between `keras.Input` and `keras.Model`."""
    SEQUENCE = "sequence"
    """One `Sequential(…)`."""
    ADDED = "added"
    """`model.add(…)`."""
    FUNCTION = "function"
    """A function of the data."""


@dataclass(frozen=True, slots=True)
class LayerDefinition:
    """A layer, or several, that are made in one place and called in another."""

    statement: ast.Assign | ast.AnnAssign
    value: ast.expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The stretch of a program that data goes through."""

    style: Style
    owner: ast.ClassDef | Function | None
    """What has to be called for the model, or is called with data; None: it stands at top level."""
    body: list[ast.stmt] = field(default_factory=list)
    first: int = 0
    """Of the body: where the data comes from."""
    last: int = 0
    """Of the body: the `return`, the statement with `keras.Model(…)`, or with the last `add`."""
    data: str = ""
    """The variable that holds the input."""
    inputs: frozenset[int] = frozenset()
    """`id` of names that say in `keras.Model(…)` what the inputs are."""
    definitions: dict[str, LayerDefinition] = field(default_factory=dict)
    """By how they are called: `self.conv1`, `conv1`."""
    sequence: ast.Call | None = None
    variable: str = ""
    """That `add` is called of."""


def model_of(program: Program) -> Model:
    """Find the model of a program.

    Raises:
        DisassemblyError: if there is none that data goes through.
    """
    for find in (_symbolic, _class, _sequence, _added, _function):
        found = find(program)
        if found is not None:
            return found
    msg = (
        f"no model of {program.dialect.library} was found: neither a class with "
        f"`{program.dialect.style.forward}`, nor a Sequential, nor layers called one after another"
    )
    raise DisassemblyError(msg)


# --- classes --------------------------------------------------------------------------------------


def _class(program: Program) -> Model | None:
    made = [
        node
        for node in program.classes.values()
        if program.is_model_class(node)
        and method_of(node, program.dialect.style.forward) is not None
        and any(_stands_alone(program, call) for call in program.calls_of(node.name))
    ]
    if not made:
        return None
    owner = max(made, key=lambda node: _library_calls(program, node))
    method = method_of(owner, program.dialect.style.forward)
    assert method is not None  # noqa: S101 - filtered by it
    names = [one.arg for one in method.args.args]
    if len(names) < 2 or not isinstance(method.body[-1], ast.Return):  # noqa: PLR2004 - self, data
        msg = f"line {method.lineno}: {owner.name}.{method.name} takes no data, or returns nothing"
        raise DisassemblyError(msg)
    return Model(
        style=Style.METHOD,
        owner=owner,
        body=method.body,
        last=len(method.body) - 1,
        data=names[1],
        definitions=attributes_of(owner, names[0]),
    )


def _stands_alone(program: Program, call: ast.Call) -> bool:
    """Return whether an object is made outside of all classes and containers."""
    for above in program.above(call):
        if isinstance(above, ast.ClassDef) or program.is_container(above):
            return False
        match above:
            case ast.Call(func=ast.Attribute(attr="add"), args=arguments) if call in arguments:
                return False
            case _:
                pass
    return True


def _library_calls(program: Program, node: ast.AST) -> int:
    return sum(bool(program.api(one)) for one in ast.walk(node))


def attributes_of(owner: ast.ClassDef, receiver: str) -> dict[str, LayerDefinition]:
    """Return what `__init__` sets once on the object, in statements of its own."""
    method = method_of(owner, "__init__")
    if method is None or not method.args.args:
        return {}
    own = method.args.args[0].arg
    found: dict[str, LayerDefinition] = {}
    for statement in method.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)])
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id=name), attr=attr))
            ) if name == own and statement.value is not None:
                found[f"{receiver}.{attr}"] = LayerDefinition(statement, statement.value)
    times = [one.attr for one in ast.walk(owner) if _is_set(one) and isinstance(one, ast.Attribute)]
    return {key: one for key, one in found.items() if times.count(key.partition(".")[2]) == 1}


def _is_set(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


# --- functional Keras -----------------------------------------------------------------------------


def _symbolic(program: Program) -> Model | None:
    for node in program.nodes:
        if program.api(node).rpartition(".")[2] not in {"Model", "Functional"}:
            continue
        assert isinstance(node, ast.Call)  # noqa: S101 - it has an API
        inputs = [*node.args[:1], *(one.value for one in node.keywords if one.arg == "inputs")]
        if inputs and isinstance(inputs[0], ast.Name):
            return _between(program, node, inputs[0])
    return None


def _between(program: Program, call: ast.Call, inputs: ast.Name) -> Model | None:
    statement = program.statement(call)
    body = program.body(statement)
    last = body.index(statement)
    origins = [at for at, one in enumerate(body[:last]) if inputs.id in bound_in(one)]
    if not origins:
        return None
    names = (one for one in body if isinstance(one, ast.Assign))
    found = {
        one.targets[0].id: LayerDefinition(one, one.value)
        for one in names
        if isinstance(one.targets[0], ast.Name) and _is_layer(program, one.value)
    }
    return Model(
        style=Style.SYMBOLIC,
        owner=program.function_of(call),
        body=body,
        first=origins[-1] + 1,
        last=last,
        data=inputs.id,
        inputs=frozenset({id(inputs)}),
        definitions={k: one for k, one in found.items() if _times_set(program, k) == 1},
    )


def _is_layer(program: Program, value: ast.expr) -> bool:
    api = program.api(value).rpartition(".")[2]
    return api[:1].isupper() and api not in {"Input", "Model"}


def _times_set(program: Program, name: str) -> int:
    return sum(
        isinstance(one, ast.Name) and one.id == name and not isinstance(one.ctx, ast.Load)
        for one in program.nodes
    )


# --- sequences ------------------------------------------------------------------------------------


def _sequence(program: Program) -> Model | None:
    found = [node for node in _outer_sequences(program) if len(elements_of(node)) > 1]
    if not found:
        return None
    call = max(found, key=lambda one: (program.function_of(one) is None, len(elements_of(one))))
    statement = program.statement(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=variable)]):
            added = _added_to(program, statement, variable)
        case _:
            variable, added = "", None
    if added is not None:
        return added
    return Model(
        style=Style.SEQUENCE,
        owner=program.function_of(call),
        sequence=call,
        variable=variable,
    )


def _outer_sequences(program: Program) -> Iterator[ast.Call]:
    for node in program.nodes:
        if isinstance(node, ast.Call) and program.is_sequence(node):
            above = list(program.above(node))
            inside = any(
                isinstance(one, ast.ClassDef) or program.is_container(one) for one in above
            )
            if not inside:
                yield node


def _added(program: Program) -> Model | None:
    for node in _outer_sequences(program):
        statement = program.statement(node)
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)]):
                added = _added_to(program, statement, variable)
                if added is not None:
                    return added
            case _:
                pass
    return None


def _added_to(program: Program, statement: ast.Assign, variable: str) -> Model | None:
    body = program.body(statement)
    places = [at for at, one in enumerate(body) if adds(one, variable)]
    if not places:
        return None
    sequence = next(one for one in ast.walk(statement) if program.is_sequence(one))
    assert isinstance(sequence, ast.Call)  # noqa: S101 - it is a sequence
    return Model(
        style=Style.ADDED,
        owner=program.function_of(statement),
        body=body,
        first=body.index(statement) + 1,
        last=places[-1],
        sequence=sequence,
        variable=variable,
    )


def adds(statement: ast.stmt, variable: str) -> bool:
    """Return whether a statement adds layers to a variable, however deep inside of it."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "add"
        and isinstance(node.value, ast.Name)
        and node.value.id == variable
        for node in ast.walk(statement)
    )


# --- functions ------------------------------------------------------------------------------------


def _function(program: Program) -> Model | None:
    found = [node for node in program.functions.values() if _may_be_model(program, node)]
    if not found:
        return None
    owner = max(found, key=lambda node: _library_calls(program, node))
    return Model(
        style=Style.FUNCTION,
        owner=owner,
        body=owner.body,
        last=len(owner.body) - 1,
        data=owner.args.args[0].arg,
    )


def _may_be_model(program: Program, node: Function) -> bool:
    """Return whether a function is called with data alone, and returns what it makes of it."""
    required = len(node.args.args) - len(node.args.defaults)
    return (
        isinstance(node, ast.FunctionDef)
        and required == 1
        and isinstance(node.body[-1], ast.Return)
        and _library_calls(program, node) > 1
        and bool(program.calls_of(node.name))
    )
