"""The process that imports a user's program and calls its functions.

`hosting/host.py` starts it through the worker's bootstrap. Requests and responses are lines of
JSON on a socket. After a request that crashes the process, the host starts a new one. The program's
output goes to files, which contain only the output of the current request.

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
from ciguard.functions.in_target.calling.wrapped_errors import original_message
from ciguard.functions.in_target.coverage_measurement import CoverageMeasurement
from ciguard.functions.in_target.describing.marking import marks_of, marks_on
from ciguard.functions.in_target.describing.sidecar import apply_sidecar
from ciguard.functions.in_target.loading import import_problem, load, user_frames

Json = Any

_MAX_OOM_SCORE = "1000"
"""Value of `oom_score_adj` with which the kernel kills a process first if memory runs out."""


class CallTimeout(BaseException):
    """Interrupts a call that exceeds its timeout.

    It is not an `Exception`, so that programs do not catch it by `except Exception`.
    """


def run(settings: Json, descriptor: int) -> None:
    """Serve requests until the host closes its end of the socket.

    Args:
        settings: `stack` (path of the file for stack dumps), `path` (entries of `sys.path`),
            `captured` (whether files capture the output), `oracles` (names of the oracles whose
            failures count) and `coverage` (options; None for no measurement).
        descriptor: file descriptor of the connected socket.
    """
    _raise_oom_score()
    with open(settings["stack"], "ab", buffering=0) as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=False)
        _dump_stack_on_exit(stack)
        sys.path[:] = list(dict.fromkeys([*settings["path"], *sys.path]))
        with socket.socket(fileno=descriptor) as channel:
            RequestServer(settings, channel).serve()


def _raise_oom_score() -> None:
    """Let the kernel kill this process, and not the one that reports, if memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
        score.write(_MAX_OOM_SCORE)


def _dump_stack_on_exit(stack: Any) -> None:
    """Replace `os._exit` by a function that first dumps the stack, as no exception is raised."""
    os_exit, process = os._exit, os.getpid()

    def exit_with_stack_dump(status: int) -> None:
        if os.getpid() == process:
            faulthandler.dump_traceback(stack, all_threads=False)
        os_exit(status)

    os._exit = exit_with_stack_dump  # type: ignore[assignment]


class RequestServer:
    """Serves requests one at a time; the method `_NAME` implements the operation NAME."""

    def __init__(self, settings: Json, channel: socket.socket) -> None:
        self._incoming = channel.makefile("r", encoding="utf-8")
        self._outgoing = channel.makefile("w", encoding="utf-8")
        self._process = os.getpid()
        self._captures_output = settings["captured"]
        self._oracles = frozenset(settings["oracles"])
        self._callers: dict[str, Caller] = {}
        self._coverage = CoverageMeasurement(settings["coverage"])

    def serve(self) -> None:
        """Serve requests until the socket is closed."""
        self._send({"ready": self._coverage.problem})
        for line in self._incoming:
            request = json.loads(line)
            self._send(self._response(request))
            self._coverage.save_periodically()
        self._coverage.stop()

    def _response(self, request: Json) -> Json:
        self._truncate_output()
        operation = getattr(self, f"_{request['op']}")
        try:
            return operation(request)
        except Exception:  # noqa: BLE001 - a defect of ciguard, which the host raises as an error
            return {"defect": traceback.format_exc()}
        finally:
            _flush()

    def _send(self, response: Json) -> None:
        if os.getpid() != self._process:  # this is a process that the program has forked
            os._exit(0)
        self._outgoing.write(json.dumps(response) + "\n")
        self._outgoing.flush()

    def _truncate_output(self) -> None:
        _flush()
        if self._captures_output:
            for descriptor in (1, 2):
                os.ftruncate(descriptor, 0)

    def _load(self, request: Json) -> Json:
        """Import a program, and return the description of its functions."""
        program = request["program"]
        try:
            module = load(program["file"], program["root"], program["name"])
            problems = apply_sidecar(module, program["sidecar"]) if program["sidecar"] else []
        except BaseException as error:  # noqa: BLE001 - the program may raise anything
            return import_problem(error)
        caller = self._callers[program["file"]] = Caller(module, self._oracles)
        description = caller.description.json()
        description["problems"] += problems
        names = [function["name"] for function in description["functions"]]
        return {
            "description": description, "library": library_of(module),
            "marks": {name: marks_of(module, name) for name in names},
            "module_marks": marks_on(module),
        }  # fmt: skip

    def _nested(self, request: Json) -> Json:
        """Call a function, and return descriptions of the functions that the call defines."""
        caller = self._callers[request["file"]]
        with _time_limit(request["limit_s"], request["file"]) as timed_out:
            descriptions = caller.describe_nested(request["call"])
        return {"functions": [], "problems": []} if timed_out else descriptions

    def _call(self, request: Json) -> Json:
        caller = self._callers[request["file"]]
        with _time_limit(request["limit_s"], request["file"]) as timed_out:
            result = caller.run(request["call"])
        return timed_out or self._with_mutation(result)

    def _with_mutation(self, result: Json) -> Json:
        """Return a call's result; if the oracle is enabled, a changed argument is a failure."""
        names = ", ".join(result.get("mutated", ()))
        if "mutation" not in self._oracles or result["status"] != "passed" or not names:
            return result
        message = f"the call has changed {names}"
        return {
            **result, "status": "failed", "kind": "mutation", "type": "Mutation",
            "message": message, "frames": [], "key": message,
        }  # fmt: skip

    def _main(self, request: Json) -> Json:
        """Run a program as a script, and return its result as for a call."""
        program = request["program"]
        sys.argv[:] = [program["file"], *request["arguments"]]
        with _time_limit(request["limit_s"], program["file"]) as timed_out:
            result = _run_as_script(program)
        return timed_out or result

    def _save(self, request: Json) -> Json:
        """Save the coverage that was measured so far."""
        del request
        self._coverage.save()
        return {}


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        # The program may have closed or replaced the stream.
        with contextlib.suppress(AttributeError, OSError, ValueError):
            stream.flush()


def _run_as_script(program: Json) -> Json:
    """Run a program as the main module, and return a result as for a call."""
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
        return (
            {"status": "passed"}
            if error.code in (None, 0)
            else _failure_result(error, program["file"])
        )
    except BaseException as error:  # noqa: BLE001 - the program may raise anything
        return _failure_result(error, program["file"])
    return {"status": "passed"}


def _failure_result(error: BaseException, file: str) -> Json:
    """Return the result for an exception that ended a program or a call."""
    frames = user_frames(error)
    return {
        "status": "failed", "kind": "exception", "type": type(error).__name__,
        "message": original_message(error), "frames": frames,
        "key": key_of(error, [tuple(frame) for frame in frames], file),
    }  # fmt: skip


@contextlib.contextmanager
def _time_limit(limit_s: float, file: str) -> Iterator[Json]:
    """Interrupt the body after `limit_s` seconds.

    Yields:
        A dictionary that describes the failure after a timeout; otherwise it stays empty.
    """
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
            _failure_result(error, file), kind="timeout", message=f"takes longer than {limit_s:g} s"
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
