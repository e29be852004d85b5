"""Insertion of adapters, which are expressions of the data, before blocks in each program style."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.errors import DisassemblyError
from ciguard.levels.code.models import Style
from ciguard.levels.code.programs import elements_of
from ciguard.levels.code.syntax import with_data
from ciguard.sources import dotted_name, names_bound_in

if TYPE_CHECKING:
    from ciguard.levels.code.draft import Draft
    from ciguard.levels.code.places import BlockPlace


def adapt(draft: Draft, place: BlockPlace, text: str) -> None:
    """Insert an adapter before a block.

    Args:
        draft: the program to edit.
        place: the place of the block.
        text: the adapter, an expression of the data `x`.

    Raises:
        DisassemblyError: if the block is in a list of layers, and no layers are equivalent to the
            adapter.
    """
    if place.element is not None or (not place.input_name and place.statements):
        _adapt_list(draft, place, text)
    elif place.steps and place.steps[0][1] is not None:
        before = draft.node(place.steps[0][1])
        placeholder = ast.Name(id=place.input_name, ctx=ast.Load())
        adapted = with_data(draft.expression(text), placeholder)
        draft.replace(before, adapted)
        # The placeholder is now a node of the adapter; the data takes its place.
        draft.replace(placeholder, before)
        draft.replacements.pop(id(placeholder))
    else:
        _adapt_statement(draft, place, text)


def _adapt_list(draft: Draft, place: BlockPlace, text: str) -> None:
    layers = draft.program.dialect.element(text)
    if layers is None:
        msg = f"no layers are equivalent to the adapter {text!r}"
        raise DisassemblyError(msg)
    adapters = [draft.expression(layer) for layer in layers]
    if place.element is None:
        _add_layers_before(draft, draft.program.nodes[place.statements[0]], adapters)
        return
    sequence = draft.program.nodes[place.sequences[0]]
    assert isinstance(sequence, ast.Call)  # noqa: S101 - the number denotes a call
    elements = elements_of(sequence)
    element = draft.program.nodes[place.element]
    index = next(index for index, candidate in enumerate(elements) if candidate is element)
    if isinstance(element, ast.Tuple):
        adapters = [
            ast.Tuple(elts=[ast.Constant(f"adapter{index}_{n}"), layer], ctx=ast.Load())
            for n, layer in enumerate(adapters)
        ]
    elements[index:index] = adapters


def _add_layers_before(draft: Draft, statement: ast.AST, layers: list[ast.expr]) -> None:
    assert isinstance(statement, ast.stmt)  # noqa: S101 - the number denotes a statement
    receiver = next(
        dotted_name(node.value)
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and node.attr == "add" and dotted_name(node.value)
    )
    for layer in layers:
        draft.insert(statement, f"{receiver}.add({ast.unparse(layer)})")


def _adapt_statement(draft: Draft, place: BlockPlace, text: str) -> None:
    first = draft.program.nodes[place.statements[0]]
    assert isinstance(first, ast.stmt)  # noqa: S101 - the number denotes a statement
    target = place.input_name
    if draft.style is Style.SYMBOLIC and place.input_name == draft.data:
        # `keras.Model(inputs, …)` needs the input under its original name.
        target = draft.unused_name(f"{place.input_name}_adapted")
        _rename_reads(draft, place, target)
    adapted = with_data(draft.expression(text), ast.Name(id=place.input_name, ctx=ast.Load()))
    draft.insert(first, f"{target} = {ast.unparse(adapted)}")


def _rename_reads(draft: Draft, place: BlockPlace, target: str) -> None:
    for number in place.statements:
        statement = draft.program.nodes[number]
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == place.input_name:
                node.id = target
        assert isinstance(statement, ast.stmt)  # noqa: S101 - the number denotes a statement
        if target in names_bound_in(statement):
            return
