"""Part of a script that compares a call with its twin: the other call of a metamorphic relation."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import as_call
from ciguard.oracles import input_precision_of
from ciguard.oracles.relations import RELATIONS, Compares, Observes, tensors_of
from ciguard.triage.scripting import comparison_functions, tolerances

if TYPE_CHECKING:
    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.case import Case
    from ciguard.writing import ScriptSource

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
    if type(error).__name__ != {raises!a}:
        raise
    raise SystemExit("DIFFERENT: %s: %s" % (type(error).__name__, error)) from error
"""


def twin_call(case: Case, source: ScriptSource) -> list[str]:
    """Return the statements of the twin, which may be the call that crashes; empty if none."""
    relation = RELATIONS.items().get(case.relation)
    twin = relation.twin(as_call(case)) if relation is not None else None
    if twin is None:
        return []
    seed = source.writer.seed.format(seed=int(case.seed))
    return [*filter(None, [seed]), f"twin = {source.expression(twin)}"]


def twin_check(case: ApiCall, source: ScriptSource) -> tuple[list[str], str, str]:
    """Return the source text of a call and of its comparison with its twin.

    Args:
        case: a call with a metamorphic relation that applies to the call.
        source: the script to which the arguments are added.

    Returns:
        The statements of the call, the definitions that precede it, and the text after it. If the
        twin itself is a check, the first two are empty.

    Raises:
        ValueError: if the relation has no twin for the case.
    """
    relation = RELATIONS.get(case.relation)
    twin = relation.twin(case)
    if twin is None:
        msg = f"{case.api}: relation {relation.name!r} does not apply to these arguments"
        raise ValueError(msg)
    if relation.compares is Compares.NOTHING:
        check_text = textwrap.indent(source.expression(twin), "    ")
        handler = _RAISED.strip().format(raises=relation.raises)
        lines = [f"# {relation.law}", "try:", check_text, handler, 'print("No difference.")']
        return [], "", "\n".join(lines)
    if relation.observes is Observes.ARGUMENTS:
        call, result = source.call_with_kept_arguments(case), "kept"
    else:
        call, result = source.call(case), "result"
    twin_text = "twin" if relation.part is None else f"twin[{relation.part}]"
    if relation.compares is Compares.EMPTY_SHAPES:
        result, twin_text = twin_text, result
    seed = source.writer.seed.format(seed=int(case.seed))
    statements = [f"# {relation.law}", f"twin = {source.expression(twin)}"]
    inputs = input_precision_of(case)
    rtols = tolerances(inputs, count=inputs.largest[0])
    used_dtypes = {"float32", "float64", "float", *(tensor.dtype for tensor in tensors_of(case))}
    shown_rtols = {kind: rtol for kind, rtol in rtols.items() if kind in used_dtypes}
    if relation.compares is Compares.NUMBERS:
        shown_rtols = {_ANY_TYPE: rtols["float32"]}
    parts = _PARTS[relation.compares]
    compare = _COMPARE.strip().format(
        result=result,
        twin=twin_text,
        found=parts[0].format(value=result),
        expected=parts[1].format(value=twin_text),
    )
    before = f"RTOL = {shown_rtols!r}  # allowed error, relative to the largest element\n\n\n"
    return (
        call,
        before + comparison_functions(source.writer),
        "\n".join([*filter(None, [seed]), *statements, compare]),
    )


_ALL_PARTS = "list(leaves({value}))"
_ANY_TYPE_PARTS = f'[("{_ANY_TYPE}", *rest) for _, *rest in leaves({{value}})]'
_PARTS = {
    Compares.VALUES: (_ALL_PARTS, _ALL_PARTS),
    Compares.NUMBERS: (_ANY_TYPE_PARTS, _ANY_TYPE_PARTS),
    Compares.EMPTY_SHAPES: (
        "[(kind, shape, None) for kind, shape, _ in leaves({value})]",
        "[(kind, (0, *shape[1:]), None) for kind, shape, _ in leaves({value})]",
    ),
}
"""Expressions for the parts to compare: of the result, and of the twin's result."""
