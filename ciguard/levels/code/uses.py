"""Usages: calls of layers in a program, and their rewriting."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.code.models import attributes_of
from ciguard.levels.code.programs import method_of
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from ciguard.levels.code.collection import Collection
    from ciguard.levels.code.draft import Draft
    from ciguard.levels.code.models import Model
    from ciguard.levels.code.programs import Program

PLAIN = "f(x)"
"""Usage of a layer that is called with the data alone."""
_LAYER, _DATA = "f", "x"
_TEMPORARY = "held"
"""Name of a new variable for data that a usage needs more than once."""


def uses_of(
    program: Program, model: Model, collected: Collection, call: ast.Call
) -> tuple[ast.Call, ...]:
    """Return the calls of a layer within a unit.

    Args:
        program: the program.
        model: the model of the program.
        collected: the nodes of the unit.
        call: the call in the unit that creates the layer.

    Returns:
        The calls; empty if the layer is also used in another way, such as in a list of layers, or
        if a call has several positional arguments.
    """
    references = _references_to(program, model, collected, call)
    parents = [program.parents[id(node)] for node in references]
    uses = tuple(
        parent
        for node, parent in zip(references, parents, strict=True)
        if isinstance(parent, ast.Call) and parent.func is node and _is_plain(parent)
    )
    return uses if len(uses) == len(references) else ()


def _references_to(
    program: Program, model: Model, collected: Collection, call: ast.Call
) -> list[ast.expr]:
    """Return the nodes that denote the created layer: the names assigned to it, else the call."""
    home = collected.containers[id(call)]
    if home in model.definitions and model.definitions[home].value is call:
        return collected.references[home]
    owner = program.classes.get(home)
    method = owner and method_of(owner, program.dialect.conventions.forward)
    if owner and method and method.args.args:
        attributes = attributes_of(owner, method.args.args[0].arg)
        key = next((k for k, definition in attributes.items() if definition.value is call), None)
        if key is not None:
            return [
                node
                for node in ast.walk(owner)
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Load)
                and dotted_name(node) == key
            ]
    return [call]


def _is_plain(use: ast.Call) -> bool:
    return len(use.args) == 1 and not isinstance(use.args[0], ast.Starred)


def rewrite_usage(draft: Draft, use: ast.AST, text: str) -> None:
    """Rewrite the call of a layer to another usage.

    Keyword arguments, such as `training=True`, are passed on to the layer's new call.

    Args:
        draft: the draft of the program.
        use: the layer's call, whose only positional argument is the data.
        text: the usage, an expression of the layer `f` and the data `x`.
    """
    assert isinstance(use, ast.Call)  # noqa: S101 - the number denotes a call
    expression = draft.expression(text)
    occurrences = sum(
        isinstance(node, ast.Name) and node.id == _DATA for node in ast.walk(expression)
    )
    needs_variable = occurrences > 1 and not isinstance(use.args[0], ast.Name)
    draft.replace(
        use,
        _UsageRewriter(use, draft.unused_name(_TEMPORARY) if needs_variable else "").visit(
            expression
        ),
    )


class _UsageRewriter(ast.NodeTransformer):
    """Replaces `f` and `x` in a usage by the layer and the data of a call."""

    def __init__(self, use: ast.Call, variable: str) -> None:
        self.use = use
        self.variable = variable
        self.is_first = True

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == _LAYER:
            self.generic_visit(node)
            node.keywords += self.use.keywords
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == _LAYER:
            return self.use.func
        if node.id != _DATA:
            return node
        first, self.is_first = self.is_first, False
        if first and self.variable:
            name = ast.Name(id=self.variable, ctx=ast.Store())
            return ast.NamedExpr(target=name, value=self.use.args[0])
        if first:
            return self.use.args[0]
        (data,) = self.use.args
        data_name = self.variable or (data.id if isinstance(data, ast.Name) else "")
        return ast.Name(id=data_name, ctx=ast.Load())
