"""The statements of a finding's script: the program itself, and a check that shows the defect."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Rejected
from ciguard.domain.programs import ProgramCase, locate_message
from ciguard.execution import Scalar, TensorDigest, TensorOutput
from ciguard.levels.code.derivation import ACCEPTED
from ciguard.levels.code.growth import GROWTH, MIN_BYTES, MIN_SECONDS
from ciguard.levels.code.program_runs import program_run
from ciguard.sources import Source, UnreadableSourceError, opening
from ciguard.triage import summary_line, without_local_paths
from ciguard.triage.scripting import leaves_function
from ciguard.writing import scalar, shape_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.libraries import Writer

_FORM_CHECK = """


{leaves}


expected = {expected}  # type and shape on {reference}
observed = next(leaves(globals().get({name})))[:2]
print({name}, "is", observed)
if observed != expected:
    raise SystemExit("DIFFERENT: %s is %s instead of %s" % ({name}, observed, expected))
print("No difference.")
"""
_GROWTH_CHECK = """\
import gc
import time
from statistics import median

PROGRAM = {program}
CODE = compile(PROGRAM, "program.py", "exec")  # once: libraries keep compiled code


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


values = []
for cycle in range(1, {cycles} + 1):
    start = time.process_time()
    exec(CODE, {{"__name__": "__main__"}})
    spent = time.process_time() - start
    gc.collect()
    print("cycle %d: %.1f MiB, %.3f s" % (cycle, resident() / 2**20, spent))
    values.append({value})

values = values[len(values) // 3 :]  # the first third warms up
steps = [after - before for before, after in zip(values, values[1:])]
half = len(steps) // 2
if min(median(steps[:half]), median(steps[half:])) >= {min_growth}:
    raise SystemExit("GROWS: {what} with every cycle, by %g" % median(steps))
print("It does not grow.")
"""
_MEMORY = {"value": "resident()", "min_growth": MIN_BYTES, "what": "bytes in use"}
_TIME = {"value": "spent", "min_growth": MIN_SECONDS, "what": "seconds of a cycle"}


def program_statements(finding: Finding, case: ProgramCase, writer: Writer) -> str:
    """Return the program, followed by a check that shows the defect.

    For a forbidden argument that is accepted, the script runs the block alone. For growth, it runs
    the program in a loop. Any other defect shows as an exception of the program.
    """
    if finding.oracle == GROWTH:
        quantity = _TIME if finding.kind == "slows-down" else _MEMORY
        return _GROWTH_CHECK.format(program=_literal(case.source), cycles=case.cycles, **quantity)
    if shows_block_alone(finding, case):
        if finding.kind != ACCEPTED:
            return _with_newline(case.block)
        forbidden = f"an argument that its documentation forbids ({finding.detail})"
        message = f"ACCEPTED: the library accepts {forbidden}"
        return f"{_with_newline(case.block)}\nraise SystemExit({scalar(message)})\n"
    if finding.pair is not PairKind.NONE:
        return f"{_with_newline(case.source)}{_comparison(finding, writer)}"
    return _with_newline(case.source)


def shows_block_alone(finding: Finding, case: ProgramCase) -> bool:
    """Return whether the script runs the last block only, which suffices to show the defect."""
    if not case.block or finding.pair is not PairKind.NONE:
        return False
    outcomes = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
    is_in_block = any(locate_message(getattr(out, "message", "")).in_block for out in outcomes)
    return is_in_block or finding.kind == ACCEPTED


def _comparison(finding: Finding, writer: Writer) -> str:
    """Return statements that compare the program's end with that on the reference target."""
    name = without_local_paths(finding.targets[0])
    reference = finding.outcomes.get(finding.targets[0])
    if isinstance(reference, Rejected):
        message = f"DIFFERENT: runs to its end; {name} raised {summary_line(reference)}"
        return f"\nraise SystemExit({scalar(message)})\n"
    if finding.kind == "refused":
        return f'\nprint("No difference: runs to its end, as on", {scalar(name)})\n'
    imports = "\n".join(writer.imports)
    form = _FORM_CHECK.format(
        leaves=leaves_function(writer),
        expected=_form(reference, finding.detail),
        reference=scalar(name),
        name=scalar(finding.detail),
    )
    return f"\n{imports}{form}"


def _form(reference: Outcome | None, name: str) -> str:
    """Return an output's type and shape as source text, as the script's `leaves` yields them."""
    run = program_run(reference) if reference is not None else None
    output: Output | None = run.outputs.get(name) if run is not None else None
    match output:
        case TensorOutput(dtype, shape) | TensorDigest(dtype, shape):
            return f"({scalar(dtype)}, {shape_text(shape)})"
        case Scalar(kind):
            return f"({scalar(_NAMES.get(kind, 'NoneType'))}, None)"
        case _:
            return "('NoneType', None)"


_NAMES = {"i": "int", "f": "float", "o": "bool", "z": "complex"}


def _with_newline(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _literal(text: str) -> str:
    """Return a text as a Python literal: a raw multi-line string if possible, else its `repr`."""
    plain = f"r'''{text}'''"
    return plain if _evaluates_to(plain, text) else repr(text)


def _evaluates_to(literal: str, text: str) -> bool:
    try:
        return bool(ast.literal_eval(literal) == text)
    except (SyntaxError, ValueError):
        return False


def with_preamble(source: str, lines: Sequence[str]) -> str:
    """Return a program with further lines before its first statement.

    A docstring and imports from `__future__` stay before these lines.
    """
    if not lines:
        return source
    text = Source("", source)
    try:
        body = text.tree.body[: opening(text.tree, with_imports=False)]
    except UnreadableSourceError:
        return source  # it cannot be parsed, which is the defect that it shows
    last_line = max((statement.end_lineno or 0 for statement in body), default=0)
    return text.with_lines({last_line + 1: [*lines, ""]})
