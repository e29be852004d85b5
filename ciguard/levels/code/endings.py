"""Changes to a model's start and end: another input shape, or an end after an earlier block."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.levels.code.chains import result_of
from ciguard.levels.code.models import Style
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from ciguard.levels.code.draft import Draft
    from ciguard.levels.code.places import BlockPlace


def end_after(draft: Draft, place: BlockPlace) -> None:
    """Make the model end with the result of a block, without the layers after it."""
    last = draft.program.nodes[place.statements[-1]]
    assert isinstance(last, ast.stmt)  # noqa: S101 - the number denotes a statement
    body = draft.program.body(last)
    index = body.index(last)
    if draft.style is Style.SYMBOLIC:
        _end_symbolic_model(draft, body, index, place.output_name)
    elif not isinstance(last, ast.Return):
        body[index + 1 :] = ast.parse(f"return {place.output_name}").body


def _end_symbolic_model(draft: Draft, body: list[ast.stmt], index: int, output_name: str) -> None:
    for statement in body[index + 1 :]:
        for node in ast.walk(statement):
            if draft.program.api(node).rpartition(".")[2] in {"Model", "Functional"}:
                assert isinstance(node, ast.Call)  # noqa: S101 - only calls have an API
                outputs = result_of(statement, node)
                if outputs is not None:
                    draft.replace(outputs, ast.Name(id=output_name, ctx=ast.Load()))
                body[index + 1 : body.index(statement)] = []
                return


def reshape_inputs(draft: Draft, shape: tuple[int, ...], dtype: str) -> None:
    """Give the program's symbolic inputs another shape and dtype.

    Args:
        draft: the program to edit.
        shape: the new shape, without the batch dimension.
        dtype: the new element type.
    """
    for node in draft.program.nodes:
        if draft.program.api(node).rpartition(".")[2] not in {"Input", "InputLayer"}:
            continue
        assert isinstance(node, ast.Call)  # noqa: S101 - only calls have an API
        text = f"f(shape={shape}, dtype={dtype!r})"
        if draft.program.api(node).endswith("InputLayer"):
            text = f"f(input_shape={shape}, dtype={dtype!r})"
        call = parse_expression(text)
        assert isinstance(call, ast.Call)  # noqa: S101 - the text is a call
        node.args, node.keywords = [], call.keywords
