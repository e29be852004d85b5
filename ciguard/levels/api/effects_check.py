"""The part of a script that shows what a call does to its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import TupleValue
from ciguard.execution import Effects, decode_effects
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import functions
from ciguard.writing import scalar

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.writing import ScriptSource

_PARTS = '''
def parts(value):
    """Yield the tensors and arrays in a value, in order."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from parts(part)
    elif hasattr(value, "shape"):
        yield value
'''
_SHARES = '''
def shares(result, given):
    """Return whether a result is an argument, or a view of it."""
    found = result if isinstance(result, (list, tuple)) else [result]
    return any(part is given or getattr(part, "_base", None) is given for part in found)
'''
_MUTATION = """
fresh = {fresh}
found = [
    place
    for place, (given, new) in enumerate(zip(parts(kept), parts(fresh)))
    if difference(list(leaves(given)), list(leaves(new)))
]
"""
_ALIASING = """
found = [place for place, given in enumerate(parts(kept)) if shares(result, given)]
"""
_CHECK = """
print("places of tensors that {what}:", found)
if found != {expected}:
    raise SystemExit("DIFFERENT: " + {instead})
print("No difference.")
"""
_WHAT = {"mutation": "were changed", "aliasing": "share memory with the result"}
EFFECTS = frozenset(_WHAT)
"""Kinds of differential findings whose scripts look at arguments."""


def effects_check(finding: Finding, source: ScriptSource) -> tuple[str, list[str]]:
    """Return the definitions before the call, and the call with what is held against the reference.

    Args:
        finding: a differential one of a kind among `EFFECTS`.
        source: takes the arguments.
    """
    calls = source.kept_call(as_call(finding.case))
    effects = _of_reference(finding)
    if finding.kind == "mutation":
        case = as_call(finding.case)
        given = (*case.arguments, *(value for _, value in case.keywords), *case.inputs)
        look = _MUTATION.strip().format(fresh=source.expression(TupleValue(given)))
        helpers = f"{_PARTS.lstrip()}\n\n{functions(source.writer)}"
        before = f"RTOL = {{}}  # nothing may change\n\n\n{helpers}"
        expected = effects.changed
    else:
        look, before, expected = (
            _ALIASING.strip(),
            f"{_PARTS.lstrip()}\n{_SHARES}".strip(),
            effects.shared,
        )
    check = _CHECK.strip().format(
        what=_WHAT[finding.kind],
        expected=list(expected),
        instead=scalar(f"{without_local_paths(finding.targets[0])} says {list(expected)}"),
    )
    return before, [*calls, *filter(None, [source.writer.finish]), look, check]


def _of_reference(finding: Finding) -> Effects:
    outcome = finding.outcomes.get(finding.targets[0])
    return decode_effects(outcome.encoded) if isinstance(outcome, Passed) else Effects()
