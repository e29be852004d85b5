"""The origin of a program, as all reports describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.programs import Operator
from ciguard.domain.text import shortened

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.programs import Derivation, ProgramCase

_MAX_MUTATIONS = 4
_MAX_NAME_LENGTH = 80


def origin_rows(case: ProgramCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return rows of a table: the block, the mutation, and the seed with earlier mutations.

    Args:
        case: the program.
        named: the function that formats a name or an expression of the program.
    """
    if not case.ancestry.path:
        return [("Found in", named(_short_name(case.ancestry.seed)))] if case.ancestry.seed else []
    step = case.ancestry.path[-1]
    block = f"{named(_short_name(step.block))}, line {step.line} of the program"
    if step.adapter:
        block += f", behind {named(_short_name(step.adapter))}"
    earlier = [text for step in case.ancestry.path[:-1] if (text := _step_text(step, named))]
    omitted = len(earlier) - _MAX_MUTATIONS
    listed = [*([f"{omitted:,} more"] if omitted > 0 else []), *earlier[-_MAX_MUTATIONS:]]
    seed = named(_short_name(case.ancestry.seed))
    rows = (
        ("Block", block),
        ("Changed", named(step.change) if step.change else ""),
        ("Found in", f"a mutant of {seed} ({'; '.join(listed)})" if listed else seed),
    )
    return [(name, text) for name, text in rows if text]


def _step_text(step: Derivation, named: Callable[[str], str]) -> str:
    """Return one mutation as text; empty if the step left its block unchanged."""
    if step.operator is Operator.NONE:
        return ""
    return f"{step.operator.value} {named(_short_name(step.block))}: {named(step.change)}"


def _short_name(name: str) -> str:
    return shortened(name, _MAX_NAME_LENGTH)
