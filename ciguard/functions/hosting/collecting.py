"""Collects the functions of a program from its process."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import Answered, HostedDefectError, ProcessEnded, StackLine, TimedOut
from ciguard.functions.checking.annotations import module_from_json, module_with_functions
from ciguard.functions.drawing.calls import call_sampler
from ciguard.functions.hosting.host import ProgramHost
from ciguard.functions.hosting.verdicts import defect_report, frames_from_json, traceback_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.functions.hosting.host import ProgramSettings
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec
    from ciguard.functions.specs.programs import ProgramFile

_EXPLORATION_CALLS = 5
"""Number of calls of a function to find the nested functions that it defines."""
_EXPLORATION_TIMEOUT_S = 60.0
"""Timeout of each call that searches for nested functions, in seconds."""
_MAX_HOSTS = 3
"""Maximum number of running processes; each may hold a deep-learning library in memory."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of `pytest.mark` on a function."""

    name: str
    args: tuple[Json, ...]
    kwargs: Mapping[str, Json]

    @classmethod
    def from_json(cls, json: Json) -> Mark:
        """Return a mark from its JSON form, which `in_target/describing/marking.py` writes."""
        return cls(json["name"], tuple(json["args"]), json["kwargs"])


@dataclass(frozen=True, slots=True)
class CollectedProgram:
    """Functions of a program whose import succeeded."""

    module: ModuleSpec
    library: str = ""
    """Name of the library whose tensors the program uses; empty for none."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """Marks of functions, by function name."""
    module_marks: tuple[Mark, ...] = ()
    """Marks of the module, which hold for all its functions."""
    remarks: tuple[str, ...] = ()
    """Warnings about functions that are not tested."""


@dataclass(frozen=True, slots=True)
class SkippedProgram:
    """A program that is skipped: a package is missing, or its import calls `pytest.skip`."""

    reason: str


@dataclass(frozen=True, slots=True)
class UnimportableProgram:
    """A program whose import fails."""

    text: str
    """Traceback and reason of the failure, in lines."""


Collection: TypeAlias = CollectedProgram | SkippedProgram | UnimportableProgram


def collect(host: ProgramHost, program: ProgramFile) -> Collection:
    """Import a program in its process, and return its functions or why they are unavailable."""
    try:
        return _collection(host, program)
    except HostedDefectError as error:
        return UnimportableProgram(defect_report(error))


def _collection(host: ProgramHost, program: ProgramFile) -> Collection:
    answer = host.load(program)
    match answer:
        case Answered(content) if "skip" in content:
            return SkippedProgram(content["skip"])
        case Answered(content) if "error" in content:
            traceback = traceback_text(frames_from_json(content["frames"]))
            return UnimportableProgram("\n".join(filter(None, [traceback, content["error"]])))
        case Answered(content):
            return _with_nested(_collected_program(content), host, program)
        case ProcessEnded(cause, _, frames):
            return _import_failure(
                host, frames, f"the program's import terminates the interpreter with {cause}"
            )
        case TimedOut(frames):
            return _import_failure(host, frames, "the program's import exceeds its timeout")


def _import_failure(
    host: ProgramHost, frames: tuple[StackLine, ...], message: str
) -> UnimportableProgram:
    return UnimportableProgram(
        "\n".join(filter(None, [traceback_text(frames), message, *host.output()]))
    )


def _collected_program(content: Json) -> CollectedProgram:
    """Return the functions of a program from the JSON response of its process."""
    return CollectedProgram(
        module_from_json(content["description"]),
        content["library"],
        {name: _marks(marks) for name, marks in content["marks"].items()},
        _marks(content["module_marks"]),
    )


def _with_nested(
    collected: CollectedProgram, host: ProgramHost, program: ProgramFile
) -> CollectedProgram:
    """Return a program with its nested functions, which are found by calls of outer functions."""
    module, remarks = collected.module, []
    explored: set[str] = set()
    while unexplored := [
        f for f in module.functions if f.has_nested_functions and f.name not in explored
    ]:
        for function in unexplored:
            explored.add(function.name)
            count = len(module.functions)
            module = _explored_module(function, module, host, program)
            if len(module.functions) == count:
                remarks.append(
                    f"no call of {function.name} reached the annotated functions that it defines"
                )
    return replace(collected, module=module, remarks=tuple(remarks))


def _explored_module(
    function: FunctionSpec, module: ModuleSpec, host: ProgramHost, program: ProgramFile
) -> ModuleSpec:
    """Return the module, extended by the nested functions that a few calls of a function define."""
    if any(problem.function == function.name for problem in module.problems):
        return module
    sample, rng = call_sampler(function, module), random.Random(0)  # noqa: S311 - not used for secrets
    for _ in range(_EXPLORATION_CALLS):
        call = sample(rng)
        if call is None:
            continue
        answer = host.describe_nested(program, call.to_json(), limit_s=_EXPLORATION_TIMEOUT_S)
        if isinstance(answer, Answered) and answer.content.get("functions"):
            module = module_with_functions(module, answer.content)
    return module


def _marks(encoded: Json) -> tuple[Mark, ...]:
    return tuple(map(Mark.from_json, encoded))


class ProgramHosts:
    """Processes by import path; the least recently used process is stopped if too many run."""

    def __init__(self, settings: ProgramSettings) -> None:
        self._settings = settings
        self._by_root: dict[Path, ProgramHost] = {}

    def of(self, program: ProgramFile) -> ProgramHost:
        """Return the process for a program, which other programs with its import path share."""
        host = self._by_root.pop(program.root, None) or ProgramHost(self._settings)
        self._by_root[program.root] = host
        running = [root for root, other in self._by_root.items() if other.is_running]
        for root in running[: max(0, len(running) - _MAX_HOSTS)]:
            self._by_root[root].stop()
        return host

    def save_coverage(self) -> list[Path]:
        """Request that every process saves its coverage, and return the files."""
        for host in self._by_root.values():
            host.save_coverage()
        return [file for host in self._by_root.values() for file in host.coverage_files()]

    def stop(self) -> list[Path]:
        """Stop every process, and return the files with their coverage."""
        for host in self._by_root.values():
            host.stop()
        return [file for host in self._by_root.values() for file in host.coverage_files()]

    def close(self) -> None:
        """Stop every process and delete its files."""
        for host in self._by_root.values():
            host.close()
        self._by_root.clear()
