"""Programs and calls of campaigns inside a worker, with results in the worker's own types.

Runs in a target's interpreter: standard library only, Python 3.9 and later. The worker loads this
module by the name in its settings, since it has no knowledge of annotations itself.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import Any, Callable, Iterator, NamedTuple

from ciguard.functions.in_target.calling.building import library_of
from ciguard.functions.in_target.calling.caller import ORACLES, Caller
from ciguard.functions.in_target.calling.judging import frames_of, is_users
from ciguard.functions.in_target.describing.sidecar import apply_sidecar
from ciguard.functions.in_target.loading import import_problem, load

Json = Any

NAMES = {"ensure": "@ensure", "nan": "NaN", "timeout": "@timeout"}
"""Name reported in place of an exception's class, by kind of failure.

`NaN` could be a class's name; the others could not.
"""
_MAX_FRAMES = 12
_PERMISSION_ERRORS = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


class CaseEnd(NamedTuple):
    """Result of one case."""

    status: str
    """One of `passed`, `rejected`, `unbuilt` and `failed`.

    `rejected` means that a documented exception was raised. `unbuilt` means that no call was made
    or that its result proves nothing.
    """
    value: Any = None
    """Returned value."""
    name: str = ""
    """Class of the exception, or the name that replaces it (`NAMES`)."""
    message: str = ""
    """Message; of a failure with its location first: `src/model.py:23: …`."""
    frames: Any = ()
    """Frames of the user's code as (file, function), innermost first."""
    mutated: Any = ()
    """Indices of the arguments that the call changed."""


class Runner:
    """Imports programs on first use and calls their functions.

    Args:
        programs: `folder`, which holds the programs (the current folder links to its entries when
            cases run), and `files`. These map relative paths to `root`, `name` and `sidecar` of
            `ciguard.functions.specs.ProgramFile`, with paths relative to the folder.
        reset: function of a seed that restores the library's global state.
        is_exhausted: predicate of exceptions that report a lack of memory.
    """

    def __init__(
        self,
        programs: Json,
        reset: Callable[[int], None],
        is_exhausted: Callable[[BaseException], bool],
    ) -> None:
        self._folder = programs["folder"]
        self._files = programs["files"]
        self._reset = reset
        self._is_exhausted = is_exhausted
        self._callers: dict[str, Caller] = {}
        self._failed: dict[str, BaseException] = {}
        self._problems: dict[str, list[Json]] = {}
        """Problems of sidecars, by program."""

    def run(self, case: Json) -> CaseEnd:
        """Run one case.

        Args:
            case: the case, as third element of the JSON form of
            `ciguard.domain.function_calls.FunctionCase`.
        """
        if case["file"] not in self._files:
            return CaseEnd(
                "unbuilt",
                name="Program",
                message=f"{case['file']} is not one of the tested programs",
            )
        seed, call = case.get("seed", 0), case.get("call")
        self._reset(seed)
        with _interpreter_restored():
            caller, error = self._caller(case["file"])
            if caller is None or error is not None:
                return self._not_imported(error, has_call=not call)
            if not call:
                return CaseEnd("passed")
            try:
                caller.last = None
                result = caller.run({**call, "seed": seed})
            except BaseException as raised:  # noqa: BLE001 - such as KeyboardInterrupt
                return self._exception_end(raised)
        return self._case_end(caller, call, result)

    def describe(self, request: Json) -> Json:
        """Describe the functions of a program.

        Args:
            request: `file`, and `calls` of functions that define nested ones.

        Returns:
            `description` and `nested` (one entry per call); or `error` and `skip`, which is true
            if a package that the program needs is not installed.
        """
        with _interpreter_restored():
            caller, error = self._caller(request["file"])
            if caller is None or error is not None:
                problem = import_problem(error or ImportError(request["file"]))
                place = self._location(
                    list(map(tuple, problem.get("frames", ()))), request["file"]
                )[0]
                reason = problem.get("skip") or problem["error"]
                return {"error": place + reason, "skip": "skip" in problem}
            nested = [caller.nested(call) for call in request["calls"]]
            described = caller.description.json()
            described["problems"] = [*described["problems"], *self._problems[request["file"]]]
            descriptions = self._with_relative_paths({"description": described, "nested": nested})
            return {**descriptions, "library": library_of(caller.description.module)}

    def _with_relative_paths(self, description: Json) -> Json:
        """Return the description with file paths relative to the folder of programs."""
        if isinstance(description, list):
            return [self._with_relative_paths(item) for item in description]
        if not isinstance(description, dict):
            return description
        return {
            key: self._relative(item) if key == "file" else self._with_relative_paths(item)
            for key, item in description.items()
        }

    def _caller(self, file: str) -> tuple[Caller | None, BaseException | None]:
        if file not in self._callers and file not in self._failed:
            program, working_folder = self._files[file], os.getcwd()
            _add_paths(working_folder)
            try:
                root = os.path.normpath(os.path.join(working_folder, program["root"]))
                module = load(os.path.join(working_folder, file), root, program["name"])
                sidecar = program["sidecar"] and os.path.join(working_folder, program["sidecar"])
                self._problems[file] = apply_sidecar(module, sidecar) if sidecar else []
                self._callers[file] = Caller(module, ORACLES)
            except BaseException as error:  # noqa: BLE001 - whatever the program raises
                self._failed[file] = error
        return self._callers.get(file), self._failed.get(file)

    def _not_imported(self, error: BaseException | None, *, has_call: bool) -> CaseEnd:
        error = error or ImportError()
        if not has_call or "skip" in import_problem(error) or self._is_own_limit(error):
            return CaseEnd("unbuilt", name=type(error).__name__, message=str(error))
        return self._exception_end(error)

    def _is_own_limit(self, error: BaseException) -> bool:
        """Return whether the worker's own limits caused an exception, not the program."""
        return self._is_exhausted(error) or any(map(_is_permission_error, _chain(error)))

    def _exception_end(self, error: BaseException) -> CaseEnd:
        if self._is_own_limit(error):
            return CaseEnd("unbuilt", name=type(error).__name__, message=str(error))
        frames = frames_of(error)
        return self._failure(type(error).__name__, str(error), frames, self._folder)

    def _case_end(self, caller: Caller, call: Json, result: Json) -> CaseEnd:
        last, caller.last = caller.last, None
        status = result["status"]
        if status in ("discarded", "no-instance"):
            return CaseEnd("unbuilt", name=status, message=result["reason"])
        if isinstance(last, BaseException) and self._is_own_limit(last):
            return CaseEnd("unbuilt", name=type(last).__name__, message=str(last))
        if status == "passed":
            names = [name for name, _ in call["arguments"]]
            mutated = [names.index(name) for name in result["mutated"] if name in names]
            if "raised" in result:
                return CaseEnd(
                    "rejected", name=result["raised"], message=str(last), mutated=mutated
                )
            return CaseEnd("passed", value=last, mutated=mutated)
        frames = [tuple(frame) for frame in result["frames"]] or [_definition_frame(caller, call)]
        name = NAMES.get(result["kind"], result["type"])
        return self._failure(name, result["message"], frames, caller.file)

    def _failure(self, name: str, message: str, frames: Any, file: str) -> CaseEnd:
        place, own = self._location(frames, file)
        return CaseEnd("failed", name=name, message=place + message, frames=own)

    def _location(self, frames: Any, file: str) -> tuple[str, list[tuple[str, str]]]:
        """Return the prefix of a message (`file:line: `) and the frames of the user's code."""
        own = [
            (self._relative(f), line, name)
            for f, line, name in frames
            if is_users(f, file) and self._is_inside(f)
        ]
        shown = [(f, name) for f, _, name in own[::-1]][:_MAX_FRAMES]
        return f"{own[-1][0]}:{own[-1][1]}: " if own else "", shown

    def _is_inside(self, file: str) -> bool:
        return os.path.realpath(file).startswith(os.path.realpath(self._folder) + os.sep)

    def _relative(self, file: str) -> str:
        if not self._is_inside(file):
            return file
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(self._folder))
        return path.replace(os.sep, "/")


def _definition_frame(caller: Caller, call: Json) -> tuple[str, int, str]:
    """Return the definition of the called function, as a frame."""
    name = call["function"]
    for function in caller.description.json()["functions"]:
        if function["name"] == name:
            return function["file"], function["line"], name
    return caller.file, 1, name


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, then its causes and contexts."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_permission_error(error: BaseException) -> bool:
    """Return whether the kernel denied an operation that the worker's sandbox forbids."""
    return isinstance(error, OSError) and error.errno in _PERMISSION_ERRORS


def _add_paths(working_folder: str) -> None:
    """Let programs import modules of the project's folder, since the project is not installed."""
    for path in (working_folder, os.path.join(working_folder, "src")):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)


@contextlib.contextmanager
def _interpreter_restored() -> Iterator[None]:
    """Restore the current folder and the command-line arguments after a program ran."""
    folder, arguments = os.getcwd(), sys.argv[:]
    sys.argv[:] = [""]
    try:
        yield
    finally:
        os.chdir(folder)
        sys.argv[:] = arguments
