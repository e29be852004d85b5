"""Simpler variants of a program's run: the block alone, the program alone, less training."""

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
"""Names of constants that say how much is trained, or on how much."""
_LARGEST = 1 << 62
_MAX_AMOUNTS = 8
"""Of one program that are looked at: somebody else's may have thousands."""


def simpler_programs(case: ProgramCase) -> Iterator[ProgramCase]:
    """Yield variants of a case: what the block shows alone needs no program around it."""
    kept = _kept(case)
    if case.block:
        yield replace(case, source=case.block, block="", ancestry=kept)
        yield replace(case, block="")
    if case.cycles == 1:  # what grows by each cycle shows over many alone
        for source in _less_trained(case.source):
            yield replace(case, source=source, ancestry=kept)


def _kept(case: ProgramCase) -> Ancestry:
    """Return the ancestry with the program as it was derived, if it is to be told from a parent."""
    ancestry = case.ancestry
    if ancestry.derived or not ancestry.parent:
        return ancestry
    return replace(ancestry, derived=case.source)


def _less_trained(source: str) -> Iterator[str]:
    """Yield the program with one of its amounts made 1, or half of what it was."""
    written = Source("", source)
    try:
        statements = written.tree.body
    except UnreadableSourceError:
        return  # a program of somebody else's baseline
    for value, number in islice(_amounts(statements), _MAX_AMOUNTS):
        for smaller in sorted({1, number // 2}):
            yield written.spliced(value, str(smaller))


def _amounts(statements: Iterable[ast.stmt]) -> Iterator[tuple[ast.Constant, int]]:
    for statement in statements:
        match statement:
            case ast.Assign(
                targets=[ast.Name(name)], value=ast.Constant(int() as number) as value
            ) if _AMOUNT.fullmatch(name) and 1 < number <= _LARGEST:
                yield value, number
