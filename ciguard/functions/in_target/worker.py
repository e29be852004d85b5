"""Programs and calls of campaigns, in a worker: what a case came to, in the worker's own words.

Runs in a target's interpreter: standard library only, Python 3.9 and later. The worker finds this
module by the name that its settings give, since it knows nothing of annotations itself.
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
"""What stands where an exception's class would: no class has such a name, but the second."""
_MAX_FRAMES = 12
_REFUSALS = frozenset((errno.EACCES, errno.EPERM, errno.EROFS))


class CaseEnd(NamedTuple):
    """How a case ended."""

    status: str
    """`passed`, `rejected` (an exception that is documented), `unbuilt` (no call was made, or it
    says nothing) or `failed`."""
    value: Any = None
    """What was returned."""
    name: str = ""
    """Class of the exception, or what stands for it."""
    message: str = ""
    """With the place before it, `src/model.py:23: …`, where it failed."""
    frames: Any = ()
    """(file, function) of the user's code, innermost first."""
    mutated: Any = ()
    """Places of the arguments that were changed."""


class Runner:
    """Imports programs when they are first needed, and calls their functions.

    Args:
        programs: `folder`, where programs lie, whose parts the current folder links to when cases
            run, and `files`: by path in it `root`, `name` and `sidecar` as in
            `ciguard.functions.specs.ProgramFile`, the paths relative to it.
        reset: given a seed, puts back what cases change of the library.
        is_exhausted: tells whether an exception says that memory has run out.
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
        """Of sidecars, by program."""

    def run(self, case: Json) -> CaseEnd:
        """Run one case.

        Args:
            case: third member of the JSON form of a `ciguard.domain.function_calls.FunctionCase`.
        """
        if case["file"] not in self._files:
            return CaseEnd("unbuilt", name="Program", message=f"{case['file']} is not tested here")
        seed, call = case.get("seed", 0), case.get("call")
        self._reset(seed)
        with _kept():
            caller, error = self._caller(case["file"])
            if caller is None or error is not None:
                return self._not_imported(error, is_asked=not call)
            if not call:
                return CaseEnd("passed")
            try:
                caller.last = None
                result = caller.run({**call, "seed": seed})
            except BaseException as raised:  # noqa: BLE001 - such as KeyboardInterrupt
                return self._raised(raised)
        return self._ended(caller, call, result)

    def describe(self, asked: Json) -> Json:
        """Describe the functions of a program.

        Args:
            asked: `file`, and `calls` of functions that define others.

        Returns:
            `description` and `nested`, one for each call; or `error`, with `skip` where what the
            program needs is not there.
        """
        with _kept():
            caller, error = self._caller(asked["file"])
            if caller is None or error is not None:
                found = import_problem(error or ImportError(asked["file"]))
                place = self._place(list(map(tuple, found.get("frames", ()))), asked["file"])[0]
                said = found.get("skip") or found["error"]
                return {"error": place + said, "skip": "skip" in found}
            nested = [caller.nested(call) for call in asked["calls"]]
            described = caller.description.json()
            described["problems"] = [*described["problems"], *self._problems[asked["file"]]]
            found = {"description": described, "nested": nested}
            return {**self._placed(found), "library": library_of(caller.description.module)}

    def _placed(self, described: Json) -> Json:
        """Return JSON with relative paths in the place of those that only this process has."""
        if isinstance(described, list):
            return [self._placed(item) for item in described]
        if not isinstance(described, dict):
            return described
        return {
            key: self._relative(item) if key == "file" else self._placed(item)
            for key, item in described.items()
        }

    def _caller(self, file: str) -> tuple[Caller | None, BaseException | None]:
        if file not in self._callers and file not in self._failed:
            program, home = self._files[file], os.getcwd()
            _add_paths(home)
            try:
                root = os.path.normpath(os.path.join(home, program["root"]))
                module = load(os.path.join(home, file), root, program["name"])
                sidecar = program["sidecar"] and os.path.join(home, program["sidecar"])
                self._problems[file] = apply_sidecar(module, sidecar) if sidecar else []
                self._callers[file] = Caller(module, ORACLES)
            except BaseException as error:  # noqa: BLE001 - it is the program's, whatever it is
                self._failed[file] = error
        return self._callers.get(file), self._failed.get(file)

    def _not_imported(self, error: BaseException | None, *, is_asked: bool) -> CaseEnd:
        error = error or ImportError()
        if not is_asked or "skip" in import_problem(error) or self._says_nothing(error):
            return CaseEnd("unbuilt", name=type(error).__name__, message=str(error))
        return self._raised(error)

    def _says_nothing(self, error: BaseException) -> bool:
        """Return whether the worker's own limits stand behind an exception, not the program."""
        return self._is_exhausted(error) or any(map(_is_refusal, _chain(error)))

    def _raised(self, error: BaseException) -> CaseEnd:
        if self._says_nothing(error):
            return CaseEnd("unbuilt", name=type(error).__name__, message=str(error))
        frames = frames_of(error)
        return self._failure(type(error).__name__, str(error), frames, self._folder)

    def _ended(self, caller: Caller, call: Json, result: Json) -> CaseEnd:
        last, caller.last = caller.last, None
        status = result["status"]
        if status in ("discarded", "no-instance"):
            return CaseEnd("unbuilt", name=status, message=result["reason"])
        if isinstance(last, BaseException) and self._says_nothing(last):
            return CaseEnd("unbuilt", name=type(last).__name__, message=str(last))
        if status == "passed":
            names = [name for name, _ in call["arguments"]]
            mutated = [names.index(name) for name in result["mutated"] if name in names]
            if "raised" in result:
                return CaseEnd(
                    "rejected", name=result["raised"], message=str(last), mutated=mutated
                )
            return CaseEnd("passed", value=last, mutated=mutated)
        frames = [tuple(frame) for frame in result["frames"]] or [_defined(caller, call)]
        name = NAMES.get(result["kind"], result["type"])
        return self._failure(name, result["message"], frames, caller.file)

    def _failure(self, name: str, message: str, frames: Any, file: str) -> CaseEnd:
        place, own = self._place(frames, file)
        return CaseEnd("failed", name=name, message=place + message, frames=own)

    def _place(self, frames: Any, file: str) -> tuple[str, list[tuple[str, str]]]:
        """Return what comes before a message, and the frames of the user's code."""
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


def _defined(caller: Caller, call: Json) -> tuple[str, int, str]:
    """Return where the function of a call is defined, as a frame."""
    name = call["function"]
    for function in caller.description.json()["functions"]:
        if function["name"] == name:
            return function["file"], function["line"], name
    return caller.file, 1, name


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was raised from."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _is_refusal(error: BaseException) -> bool:
    """Return whether the kernel has refused what workers may not do."""
    return isinstance(error, OSError) and error.errno in _REFUSALS


def _add_paths(home: str) -> None:
    """Let programs import what lies in the folder: the project is not installed here."""
    for path in (home, os.path.join(home, "src")):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Put back what programs change of the interpreter that others would notice."""
    folder, arguments = os.getcwd(), sys.argv[:]
    sys.argv[:] = [""]
    try:
        yield
    finally:
        os.chdir(folder)
        sys.argv[:] = arguments
