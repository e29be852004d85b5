"""Writes the statements of a script that imports a user's program, and shows a finding.

The script runs in the folder in which the campaign tested the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind
from ciguard.functions.checking import called_program_from_json
from ciguard.functions.specs import Call
from ciguard.functions.writing import (
    ANNOTATIONS_STAND_IN,
    ELEMENTS_HELPER,
    NAN_HELPER,
    STATE_HELPER,
    CallSource,
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
    string_literal,
)
from ciguard.levels.function.oracle import FUNCTION
from ciguard.oracles import input_precision_of
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import comparison

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.function_calls import FunctionCase
    from ciguard.functions.specs import FunctionSpec

BROKEN = "BROKEN"
"""Beginning of a script's last line of output, if the call fails without an exception."""
_MUTATION_CHECK = f"""
changed = [name for name, value in given.items() if state(value) != before[name]]
if changed:
    raise SystemExit("{BROKEN}: changed %s" % changed)
""".strip()
_TIMEOUT_CHECK = f"""
spent = time.perf_counter() - began
if spent > {{limit}}:
    raise SystemExit("{BROKEN}: took %.1f s, and {{limit}} s are allowed" % spent)
""".strip()
_CHECKS = {
    "nan": (
        "",
        (ELEMENTS_HELPER, NAN_HELPER),
        "",
        f'if has_nan(result):\n    raise SystemExit("{BROKEN}: the result has NaN")',
    ),
    "mutation": (
        "",
        (ELEMENTS_HELPER, STATE_HELPER),
        "before = {name: state(value) for name, value in given.items()}",
        _MUTATION_CHECK,
    ),
    "timeout": ("import time", (), "began = time.perf_counter()", _TIMEOUT_CHECK),
}
"""Import, definitions, statement before the call and statements after it, by kind of finding."""


def function_statements(
    finding: Finding, case: FunctionCase, library: str
) -> tuple[list[str], list[str]]:
    """Return the imports, and the statements that make the call and show the failure.

    If the call fails without an exception, the last line that the script prints begins with
    `BROKEN` or `DIFFERENT`.

    Args:
        finding: the finding.
        case: case of the finding.
        library: name of the tested library, whose random generators are seeded.

    Raises:
        ValueError: if the case lacks the function's description, or has invalid names.
    """
    description = called_program_from_json(case.about, case.file)
    source = CallSource.for_module(description.module, description.library or library)
    folders = dict.fromkeys((description.program.root.as_posix(), *description.path, ".", "src"))
    path = [f"sys.path[:0] = [{', '.join(map(string_literal, folders))}]"]
    if not case.call:
        imported = import_of_program(source, description.program)
        return ["import sys"], [*path, ANNOTATIONS_STAND_IN, *imported, 'print("imported")']
    call = Call.from_json(case.call)
    if call.function not in description.module.functions_by_name:
        msg = f"the case has no description of {call.function!r}"
        raise ValueError(msg)
    body = _body(finding, case, call, source)
    imports = ["import random", "import sys", *source.import_lines()]
    if source.writer.seed:
        imports += source.writer.imports
    definitions = source.definitions()
    seeds = [f"random.seed({case.seed})", *_seeds(source, case.seed)]
    imports += ["import numpy as np"] if any("np." in line for line in [*seeds, *body]) else []
    imported = import_of_program(source, description.program)
    # A nested function is found by the decorators of ciguard.
    stand_in = [] if source.reads_notes or call.outer else [ANNOTATIONS_STAND_IN]
    statements = [*path, *stand_in, *imported, *_parted(definitions), "", *seeds, *body]
    return list(dict.fromkeys(imports)), statements


def _parted(definitions: list[str]) -> list[str]:
    """Return definitions with the empty lines around functions."""
    return ["\n\n" + text for text in definitions] + [""] * bool(definitions)


def _seeds(source: CallSource, seed: int) -> list[str]:
    """Return the statements that seed the random generators of numpy and the library."""
    numpy = f"np.random.seed({seed})"
    return [numpy, *([source.writer.seed.format(seed=seed)] if source.writer.seed else [])]


def _body(finding: Finding, case: FunctionCase, call: Call, source: CallSource) -> list[str]:
    """Return the statements that make the call, and check or compare its result."""
    function = source.module.function(call.function)
    outer = [*outer_statements(call, source)]
    if finding.oracle == FUNCTION and finding.kind == "ensure":
        return [*outer, *postconditions(call, function, source)]
    if finding.oracle == FUNCTION and finding.kind in _CHECKS:
        return [*outer, *_checked_call(finding, call, function, source)]
    result = f"result = {source.result_expression(source.call(call), function)}"
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if finding.oracle == FUNCTION or finding.pair is PairKind.NONE or reference is None:
        report = ['print("returned:", result)', 'print("The defect did not show.")']
        return [*outer, result, *report]
    before, after_error, after = comparison(
        reference,
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=input_precision_of(case),
    )
    source.other_imports |= set(source.writer.imports)
    call_lines = ["try:", _indent(result), "except Exception as error:", _indent(after_error)]
    return [before, *outer, *(call_lines if after_error else [result]), after]


def _checked_call(
    finding: Finding, call: Call, function: FunctionSpec, source: CallSource
) -> list[str]:
    """Return the statements that make a call, with variables as arguments, and check the result."""
    import_line, source.checks[:], before, after = _CHECKS[finding.kind]
    source.other_imports |= {import_line} - {""}
    lines = [f"{name} = {source.expression(value)}" for name, value in call.arguments]
    pairs = ", ".join(f"{name!a}: {name}" for name, _ in call.arguments)
    lines += [f"given = {{{pairs}}}"] if finding.kind == "mutation" else []
    kinds = {parameter.name: parameter.kind for parameter in function.parameters}
    passed = [passed_by_name(name, kinds.get(name, "")) for name, _ in call.arguments]
    text = source.result_expression(source.call_with(function, call, passed), function)
    after = after.format(limit=f"{function.timeout or 0:g}") if finding.kind == "timeout" else after
    return [
        *lines, *filter(None, [before]), f"result = {text}", after,
        'print("returned:", result)',
    ]  # fmt: skip


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))
