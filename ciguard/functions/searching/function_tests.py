"""The test of one function, or of one script, with all that a report says of it."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.values import ListValue, LiteralValue, TupleValue
from ciguard.functions.drawing.calls import call_strategy, main_strategy
from ciguard.functions.hosting.verdicts import CallPassed, Verdict, traceback_text
from ciguard.functions.searching.search import SearchResult, search
from ciguard.functions.searching.telling import (
    Told,
    counts_text,
    discards_much,
    found_text,
    unsatisfied_text,
)
from ciguard.functions.writing.call_source import CallSource
from ciguard.functions.writing.scripts import command_line, script_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.hosting.executing import Execution
    from ciguard.functions.searching.search import MinimalFailure
    from ciguard.functions.searching.settings import SearchSettings
    from ciguard.functions.specs.calls import Call
    from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec

_SCRIPTS = 10
"""Command lines that a script is run with, each in an interpreter of its own."""


@dataclass(frozen=True, slots=True)
class FunctionTest:
    """Tests one annotated function."""

    function: FunctionSpec
    module: ModuleSpec
    library: str
    """Whose tensors the program takes."""
    execution: Execution
    settings: SearchSettings

    def run(self) -> Told:
        """Search for calls that fail."""
        mutated: set[str] = set()

        def execute(call: Call) -> Verdict:
            verdict = self.execution.verdict(call.to_json())
            if isinstance(verdict, CallPassed):
                mutated.update(verdict.mutated)
            return verdict

        result = search(
            f"{self.execution.program.name}:{self.function.name}",
            call_strategy(self.function, self.module),
            execute,
            chosen=self.settings,
            output=self.execution.host.output,
        )
        told = Told(properties=_properties(result))
        self._tell(result, told)
        if mutated:
            told.warnings.append(f"arguments are changed: {', '.join(sorted(mutated))}")
        return told

    def _tell(self, result: SearchResult, told: Told) -> None:
        if result.found:
            told.failure = self._failures(result)
            told.exceptions = tuple(found.failure.type for found in result.found)
        elif not result.valid and not result.stopped:
            if result.no_instance:
                told.skip = f"no instance could be made: {next(iter(result.reasons), '')}"
                return
            conditions = [condition.text for condition in self.function.requires]
            told.failure = unsatisfied_text(self.function.name, result, conditions)
        if discards_much(result) and result.valid:
            told.warnings.append(
                f"{counts_text(result)}: its annotations leave much to its preconditions"
            )

    def _failures(self, result: SearchResult) -> str:
        parts = [self._found(found) for found in result.found]
        count = len(parts)
        where = f"{self.function.file}:{self.function.line}"
        head = f"{_said(result.found)}\n{self.function.name} ({where}): "
        head += f"{count} distinct failures, " if count > 1 else ""
        head += counts_text(result)
        if count > 1:
            parts = [f"--- failure {n} of {count} ---\n{t}" for n, t in enumerate(parts, 1)]
        return "\n\n".join([head, *parts])

    def _found(self, found: MinimalFailure) -> str:
        source = CallSource.of(self.module, self.library)
        call = source.shown(found.call)
        source = CallSource.of(self.module, self.library)
        script = script_of(found.call, found.failure, source, self.execution.program)
        return found_text(found, call, script)


def _said(found: Sequence[MinimalFailure]) -> str:
    """Return the line that summaries of a session show, behind the class if there is but one."""
    failure = found[0].failure
    message = failure.message.partition("\n")[0]
    if len({one.failure.type for one in found}) == 1 and hasattr(builtins, failure.type):
        return message
    return f"{failure.type}: {message}" if message else failure.type


def _properties(result: SearchResult) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = [
        ("ciguard_valid_inputs", result.valid),
        ("ciguard_discarded_inputs", result.discarded),
        ("ciguard_failures", len(result.found)),
    ]
    return [*found, ("ciguard_stopped", True)] if result.stopped else found


@dataclass(frozen=True, slots=True)
class ScriptTest:
    """Tests the main environment of a program."""

    main: MainSpec
    execution: Execution
    settings: SearchSettings

    def run(self) -> Told:
        """Run the program with the command lines that its annotation allows."""
        wanted = min(self.settings.max_examples or _SCRIPTS, _SCRIPTS)
        result = search(
            f"{self.execution.program.name}:__main__",
            main_strategy(self.main),
            lambda call: self.execution.script_verdict(texts_of(call)),
            chosen=replace(self.settings, max_examples=wanted),
            output=self.execution.host.output,
        )
        told = Told(properties=_properties(result))
        if result.found:
            parts = [_said(result.found), *map(self._found, result.found)]
            told.failure = "\n\n".join(filter(None, parts))
            told.exceptions = tuple(found.failure.type for found in result.found)
        return told

    def _found(self, found: MinimalFailure) -> str:
        failure = found.failure
        said = f"{failure.type}: {failure.message}" if failure.message else failure.type
        parts = ["\n".join(filter(None, [traceback_text(failure.frames), said]))]
        parts.append(f"Run as: {command_line(self.execution.program, texts_of(found.call))}")
        for name, text in zip(("stdout", "stderr"), found.output, strict=True):
            if text.strip():
                parts.append(f"Captured {name}:\n{text.rstrip()}")
        return "\n\n".join(parts)


def texts_of(call: Call) -> list[str]:
    """Return the words of a command line."""
    (_, value), *_ = call.arguments
    items = value.items if isinstance(value, ListValue | TupleValue) else (value,)
    return [str(item.value) for item in items if isinstance(item, LiteralValue)]
