"""Part of a script that checks the effects of a call on its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import TupleValue
from ciguard.execution import Effects, decode_effects
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import comparison_functions
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
    results = result if isinstance(result, (list, tuple)) else [result]
    return any(part is given or getattr(part, "_base", None) is given for part in results)
'''
_MUTATION = """
fresh = {fresh}
found = [
    index
    for index, (given, new) in enumerate(zip(parts(kept), parts(fresh)))
    if difference(list(leaves(given)), list(leaves(new)))
]
"""
_ALIASING = """
found = [index for index, given in enumerate(parts(kept)) if shares(result, given)]
"""
_CHECK = """
print("indices of tensors that {what}:", found)
if found != {expected}:
    raise SystemExit("DIFFERENT: " + {instead})
print("No difference.")
"""
_EFFECTS_IN_WORDS = {"mutation": "were changed", "aliasing": "share memory with the result"}
EFFECTS = frozenset(_EFFECTS_IN_WORDS)
"""Kinds of differential findings whose scripts check the effects on arguments."""


def effects_check(finding: Finding, source: ScriptSource) -> tuple[str, list[str]]:
    """Return the definitions that precede the call, and the statements of call and check.

    Args:
        finding: a differential finding of a kind in `EFFECTS`.
        source: the script to which the arguments are added.
    """
    calls = source.call_with_kept_arguments(as_call(finding.case))
    effects = _reference_effects(finding)
    if finding.kind == "mutation":
        case = as_call(finding.case)
        arguments = (*case.arguments, *(value for _, value in case.keywords), *case.inputs)
        observation = _MUTATION.strip().format(fresh=source.expression(TupleValue(arguments)))
        helpers = f"{_PARTS.lstrip()}\n\n{comparison_functions(source.writer)}"
        before = f"RTOL = {{}}  # nothing may change\n\n\n{helpers}"
        expected = effects.changed
    else:
        observation, before, expected = (
            _ALIASING.strip(),
            f"{_PARTS.lstrip()}\n{_SHARES}".strip(),
            effects.shared,
        )
    check = _CHECK.strip().format(
        what=_EFFECTS_IN_WORDS[finding.kind],
        expected=list(expected),
        instead=scalar(f"{without_local_paths(finding.targets[0])}: {list(expected)}"),
    )
    return before, [*calls, *filter(None, [source.writer.finish]), observation, check]


def _reference_effects(finding: Finding) -> Effects:
    """Return the effects of the call on the reference target; none if it did not pass."""
    outcome = finding.outcomes.get(finding.targets[0])
    return decode_effects(outcome.encoded) if isinstance(outcome, Passed) else Effects()
