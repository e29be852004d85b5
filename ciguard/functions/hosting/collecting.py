"""Collects the functions of a program from its process, or the reason why that fails."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import Answered, ProcessEnded, StackLine, TimedOut
from ciguard.functions.checking.annotations import module_from_json, with_functions
from ciguard.functions.drawing.calls import call_sampler
from ciguard.functions.hosting.host import ProgramHost
from ciguard.functions.hosting.verdicts import frames_from_json, traceback_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.values import Json
    from ciguard.functions.hosting.host import ProgramSettings
    from ciguard.functions.specs.functions import FunctionSpec, ModuleSpec
    from ciguard.functions.specs.programs import ProgramFile

_EXPLORATION_CALLS = 5
"""Number of calls of a function, to find the functions that it defines."""
_EXPLORATION_LIMIT_S = 60.0
"""Time limit of each such call, in seconds."""
_MAX_HOSTS = 3
"""Number of running processes; each may hold a deep-learning library in memory."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of `pytest.mark` on a function."""

    name: str
    args: tuple[Json, ...]
    kwargs: Mapping[str, Json]

    @classmethod
    def from_json(cls, json: Json) -> Mark:
        """Return the mark of a JSON form that `in_target/describing/marking.py` wrote."""
        return cls(json["name"], tuple(json["args"]), json["kwargs"])


@dataclass(frozen=True, slots=True)
class CollectedProgram:
    """Functions of a program that was imported."""

    module: ModuleSpec
    library: str = ""
    """Library of the tensors that the program takes; empty for none."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """Marks by function name."""
    module_marks: tuple[Mark, ...] = ()
    remarks: tuple[str, ...] = ()
    """Warnings about functions that are not tested."""


@dataclass(frozen=True, slots=True)
class SkippedProgram:
    """A program that needs a missing package, or that skips itself."""

    reason: str


@dataclass(frozen=True, slots=True)
class UnimportableProgram:
    """A program whose import fails."""

    text: str


Collection: TypeAlias = CollectedProgram | SkippedProgram | UnimportableProgram


def collect(host: ProgramHost, program: ProgramFile) -> Collection:
    """Import a program in its process and return its functions, or why there are none."""
    answer = host.load(program)
    match answer:
        case Answered(content) if "skip" in content:
            return SkippedProgram(content["skip"])
        case Answered(content) if "error" in content:
            traceback = traceback_text(frames_from_json(content["frames"]))
            return UnimportableProgram("\n".join(filter(None, [traceback, content["error"]])))
        case Answered(content):
            return _with_nested(_collected(content), host, program)
        case ProcessEnded(cause, _, frames):
            return _import_failure(
                host, frames, f"its import terminates the interpreter with {cause}"
            )
        case TimedOut(frames):
            return _import_failure(host, frames, "its import does not finish in time")


def _import_failure(
    host: ProgramHost, frames: tuple[StackLine, ...], message: str
) -> UnimportableProgram:
    return UnimportableProgram(
        "\n".join(filter(None, [traceback_text(frames), message, *host.output()]))
    )


def _collected(content: Json) -> CollectedProgram:
    return CollectedProgram(
        module_from_json(content["description"]),
        content["library"],
        {name: _marks(marks) for name, marks in content["marks"].items()},
        _marks(content["module_marks"]),
    )


def _with_nested(
    collected: CollectedProgram, host: ProgramHost, program: ProgramFile
) -> CollectedProgram:
    """Add nested functions, which calls of the functions that define them reveal."""
    module, remarks = collected.module, []
    explored: set[str] = set()
    while waiting := [f for f in module.functions if f.has_nested and f.name not in explored]:
        for function in waiting:
            explored.add(function.name)
            count = len(module.functions)
            module = _with_functions_of(function, module, host, program)
            if len(module.functions) == count:
                remarks.append(
                    f"no call of {function.name} reached the annotated functions that it defines"
                )
    return replace(collected, module=module, remarks=tuple(remarks))


def _with_functions_of(
    function: FunctionSpec, module: ModuleSpec, host: ProgramHost, program: ProgramFile
) -> ModuleSpec:
    """Return the module, extended by the functions that a few calls of a function define."""
    if any(problem.function == function.name for problem in module.problems):
        return module
    sample, rng = call_sampler(function, module), random.Random(0)  # noqa: S311 - not used for secrets
    for _ in range(_EXPLORATION_CALLS):
        call = sample(rng)
        if call is None:
            continue
        answer = host.nested(program, call.to_json(), limit_s=_EXPLORATION_LIMIT_S)
        if isinstance(answer, Answered) and answer.content.get("functions"):
            module = with_functions(module, answer.content)
    return module


def _marks(encoded: Json) -> tuple[Mark, ...]:
    return tuple(map(Mark.from_json, encoded))


class ProgramHosts:
    """Processes by import path; the least recently used is stopped when there are too many."""

    def __init__(self, settings: ProgramSettings) -> None:
        self._settings = settings
        self._by_root: dict[Path, ProgramHost] = {}

    def of(self, program: ProgramFile) -> ProgramHost:
        """Return the host of a program."""
        host = self._by_root.pop(program.root, None) or ProgramHost(self._settings)
        self._by_root[program.root] = host
        running = [root for root, other in self._by_root.items() if other.is_running]
        for root in running[: max(0, len(running) - _MAX_HOSTS)]:
            self._by_root[root].stop()
        return host

    def save_coverage(self) -> list[Path]:
        """Have every process save its coverage, and return the files."""
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
