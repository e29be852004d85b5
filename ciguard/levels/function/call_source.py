"""A finding of a user's function as a script that imports the program and makes the call.

It runs in the folder that the program was tested in, as the campaign did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind
from ciguard.functions.checking import about_from_json
from ciguard.functions.specs import Call
from ciguard.functions.writing import (
    CallSource,
    import_of_program,
    outer_statements,
    passed_by_name,
    postconditions,
    quoted,
)
from ciguard.levels.function.oracle import FUNCTION
from ciguard.oracles import inputs_in
from ciguard.triage import without_local_paths
from ciguard.triage.scripting import comparison

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.function_calls import FunctionCase
    from ciguard.functions.specs import FunctionSpec

BROKEN = "BROKEN"
_CHANGED = f"""
if changed(before, given):
    raise SystemExit("{BROKEN}: changed %s" % changed(before, given))
""".strip()
_TOOK = f"""
spent = time.perf_counter() - began
if spent > {{limit}}:
    raise SystemExit("{BROKEN}: took %.1f s, and {{limit}} s are allowed" % spent)
""".strip()
_CHECKS = {
    "nan": (
        "from ciguard.functions.in_target.calling.judging import has_nan",
        "",
        f'if has_nan(result):\n    raise SystemExit("{BROKEN}: the result has NaN")',
    ),
    "mutation": (
        "from ciguard.functions.in_target.calling.judging import changed, snapshot",
        "before = snapshot(given)",
        _CHANGED,
    ),
    "timeout": ("import time", "began = time.perf_counter()", _TOOK),
}
"""By kind: an import, what comes before the call, and what comes after it."""


def function_statements(
    finding: Finding, case: FunctionCase, library: str
) -> tuple[list[str], list[str]]:
    """Return the imports, and the statements that make the call and show what came of it.

    Where the call is wrong without an exception, the script ends with a line that begins with
    `BROKEN`, or with `DIFFERENT`.

    Args:
        finding: of a case of level `function`.
        case: its case.
        library: under test, whose random generators are seeded.

    Raises:
        ValueError: if the case does not say enough of the function, or has names that are none.
    """
    about = about_from_json(case.about, case.file)
    source = CallSource.of(about.module, about.library or library)
    folders = dict.fromkeys((about.program.root.as_posix(), ".", "src"))
    path = [f"sys.path[:0] = [{', '.join(map(quoted, folders))}]"]
    if not case.call:
        imported = import_of_program(source, about.program)
        return ["import sys"], [*path, *imported, 'print("imported")']
    call = Call.from_json(case.call)
    if call.function not in about.module.by_name:
        msg = f"{call.function!r} is not described"
        raise ValueError(msg)
    body = _body(finding, case, call, source)
    imports = ["import random", "import sys", *source.import_lines()]
    if source.writer.seed:
        imports += source.writer.imports
    definitions = source.definitions()
    seeds = [f"random.seed({case.seed})", *_seeds(source, case.seed)]
    imports += ["import numpy as np"] if any("np." in line for line in [*seeds, *body]) else []
    imported = import_of_program(source, about.program)
    statements = [*path, *imported, *definitions, "", *seeds, *body]
    return list(dict.fromkeys(imports)), statements


def _seeds(source: CallSource, seed: int) -> list[str]:
    numpy = f"np.random.seed({seed})"
    return [numpy, *([source.writer.seed.format(seed=seed)] if source.writer.seed else [])]


def _body(finding: Finding, case: FunctionCase, call: Call, source: CallSource) -> list[str]:
    function = source.module.function(call.function)
    made = [*outer_statements(call, source)]
    if finding.oracle == FUNCTION and finding.kind == "ensure":
        return [*made, *postconditions(call, function, source)]
    if finding.oracle == FUNCTION and finding.kind in _CHECKS:
        return [*made, *_checked(finding, call, function, source)]
    result = f"result = {source.taken(source.call(call), function)}"
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if finding.oracle == FUNCTION or finding.pair is PairKind.NONE or reference is None:
        shown = ['print("returned:", result)', 'print("The defect did not show.")']
        return [*made, result, *shown]
    before, after_error, after = comparison(
        reference,
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=inputs_in(case),
    )
    source.other_imports |= set(source.writer.imports)
    call_lines = ["try:", _indented(result), "except Exception as error:", _indented(after_error)]
    return [before, *made, *(call_lines if after_error else [result]), after]


def _checked(finding: Finding, call: Call, function: FunctionSpec, source: CallSource) -> list[str]:
    """Return a call whose arguments have names, between what is done before and after it."""
    needed, before, after = _CHECKS[finding.kind]
    source.other_imports.add(needed)
    lines = [f"{name} = {source.expression(value)}" for name, value in call.arguments]
    given = ", ".join(f"{name!a}: {name}" for name, _ in call.arguments)
    lines += [f"given = {{{given}}}"] if finding.kind == "mutation" else []
    kinds = {p.name: p.kind for p in function.parameters}
    passed = [passed_by_name(name, kinds.get(name, "")) for name, _ in call.arguments]
    made = source.called_with(function, call, passed)
    after = after.format(limit=f"{function.timeout or 0:g}") if finding.kind == "timeout" else after
    return [
        *lines, *filter(None, [before]), f"result = {source.taken(made, function)}", after,
        'print("returned:", result)',
    ]  # fmt: skip


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.split("\n"))
