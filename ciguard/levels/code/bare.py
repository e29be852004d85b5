"""Programs of one layer alone, outside of its seed: for what a library promises of it anywhere."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.levels.code.blocks import INPUT
from ciguard.levels.code.dialects import dialect_of_root
from ciguard.levels.code.running import running
from ciguard.levels.code.uses import PLAIN
from ciguard.sources import parse_expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.programs import Derivation
    from ciguard.levels.code.blocks import Block, BlockInput, LibraryCall

LINE = 2
"""Of the layer's call in the programs below."""


@dataclass(frozen=True, slots=True)
class Bare:
    """A layer on its own, run as it is promised to run, and before that as it runs in programs."""

    source: str
    control: str
    step: Derivation
    name: str
    """Of what is tried: nothing is tried twice."""


def bare_call(block: Block, place: int, source: str) -> LibraryCall | None:
    """Return a call of a block as it may stand on its own.

    Args:
        block: that the call stands in.
        place: of the call.
        source: of the seed program, whose constants may stand in the call.

    Returns:
        None where it makes no layer, does not meet what the block is called with or is called with
        more, or has an argument that is neither literal nor made of constants.
    """
    meets_it = place == 0 and block.follows[:1] == (INPUT,) and not block.adapter
    if not meets_it or not block.calls or not block.calls[place].makes_layer:
        return None
    if block.calls[place].use not in {"", PLAIN}:
        return None
    return _written_out(block.calls[place], _constants(source))


def bare_program(call: LibraryCall, fed: BlockInput) -> str:
    """Return a program that runs a layer forwards and backwards on a random input."""
    root = call.api.partition(".")[0]
    given = ", ".join((*call.positional, *(f"{name}={text}" for name, text in call.keywords)))
    ran = running(dialect_of_root(root).library, "layer", fed)
    return f"import {root}\nlayer = {call.api}({given}){ran}"


@lru_cache(maxsize=32)
def _constants(source: str) -> Mapping[str, int]:
    """Return the numbers that a program gives names to, at its top level."""
    found = {}
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
                found[name] = number
            case _:
                pass
    return found


def _written_out(call: LibraryCall, constants: Mapping[str, int]) -> LibraryCall | None:
    """Return a call without names; None where it has others than those of constants."""
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
    if text.startswith("*"):
        return None
    expression = _Known(constants).visit(parse_expression(text))
    is_known = not any(isinstance(node, (ast.Name, ast.Call)) for node in ast.walk(expression))
    return ast.unparse(expression) if is_known else None


class _Known(ast.NodeTransformer):
    def __init__(self, constants: Mapping[str, int]) -> None:
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = node.id in self._constants
        return ast.Constant(value=self._constants[node.id]) if known else node
