"""The fork server of a target: it imports the library once, and forks a worker per request.

Requests and reports travel as JSON datagrams over a Unix socket; the descriptors that a worker
needs come with the request.

    request   {"op": "fork", "ticket": 1, "perturb": 0, "has_ample_memory": false,
               "is_synchronous": false} + [connection, cell, log, stack]
              {"op": "measure", "ticket": 1, …} + [connection, cell, log, stack]
              {"op": "describe", "ticket": 2} + [output, log, stack]
              {"op": "models", "ticket": 2} + [sources, output, log, stack]
              {"op": "functions", "ticket": 2} + [sources, output, log, stack]
              {"op": "script", "ticket": 1} + [script, log, stack]
              {"op": "kill", "pid": 1, "dump": true}
    report    {"ready": {…}} | {"failed": "why"}
              {"forked": ticket, "pid": 1}
              {"died": pid, "status": wait status, "peak_kib": 1}
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from typing import Any, Callable, Sequence

from ciguard.execution.worker import confine, huge_pages, limits, privileges
from ciguard.execution.worker.executors import executor_of
from ciguard.execution.worker.preparing import link_programs, load_adapter, rehearse
from ciguard.execution.worker.quota import (
    MAX_COMPILED,
    MAX_COMPILED_BYTES,
    TICK_MS,
    Quota,
    prune,
)
from ciguard.execution.worker.removal import remove_tree
from ciguard.execution.worker.tasks import Tasks

MAX_MESSAGE = 65536
MAX_DESCRIPTORS = 8
_DUMP_S = 0.15
_REHEARSALS = 20
_REMOVAL_LIMIT_S = 5.0
_MAX_TEXT = 1200
"""Maximum length of an error message, and of each frame, in a report."""


class Server:
    """Forks workers for its parent until the parent closes the connection."""

    def __init__(
        self, settings: dict[str, Any], control: socket.socket, confined_by: Sequence[str]
    ) -> None:
        self._settings = settings
        self._control = control
        self._confined_by = confined_by
        self._compiled = confine.compiled_folder(settings)
        self._adapter: Any = None
        self._executor: Any = None
        self._pidfds: dict[int, int] = {}
        """Process descriptors (pidfds) by process id; each becomes readable when its process
        exits."""
        self._poll = select.poll()
        self._quota = Quota(
            settings["scratch"],
            settings["writable"],
            starts_processes=settings["processes"],
            # Without Landlock, `serve` hides workers from each other and from this process.
            can_see_files=confine.LANDLOCK in confined_by,
        )
        self._next_pruning = 0.0
        """Time of the next check of the compiled files, on the clock of `time.monotonic`."""

    def serve(self) -> None:
        """Load the library, report its version, and answer requests until the parent is gone."""
        limits.keep_freed_memory()
        if confine.LANDLOCK not in self._confined_by:
            privileges.hide_from_siblings()  # with Landlock, each worker's domain isolates it
        confine.prepare_restrictions(confine.role_of(self._settings))
        try:
            self._adapter = load_adapter(self._settings["adapter"])
            self._adapter.load(self._settings["device"])
            version = self._adapter.version()
            mode = self._settings["mode"]
            if self._adapter.shares_compiled_code(mode):
                os.makedirs(self._compiled, exist_ok=True)
                self._adapter.keep_compiled_code(self._compiled)
            on_device = self._on_device
            self._executor = executor_of(self._settings, self._adapter)
            if self._settings["warm_up"]:
                self._warm_up()
            if on_device:
                self._check_device()
        except Exception as error:  # noqa: BLE001 - anything may go wrong in a foreign import
            frames = traceback.format_exception(type(error), error, error.__traceback__)
            reason = f"{type(error).__name__}: {error}"[:_MAX_TEXT]
            self._report({"failed": reason, "log": [text[-_MAX_TEXT:] for text in frames[-3:]]})
            return
        gc.collect()
        gc.freeze()  # objects of the import are never garbage: children need not scan them
        huge_pages.collapse()
        self._report({"ready": {"version": version, "confined_by": self._confined_by}})
        self._poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in self._poll.poll(TICK_MS if self._pidfds else None):
                if descriptor == self._control.fileno():
                    if not self._answer():
                        return
                else:
                    self._reap(descriptor)
            self._quota.enforce(self._pidfds)
            self._prune()

    def _warm_up(self) -> None:
        """Make first calls, so that workers start with loaded modules and filled caches."""
        mode = self._settings["mode"]
        self._adapter.warm_up()
        if self._settings["relations"]:
            self._adapter.load_transformations()
        cases = self._adapter.rehearsal()
        # In a mode, each case is compiled again: one suffices to import the code.
        rehearse(self._executor, cases[:1] if mode else cases, 1 if mode else _REHEARSALS)

    @property
    def _on_device(self) -> bool:
        return bool(self._settings["device"] != "cpu")

    def _check_device(self) -> None:
        """Start the device in a child, as a process with a started device cannot fork.

        Raises:
            RuntimeError: if the device cannot be used; the message gives the reason.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            tasks = Tasks(self._adapter, self._executor, self._settings)
            self._run_child(tasks.report_device, [writing])
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8", errors="backslashreplace") as answer:
            reason = answer.read(_MAX_TEXT)
        _, status = os.waitpid(child, 0)
        remove_tree(os.path.join(self._settings["scratch"], str(child)))
        if status and not reason:
            reason = f"its first operation ended the process ({_exit_text(status)})"
        if reason:
            msg = f"the device {self._settings['device']!r} cannot be used: {reason}"
            raise RuntimeError(msg)

    def _prune(self) -> None:
        """Bound the size of the shared compiled files, using at most 5% of the time."""
        began = time.monotonic()
        if began >= self._next_pruning:
            prune(self._compiled, MAX_COMPILED, MAX_COMPILED_BYTES)
            self._next_pruning = began + max(TICK_MS / 1000, 20 * (time.monotonic() - began))

    def _report(self, message: dict[str, Any]) -> None:
        self._control.send(json.dumps(message).encode("ascii"))

    def _answer(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, MAX_DESCRIPTORS)
        if not message:
            return False
        request = json.loads(message)
        if request["op"] == "kill":
            self._kill(request["pid"], dump=request["dump"])
            return True
        settings = self._settings
        if request["has_ample_memory"]:
            settings = {**settings, "memory_mib": settings["ample_memory_mib"]}
        if request["is_synchronous"]:
            settings = {**settings, "is_synchronous": True}
        tasks = Tasks(self._adapter, self._executor, settings, perturb=request["perturb"])
        self._fork(tasks.task(request["op"]), request["ticket"], descriptors)
        return True

    def _fork(
        self, task: Callable[[Sequence[int]], None], ticket: int, descriptors: Sequence[int]
    ) -> None:
        child = os.fork()
        if child == 0:
            self._run_child(task, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        watch = os.pidfd_open(child)
        self._pidfds[child] = watch
        self._poll.register(watch, select.POLLIN)
        self._report({"forked": ticket, "pid": child})

    def _run_child(self, task: Callable[[Sequence[int]], None], descriptors: Sequence[int]) -> None:
        """Run the task as the child, and exit without the parent's exit handlers."""
        code = 1
        try:
            privileges.exit_with_parent()
            os.setsid()
            self._control.close()
            for watch in self._pidfds.values():
                os.close(watch)
            folder = os.path.join(self._settings["scratch"], str(os.getpid()))
            os.mkdir(folder)
            os.chdir(folder)
            link_programs(self._settings)
            confine.isolate_worker(self._settings, folder)
            task(descriptors)
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                sys.stderr.write(stop.code + "\n")  # as the interpreter does
        except BaseException:  # noqa: BLE001 - the traceback goes to the log, which the parent reads
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os._exit(code)

    def _kill(self, pid: int, *, dump: bool) -> None:
        if pid not in self._pidfds:
            return
        if dump:
            os.kill(pid, signal.SIGUSR1)
            time.sleep(_DUMP_S)  # the handler writes the stack even while native code spins
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _reap(self, watch: int) -> None:
        pid = next(child for child, descriptor in self._pidfds.items() if descriptor == watch)
        _, status, usage = os.wait4(pid, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # its descendants
        self._poll.unregister(watch)
        os.close(watch)
        del self._pidfds[pid]
        self._quota.forget(pid)
        # Report first: removing the folder may take long, and the parent expects an answer.
        self._report({"died": pid, "status": status, "peak_kib": usage.ru_maxrss})
        folder = os.path.join(self._settings["scratch"], str(pid))
        remove_tree(folder, limit_s=_REMOVAL_LIMIT_S)  # the parent removes what is left at the end


def _exit_text(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}"
