"""The standalone script that shows a finding of level `model`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.case import as_kind
from ciguard.domain.findings import PairKind
from ciguard.domain.models import Check, ModelCase
from ciguard.levels.model.layer_runs import precision_of
from ciguard.levels.model.layer_source import is_short, layer_statements
from ciguard.levels.model.run_source import comparable_outcome, model_statements
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import assemble_script, comparison, header, indented_try, source_of

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.oracles.comparing import InputPrecision
    from ciguard.triage import EnvironmentHint
    from ciguard.writing import ScriptSource

_TOLERANCE_FACTOR = 4.0
"""Factor of the tolerance in scripts, which have one tolerance for results of all sizes."""


def model_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return the text of a script that runs the graph and shows the defect."""
    source = source_of(finding, hint)
    body = _body(as_kind(finding.case, ModelCase), finding, source)
    return assemble_script(finding, source, hint, header=header(finding, hint), body=body)


def _body(case: ModelCase, finding: Finding, source: ScriptSource) -> tuple[str, list[str]]:
    """Return definitions, and statements that run a layer graph and check the result."""
    is_single = is_short(case)
    definitions, statements = (
        ([], layer_statements(case, source)) if is_single else model_statements(case, source)
    )
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if case.check is Check.SAVE:
        return "\n\n\n".join(definitions), statements
    if finding.pair is PairKind.NONE or reference is None:
        shown = 'print("returned:", result)\nprint("The defect did not show.")'
        return "\n\n\n".join(definitions), [*statements, shown]
    before, after_error, after = comparison(
        comparable_outcome(case, reference, is_single=is_single),
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=_scaled_precision(precision_of(case)),
        kind=finding.kind,
    )
    body = indented_try(statements, after_error)
    return "\n\n\n".join(filter(None, [before, *definitions])), [*body, after]


def _scaled_precision(inputs: InputPrecision) -> InputPrecision:
    """Return the precision of the inputs, multiplied by `_TOLERANCE_FACTOR`."""
    return replace(inputs, condition=_TOLERANCE_FACTOR * inputs.condition)
