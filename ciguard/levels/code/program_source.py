"""A program's finding as a script: the program as it stands, and what tells that it shows."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Rejected
from ciguard.domain.programs import ProgramCase, located
from ciguard.execution import Scalar, TensorDigest, TensorOutput
from ciguard.levels.code.derivation import ACCEPTED
from ciguard.levels.code.growth import GROWTH, MIN_BYTES, MIN_SECONDS
from ciguard.levels.code.program_runs import program_run
from ciguard.sources import Source, UnreadableSourceError, opening
from ciguard.triage import telling_line, without_local_paths
from ciguard.triage.scripting import leaves_function
from ciguard.writing import scalar, shape_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.libraries import Writer

_FORM = """


{leaves}


expected = {expected}  # type and shape on {reference}
found = next(leaves(globals().get({name})))[:2]
print({name}, "is", found)
if found != expected:
    raise SystemExit("DIFFERENT: %s is %s instead of %s" % ({name}, found, expected))
print("No difference.")
"""
_CYCLES = """\
import gc
import time
from statistics import median

PROGRAM = {program}
CODE = compile(PROGRAM, "program.py", "exec")  # once: libraries keep code that they have met


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


values = []
for cycle in range(1, {cycles} + 1):
    began = time.process_time()
    exec(CODE, {{"__name__": "__main__"}})
    spent = time.process_time() - began
    gc.collect()
    print("cycle %d: %.1f MiB, %.3f s" % (cycle, resident() / 2**20, spent))
    values.append({value})

values = values[len(values) // 3 :]  # the first third warms up
steps = [after - before for before, after in zip(values, values[1:])]
half = len(steps) // 2
if min(median(steps[:half]), median(steps[half:])) >= {least}:
    raise SystemExit("GROWS: {what} with every cycle, by %g" % median(steps))
print("It does not grow.")
"""
_MEMORY = {"value": "resident()", "least": MIN_BYTES, "what": "bytes in use"}
_TIME = {"value": "spent", "least": MIN_SECONDS, "what": "seconds of a cycle"}


def program_statements(finding: Finding, case: ProgramCase, writer: Writer) -> str:
    """Return the program, and behind it what says whether the defect showed.

    For a forbidden argument that is accepted it is the block alone; for what grows, the program in
    a loop. Any other defect is what the program ends in.
    """
    if finding.oracle == GROWTH:
        how = _TIME if finding.kind == "slows-down" else _MEMORY
        return _CYCLES.format(program=_quoted(case.source), cycles=case.cycles, **how)
    if shows_block_alone(finding, case):
        if finding.kind != ACCEPTED:
            return _closed(case.block)
        says = f"ACCEPTED: the documentation forbids it ({finding.detail})"
        return f"{_closed(case.block)}\nraise SystemExit({scalar(says)})\n"
    if finding.pair is not PairKind.NONE:
        return f"{_closed(case.source)}{_compared(finding, writer)}"
    return _closed(case.source)


def shows_block_alone(finding: Finding, case: ProgramCase) -> bool:
    """Return whether the script is the program of the last block alone: that shows it, and more."""
    if not case.block or finding.pair is not PairKind.NONE:
        return False
    ends = [finding.outcomes[name] for name in finding.targets if name in finding.outcomes]
    in_block = any(located(getattr(end, "message", "")).in_block for end in ends)
    return in_block or finding.kind == ACCEPTED


def _compared(finding: Finding, writer: Writer) -> str:
    """Return what follows a program that ends otherwise than on the reference."""
    name = without_local_paths(finding.targets[0])
    reference = finding.outcomes.get(finding.targets[0])
    if isinstance(reference, Rejected):
        says = f"DIFFERENT: runs to its end; {name} raised {telling_line(reference)}"
        return f"\nraise SystemExit({scalar(says)})\n"
    if finding.kind == "refused":
        return f'\nprint("No difference: runs to its end, as on", {scalar(name)})\n'
    imports = "\n".join(writer.imports)
    form = _FORM.format(
        leaves=leaves_function(writer),
        expected=_form(reference, finding.detail),
        reference=scalar(name),
        name=scalar(finding.detail),
    )
    return f"\n{imports}{form}"


def _form(reference: Outcome | None, name: str) -> str:
    """Return type and shape of an output, as `leaves` in the script tells them."""
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


def _closed(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _quoted(text: str) -> str:
    """Return a text as a literal, readable where that is possible."""
    plain = f"r'''{text}'''"
    return plain if _evaluates_to(plain, text) else repr(text)


def _evaluates_to(literal: str, text: str) -> bool:
    try:
        return bool(ast.literal_eval(literal) == text)
    except (SyntaxError, ValueError):
        return False


def with_preamble(source: str, lines: Sequence[str]) -> str:
    """Return a program with statements before its first one that may stand behind them.

    A docstring and imports from `__future__` stay where they are.
    """
    if not lines:
        return source
    written = Source("", source)
    try:
        body = written.tree.body[: opening(written.tree, with_imports=False)]
    except UnreadableSourceError:
        return source  # it shows just that
    at = max((statement.end_lineno or 0 for statement in body), default=0)
    return written.with_lines({at + 1: [*lines, ""]})
