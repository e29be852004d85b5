"""One sample in the place of a batch, for layers whose documentation lists both forms of input."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain import Derivation, Operator
from ciguard.knowledge import without_markup
from ciguard.levels.code.blocks import INPUT, Fed
from ciguard.levels.code.running import running
from ciguard.levels.code.syntax import parse_expression

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain import ApiRecord
    from ciguard.levels.code.blocks import Block, LibraryCall
    from ciguard.levels.code.knowledge import Apis

_BATCH = "N"
"""How documentation calls the size of the batch dimension."""
_LINE = 2
"""Of the layer's call in the programs below."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """A layer on its own, run on one sample, and before that on a batch."""

    source: str
    batch: str
    step: Derivation


class Samples:
    """Makes such programs of layers that programs were made of."""

    def __init__(self, apis: Apis) -> None:
        """Prepare it for a library's APIs."""
        self._apis = apis

    def __call__(self, block: Block, place: int, takes: Fed, source: str) -> Sampled | None:
        """Return the programs for one call of a block.

        Args:
            block: that the call stands in.
            place: of the call.
            takes: what the block is called with.
            source: of the seed program, whose constants may stand in the call.

        Returns:
            None where the library does not say that the layer takes one sample too, where the call
            does not stand first in its block, and where an argument is neither literal nor made of
            constants.
        """
        call = _written_out(block.calls[place], _constants(source))
        if call is None or not call.makes_layer:
            return None
        api = self._apis.find(call.api)
        forms = _both_forms(api.record, len(takes.shape)) if api is not None else ()
        meets_it = place == 0 and block.follows[:1] == (INPUT,) and not block.adapter
        if not (forms and meets_it):
            return None
        one = Fed(takes.shape[1:], takes.dtype, takes.below)
        step = Derivation(
            block=block.name,
            line=_LINE,
            api=call.api,
            operator=Operator.UNBATCHED,
            before=str(takes.shape),
            after=str(one.shape),
            sentence=f"Input: {' or '.join(map(without_markup, forms))}",
        )
        return Sampled(_program(call, one), _program(call, takes), step)


def _both_forms(record: ApiRecord, rank: int) -> tuple[str, ...]:
    """Return the form of a batch of that rank, and that of a sample; nothing if one is missing."""
    listed = {tuple(form.strip("()").split(", ")): form for form in record.forms}
    for dims, form in listed.items():
        if len(dims) == rank and dims[0] == _BATCH and dims[1:] in listed:
            return form, listed[dims[1:]]
    return ()


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


def _program(call: LibraryCall, fed: Fed) -> str:
    library = call.api.partition(".")[0]
    given = ", ".join((*call.positional, *(f"{name}={text}" for name, text in call.keywords)))
    return f"import {library}\nlayer = {call.api}({given}){running(library, 'layer', fed)}"
