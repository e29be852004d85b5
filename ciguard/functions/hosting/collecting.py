"""Collection: what a program's process says of its functions, and why it says nothing."""

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

_EXPLORING_CALLS = 5
"""Calls of a function to see what it defines."""
_EXPLORING_S = 60.0
"""Seconds that each of them may take."""
_MAX_HOSTS = 3
"""Processes kept: each may hold a deep-learning library."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that `pytest.mark` has put on a function."""

    name: str
    args: tuple[Json, ...]
    kwargs: Mapping[str, Json]

    @classmethod
    def from_json(cls, json: Json) -> Mark:
        """Read a mark as `in_target/describing/marking.py` writes it."""
        return cls(json["name"], tuple(json["args"]), json["kwargs"])


@dataclass(frozen=True, slots=True)
class Collected:
    """A program was imported."""

    module: ModuleSpec
    library: str = ""
    """Whose tensors the program takes; empty for none."""
    marks: Mapping[str, tuple[Mark, ...]] = field(default_factory=dict)
    """Of functions, by name."""
    module_marks: tuple[Mark, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a person should know of what is not tested."""


@dataclass(frozen=True, slots=True)
class SkippedProgram:
    """A program needs what is not installed here, or asks to be left out."""

    reason: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A program cannot be imported."""

    text: str


Collection: TypeAlias = Collected | SkippedProgram | Broken


def collect(host: ProgramHost, program: ProgramFile) -> Collection:
    """Import a program in a process of its own and say what there is to test."""
    answer = host.load(program)
    match answer:
        case Answered(content) if "skip" in content:
            return SkippedProgram(content["skip"])
        case Answered(content) if "error" in content:
            where = traceback_text(frames_from_json(content["frames"]))
            return Broken("\n".join(filter(None, [where, content["error"]])))
        case Answered(content):
            return _with_nested(_collected(content), host, program)
        case ProcessEnded(cause, _, frames):
            return _broken(host, frames, f"its import ends the interpreter with {cause}")
        case TimedOut(frames):
            return _broken(host, frames, "its import does not come to an end")


def _broken(host: ProgramHost, frames: tuple[StackLine, ...], said: str) -> Broken:
    return Broken("\n".join(filter(None, [traceback_text(frames), said, *host.output()])))


def _collected(content: Json) -> Collected:
    return Collected(
        module_from_json(content["description"]),
        content["library"],
        {name: _marks(marks) for name, marks in content["marks"].items()},
        _marks(content["module_marks"]),
    )


def _with_nested(collected: Collected, host: ProgramHost, program: ProgramFile) -> Collected:
    """Add the functions that others define when they are called, which is done for that."""
    module, remarks = collected.module, []
    asked: set[str] = set()
    while waiting := [f for f in module.functions if f.has_nested and f.name not in asked]:
        for function in waiting:
            asked.add(function.name)
            before = len(module.functions)
            module = _explored(function, module, host, program)
            if len(module.functions) == before:
                remarks.append(
                    f"{function.name} defines annotated functions, and no call of it reached them"
                )
    return replace(collected, module=module, remarks=tuple(remarks))


def _explored(
    function: FunctionSpec, module: ModuleSpec, host: ProgramHost, program: ProgramFile
) -> ModuleSpec:
    """Return the module with what some calls of a function define."""
    if any(problem.function == function.name for problem in module.problems):
        return module
    sample, rng = call_sampler(function, module), random.Random(0)  # noqa: S311 - no secret
    for _ in range(_EXPLORING_CALLS):
        call = sample(rng)
        if call is None:
            continue
        answer = host.nested(program, call.to_json(), limit_s=_EXPLORING_S)
        if isinstance(answer, Answered) and answer.content.get("functions"):
            module = with_functions(module, answer.content)
    return module


def _marks(encoded: Json) -> tuple[Mark, ...]:
    return tuple(map(Mark.from_json, encoded))


class Hosts:
    """One process for all programs of one import path; the least recently used ends first."""

    def __init__(self, settings: ProgramSettings) -> None:
        self._settings = settings
        self._by_root: dict[Path, ProgramHost] = {}

    def of(self, program: ProgramFile) -> ProgramHost:
        """Return the host of a program."""
        host = self._by_root.pop(program.root, None) or ProgramHost(self._settings)
        self._by_root[program.root] = host
        running = [root for root, kept in self._by_root.items() if kept.is_running]
        for root in running[: max(0, len(running) - _MAX_HOSTS)]:
            self._by_root[root].stop()
        return host

    def save_coverage(self) -> list[Path]:
        """Have every process write what it measured, and return the files."""
        for host in self._by_root.values():
            host.save_coverage()
        return [file for host in self._by_root.values() for file in host.coverage_files()]

    def stop(self) -> list[Path]:
        """End every process, and return the files with what they measured."""
        for host in self._by_root.values():
            host.stop()
        return [file for host in self._by_root.values() for file in host.coverage_files()]

    def close(self) -> None:
        """End every process and forget what they wrote."""
        for host in self._by_root.values():
            host.close()
        self._by_root.clear()
