"""Collects the functions to test from targets, which import the programs."""

from __future__ import annotations

import hashlib
import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Warned
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.functions.checking import called_program_json, module_from_json, module_with_functions
from ciguard.functions.drawing import call_sampler
from ciguard.levels.function.files import programs_in, relative_program
from ciguard.levels.function.level import FunctionUnderTest
from ciguard.levels.function.settings import PATH

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from ciguard.campaign import Group
    from ciguard.config import Config
    from ciguard.domain.values import Json
    from ciguard.execution import Dispatcher
    from ciguard.functions.specs import FunctionSpec, ModuleSpec, Problem

_CALLS_FOR_NESTED = 3
"""Number of calls of an outer function to find the nested functions that it defines."""
_ABSENT_FILE = re.compile(r"\b(?:FileNotFound|Permission)Error\b")
_HOME_ADVICE = (
    ". Programs find files of a home folder only with --function-home FOLDER, and files of the "
    "project by paths relative to the current folder"
)
_MAX_REASON = 1_000
"""Maximum length of the reason why a program is left out, in characters."""
_MAX_LISTED_PROBLEMS = 20
"""Maximum number of problems that one message lists."""


@dataclass(frozen=True, slots=True)
class CollectedFunctions:
    """The functions to test, and the programs that are left out."""

    functions: tuple[FunctionUnderTest, ...]
    left_out: Mapping[str, str]
    """Reasons why no target can import programs, by path."""


def collected_functions(
    group: Group, config: Config, dispatcher: Dispatcher
) -> Generator[Event, None, CollectedFunctions]:
    """Return the functions to test, as targets of a group describe them.

    Yields:
        A warning for each program that no target can import, and for each that only pytest runs.

    Raises:
        ConfigurationError: if annotations are invalid, or no program can be imported and one of
            the failures is not that of a missing package.
        WorkerStartError: if the server of a target has stopped.
    """
    tested: list[FunctionUnderTest] = []
    problems: list[Problem] = []
    left_out: dict[str, str] = {}
    failed: list[str] = []
    for file, program in programs_in(config).items():
        record, failure = _description(file, group, dispatcher)
        if record is None:
            left_out[file] = visible(failure.reason, limit=_MAX_REASON)
            if _ABSENT_FILE.search(failure.reason):
                left_out[file] += _HOME_ADVICE
            failed += [] if failure.is_missing_package else [file]
            yield Warned(message=f"NOT TESTED: {visible(file)}: {left_out[file]}")
            continue
        if record["description"]["module_test"]:
            message = "its module_test() runs under pytest only, with `pytest --ciguard`"
            yield Warned(message=f"functions: {visible(file)}: {message}")
        description = {
            **record["description"],
            **relative_program(program),
            "library": record["library"],
            "path": list(config[PATH]),
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
    if failed and not tested:
        msg = f"functions: {visible(failed[0])} cannot be imported. {left_out[failed[0]]}"
        raise ConfigurationError(msg)
    return CollectedFunctions(tuple(tested), left_out)


@dataclass(frozen=True, slots=True)
class _ImportFailure:
    """Why no target can import a program."""

    reason: str = ""
    is_missing_package: bool = False
    """True if all targets lack a package that the program needs."""


def _description(file: str, group: Group, dispatcher: Dispatcher) -> tuple[Json, _ImportFailure]:
    """Return the description by the first target that can import a program; None if none can."""
    reasons: list[tuple[bool, str]] = []
    for target in group.running_eagerly:
        (record,) = dispatcher.tasks(target).functions([{"file": file, "calls": []}])
        if "error" not in record:
            return record, _ImportFailure()
        reasons.append((bool(record.get("skip")), f"{target}: {record['error']}"))
    failed = [reason for is_skip, reason in reasons if not is_skip]
    if failed:
        return None, _ImportFailure(failed[0])
    return None, _ImportFailure("; ".join(reason for _, reason in reasons), is_missing_package=True)


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
