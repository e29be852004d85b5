"""Programs that run one layer alone, to check guarantees that do not depend on a model."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import INPUT
from ciguard.levels.code.dialects import dialect_of_root
from ciguard.levels.code.running import run_statements
from ciguard.levels.code.uses import PLAIN
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.programs import Derivation
    from ciguard.levels.code.blocks import Block, BlockTensor, LibraryCall

CALL_LINE = 2
"""Line of a standalone program that creates the layer."""


@dataclass(frozen=True, slots=True)
class StandaloneProgram:
    """A program that checks one layer, and its control program."""

    source: str
    """Text of the program."""
    control: str
    """Text of a program that runs the layer in the usual way, and must pass."""
    step: Derivation
    """The change from the control program to the program."""
    name: str
    """Name of the check; a campaign makes each check once."""


def standalone_call(block: Block, place: int, source: str) -> LibraryCall | None:
    """Return a call of a block with its constants replaced by numbers.

    Args:
        block: the block that contains the call.
        place: the index of the call in the block.
        source: the text of the seed program, whose constants the call may use.

    Returns:
        The call; None if it creates no layer, the layer is not called with the block's input
        alone, or an argument is not an expression of literals and constants.
    """
    is_on_input = place == 0 and block.input_sources[:1] == (INPUT,) and not block.adapter
    if not is_on_input or not block.calls or not block.calls[place].makes_layer:
        return None
    if block.calls[place].use not in {"", PLAIN}:
        return None
    return _with_constants(block.calls[place], _constants(source))


def standalone_program(call: LibraryCall, input_form: BlockTensor) -> str:
    """Return a program that runs a layer forwards and backwards on a random input of a form."""
    root = call.api.partition(".")[0]
    arguments = ", ".join((*call.positional, *(f"{name}={text}" for name, text in call.keywords)))
    run = run_statements(dialect_of_root(root).library, "layer", input_form)
    return f"import {root}\nlayer = {call.api}({arguments}){run}"


@lru_cache(maxsize=32)
def _constants(source: str) -> Mapping[str, int]:
    """Return the integers that a program assigns to names at its top level."""
    constants = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
                constants[name] = number
            case _:
                pass
    return constants


def _with_constants(call: LibraryCall, constants: Mapping[str, int]) -> LibraryCall | None:
    """Return a call with constants replaced by their values; None if other names remain."""
    positional = [_without_names(text, constants) for text in call.positional]
    keywords = [(name, _without_names(text, constants)) for name, text in call.keywords]
    if None in positional or None in dict(keywords).values():
        return None
    return replace(
        call,
        positional=tuple(filter(None, positional)),
        keywords=tuple((name, text or "") for name, text in keywords),
    )


def _without_names(text: str, constants: Mapping[str, int]) -> str | None:
    """Return an expression with constants replaced by their values; None if other names remain."""
    if text.startswith("*"):
        return None
    expression = _ConstantFolder(constants).visit(parse_expression(text))
    is_literal = not any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(expression))
    return ast.unparse(expression) if is_literal else None


class _ConstantFolder(ast.NodeTransformer):
    """Replaces names of constants by their values."""

    def __init__(self, constants: Mapping[str, int]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        is_constant = node.id in self._constants
        return ast.Constant(value=self._constants[node.id]) if is_constant else node
