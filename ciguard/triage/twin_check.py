"""The part of a script that holds a call's result against that of its twin."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ciguard.oracles import RELATIONS, Observes, tensors_of
from ciguard.triage.expectation import functions, tolerances

if TYPE_CHECKING:
    from ciguard.domain import Case
    from ciguard.triage.source import Source

_ANY_TYPE = "number"
_COMPARE = """
print("returned:", {result})
print("expected:", {twin})
found = difference({found}, {expected})
if found:
    raise SystemExit("DIFFERENT: " + found)
print("No difference.")
"""
_RAISED = """
except Exception as error:
    raise SystemExit("DIFFERENT: %s: %s" % (type(error).__name__, error)) from error
"""


def twin_check(case: Case, source: Source) -> tuple[list[str], str, str]:
    """Return the source text of a call and of the comparison with its twin.

    Args:
        case: tried with a relation that has a twin for it.
        source: takes the arguments.

    Returns:
        The statements of the call, the definitions before it, and what follows it.

    Raises:
        ValueError: if the relation has no twin for the case.
    """
    relation = RELATIONS.get(case.relation)
    twin = relation.twin(case)
    if twin is None:
        msg = f"{case.api}: {relation.name!r} says nothing of these arguments"
        raise ValueError(msg)
    if relation.observes is Observes.ARGUMENTS:
        call, result = source.kept_call(case), "kept"
    else:
        call, result = source.call(case), "result"
    statements = [f"# {relation.law}", f"twin = {source.expression(twin)}"]
    if relation.forbidden:
        statements[1:] = ["try:", textwrap.indent(statements[1], "    ") + _RAISED.rstrip()]
    against = "twin" if relation.part is None else f"twin[{relation.part}]"
    rtols = tolerances()
    met = {"float32", "float64", "float", *(tensor.dtype for tensor in tensors_of(case))}
    shown = {kind: rtol for kind, rtol in rtols.items() if kind in met}
    if not relation.compares_types:
        shown = {_ANY_TYPE: rtols["float32"]}
    compare = _COMPARE.strip().format(
        result=result,
        twin=against,
        found=_leaves(result, typed=relation.compares_types),
        expected=_leaves(against, typed=relation.compares_types),
    )
    before = f"RTOL = {shown!r}  # allowed error, relative to the largest element\n\n\n"
    after = compare if relation.compares_result else 'print("No difference.")'
    return call, before + functions(source.writer), "\n".join([*statements, after])


def _leaves(name: str, *, typed: bool) -> str:
    if typed:
        return f"list(leaves({name}))"
    return f'[("{_ANY_TYPE}", *rest) for _, *rest in leaves({name})]'
