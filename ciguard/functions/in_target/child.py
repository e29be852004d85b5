"""The process in which a user's program is imported and its functions are called.

Started by `hosting/host.py` through the worker's bootstrap. Requests and answers are lines of JSON
on a socket; a request that ends the process is the last one that its host has sent. What the
program prints goes to files that hold the output of the present request alone.

Runs in a target's interpreter: standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import runpy
import signal
import socket
import sys
import traceback
from typing import Any, Iterator

from ciguard.functions.in_target.calling.building import library_of
from ciguard.functions.in_target.calling.caller import Caller
from ciguard.functions.in_target.calling.judging import key_of
from ciguard.functions.in_target.describing.marking import marks_of, own_marks
from ciguard.functions.in_target.describing.sidecar import apply_sidecar
from ciguard.functions.in_target.loading import import_problem, load, users_frames
from ciguard.functions.in_target.measuring import Measuring

Json = Any

_EVEN_LATER_THAN_OTHERS = "1000"


class CallTimeout(BaseException):
    """A call took longer than it may; no `except Exception` of a program swallows it."""


def run(settings: Json, descriptor: int) -> None:
    """Serve until the host closes its end."""
    _be_killed_first()
    with open(settings["stack"], "ab", buffering=0) as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        _note_exits(stack)
        sys.path[:] = list(dict.fromkeys([*settings["path"], *sys.path]))
        with socket.socket(fileno=descriptor) as channel:
            RequestServer(settings, channel).serve()


def _be_killed_first() -> None:
    """Where memory runs out, this process is to die and not the session that tells of it."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write(_EVEN_LATER_THAN_OTHERS)


def _note_exits(stack: Any) -> None:
    """Have the stack written where a program ends its process without an exception."""
    leave, own = os._exit, os.getpid()

    def noted_exit(status: int) -> None:
        if os.getpid() == own:
            faulthandler.dump_traceback(stack, all_threads=False)
        leave(status)

    os._exit = noted_exit  # type: ignore[assignment]


class RequestServer:
    """Answers one request after the other."""

    def __init__(self, settings: Json, channel: socket.socket) -> None:
        self._incoming = channel.makefile("r", encoding="utf-8")
        self._outgoing = channel.makefile("w", encoding="utf-8")
        self._process = os.getpid()
        self._truncates = settings["captured"]
        self._oracles = frozenset(settings["oracles"])
        self._callers: dict[str, Caller] = {}
        self._measuring = Measuring(settings["coverage"])

    def serve(self) -> None:
        """Answer until there is nobody to ask."""
        self._answer({"ready": self._measuring.problem})
        for line in self._incoming:
            request = json.loads(line)
            self._answer(self._served(request))
            self._measuring.save_now_and_then()
        self._measuring.stop()

    def _served(self, request: Json) -> Json:
        self._forget_output()
        operation = getattr(self, f"_{request['op']}")
        try:
            return operation(request)
        except Exception:  # noqa: BLE001 - a defect of ciguard, which the host raises
            return {"defect": traceback.format_exc()}
        finally:
            _flush()

    def _answer(self, answer: Json) -> None:
        if os.getpid() != self._process:  # the program has forked, and this is the copy
            os._exit(0)
        self._outgoing.write(json.dumps(answer) + "\n")
        self._outgoing.flush()

    def _forget_output(self) -> None:
        _flush()
        if self._truncates:
            for descriptor in (1, 2):
                os.ftruncate(descriptor, 0)

    def _load(self, request: Json) -> Json:
        """Import a program and describe its functions."""
        program = request["program"]
        try:
            module = load(program["file"], program["root"], program["name"])
            problems = apply_sidecar(module, program["sidecar"]) if program["sidecar"] else []
        except BaseException as error:  # noqa: BLE001 - it is the program's, whatever it is
            return import_problem(error)
        caller = self._callers[program["file"]] = Caller(module, self._oracles)
        description = caller.description.json()
        description["problems"] += problems
        marks = {f["name"]: marks_of(module, f["name"]) for f in description["functions"]}
        return {
            "description": description, "library": library_of(module), "marks": marks,
            "module_marks": own_marks(module),
        }  # fmt: skip

    def _nested(self, request: Json) -> Json:
        """Call a function that defines others, and describe those."""
        caller = self._callers[request["file"]]
        with _within(request["limit_s"], request["file"]) as timed_out:
            described = caller.nested(request["call"])
        return {"functions": [], "problems": []} if timed_out else described

    def _call(self, request: Json) -> Json:
        caller = self._callers[request["file"]]
        with _within(request["limit_s"], request["file"]) as timed_out:
            result = caller.run(request["call"])
        return timed_out or self._with_mutation(result)

    def _with_mutation(self, result: Json) -> Json:
        """Make a failure of a call that changed its arguments, if that is to be one."""
        names = ", ".join(result.get("mutated", ()))
        if "mutation" not in self._oracles or result["status"] != "passed" or not names:
            return result
        message = f"the call has changed {names}"
        return {
            **result, "status": "failed", "kind": "mutation", "type": "Mutation",
            "message": message, "frames": [], "key": message,
        }  # fmt: skip

    def _main(self, request: Json) -> Json:
        """Run a program as a script."""
        program = request["program"]
        sys.argv[:] = [program["file"], *request["arguments"]]
        with _within(request["limit_s"], program["file"]) as timed_out:
            result = _as_script(program)
        return timed_out or result

    def _save(self, request: Json) -> Json:
        """Write what was measured of coverage."""
        del request
        self._measuring.save()
        return {}


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A program may have closed or replaced them.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def _as_script(program: Json) -> Json:
    try:
        if "." in program["name"]:
            sys.path.insert(0, program["root"])
            runpy.run_module(program["name"], run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(program["file"]))
            runpy.run_path(program["file"], run_name="__main__")
    except CallTimeout:
        raise
    except SystemExit as error:
        return {"status": "passed"} if error.code in (None, 0) else _failed(error, program["file"])
    except BaseException as error:  # noqa: BLE001 - it is the program's, whatever it is
        return _failed(error, program["file"])
    return {"status": "passed"}


def _failed(error: BaseException, file: str) -> Json:
    frames = users_frames(error)
    return {
        "status": "failed", "kind": "exception", "type": type(error).__name__,
        "message": str(error), "frames": frames,
        "key": key_of(error, [tuple(frame) for frame in frames], file),
    }  # fmt: skip


@contextlib.contextmanager
def _within(limit_s: float, file: str) -> Iterator[Json]:
    """Interrupt what takes longer, and fill the dictionary that is yielded if something did."""
    timed_out: dict[str, Any] = {}

    def expire(signum: int, frame: Any) -> None:
        del signum, frame
        raise CallTimeout

    previous = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield timed_out
    except CallTimeout as error:
        timed_out.update(
            _failed(error, file), kind="timeout", message=f"takes longer than {limit_s:g} s"
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
