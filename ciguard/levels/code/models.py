"""Recognition of the model in a program: the layers through which the data passes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.programs import elements_of, method_of
from ciguard.sources import Function, names_bound_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.code.programs import Program


class Style(Enum):
    """The style in which a model is written."""

    METHOD = "method"
    """A class with a method `forward`, `call` or `execute`."""
    SYMBOLIC = "symbolic"
    """`x = layer(x)` between `keras.Input` and `keras.Model`."""
    SEQUENCE = "sequence"
    """One `Sequential(…)` with all layers."""
    ADDED = "added"
    """A `Sequential` to which `model.add(…)` adds layers."""
    FUNCTION = "function"
    """A function that takes the data and returns the result."""


@dataclass(frozen=True, slots=True)
class LayerDefinition:
    """One or more layers that are created in one place and called in another."""

    statement: ast.Assign | ast.AnnAssign
    """Assignment that creates the layers."""
    value: ast.expr
    """Expression that creates the layers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The part of a program through which the data passes."""

    style: Style
    owner: ast.ClassDef | Function | None
    """The class or function that contains the model; None for the top level."""
    body: list[ast.stmt] = field(default_factory=list)
    """Statements of the method, function or module that contains the model."""
    first: int = 0
    """Index in `body` of the first statement that may process the data."""
    last: int = 0
    """Index in `body` of the `return`, the statement with `keras.Model(…)`, or the last `add`."""
    data: str = ""
    """Name of the variable that holds the model's input."""
    inputs: frozenset[int] = frozenset()
    """The `id` of the nodes that name the inputs in `keras.Model(…)`."""
    definitions: dict[str, LayerDefinition] = field(default_factory=dict)
    """Layer definitions, by the name that calls them, e.g. `self.conv1` or `conv1`."""
    sequence: ast.Call | None = None
    """Call that creates the `Sequential`; None for other styles."""
    variable: str = ""
    """Name of the variable to which the `Sequential` is assigned; empty if unknown."""


def model_of(program: Program) -> Model:
    """Return the model of a program.

    Raises:
        DisassemblyError: if the program has no model, or its method takes no data.
    """
    for find in (_symbolic_model, _class_model, _sequence_model, _added_model, _function_model):
        model = find(program)
        if model is not None:
            return model
    msg = (
        f"the program has no model of {program.dialect.library}: neither a class with a method "
        f"`{program.dialect.conventions.forward}`, nor a Sequential, nor calls of layers in a row"
    )
    raise DisassemblyError(msg)


# --- classes --------------------------------------------------------------------------------------


def _class_model(program: Program) -> Model | None:
    classes = [
        node
        for node in program.classes.values()
        if program.is_model_class(node)
        and method_of(node, program.dialect.conventions.forward) is not None
        and any(_stands_alone(program, call) for call in program.calls_of(node.name))
    ]
    if not classes:
        return None
    owner = max(classes, key=lambda node: _library_call_count(program, node))
    method = method_of(owner, program.dialect.conventions.forward)
    assert method is not None  # noqa: S101 - all `classes` have it
    names = [argument.arg for argument in method.args.args]
    if len(names) < 2 or not isinstance(method.body[-1], ast.Return):  # noqa: PLR2004 - parameters self and data
        msg = f"line {method.lineno}: {owner.name}.{method.name} takes no data or returns nothing"
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
    """Return whether a call creates an object outside of classes, containers and `add` calls."""
    for ancestor in program.ancestors(call):
        if isinstance(ancestor, ast.ClassDef) or program.is_container(ancestor):
            return False
        match ancestor:
            case ast.Call(func=ast.Attribute(attr="add"), args=arguments) if call in arguments:
                return False
            case _:
                pass
    return True


def _library_call_count(program: Program, node: ast.AST) -> int:
    return sum(bool(program.api(descendant)) for descendant in ast.walk(node))


def attributes_of(owner: ast.ClassDef, receiver: str) -> dict[str, LayerDefinition]:
    """Return the layers that `__init__` assigns to attributes which no other statement assigns.

    Args:
        owner: the class.
        receiver: the name of the object in the keys of the result, e.g. `self`.
    """
    method = method_of(owner, "__init__")
    if method is None or not method.args.args:
        return {}
    self_name = method.args.args[0].arg
    definitions: dict[str, LayerDefinition] = {}
    for statement in method.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr=attr)])
                | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id=name), attr=attr))
            ) if name == self_name and statement.value is not None:
                definitions[f"{receiver}.{attr}"] = LayerDefinition(statement, statement.value)
    assigned = [
        node.attr
        for node in ast.walk(owner)
        if _is_assigned(node) and isinstance(node, ast.Attribute)
    ]
    return {
        key: definition
        for key, definition in definitions.items()
        if assigned.count(key.partition(".")[2]) == 1
    }


def _is_assigned(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


# --- functional Keras -----------------------------------------------------------------------------


def _symbolic_model(program: Program) -> Model | None:
    for node in program.nodes:
        if program.api(node).rpartition(".")[2] not in {"Model", "Functional"}:
            continue
        assert isinstance(node, ast.Call)  # noqa: S101 - only calls have an API
        inputs = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "inputs")]
        if inputs and isinstance(inputs[0], ast.Name):
            return _model_between(program, node, inputs[0])
    return None


def _model_between(program: Program, call: ast.Call, inputs: ast.Name) -> Model | None:
    statement = program.statement(call)
    body = program.body(statement)
    last = body.index(statement)
    origins = [i for i, before in enumerate(body[:last]) if inputs.id in names_bound_in(before)]
    if not origins:
        return None
    assignments = (node for node in body if isinstance(node, ast.Assign))
    definitions = {
        node.targets[0].id: LayerDefinition(node, node.value)
        for node in assignments
        if isinstance(node.targets[0], ast.Name) and _is_layer(program, node.value)
    }
    return Model(
        style=Style.SYMBOLIC,
        owner=program.function_of(call),
        body=body,
        first=origins[-1] + 1,
        last=last,
        data=inputs.id,
        inputs=frozenset({id(inputs)}),
        definitions={
            name: definition
            for name, definition in definitions.items()
            if _assignment_count(program, name) == 1
        },
    )


def _is_layer(program: Program, value: ast.expr) -> bool:
    api = program.api(value).rpartition(".")[2]
    return api[:1].isupper() and api not in {"Input", "Model"}


def _assignment_count(program: Program, name: str) -> int:
    return sum(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in program.nodes
    )


# --- sequences ------------------------------------------------------------------------------------


def _sequence_model(program: Program) -> Model | None:
    sequences = [node for node in _outer_sequences(program) if len(elements_of(node)) > 1]
    if not sequences:
        return None
    call = max(
        sequences,
        key=lambda sequence: (program.function_of(sequence) is None, len(elements_of(sequence))),
    )
    statement = program.statement(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=variable)]):
            added = _model_of_additions(program, statement, variable)
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
            is_inside = any(
                isinstance(ancestor, ast.ClassDef) or program.is_container(ancestor)
                for ancestor in program.ancestors(node)
            )
            if not is_inside:
                yield node


def _added_model(program: Program) -> Model | None:
    for node in _outer_sequences(program):
        statement = program.statement(node)
        match statement:
            case ast.Assign(targets=[ast.Name(id=variable)]):
                added = _model_of_additions(program, statement, variable)
                if added is not None:
                    return added
            case _:
                pass
    return None


def _model_of_additions(program: Program, statement: ast.Assign, variable: str) -> Model | None:
    body = program.body(statement)
    addition_indices = [i for i, node in enumerate(body) if adds(node, variable)]
    if not addition_indices:
        return None
    sequence = next(node for node in ast.walk(statement) if program.is_sequence(node))
    assert isinstance(sequence, ast.Call)  # noqa: S101 - a sequence is a call
    return Model(
        style=Style.ADDED,
        owner=program.function_of(statement),
        body=body,
        first=body.index(statement) + 1,
        last=addition_indices[-1],
        sequence=sequence,
        variable=variable,
    )


def adds(statement: ast.stmt, variable: str) -> bool:
    """Return whether a statement contains a call of `add` of a variable, at any depth."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "add"
        and isinstance(node.value, ast.Name)
        and node.value.id == variable
        for node in ast.walk(statement)
    )


# --- functions ------------------------------------------------------------------------------------


def _function_model(program: Program) -> Model | None:
    candidates = [node for node in program.functions.values() if _is_model_candidate(program, node)]
    if not candidates:
        return None
    owner = max(candidates, key=lambda node: _library_call_count(program, node))
    return Model(
        style=Style.FUNCTION,
        owner=owner,
        body=owner.body,
        last=len(owner.body) - 1,
        data=owner.args.args[0].arg,
    )


def _is_model_candidate(program: Program, node: Function) -> bool:
    """Return whether a function may be a model: it takes the data alone and returns a result."""
    required = len(node.args.args) - len(node.args.defaults)
    return (
        isinstance(node, ast.FunctionDef)
        and required == 1
        and isinstance(node.body[-1], ast.Return)
        and _library_call_count(program, node) > 1
        and bool(program.calls_of(node.name))
    )
