"""The test of one function or one script, and the text of its failures."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.values import ListValue, LiteralValue, TupleValue
from ciguard.functions.drawing.calls import call_strategy, main_strategy
from ciguard.functions.hosting.verdicts import CallPassed, Verdict, traceback_text
from ciguard.functions.searching.results import (
    FunctionTestResult,
    counts_text,
    failure_text,
    has_high_discard_rate,
    unsatisfied_text,
)
from ciguard.functions.searching.search import SearchResult, search
from ciguard.functions.writing.call_source import CallSource
from ciguard.functions.writing.scripts import command_line, script_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.functions.hosting.executing import Execution
    from ciguard.functions.searching.search import MinimalFailure
    from ciguard.functions.searching.settings import SearchSettings
    from ciguard.functions.specs.calls import Call
    from ciguard.functions.specs.functions import FunctionSpec, MainSpec, ModuleSpec

_MAX_SCRIPT_RUNS = 10
"""Maximum number of runs of a script, each in a fresh interpreter."""


@dataclass(frozen=True, slots=True)
class FunctionTest:
    """Test of one annotated function."""

    function: FunctionSpec
    module: ModuleSpec
    library: str
    """Name of the library whose tensors the program uses; empty for none."""
    execution: Execution
    settings: SearchSettings

    def run(self) -> FunctionTestResult:
        """Search for calls that fail, and return the result."""
        mutated: set[str] = set()

        def execute(call: Call) -> Verdict:
            verdict = self.execution.verdict(call.to_json())
            if isinstance(verdict, CallPassed):
                mutated.update(verdict.mutated)
            return verdict

        search_result = search(
            f"{self.execution.program.name}:{self.function.name}",
            call_strategy(self.function, self.module),
            execute,
            options=self.settings,
            output=self.execution.host.output,
        )
        result = FunctionTestResult(properties=_properties(search_result))
        self._add_outcome(search_result, result)
        if mutated:
            result.warnings.append(f"the function changes arguments: {', '.join(sorted(mutated))}")
        return result

    def _add_outcome(self, search_result: SearchResult, result: FunctionTestResult) -> None:
        """Add the failures, the reason to skip and warnings to the test's result."""
        if search_result.failures:
            result.failure = self._failures_text(search_result)
            result.exceptions = tuple(failure.failure.type for failure in search_result.failures)
            if search_result.defect:
                result.warnings.append(search_result.defect)
        elif search_result.defect:
            result.failure = search_result.defect
        elif not search_result.valid_count and not search_result.is_stopped:
            if search_result.no_instance_count:
                result.skip = (
                    f"no instance could be constructed: {next(iter(search_result.reasons), '')}"
                )
                return
            conditions = [condition.text for condition in self.function.preconditions]
            result.failure = unsatisfied_text(self.function.name, search_result, conditions)
        if has_high_discard_rate(search_result) and search_result.valid_count:
            result.warnings.append(
                f"{counts_text(search_result)}; narrow the annotations to discard fewer inputs"
            )

    def _failures_text(self, result: SearchResult) -> str:
        """Return the text of all failures, with counts at its beginning."""
        parts = [self._failure_text(failure) for failure in result.failures]
        count = len(parts)
        where = f"{self.function.file}:{self.function.line}"
        head = f"{_summary_line(result.failures)}\n{self.function.name} ({where}): "
        head += f"{count} distinct failures, " if count > 1 else ""
        head += counts_text(result)
        if count > 1:
            parts = [
                f"--- failure {number} of {count} ---\n{text}"
                for number, text in enumerate(parts, 1)
            ]
        return "\n\n".join([head, *parts])

    def _failure_text(self, minimal: MinimalFailure) -> str:
        """Return the text of one failure."""
        source = CallSource.for_module(self.module, self.library)
        call = source.report_text(minimal.call)
        source = CallSource.for_module(self.module, self.library)
        script = script_of(minimal.call, minimal.failure, source, self.execution.program)
        return failure_text(minimal, call, script)


def _summary_line(failures: Sequence[MinimalFailure]) -> str:
    """Return the line for pytest's summary, without an exception's class if pytest shows it."""
    failure = failures[0].failure
    message = failure.message.partition("\n")[0]
    if len({minimal.failure.type for minimal in failures}) == 1 and hasattr(builtins, failure.type):
        return message
    return f"{failure.type}: {message}" if message else failure.type


def _properties(result: SearchResult) -> list[tuple[str, object]]:
    """Return the properties for machine-readable reports."""
    properties: list[tuple[str, object]] = [
        ("ciguard_valid_inputs", result.valid_count),
        ("ciguard_discarded_inputs", result.discarded_count),
        ("ciguard_failures", len(result.failures)),
    ]
    return [*properties, ("ciguard_stopped", True)] if result.is_stopped else properties


@dataclass(frozen=True, slots=True)
class ScriptTest:
    """Test of a program that is run as a script."""

    main: MainSpec
    execution: Execution
    settings: SearchSettings

    def run(self) -> FunctionTestResult:
        """Run the program with valid command lines, and return the result."""
        max_examples = min(self.settings.max_examples or _MAX_SCRIPT_RUNS, _MAX_SCRIPT_RUNS)
        search_result = search(
            f"{self.execution.program.name}:__main__",
            main_strategy(self.main),
            lambda call: self.execution.script_verdict(command_line_words(call)),
            options=replace(self.settings, max_examples=max_examples),
            output=self.execution.host.output,
        )
        result = FunctionTestResult(properties=_properties(search_result))
        if search_result.failures:
            parts = [
                _summary_line(search_result.failures),
                *map(self._failure_text, search_result.failures),
            ]
            result.failure = "\n\n".join(filter(None, parts))
            result.exceptions = tuple(failure.failure.type for failure in search_result.failures)
        elif search_result.defect:
            result.failure = search_result.defect
        return result

    def _failure_text(self, minimal: MinimalFailure) -> str:
        """Return the text of one failure, with the command that shows it."""
        failure = minimal.failure
        message = f"{failure.type}: {failure.message}" if failure.message else failure.type
        parts = ["\n".join(filter(None, [traceback_text(failure.frames), message]))]
        parts.append(
            f"Run as: {command_line(self.execution.program, command_line_words(minimal.call))}"
        )
        for name, text in zip(("stdout", "stderr"), minimal.output, strict=True):
            if text.strip():
                parts.append(f"Captured {name}:\n{text.rstrip()}")
        return "\n\n".join(parts)


def command_line_words(call: Call) -> list[str]:
    """Return the command-line arguments of a call that runs a script."""
    (_, value), *_ = call.arguments
    items = value.items if isinstance(value, ListValue | TupleValue) else (value,)
    return [str(item.value) for item in items if isinstance(item, LiteralValue)]
