"""Simpler variants of a program, for minimisation: the block alone, or less training."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.sources import Source, UnreadableSourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.programs import Ancestry, ProgramCase

_AMOUNT = re.compile(r"(?:\w+_)?(?:EPOCHS?|STEPS?|BATCHES|ITERATIONS?|SAMPLES)", re.IGNORECASE)
"""Pattern of names of constants that set the amount of training or data."""
_MAX_AMOUNT = 1 << 62
_MAX_AMOUNTS = 8
"""Maximum number of constants that are reduced; a program from a baseline may have thousands."""


def simpler_programs(case: ProgramCase) -> Iterator[ProgramCase]:
    """Yield simpler variants of a case: the block without its program, and less training."""
    ancestry = _ancestry_with_program(case)
    if case.block:
        yield replace(case, source=case.block, block="", ancestry=ancestry)
        yield replace(case, block="")
    if case.cycles == 1:  # growth shows only over many cycles
        for source in _with_less_training(case.source):
            yield replace(case, source=source, ancestry=ancestry)


def _ancestry_with_program(case: ProgramCase) -> Ancestry:
    """Return the ancestry, with the program itself if a report's diff to the parent needs it."""
    ancestry = case.ancestry
    if ancestry.derived or not ancestry.parent:
        return ancestry
    return replace(ancestry, derived=case.source)


def _with_less_training(source: str) -> Iterator[str]:
    """Yield the program with one of its amounts reduced to 1 or by half."""
    text = Source("", source)
    try:
        statements = text.tree.body
    except UnreadableSourceError:
        return  # a baseline of another origin may have programs that are not valid Python
    for value, number in islice(_amounts(statements), _MAX_AMOUNTS):
        for smaller in sorted({1, number // 2}):
            yield text.text_with_replacement(value, str(smaller))


def _amounts(statements: Iterable[ast.stmt]) -> Iterator[tuple[ast.Constant, int]]:
    for statement in statements:
        match statement:
            case ast.Assign(
                targets=[ast.Name(name)], value=ast.Constant(int() as number) as value
            ) if _AMOUNT.fullmatch(name) and 1 < number <= _MAX_AMOUNT:
                yield value, number
