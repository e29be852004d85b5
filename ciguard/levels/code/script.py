"""The standalone script that shows a finding of level `code`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.case import as_kind
from ciguard.domain.programs import ProgramCase
from ciguard.levels.code.program_source import program_statements, shows_block_alone, with_preamble
from ciguard.triage.scripting import comment, environment_statements, header, source_of
from ciguard.writing import scalar

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.triage import EnvironmentHint

_LINE_NOTE = "Lines are counted from where the program begins, below."


def program_script(finding: Finding, hint: EnvironmentHint) -> str:
    """Return the text of the script: a header, the program, and a check that shows the defect."""
    case, writer = as_kind(finding.case, ProgramCase), source_of(finding, hint).writer
    assignments = environment_statements(finding, hint)
    preamble = ["import os", "", *assignments] if assignments else []
    if hint.device != "cpu" and writer.device:
        preamble += ["", *writer.imports, writer.device.format(device=scalar(hint.device))]
    is_block = shows_block_alone(finding, case)
    note = comment("The program below runs the block alone." if is_block else _LINE_NOTE)
    statements = program_statements(finding, case, writer)
    return f"{header(finding, hint)}\n#\n{note}\n\n{with_preamble(statements, preamble)}"
