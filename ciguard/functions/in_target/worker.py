"""Imports of programs and calls of their functions in a campaign's worker.

Runs in a target's interpreter: standard library only, Python 3.9 and later. The worker loads this
module by the name in its settings, because it does not depend on annotations itself.
"""

from __future__ import annotations

import contextlib
import errno
import linecache
import os
import sys
import traceback
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from ciguard.functions.in_target.calling.building import library_of
from ciguard.functions.in_target.calling.caller import ORACLES, Caller
from ciguard.functions.in_target.calling.judging import comparable, frames_of, is_user_file
from ciguard.functions.in_target.calling.wrapped_errors import original_message
from ciguard.functions.in_target.describing.sidecar import apply_sidecar
from ciguard.functions.in_target.loading import import_problem, load

Json = Any

NAMES = {"ensure": "@ensure", "nan": "NaN", "timeout": "@timeout"}
"""Name that is reported instead of an exception's class, by kind of failure.

Of these names, only `NaN` could be the name of a class.
"""
_MAX_SOURCE = 200
"""Maximum length of the reported text of a line."""
_UNMADE = {"discarded": "discarded by ", "no-instance": "no instance: "}
"""Beginning of the message by the status of a call that is not made."""
_PATHS = frozenset(("file", "annotated_in"))
"""Keys of paths in a description."""
_MAX_FRAMES = 12
"""Maximum number of reported stack frames."""
_PERMISSION_ERRORS = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


class CaseResult(NamedTuple):
    """Result of one case."""

    status: str
    """One of `passed`, `rejected`, `unbuilt` and `failed`.

    `rejected` means that the call raised a documented exception. `unbuilt` means that no call was
    made, or that the worker's limits caused its result.
    """
    value: Any = None
    """Return value of the call."""
    name: str = ""
    """Name of the exception's class, or the name that replaces it (`NAMES`)."""
    message: str = ""
    """Message; that of a failure begins with the location: `src/model.py:23: …`."""
    frames: Any = ()
    """Stack frames of the user's code, innermost first: file, function and text of the line."""
    mutated: Any = ()
    """Indices of the arguments that the call changed."""


class Runner:
    """Imports programs on first use, and calls their functions.

    Args:
        programs: `folder` is the path of the programs' folder; while a case runs, the current
            folder links to its entries. `path` lists folders that programs import from; it may be
            missing. `files` maps each program's path to `root`, `name` and
            `sidecar` of `ciguard.functions.specs.ProgramFile`. All paths are relative to `folder`.
        reset: restores the library's global state, and seeds its random generators.
        is_exhausted: returns whether an exception reports a lack of memory.
    """

    def __init__(
        self,
        programs: Json,
        reset: Callable[[int], None],
        is_exhausted: Callable[[BaseException], bool],
    ) -> None:
        self._folder = programs["folder"]
        self._files = programs["files"]
        self._path = programs.get("path", ())
        self._reset = reset
        self._is_exhausted = is_exhausted
        self._callers: dict[str, Caller] = {}
        self._failed: dict[str, BaseException] = {}
        self._problems: dict[str, list[Json]] = {}
        """Problems in a program's sidecar, by path of the program."""

    def run(self, case: Json) -> CaseResult:
        """Run one case, and return its result.

        Args:
            case: the third element of the JSON form of a
                `ciguard.domain.function_calls.FunctionCase`.
        """
        if case["file"] not in self._files:
            return CaseResult(
                "unbuilt",
                name="Program",
                message=f"{case['file']} is not one of the tested programs",
            )
        try:
            return self._run(case)
        except Exception as error:  # noqa: BLE001 - a defect of ciguard, which is none of the program
            return CaseResult("unbuilt", name="ciguard", message=_defect_text(error))

    def _run(self, case: Json) -> CaseResult:
        seed, call = case.get("seed", 0), case.get("call")
        self._reset(seed)
        with _restore_interpreter():
            caller, error = self._caller(case["file"])
            if caller is None or error is not None:
                return self._import_failure(error, is_import_case=not call)
            if not call:
                return CaseResult("passed")
            try:
                caller.last = None
                result = caller.run({**call, "seed": seed})
            except BaseException as raised:
                if isinstance(raised, Exception) and not self._has_user_frame(raised, caller.file):
                    raise
                return self._exception_result(raised)
        return self._case_result(caller, call, result)

    def _has_user_frame(self, error: BaseException, file: str) -> bool:
        """Return whether an exception passed through code of the user."""
        return bool(self._location(frames_of(error), file)[1])

    def describe(self, request: Json) -> Json:
        """Describe the functions of a program.

        Args:
            request: `file`, the path of the program, and `calls` of functions that define nested
                functions.

        Returns:
            `description`, `nested` (descriptions of nested functions, one entry per call) and
            `library`. After a failed import: `error`, and `skip`, which is true if a package that
            the program needs is not installed.
        """
        with _restore_interpreter():
            caller, error = self._caller(request["file"])
            if caller is None or error is not None:
                problem = import_problem(error or ImportError(request["file"]))
                place = self._location(
                    list(map(tuple, problem.get("frames", ()))), request["file"]
                )[0]
                reason = problem.get("skip") or problem["error"]
                return {"error": place + reason, "skip": "skip" in problem}
            nested = [caller.describe_nested(call) for call in request["calls"]]
            description = caller.description.json()
            description["problems"] = [*description["problems"], *self._problems[request["file"]]]
            response = self._with_relative_paths({"description": description, "nested": nested})
            return {**response, "library": library_of(caller.description.module)}

    def _with_relative_paths(self, description: Json) -> Json:
        """Return the description with file paths relative to the folder of programs."""
        if isinstance(description, list):
            return [self._with_relative_paths(item) for item in description]
        if not isinstance(description, dict):
            return description
        return {
            key: self._relative(item) if key in _PATHS else self._with_relative_paths(item)
            for key, item in description.items()
        }

    def _caller(self, file: str) -> tuple[Caller | None, BaseException | None]:
        """Return the caller of a program's functions, or the exception of its failed import."""
        if file not in self._callers and file not in self._failed:
            program, working_folder = self._files[file], os.getcwd()
            _add_paths(working_folder, self._path)
            try:
                root = os.path.normpath(os.path.join(working_folder, program["root"]))
                module = load(os.path.join(working_folder, file), root, program["name"])
                sidecar = program["sidecar"] and os.path.join(working_folder, program["sidecar"])
                self._problems[file] = apply_sidecar(module, sidecar) if sidecar else []
                self._callers[file] = Caller(module, ORACLES)
            except BaseException as error:  # noqa: BLE001 - the program may raise anything
                self._failed[file] = error
        return self._callers.get(file), self._failed.get(file)

    def _import_failure(self, error: BaseException | None, *, is_import_case: bool) -> CaseResult:
        """Return the result of a case whose program cannot be imported.

        Only a case that consists of the import fails; a case with a call is `unbuilt`.
        """
        error = error or ImportError()
        if not is_import_case or "skip" in import_problem(error) or self._is_worker_limit(error):
            return CaseResult("unbuilt", name=type(error).__name__, message=str(error))
        return self._exception_result(error)

    def _is_worker_limit(self, error: BaseException) -> bool:
        """Return whether limits of the worker, and not the program, caused an exception."""
        return self._is_exhausted(error) or any(map(_is_permission_error, _chain(error)))

    def _exception_result(self, error: BaseException) -> CaseResult:
        """Return the result of a case whose import or call raised an exception."""
        if self._is_worker_limit(error):
            return CaseResult("unbuilt", name=type(error).__name__, message=str(error))
        frames = frames_of(error)
        return self._failure(type(error).__name__, original_message(error), frames, self._folder)

    def _case_result(self, caller: Caller, call: Json, result: Json) -> CaseResult:
        """Return the case's result from that of the call."""
        last, caller.last = caller.last, None
        status = result["status"]
        if status in _UNMADE:
            message = f"{_UNMADE[status]}{result['reason']}"
            return CaseResult("unbuilt", name=status, message=message)
        if isinstance(last, BaseException) and self._is_worker_limit(last):
            return CaseResult("unbuilt", name=type(last).__name__, message=str(last))
        if status == "passed":
            names = [name for name, _ in call["arguments"]]
            mutated = [names.index(name) for name in result["mutated"] if name in names]
            if "raised" in result:
                return CaseResult(
                    "rejected", name=result["raised"], message=str(last), mutated=mutated
                )
            return CaseResult("passed", value=comparable(last), mutated=mutated)
        frames = [tuple(frame) for frame in result["frames"]] or [_definition_frame(caller, call)]
        name = NAMES.get(result["kind"], result["type"])
        return self._failure(name, result["message"], frames, caller.file)

    def _failure(self, name: str, message: str, frames: Any, file: str) -> CaseResult:
        """Return the result of a failed case."""
        place, user_frames = self._location(frames, file)
        return CaseResult("failed", name=name, message=place + message, frames=user_frames)

    def _location(self, frames: Any, file: str) -> tuple[str, list[tuple[str, str, str]]]:
        """Return the prefix of a message (`file:line: `) and the frames of the user's code.

        Args:
            frames: triples (file, line, function), outermost first.
            file: file of the program.
        """
        user_frames = [
            frame for frame in frames if is_user_file(frame[0], file) and self._is_inside(frame[0])
        ]
        innermost_first = [
            (self._relative(path), name, linecache.getline(path, line).strip()[:_MAX_SOURCE])
            for path, line, name in user_frames[::-1][:_MAX_FRAMES]
        ]
        prefix = f"{innermost_first[0][0]}:{user_frames[-1][1]}: " if user_frames else ""
        return prefix, innermost_first

    def _is_inside(self, file: str) -> bool:
        return os.path.realpath(file).startswith(os.path.realpath(self._folder) + os.sep)

    def _relative(self, file: str) -> str:
        if not self._is_inside(file):
            return file
        path = os.path.relpath(os.path.realpath(file), os.path.realpath(self._folder))
        return path.replace(os.sep, "/")


def _definition_frame(caller: Caller, call: Json) -> tuple[str, int, str]:
    """Return the location of the called function's definition, as a stack frame."""
    name = call["function"]
    for function in caller.description.json()["functions"]:
        if function["name"] == name:
            return function["file"], function["line"], name
    return caller.file, 1, name


def _defect_text(error: Exception) -> str:
    """Return the message of a failure that ciguard itself caused, with its place."""
    innermost = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({os.path.basename(f.filename)}, line {f.lineno})" for f in innermost)
    return f"ciguard itself failed: {type(error).__name__}: {error}{place}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, then its cause or context, then the cause of that, and so on."""
    yielded: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in yielded:
        yielded.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def _is_permission_error(error: BaseException) -> bool:
    """Return whether an exception reports a denied operation, such as by the worker's sandbox."""
    return isinstance(error, OSError) and error.errno in _PERMISSION_ERRORS


def _add_paths(working_folder: str, first: Sequence[str]) -> None:
    """Make folders the first entries of `sys.path`, and the project's folders the last.

    The project's folder and its `src` are added, because the project is not installed.
    """
    sys.path[:] = list(dict.fromkeys([*first, *sys.path]))
    for path in (working_folder, os.path.join(working_folder, "src")):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)


@contextlib.contextmanager
def _restore_interpreter() -> Iterator[None]:
    """Restore the current folder and the command-line arguments after the body."""
    folder, arguments = os.getcwd(), sys.argv[:]
    sys.argv[:] = [""]
    try:
        yield
    finally:
        os.chdir(folder)
        sys.argv[:] = arguments
