"""The comment at the beginning of a script."""

from __future__ import annotations

import shlex
import textwrap
from typing import TYPE_CHECKING, assert_never

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, Errored, Exhausted, Hung, Passed, Rejected
from ciguard.domain.text import visible
from ciguard.oracles import SLOW, traits_of
from ciguard.triage.levels import origin_rows
from ciguard.triage.scripting.timing import measurement_text
from ciguard.triage.symptom import summary_line
from ciguard.triage.wording import without_local_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.triage.hint import EnvironmentHint

_COMMENT_WIDTH = 96
_MAX_MESSAGE = 600


def header(finding: Finding, hint: EnvironmentHint, *, also: Sequence[str] = ()) -> str:
    """Return the comment at the beginning of a script: the defect, and how to run the script.

    Args:
        finding: the finding that the script reproduces.
        hint: the environment of the script.
        also: additional lines about the case.
    """
    target = finding.targets[-1] if finding.targets else "the target"
    outcome = finding.outcomes.get(target)
    lines = [f"{finding.api}: {_claim(finding, outcome)}", ""]
    if finding.message:
        lines.append(f"In one line: {finding.message}")
    lines += [f"{name}: {text}" for name, text in _evidence_rows(finding) if text]
    lines += [f"{name}: {text}" for name, text in origin_rows(finding.case)]
    lines += also
    lines += ["", f"Install: pip install {shlex.join(hint.install)}"]
    if finding.case.is_run_by_worker:  # other scripts neither crash nor hang
        lines += _advice(outcome)
    return "\n".join(comment(line) for line in lines)


def _evidence_rows(finding: Finding) -> tuple[tuple[str, str], ...]:
    """Return pairs of a label and a text for the evidence of a finding.

    A finding of an old baseline has no evidence, so its outcomes are returned instead.
    """
    evidence = finding.evidence
    if not evidence.observed:
        return tuple((name, _observed(finding.outcomes.get(name))) for name in finding.targets)
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    line = summary_line(outcome).partition(": ")[2] if isinstance(outcome, Crashed) else ""
    return (
        ("Expected", evidence.expected),
        ("Observed", f"{evidence.observed}{f': {line}' if line else ''}"),
        ("Invariant", evidence.law),
        ("Source", evidence.source),
    )


def _claim(finding: Finding, outcome: Outcome | None) -> str:
    """Return what happens, as the end of a sentence that starts with the API."""
    claim = _known_claim(finding)
    if claim:
        return claim
    subject = f"the {finding.case.noun}"
    match outcome:
        case Crashed():
            return "the process crashes."
        case Errored():
            return "an internal error escapes."
        case Hung():
            return f"{subject} does not return."
        case Exhausted():
            return f"{subject} uses up all memory."
        case Passed() | Rejected() | None:
            is_slow = finding.kind == SLOW
            return f"{subject} takes long." if is_slow else f"{finding.oracle}: {finding.kind}."
        case _:
            assert_never(outcome)


def _known_claim(finding: Finding) -> str:
    """Return a sentence about the finding, by its oracle; empty if the outcome describes it."""
    traits = traits_of(finding.oracle)
    claim = traits.claims.get(finding.kind, traits.claim)
    is_pair = finding.pair is not PairKind.NONE
    if claim and not (is_pair and traits.second_target_fails):
        return claim.format(kind=finding.kind, detail=finding.detail)
    if not is_pair:
        return ""
    if finding.pair is PairKind.LIBRARY:
        return f"libraries differ where they are defined alike ({finding.kind})."
    return f"two targets answer differently ({finding.kind})."


def _observed(outcome: Outcome | None) -> str:
    """Return a short text for an outcome."""
    match outcome:
        case None:
            return "not recorded"
        case Passed():
            return measurement_text(outcome) or "returned a result"
        case Rejected():
            return f"refused with {summary_line(outcome)}"
        case _:
            return summary_line(outcome)


def _advice(outcome: Outcome | None) -> list[str]:
    """Return sentences on how to run a script with this outcome."""
    match outcome:
        case Crashed() if outcome.is_device_error:
            return ["Run it under `compute-sanitizer` to see the kernel, thread and address."]
        case Crashed():
            return ["Run with `python -X faulthandler` to see the Python stack."]
        case Exhausted():
            return ["It allocates without bound: run it under `ulimit -v 8000000`."]
        case Hung(limit_s):
            return [f"It was stopped after {limit_s:g} s; stop it with Ctrl-C."]
        case _:
            return []


def comment(text: str) -> str:
    """Return `text` as lines of a Python comment, which no character of `text` can end."""
    safe = visible(without_local_paths(text.strip()), limit=_MAX_MESSAGE)
    lines = textwrap.wrap(safe, _COMMENT_WIDTH, break_on_hyphens=False) or [""]
    return "\n".join(f"# {line}".rstrip() for line in lines)
