"""Collects the functions to test from targets, which import the programs."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Warned
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.functions.checking import called_program_json, module_from_json, module_with_functions
from ciguard.functions.drawing import call_sampler
from ciguard.levels.function.files import programs_in, relative_program
from ciguard.levels.function.level import FunctionUnderTest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ciguard.campaign import Group
    from ciguard.config import Config
    from ciguard.domain.values import Json
    from ciguard.execution import Dispatcher
    from ciguard.functions.specs import FunctionSpec, ModuleSpec, Problem

_CALLS_FOR_NESTED = 3
"""Number of calls of an outer function to find the nested functions that it defines."""
_MAX_LISTED_PROBLEMS = 20
"""Maximum number of problems that one message lists."""


def tested_functions(
    group: Group, config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, list[FunctionUnderTest]]:
    """Return the functions to test, as targets of a group describe them.

    Yields:
        A warning for each program that needs a missing package.

    Returns:
        The functions that can be tested.

    Raises:
        ConfigurationError: if annotations are invalid, or no target can import a program.
        WorkerStartError: if the server of a target has stopped.
    """
    tested: list[FunctionUnderTest] = []
    problems: list[Problem] = []
    for file, program in programs_in(config).items():
        record, reason = _description(file, group, dispatcher)
        if record is None:
            yield Warned(message=f"functions: {visible(file)} is not tested: {visible(reason)}")
            continue
        description = {
            **record["description"],
            **relative_program(program),
            "library": record["library"],
        }
        complete = _with_nested(file, module_from_json(description), group, dispatcher)
        description["functions"] += complete.nested
        problems += complete.module.problems
        tested += [
            FunctionUnderTest(
                file, complete.module, function, called_program_json(description, function.name)
            )
            for function in complete.module.tested()
        ]
    _raise_problems(problems)
    return tested


def _description(file: str, group: Group, dispatcher: Dispatcher) -> tuple[Json, str]:
    """Return the description by the first target that can import a program.

    Returns:
        The description and an empty text, or None and why no target can import the program.

    Raises:
        ConfigurationError: if an import fails for a reason other than a missing package.
    """
    reasons: list[tuple[bool, str]] = []
    for target in group.running_eagerly:
        (record,) = dispatcher.tasks(target).functions([{"file": file, "calls": []}])
        if "error" not in record:
            return record, ""
        reasons.append((bool(record.get("skip")), f"{target}: {record['error']}"))
    failed = [reason for is_skip, reason in reasons if not is_skip]
    if failed:
        msg = f"functions: {visible(file)} cannot be imported. {visible(failed[0], limit=2_000)}"
        raise ConfigurationError(msg)
    return None, "; ".join(reason for _, reason in reasons)


@dataclass(frozen=True, slots=True)
class _CompleteModule:
    """A module with the nested functions that calls have defined."""

    module: ModuleSpec
    nested: tuple[Json, ...] = ()
    """JSON descriptions of the nested functions."""


def _with_nested(
    file: str, module: ModuleSpec, group: Group, dispatcher: Dispatcher
) -> _CompleteModule:
    """Return a module with the nested functions that a few calls on a target define."""
    defining = [function for function in module.functions if function.has_nested_functions]
    calls = [call for function in defining for call in _sampled_calls(function, module)]
    for target in group.running_eagerly if calls else ():
        (record,) = dispatcher.tasks(target).functions([{"file": file, "calls": calls}])
        if "error" in record:
            continue
        functions: dict[str, Json] = {}
        for nested in record["nested"]:
            module = module_with_functions(module, nested)
            functions |= {description["name"]: description for description in nested["functions"]}
        return _CompleteModule(module, tuple(functions.values()))
    return _CompleteModule(module)


def _sampled_calls(function: FunctionSpec, module: ModuleSpec) -> Iterator[Json]:
    """Yield JSON forms of a few calls of a function."""
    sample, rng = call_sampler(function, module), random.Random(0)  # noqa: S311 - not used for secrets
    for _ in range(_CALLS_FOR_NESTED):
        call = sample(rng)
        if call is not None:
            yield call.to_json()


def _raise_problems(problems: Sequence[Problem]) -> None:
    """Raise a ConfigurationError that lists the problems, if there are any."""
    if not problems:
        return
    lines = [
        f"{visible(problem.file)}:{problem.line}: {visible(problem.message)}"
        for problem in problems[:_MAX_LISTED_PROBLEMS]
    ]
    unlisted = len(problems) - len(lines)
    listed = "\n".join([*lines, *([f"and {unlisted} more"] if unlisted else [])])
    count = "an annotation is" if len(problems) == 1 else f"{len(problems)} annotations are"
    msg = f"functions: {count} invalid:\n{listed}"
    raise ConfigurationError(msg)


def digest_of(tested: Iterable[FunctionUnderTest]) -> str:
    """Return a digest of the functions and their annotations, independent of line numbers."""
    about = [[function.api, _without_lines(function.about)] for function in tested]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _without_lines(description: Json) -> Json:
    """Return a JSON description without line numbers."""
    if isinstance(description, list):
        return [_without_lines(item) for item in description]
    if not isinstance(description, dict):
        return description
    return {key: _without_lines(item) for key, item in description.items() if key != "line"}
