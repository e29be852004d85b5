"""A script put together: imports, what comes before the call, the call, what follows it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ciguard.oracles import is_measured
from ciguard.triage.scripting.timing import modules
from ciguard.writing import UNIT_FUNCTION, ScriptSource, is_name, scalar, writer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.findings import Finding
    from ciguard.triage.hint import EnvironmentHint


def source_of(finding: Finding, hint: EnvironmentHint) -> ScriptSource:
    """Return what takes the values of a finding's case, in the dialect of its library.

    Raises:
        ValueError: if the library's module is not a Python name.
    """
    return ScriptSource(
        writer_of(finding.library, module=_module(finding, hint)), device=hint.device
    )


def assembled(
    finding: Finding,
    source: ScriptSource,
    hint: EnvironmentHint,
    *,
    header: str,
    body: tuple[str, Sequence[str]],
) -> str:
    """Return a whole script.

    Args:
        finding: what it shows.
        source: holds what was taken of its values.
        hint: the environment.
        header: the comment that it begins with.
        body: definitions, and the call with what follows, which may name what the source has taken.
    """
    before, statements = body
    definitions = [part for part in (before, source.needs_unit and UNIT_FUNCTION) if part]
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
        msg = f"{module!r} is not the name of a module"
        raise ValueError(msg)
    return module


def indented_try(calls: list[str], after_error: str) -> list[str]:
    """Return statements with what is done if they raise; as they are if nothing is."""
    if not after_error:
        return calls
    return [
        "try:",
        *(textwrap.indent(call, "    ") for call in calls),
        "except Exception as error:",
        textwrap.indent(after_error, "    "),
    ]


def _imports(finding: Finding, source: ScriptSource, hint: EnvironmentHint) -> str:
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


def _preparations(source: ScriptSource, finding: Finding, hint: EnvironmentHint) -> Iterator[str]:
    writer = source.writer
    if hint.device != "cpu" and writer.device:
        yield writer.device.format(device=scalar(hint.device))
    if writer.seed:
        yield writer.seed.format(seed=int(finding.case.seed))
