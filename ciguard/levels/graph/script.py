"""Scripts of level `graph`: a function with the calls of a graph, run eagerly and compiled."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.case import as_kind
from ciguard.domain.findings import PairKind
from ciguard.domain.graphs import GraphCase
from ciguard.levels.graph.reshaping import changes_in_place
from ciguard.oracles import input_precision_of
from ciguard.targets import EAGER
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import (
    assemble_script,
    comparison,
    header,
    indented_try,
    source_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.triage import EnvironmentHint
    from ciguard.writing import ScriptSource


def graph_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return a script that runs the graph and shows the defect."""
    source = source_of(finding, hint)
    case = as_kind(finding.case, GraphCase)
    lines = _graph_lines(case, source, hint.mode)
    lines += [line for line in [source.writer.finish] if line]
    source.lifted = None
    body = _checked(finding, source, lines)
    return assemble_script(finding, source, hint, header=header(finding, hint), body=body)


def _graph_lines(case: GraphCase, source: ScriptSource, mode: str) -> list[str]:
    """Return the statements that bind the graph's result; the graph is defined before them."""
    statements = source.steps(case.steps)
    names = [source.results[output] for output in case.outputs]
    if case.copies:
        names = [f"copied({name})" for name in names]
    returned = names[0] if len(names) == 1 else f"({', '.join(names)})"
    inputs = source.lifted or []
    if case.layout:
        text = source.writer.layouts[case.layout]
        source.assignments += [f"{name} = {text.format(tensor=name)}" for name in inputs]
    body = textwrap.indent("\n".join([*statements, f"return {returned}"]), "    ")
    definition = f"\n\ndef graph({', '.join(inputs)}):\n{body}\n\n"
    source.assignments.append(f"{source.writer.copied * case.copies}{definition}")
    lines = _runs(case, inputs, source, mode)
    has_layers = any(call.kind is CallKind.LAYER for call in case.calls)
    if source.writer.inference and has_layers and not case.has_gradients:
        source.assignments.append(source.writer.inference)
    if case.autocast:
        dtype = source.writer.dtype.format(name=case.autocast)
        block = textwrap.indent("\n".join(lines), "    ")
        lines = [f"{source.writer.autocast.format(dtype=dtype)}\n{block}"]
    if any(map(changes_in_place, case.steps)):
        lines.append(f"result = [result, [{', '.join(inputs)}]]")
    return lines


def _runs(case: GraphCase, inputs: Sequence[str], source: ScriptSource, mode: str) -> list[str]:
    """Return the statements that run the graph, perhaps twice, and bind all results."""
    writer = source.writer
    preparation, run = _run_in_mode(inputs, source, mode, case.options)
    source.assignments += filter(None, [preparation])
    if case.has_gradients:
        return [writer.gradients.format(run=run, **_places(inputs)).strip("\n")]
    if case.is_mapped and mode in writer.modes:
        _, run = _run_in_mode(["*stacked"], source, mode, case.options)
        return [writer.mapped.format(run=run, **_places(inputs)).strip("\n")]
    if case.grows or case.is_mapped:
        kind, changed = ("larger", writer.larger) if case.grows else ("flipped", writer.flipped)
        others = [f"{kind}_{name}" for name in inputs]
        made = [f"{kind}_{name} = {changed.format(tensor=name)}" for name in inputs]
        another, again = _run_in_mode(others, source, mode, case.options)
        made += [another.strip("\n")] if another != preparation else []
        second = again.replace("result =", "again =", 1)
        return [run, *made, second, "result = [result, again]"]
    return [run]


def _run_in_mode(
    inputs: Sequence[str], source: ScriptSource, mode: str, options: str
) -> tuple[str, str]:
    """Return what prepares a mode for inputs, perhaps nothing, and the statement that runs them."""
    places = _places(inputs)
    if mode == EAGER or mode not in source.writer.modes:
        return "", f"result = graph({places['row']})"
    places["options"] = source.writer.options.get(options, "")
    definition, run = (text.format(**places) for text in source.writer.modes[mode])
    return definition, run


def _places(inputs: Sequence[str]) -> dict[str, str]:
    """Return the texts for the places in the statements of a mode, see `Writer.modes`."""
    row = ", ".join(inputs)
    return {"call": "graph", "row": row, "tuple": f"({row}{',' * (len(inputs) == 1)})"}


def _checked(finding: Finding, source: ScriptSource, lines: list[str]) -> tuple[str, list[str]]:
    """Return definitions, and the statements that run the graph and check its result."""
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if finding.pair is PairKind.NONE or reference is None:
        return "", [*lines, 'print("returned:", result)\nprint("The defect did not show.")']
    before, after_error, after = comparison(
        reference,
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=input_precision_of(finding.case),
    )
    return before, [*indented_try(lines, after_error), after]
