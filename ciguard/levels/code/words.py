"""Where a program comes from, in words: the same in every report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.programs import Operator
from ciguard.domain.text import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.programs import Derivation, ProgramCase

_MAX_MUTATIONS = 4
_MAX_NAME = 80


def origin_rows(case: ProgramCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return the mutation, and the seed and the mutations that it comes after."""
    if not case.ancestry.path:
        return [("Found in", named(_bounded(case.ancestry.seed)))] if case.ancestry.seed else []
    step = case.ancestry.path[-1]
    block = f"{named(_bounded(step.block))}, line {step.line} of the program"
    if step.adapter:
        block += f", behind {named(_bounded(step.adapter))}"
    before = [text for one in case.ancestry.path[:-1] if (text := _step_text(one, named))]
    more = len(before) - _MAX_MUTATIONS
    listed = [*([f"{more:,} more"] if more > 0 else []), *before[-_MAX_MUTATIONS:]]
    seed = named(_bounded(case.ancestry.seed))
    rows = (
        ("Block", block),
        ("Changed", named(step.change) if step.change else ""),
        ("Found in", f"a mutant of {seed} ({'; '.join(listed)})" if listed else seed),
    )
    return [(name, text) for name, text in rows if text]


def _step_text(step: Derivation, named: Callable[[str], str]) -> str:
    """Return one step of a path; empty where a block was taken as it is."""
    if step.operator is Operator.NONE:
        return ""
    return f"{step.operator.value} {named(_bounded(step.block))}: {named(step.change)}"


def _bounded(name: str) -> str:
    return shortened(name, _MAX_NAME)
