"""Expressions of the data put before a block, in every style of a program."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.models import Style
from ciguard.levels.code.programs import elements_of
from ciguard.levels.code.syntax import filled
from ciguard.sources import bound_in, dotted_name

if TYPE_CHECKING:
    from ciguard.levels.code.editing import Draft
    from ciguard.levels.code.places import BlockPlace


def adapt(draft: Draft, place: BlockPlace, text: str) -> None:
    """Put an expression of `x` before a place.

    Raises:
        DisassemblyError: if it stands in a list of layers, and no layer does what it says.
    """
    if place.element is not None or (not place.takes and place.statements):
        _adapt_list(draft, place, text)
    elif place.steps and place.steps[0][1] is not None:
        before = draft.node(place.steps[0][1])
        hole = ast.Name(id=place.takes, ctx=ast.Load())
        adapted = filled(draft.expression(text), hole)
        draft.replace(before, adapted)
        # The data itself goes into the hole, which is a node of the adapter now.
        draft.replace(hole, before)
        draft.moved.pop(id(hole))
    else:
        _adapt_statement(draft, place, text)


def _adapt_list(draft: Draft, place: BlockPlace, text: str) -> None:
    layers = draft.program.dialect.element(text)
    if layers is None:
        msg = f"no layer does what {text!r} says"
        raise DisassemblyError(msg)
    made = [draft.expression(layer) for layer in layers]
    if place.element is None:
        _add_before(draft, draft.program.nodes[place.statements[0]], made)
        return
    sequence = draft.program.nodes[place.within[0]]
    assert isinstance(sequence, ast.Call)  # noqa: S101 - numbered as one
    listed = elements_of(sequence)
    element = draft.program.nodes[place.element]
    at = next(at for at, one in enumerate(listed) if one is element)
    if isinstance(element, ast.Tuple):
        made = [
            ast.Tuple(elts=[ast.Constant(f"adapter{at}_{n}"), layer], ctx=ast.Load())
            for n, layer in enumerate(made)
        ]
    listed[at:at] = made


def _add_before(draft: Draft, statement: ast.AST, layers: list[ast.expr]) -> None:
    assert isinstance(statement, ast.stmt)  # noqa: S101 - numbered as one
    receiver = next(
        dotted_name(node.value)
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr == "add" and dotted_name(node.value)
    )
    for layer in layers:
        draft.insert(statement, f"{receiver}.add({ast.unparse(layer)})")


def _adapt_statement(draft: Draft, place: BlockPlace, text: str) -> None:
    first = draft.program.nodes[place.statements[0]]
    assert isinstance(first, ast.stmt)  # noqa: S101 - numbered as one
    to = place.takes
    if draft.style is Style.SYMBOLIC and place.takes == draft.data:
        # `keras.Model(inputs, …)` still has to find the input under its name.
        to = draft.unused(f"{place.takes}_adapted")
        _rename_reads(draft, place, to)
    adapted = filled(draft.expression(text), ast.Name(id=place.takes, ctx=ast.Load()))
    draft.insert(first, f"{to} = {ast.unparse(adapted)}")


def _rename_reads(draft: Draft, place: BlockPlace, to: str) -> None:
    for number in place.statements:
        statement = draft.program.nodes[number]
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == place.takes:
                node.id = to
        assert isinstance(statement, ast.stmt)  # noqa: S101 - numbered as one
        if to in bound_in(statement):
            return
