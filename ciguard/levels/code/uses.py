"""Where programs call the layers that they make, and how those calls are written otherwise."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.code.models import attributes_of
from ciguard.levels.code.programs import method_of
from ciguard.sources import dotted_name

if TYPE_CHECKING:
    from ciguard.levels.code.collecting import Collection
    from ciguard.levels.code.editing import Draft
    from ciguard.levels.code.models import Model
    from ciguard.levels.code.programs import Program

PLAIN = "f(x)"
"""The use of a layer that is called with the data alone."""
_LAYER, _DATA = "f", "x"
_HELD = "held"
"""Variable of data that is not in one yet and is needed more than once."""


def uses_of(
    program: Program, model: Model, found: Collection, call: ast.Call
) -> tuple[ast.Call, ...]:
    """Return the calls in a unit of what one of its calls makes.

    Args:
        program: that they stand in.
        model: of the program.
        found: what belongs to the unit.
        call: of the unit.

    Returns:
        None of them where the layer is spoken of otherwise, as in a list of layers, or where one
        of them has another argument by position than the data.
    """
    spoken = _spoken_of(program, model, found, call)
    parents = [program.parents[id(node)] for node in spoken]
    uses = tuple(
        parent
        for node, parent in zip(spoken, parents, strict=True)
        if isinstance(parent, ast.Call) and parent.func is node and _is_plain(parent)
    )
    return uses if len(uses) == len(spoken) else ()


def _spoken_of(program: Program, model: Model, found: Collection, call: ast.Call) -> list[ast.expr]:
    """Return the nodes that stand for what a call makes: itself, or the names that it is given."""
    home = found.homes[id(call)]
    if home in model.definitions and model.definitions[home].value is call:
        return found.references[home]
    owner = program.classes.get(home)
    method = owner and method_of(owner, program.dialect.style.forward)
    if owner and method and method.args.args:
        attributes = attributes_of(owner, method.args.args[0].arg)
        key = next((key for key, one in attributes.items() if one.value is call), None)
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


def use_as(draft: Draft, use: ast.AST, text: str) -> None:
    """Write the call of a layer otherwise.

    What else it is called with, `training=True` for one, goes to the layer's new call.

    Args:
        draft: of the program.
        use: the layer's call, with the data alone by position.
        text: an expression of the layer `f` and the data `x`.
    """
    assert isinstance(use, ast.Call)  # noqa: S101 - numbered as one
    expression = draft.expression(text)
    named = sum(isinstance(node, ast.Name) and node.id == _DATA for node in ast.walk(expression))
    is_held = named > 1 and not isinstance(use.args[0], ast.Name)
    draft.replace(use, _Use(use, draft.unused(_HELD) if is_held else "").visit(expression))


class _Use(ast.NodeTransformer):
    """Puts a layer, and what it is called with, into an expression."""

    def __init__(self, use: ast.Call, held: str) -> None:
        self.use = use
        self.held = held
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
        if first and self.held:
            name = ast.Name(id=self.held, ctx=ast.Store())
            return ast.NamedExpr(target=name, value=self.use.args[0])
        if first:
            return self.use.args[0]
        (data,) = self.use.args
        known = self.held or (data.id if isinstance(data, ast.Name) else "")
        return ast.Name(id=known, ctx=ast.Load())
