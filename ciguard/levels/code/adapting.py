"""Adapters: expressions of the data that are inserted before a block, in every program style."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.models import Style
from ciguard.levels.code.programs import elements_of
from ciguard.levels.code.syntax import filled
from ciguard.sources import bound_in, dotted_name

if TYPE_CHECKING:
    from ciguard.levels.code.draft import Draft
    from ciguard.levels.code.places import BlockPlace


def adapt(draft: Draft, place: BlockPlace, text: str) -> None:
    """Insert an expression of `x` before a block.

    Raises:
        DisassemblyError: if the block is in a list of layers and no layer computes the expression.
    """
    if place.element is not None or (not place.takes and place.statements):
        _adapt_list(draft, place, text)
    elif place.steps and place.steps[0][1] is not None:
        before = draft.node(place.steps[0][1])
        hole = ast.Name(id=place.takes, ctx=ast.Load())
        adapted = filled(draft.expression(text), hole)
        draft.replace(before, adapted)
        # The data goes into the hole, which is now a node of the adapter.
        draft.replace(hole, before)
        draft.moved.pop(id(hole))
    else:
        _adapt_statement(draft, place, text)


def _adapt_list(draft: Draft, place: BlockPlace, text: str) -> None:
    layers = draft.program.dialect.element(text)
    if layers is None:
        msg = f"no layer is equivalent to the adapter {text!r}"
        raise DisassemblyError(msg)
    adapters = [draft.expression(layer) for layer in layers]
    if place.element is None:
        _add_before(draft, draft.program.nodes[place.statements[0]], adapters)
        return
    sequence = draft.program.nodes[place.sequences[0]]
    assert isinstance(sequence, ast.Call)  # noqa: S101 - numbered as one
    elements = elements_of(sequence)
    element = draft.program.nodes[place.element]
    index = next(index for index, candidate in enumerate(elements) if candidate is element)
    if isinstance(element, ast.Tuple):
        adapters = [
            ast.Tuple(elts=[ast.Constant(f"adapter{index}_{n}"), layer], ctx=ast.Load())
            for n, layer in enumerate(adapters)
        ]
    elements[index:index] = adapters


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
    target = place.takes
    if draft.style is Style.SYMBOLIC and place.takes == draft.data:
        # `keras.Model(inputs, …)` needs the input under its original name.
        target = draft.unused(f"{place.takes}_adapted")
        _rename_reads(draft, place, target)
    adapted = filled(draft.expression(text), ast.Name(id=place.takes, ctx=ast.Load()))
    draft.insert(first, f"{target} = {ast.unparse(adapted)}")


def _rename_reads(draft: Draft, place: BlockPlace, target: str) -> None:
    for number in place.statements:
        statement = draft.program.nodes[number]
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == place.takes:
                node.id = target
        assert isinstance(statement, ast.stmt)  # noqa: S101 - numbered as one
        if target in bound_in(statement):
            return
