"""Scripts of level `api`: source text that shows the finding of one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.domain.findings import PairKind
from ciguard.levels.api.effects_check import EFFECTS, effects_check
from ciguard.levels.api.library_check import equivalent_lines, library_check
from ciguard.levels.api.twin_check import twin_call, twin_check
from ciguard.oracles import is_measured
from ciguard.oracles.comparing import precision_of
from ciguard.targets import EAGER
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import (
    GUARD_CALL,
    GUARD_END,
    assemble_script,
    comparison,
    header,
    indented_try,
    is_guarded,
    source_of,
    timing,
)
from ciguard.writing import ScriptSource, scalar

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.triage import EnvironmentHint


def call_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that runs the call and shows the defect."""
    source = source_of(finding, hint)
    body = _body(finding, source, hint)
    further_lines = []
    if hint.other_library:
        other_call = equivalent_lines(finding, other=hint.other_library)
        further_lines = ["", "The other library's call:", *other_call]
    comment = header(finding, hint, also=further_lines)
    return assemble_script(finding, source, hint, header=comment, body=body)


def _body(finding: Finding, source: ScriptSource, hint: EnvironmentHint) -> tuple[str, list[str]]:
    """Return the definitions that precede the call, and the statements of call and check."""
    if finding.oracle == "metamorphic":
        calls, before, after = twin_check(as_call(finding.case), source)
        return before, [*calls, *filter(None, [source.writer.finish]), after]
    if finding.oracle == "differential" and finding.kind in EFFECTS:
        return effects_check(finding, source)
    finish = [line for line in [source.writer.finish] if line]
    in_mode = hint.mode != EAGER and not is_guarded(hint.mode)
    call = as_call(finding.case)
    calls = source.call_in_mode(call, hint.mode) if in_mode else source.call(call)
    if is_measured(finding):
        return "", [timing(finding, [*calls, *finish])]
    calls += [*twin_call(finding.case, source), *finish]
    if is_guarded(hint.mode):
        calls = [GUARD_CALL, *calls, GUARD_END]
    before, after_error, after = _around_call(finding, source, hint)
    return before, [*indented_try(calls, after_error), after]


def _around_call(
    finding: Finding, source: ScriptSource, hint: EnvironmentHint
) -> tuple[str, str, str]:
    if finding.oracle == "boundary":
        return "", "", _acceptance_check(finding)
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if finding.pair is PairKind.NONE or reference is None:
        return "", "", 'print("returned:", result)\nprint("The defect did not show.")'
    if finding.pair is PairKind.LIBRARY:
        before, after = library_check(finding, source.writer, other=hint.other_library)
        return before, "", after
    return comparison(
        reference,
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=precision_of(finding),
        kind=finding.kind,
    )


def _acceptance_check(finding: Finding) -> str:
    message = f"ACCEPTED: an argument that the documentation forbids ({finding.detail})"
    return f'print("returned:", result)\nraise SystemExit({scalar(message)})'
