"""The reproducer: one finding as a script that needs the library and nothing else."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from ciguard.domain import (
    AppCase,
    Check,
    Crashed,
    Errored,
    Exhausted,
    FunctionCase,
    Hung,
    ModelCase,
    PairKind,
    Passed,
    ProgramCase,
    Rejected,
    as_call,
    visible,
)
from ciguard.files import read_text
from ciguard.oracles import (
    APPLICATION,
    DERIVATION,
    FUNCTION,
    GROWTH,
    SLOW,
    inputs_in,
    is_measured,
    precision_of,
)
from ciguard.targets import EAGER
from ciguard.triage.app_script import app_statements
from ciguard.triage.case_words import origin_rows
from ciguard.triage.effects_check import EFFECTS, effects_check
from ciguard.triage.expectation import comparison
from ciguard.triage.function_script import function_statements
from ciguard.triage.library_check import equivalent_lines, library_check
from ciguard.triage.model_script import compared, model_statements
from ciguard.triage.program_script import program_statements, shows_block_alone, with_preamble
from ciguard.triage.symptom import telling_line
from ciguard.triage.timing import measurement, modules, timing
from ciguard.triage.twin_check import twin_call, twin_check
from ciguard.triage.wording import without_local_paths
from ciguard.writing import UNIT_FUNCTION, Source, is_name, scalar, writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.domain import Bucket, Finding, Outcome
    from ciguard.oracles import Inputs

_COMMENT_WIDTH = 96
_MAX_SCRIPT = 1 << 20
_MAX_MESSAGE = 600
_SLACK = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentHint:
    """How a person gets the environment that a finding was made in."""

    install: tuple[str, ...]
    """Requirements for `pip install`, e.g. `("torch==2.13.0",)`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that change what the library does; set before it is imported."""
    device: str = "cpu"
    mode: str = EAGER
    module: str = ""
    """Import name of the library; empty means that it is the library's own name."""
    other_library: str = ""
    """What it is held against, for a difference between libraries."""


def script(finding: Finding, *, environment_hint: EnvironmentHint) -> str:
    """Return a standalone script that fails as the finding did.

    A crash ends the interpreter the same way, an internal error is the uncaught exception, a hang
    does not return. A difference between targets exits with 1 and a line that begins with
    `DIFFERENT`; where it does not show the script exits with 0. An argument that should be refused
    and is not exits with 1 and a line that begins with `ACCEPTED`, what grows with `GROWS`. The
    script of a program is the program as it stands.

    Raises:
        ValueError: if a name in the case is not a Python name.
    """
    if isinstance(finding.case, AppCase):
        return _app_script(finding, finding.case, environment_hint)
    if isinstance(finding.case, FunctionCase):
        return _function_script(finding, finding.case, environment_hint)
    writer = writer_of(finding.library, module=_module(finding, environment_hint))
    source = Source(writer)
    if isinstance(finding.case, ProgramCase):
        return _program_script(finding, finding.case, source, hint=environment_hint)
    before, statements = _body(finding, source, environment_hint)
    definitions = [part for part in (before, source.needs_unit and UNIT_FUNCTION) if part]
    parts = (
        f"{_header(finding, environment_hint)}\n\n{_imports(finding, source, environment_hint)}",
        *definitions,
        "\n".join([*_preparations(source, finding, environment_hint), *source.assignments, ""])
        + "\n"
        + "\n".join(statements),
    )
    return ("\n\n\n" if definitions else "\n\n").join(parts) + "\n"


def _program_script(
    finding: Finding, case: ProgramCase, source: Source, *, hint: EnvironmentHint
) -> str:
    writer = source.writer
    chosen = [f"os.environ[{scalar(k)}] = {scalar(v)}" for k, v in hint.variables]
    preamble = ["import os", "", *chosen] if chosen else []
    if hint.device != "cpu" and writer.device:
        preamble += ["", *writer.imports, writer.device.format(device=scalar(hint.device))]
    is_block = shows_block_alone(finding, case)
    counted = comment("The program below is the block alone." if is_block else _COUNTED)
    statements = program_statements(finding, case, writer)
    return f"{_header(finding, hint)}\n#\n{counted}\n\n{with_preamble(statements, preamble)}"


def _function_script(finding: Finding, case: FunctionCase, hint: EnvironmentHint) -> str:
    imports, statements = function_statements(finding, case, finding.library)
    chosen = [
        f"os.environ[{scalar(k)}] = {scalar(v)}  # read when imported" for k, v in hint.variables
    ]
    standard = ["import os", "", *chosen, ""] if chosen else []
    beginning = "\n".join([*standard, *imports])
    where = comment("Run it in the folder that holds the program's path, with ciguard installed.")
    return f"{_header(finding, hint)}\n#\n{where}\n\n{beginning}\n\n" + "\n".join(statements) + "\n"


def _app_script(finding: Finding, case: AppCase, hint: EnvironmentHint) -> str:
    outcome = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    imports, statements = app_statements(case, outcome)
    where = comment("Run it in the folder that holds the program's path, with ciguard installed.")
    beginning = "\n".join(imports)
    return f"{_header(finding, hint)}\n#\n{where}\n\n{beginning}\n\n" + "\n".join(statements) + "\n"


def _body(finding: Finding, source: Source, hint: EnvironmentHint) -> tuple[str, list[str]]:
    """Return the definitions before the call, and the call with what follows."""
    if isinstance(finding.case, ModelCase):
        return _model_body(finding.case, finding, source)
    if finding.oracle == "metamorphic":
        calls, before, after = twin_check(as_call(finding.case), source)
        return before, [*calls, *filter(None, [source.writer.finish]), after]
    if finding.oracle == "differential" and finding.kind in EFFECTS:
        return effects_check(finding, source)
    finish = [line for line in [source.writer.finish] if line]
    in_mode = hint.mode != EAGER
    call = as_call(finding.case)
    calls = source.call_in_mode(call, hint.mode) if in_mode else source.call(call)
    if is_measured(finding):
        return "", [timing(finding, [*calls, *finish])]
    calls += [*twin_call(finding.case, source), *finish]
    before, after_error, after = _around_call(finding, source, hint)
    return before, [*_indented_try(calls, after_error), after]


def _model_body(case: ModelCase, finding: Finding, source: Source) -> tuple[str, list[str]]:
    """Return the definitions before the run of a layer graph, and the run with what follows."""
    definitions, statements = model_statements(case, source)
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if case.check is Check.SAVE:
        return "\n\n\n".join(definitions), statements
    if finding.pair is PairKind.NONE or reference is None:
        shown = 'print("returned:", result)\nprint("The defect did not show.")'
        return "\n\n\n".join(definitions), [*statements, shown]
    before, after_error, after = comparison(
        compared(case, reference),
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=_lenient(precision_of(case)),
    )
    body = _indented_try(statements, after_error)
    return "\n\n\n".join(filter(None, [before, *definitions])), [*body, after]


def _lenient(inputs: Inputs) -> Inputs:
    """Return the precision that a script allows, which has one for parts of all sizes."""
    return replace(inputs, condition=_SLACK * inputs.condition)


def _module(finding: Finding, hint: EnvironmentHint) -> str:
    module = hint.module or finding.api.partition(".")[0]
    if not is_name(module):
        msg = f"{module!r} is not the name of a module"
        raise ValueError(msg)
    return module


def _around_call(finding: Finding, source: Source, hint: EnvironmentHint) -> tuple[str, str, str]:
    if finding.oracle == "boundary":
        return "", "", _accepted(finding)
    reference = finding.outcomes.get(finding.targets[0]) if finding.targets else None
    if finding.pair is PairKind.NONE or reference is None:
        return "", "", 'print("returned:", result)\nprint("The defect did not show.")'
    if finding.pair is PairKind.LIBRARY:
        before, after = library_check(finding, source.writer, other=hint.other_library)
        return before, "", after
    return comparison(
        reference,
        name=without_local_paths(finding.targets[0]),
        writer=source.writer,
        inputs=inputs_in(finding.case),
    )


def _accepted(finding: Finding) -> str:
    says = f"ACCEPTED: against what is documented of {finding.detail}"
    return f'print("returned:", result)\nraise SystemExit({scalar(says)})'


def _indented_try(calls: list[str], after_error: str) -> list[str]:
    if not after_error:
        return calls
    return [
        "try:",
        *(textwrap.indent(call, "    ") for call in calls),
        "except Exception as error:",
        textwrap.indent(after_error, "    "),
    ]


def _imports(finding: Finding, source: Source, hint: EnvironmentHint) -> str:
    standard = source.standard | ({"os"} if hint.variables else set())
    if is_measured(finding):
        standard |= set(modules(finding))
    lines = [f"import {module}" for module in sorted(standard)]
    submodules = sorted(source.modules)
    if submodules:
        lines.append("from contextlib import suppress")
    if lines:
        lines.append("")
    for key, value in hint.variables:
        lines.append(f"os.environ[{scalar(key)}] = {scalar(value)}  # read when imported")
    lines.extend(source.writer.imports)
    if source.needs_numpy and "import numpy as np" not in lines:
        lines.append("import numpy as np")
    for module in submodules:
        lines += ["", f"with suppress(ImportError):\n    import {module}"]
    return "\n".join(lines)


def _preparations(source: Source, finding: Finding, hint: EnvironmentHint) -> Iterator[str]:
    writer = source.writer
    if hint.device != "cpu" and writer.device:
        yield writer.device.format(device=scalar(hint.device))
    if writer.seed:
        yield writer.seed.format(seed=int(finding.case.seed))


def _header(finding: Finding, hint: EnvironmentHint) -> str:
    shown = finding.targets[-1] if finding.targets else "the target"
    outcome = finding.outcomes.get(shown)
    lines = [f"{finding.api}: {_claim(finding, outcome)}", ""]
    if finding.message:
        lines.append(f"In one line: {finding.message}")
    lines += [f"{name}: {text}" for name, text in _held_against(finding) if text]
    lines += [f"{name}: {text}" for name, text in origin_rows(finding.case)]
    if hint.other_library:
        written = equivalent_lines(finding, other=hint.other_library)
        lines += ["", "The other library's call:", *written]
    lines += ["", f"Install: pip install {' '.join(hint.install)}"]
    if finding.case.is_run_by_worker:  # another script ends by itself
        lines += _advice(outcome)
    return "\n".join(comment(line) for line in lines)


def _held_against(finding: Finding) -> tuple[tuple[str, str], ...]:
    """Return the evidence; of an older baseline's finding, what was seen on its targets."""
    evidence = finding.evidence
    if not evidence.observed:
        return tuple((name, _observed(finding.outcomes.get(name))) for name in finding.targets)
    seen = finding.outcomes.get(finding.targets[-1]) if finding.targets else None
    line = telling_line(seen).partition(": ")[2] if isinstance(seen, Crashed) else ""
    return (
        ("Expected", evidence.expected),
        ("Observed", f"{evidence.observed}{f': {line}' if line else ''}"),
        ("Law", evidence.law),
        ("Source", evidence.source),
    )


def _claim(finding: Finding, outcome: Outcome | None) -> str:
    if finding.pair is not PairKind.NONE or finding.oracle in _OF_ORACLES:
        return _of_oracle(finding)
    one = f"the {finding.case.noun}"
    match outcome:
        case Crashed():
            return "the process dies."
        case Errored():
            return "an internal error escapes."
        case Hung():
            return f"{one} does not return."
        case Exhausted():
            return f"{one} uses up all memory."
        case Passed() | Rejected() | None:
            is_slow = finding.kind == SLOW
            return f"{one} takes long." if is_slow else f"{finding.oracle}: {finding.kind}."
        case _:
            assert_never(outcome)


_COUNTED = "Lines are counted from where the program begins, below."
_OF_USERS = frozenset({APPLICATION, DERIVATION, FUNCTION, GROWTH})
_OF_ORACLES = frozenset({"metamorphic", "boundary"}) | _OF_USERS
_OF_PROGRAMS = {
    "exception": "an annotated function raises what it does not document.",
    "import": "a program cannot be imported.",
    "ensure": "a postcondition does not hold.",
    "nan": "NaN comes of finite, small numbers.",
    "timeout": "an annotated function takes longer than it may.",
    "mutation": "an annotated function changes its arguments.",
    "crash": "an application fails on what a service may answer.",
    "hang": "an application does not return on what a service may answer.",
    "unguarded": "an application lets through that a service refuses what it is asked about.",
    "positive-failed": "a program fails whose last block runs alone.",
    "accepted-illegal": "a forbidden argument is accepted.",
    "memory-grows": "memory grows with every run of a program in one process.",
    "slows-down": "a program becomes slower with every run in one process.",
}


def _of_oracle(finding: Finding) -> str:
    if finding.oracle in _OF_USERS and (finding.oracle != FUNCTION or not finding.pair):
        return _OF_PROGRAMS.get(finding.kind, f"{finding.kind}.")
    if finding.oracle == "boundary":
        return f"a forbidden argument is accepted ({finding.detail})."
    if is_measured(finding):
        return f"one target is worse than another ({finding.kind})."
    if finding.oracle == "metamorphic":
        return f"the law “{finding.kind}” is broken."
    if finding.pair is PairKind.LIBRARY:
        return f"libraries differ where they are defined alike ({finding.kind})."
    return f"two targets answer differently ({finding.kind})."


def _observed(outcome: Outcome | None) -> str:
    match outcome:
        case None:
            return "not recorded"
        case Passed():
            return measurement(outcome) or "returned a result"
        case Rejected():
            return f"refused with {telling_line(outcome)}"
        case _:
            return telling_line(outcome)


def _advice(outcome: Outcome | None) -> list[str]:
    match outcome:
        case Crashed():
            return ["Run with `python -X faulthandler` to see the Python stack."]
        case Exhausted():
            return ["It allocates without bound: run it under `ulimit -v 8000000`."]
        case Hung(limit_s):
            return [f"It was stopped after {limit_s:g} s; stop it with Ctrl-C."]
        case _:
            return []


def comment(text: str) -> str:
    """Return `text` as lines of comment; nothing in it can end the comment."""
    safe = visible(without_local_paths(text.strip()), limit=_MAX_MESSAGE)
    lines = textwrap.wrap(safe, _COMMENT_WIDTH, break_on_hyphens=False) or [""]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def read_script(folder: Path, bucket: Bucket) -> str:
    """Return the script that a run has written for a bucket; empty if it cannot be read.

    Run and bucket may be anybody's: nothing outside of the run's folder is read.
    """
    path = folder / bucket.reproducer
    try:
        is_inside = path.resolve().is_relative_to(folder.resolve())
        return read_text(path, most=_MAX_SCRIPT) if bucket.reproducer and is_inside else ""
    except (OSError, ValueError, RuntimeError):  # the last: links that lead in a circle
        return ""
