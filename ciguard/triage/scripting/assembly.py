"""Assembly of a script from header, imports, definitions, preparations and statements."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ciguard.oracles import has_counts, is_measured
from ciguard.triage.scripting import counting, guarding
from ciguard.triage.scripting.environment import environment_statements
from ciguard.triage.scripting.guarding import is_guarded
from ciguard.triage.scripting.timing import imported_modules
from ciguard.writing import UNIT_FUNCTION, ScriptSource, is_name, scalar, writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.findings import Finding
    from ciguard.triage.hint import EnvironmentHint


def source_of(finding: Finding, hint: EnvironmentHint) -> ScriptSource:
    """Return an empty script source, which writes values for the finding's library.

    Raises:
        ValueError: if the name of the library's module is not a Python name.
    """
    return ScriptSource(
        writer_of(finding.library, module=_module(finding, hint)), device=hint.device
    )


def assemble_script(
    finding: Finding,
    source: ScriptSource,
    hint: EnvironmentHint,
    *,
    header: str,
    body: tuple[str, Sequence[str]],
) -> str:
    """Return the text of a complete script.

    Args:
        finding: the finding to reproduce.
        source: the script source with the values of the case.
        hint: the environment of the script.
        header: the comment at the beginning.
        body: source text of definitions, and statements that may use the names in `source`.
    """
    own_definitions, statements = body
    definitions = [part for part in (own_definitions, source.needs_unit and UNIT_FUNCTION) if part]
    parts = (
        f"{header}\n\n{_imports(finding, source, hint)}",
        *definitions,
        "\n".join([*_preparations(source, finding, hint), *source.assignments, ""])
        + "\n"
        + "\n".join(statements),
    )
    return ("\n\n\n" if definitions else "\n\n").join(parts) + "\n"


def _module(finding: Finding, hint: EnvironmentHint) -> str:
    module = hint.module or finding.api.partition(".")[0]
    if not is_name(module):
        msg = f"{module!r} is not a valid module name"
        raise ValueError(msg)
    return module


def indented_try(calls: list[str], after_error: str) -> list[str]:
    """Return statements in a `try` whose handler is `after_error`.

    If `after_error` is empty, the statements are returned unchanged.
    """
    if not after_error:
        return calls
    return [
        "try:",
        *(textwrap.indent(call, "    ") for call in calls),
        "except Exception as error:",
        textwrap.indent(after_error, "    "),
    ]


def _imports(finding: Finding, source: ScriptSource, hint: EnvironmentHint) -> str:
    variables = environment_statements(finding, hint)
    standard = source.standard | ({"os"} if variables else set())
    if is_measured(finding):
        standard |= set(imported_modules(finding))
    if is_guarded(hint.mode):
        standard |= guarding.MODULES
    lines = [f"import {module}" for module in sorted(standard)]
    submodules = sorted(source.modules)
    if submodules:
        lines.append("from contextlib import suppress")
    if lines:
        lines.append("")
    if is_guarded(hint.mode):
        lines.append(guarding.restart())
    if has_counts(finding):
        lines.append(counting.restart(finding))
    lines += [*variables, *source.writer.imports]
    if source.needs_numpy and "import numpy as np" not in lines:
        lines.append("import numpy as np")
    for module in submodules:
        lines += ["", f"with suppress(ImportError):\n    import {module}"]
    return "\n".join(lines)


def _preparations(source: ScriptSource, finding: Finding, hint: EnvironmentHint) -> Iterator[str]:
    """Yield statements that select the device and set the seed."""
    writer = source.writer
    if hint.device != "cpu" and writer.device:
        yield writer.device.format(device=scalar(hint.device))
    if writer.seed:
        yield writer.seed.format(seed=int(finding.case.seed))
    if is_guarded(hint.mode):
        yield guarding.begin(int(finding.case.seed))
