"""The fork server of one target: imports the library once, then forks a worker per request.

Requests and reports travel as JSON datagrams over a Unix socket; the descriptors that a worker
needs come with the request.

    request   {"op": "fork", "ticket": 1, "perturb": 0} + [connection, cell, log, stack]
              {"op": "measure", "ticket": 1, "perturb": 0} + [connection, cell, log, stack]
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
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
import warnings
from typing import Any, Callable, Sequence  # noqa: UP035 - Python 3.9 in the target

from ciguard.domain.dtypes import EVERY as DTYPES
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import confine, huge_pages
from ciguard.execution.worker.fills import elements
from ciguard.execution.worker.loop import Executor, Worker, redirect_streams, runner_of
from ciguard.execution.worker.measure import MeasuringExecutor
from ciguard.execution.worker.messages import end_without_device
from ciguard.execution.worker.modes import ModeExecutor
from ciguard.execution.worker.quota import MAX_COMPILED, MAX_COMPILED_BYTES, TICK_MS, Quota, usage
from ciguard.execution.worker.removal import remove_tree
from ciguard.libraries.in_target import contract, device_errors

MAX_MESSAGE = 65536
MAX_DESCRIPTORS = 8
_DUMP_TIME_S = 0.15
_REHEARSALS = 20
_REMOVAL_LIMIT_S = 5.0
_MAX_DESCRIBED_MIB = 256
_DRIVER_MIB = 1024
"""What a device's driver may take of the host's memory once it has started: kernels load late."""
_MAX_TEXT = 1200
"""Characters of a message of the library's, and of each frame, that a report holds."""


class Server:
    """Forks workers for its parent until the parent hangs up."""

    def __init__(
        self, settings: dict[str, Any], control: socket.socket, confined_by: Sequence[str]
    ) -> None:
        self._settings = settings
        self._control = control
        self._confined_by = confined_by
        self._compiled = confine.compiled_folder(settings)
        self._adapter: Any = None
        self._executor: Any = None
        self._children: dict[int, int] = {}
        """Process id → descriptor that becomes readable when it ends."""
        self._poll = select.poll()
        self._quota = Quota(
            settings["scratch"],
            settings["writable"],
            starts_processes=settings["processes"],
            sees_files=confine.LANDLOCK in confined_by,  # else workers hide, see `serve`
        )
        self._perturb = 0
        self._pruned_at = 0.0
        """When to look next at what was compiled."""

    def serve(self) -> None:
        """Load the library, report, and answer requests. Returns when the parent is gone."""
        confine.keep_freed_memory()
        if confine.LANDLOCK not in self._confined_by:
            confine.hide_from_siblings()  # else each worker's own layer does
        confine.prepare_restrictions(confine.role_of(self._settings))
        try:
            self._adapter = load_adapter(self._settings["adapter"])
            self._adapter.load(self._settings["device"])
            version = self._adapter.version()
            mode = self._settings["mode"]
            if self._adapter.shares_compiled(mode):
                os.makedirs(self._compiled, exist_ok=True)
                self._adapter.keep_compiled(self._compiled)
            functions = self._settings["functions"]
            on_device = self._on_device
            self._executor = (
                ModeExecutor(self._adapter, mode, on_device=on_device)
                if mode
                else Executor(self._adapter, functions, on_device=on_device)
            )
            if self._settings["warm_up"]:
                self._adapter.warm_up()
                cases = self._adapter.rehearsal()
                # To a mode each case is new, and costly: what matters is that its code is imported.
                rehearse(self._executor, cases[:1] if mode else cases, 1 if mode else _REHEARSALS)
            if on_device:
                self._try_device()
        except Exception as error:  # noqa: BLE001 - anything may go wrong in a foreign import
            frames = traceback.format_exception(type(error), error, error.__traceback__)
            reason = f"{type(error).__name__}: {error}"[:_MAX_TEXT]
            self._report({"failed": reason, "log": [text[-_MAX_TEXT:] for text in frames[-3:]]})
            return
        gc.collect()
        gc.freeze()  # what the import made is never garbage: children need not look at it
        huge_pages.gather()
        self._report({"ready": {"version": version, "confined_by": self._confined_by}})
        self._poll.register(self._control, select.POLLIN)
        while True:
            for descriptor, _ in self._poll.poll(TICK_MS if self._children else None):
                if descriptor == self._control.fileno():
                    if not self._answer():
                        return
                else:
                    self._bury(descriptor)
            self._quota.enforce(self._children)
            self._prune()

    @property
    def _on_device(self) -> bool:
        return bool(self._settings["device"] != "cpu")

    def _try_device(self) -> None:
        """Start the device in a child, as this process could not fork any more after that.

        Raises:
            RuntimeError: if that fails; the message says why.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._live(self._report_device, [writing])
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8", errors="backslashreplace") as answer:
            why = answer.read(_MAX_TEXT)
        _, status = os.waitpid(child, 0)
        remove_tree(os.path.join(self._settings["scratch"], str(child)))
        if status and not why:
            why = f"its first operation ended the process ({_ending(status)})"
        if why:
            msg = f"the device {self._settings['device']!r} cannot be used: {why}"
            raise RuntimeError(msg)

    def _report_device(self, given: Sequence[int]) -> None:
        """Write why the device cannot be used, nothing where it can."""
        (output,) = given
        restrain(self._settings)
        try:
            self._start_device()
            self._adapter.reset(1)
            self._adapter.read(self._adapter.tensor(elements(["k", 1], "float32", [2]), "float32"))
            self._adapter.synchronise()
        except Exception as error:  # noqa: BLE001 - whatever the library raises
            with os.fdopen(output, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(f"{type(error).__name__}: {error}")

    def _start_device(self) -> None:
        if self._on_device:
            start_device(self._adapter, self._settings)

    def _prune(self) -> None:
        """Bound what workers compile for each other, in at most a twentieth of the time."""
        began = time.monotonic()
        if began >= self._pruned_at:
            prune(self._compiled, MAX_COMPILED, MAX_COMPILED_BYTES)
            self._pruned_at = began + max(TICK_MS / 1000, 20 * (time.monotonic() - began))

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
        tasks: dict[str, Callable[[Sequence[int]], None]] = {
            "fork": self._work,
            "measure": self._measure,
            "describe": self._describe,
            "models": self._models,
            "functions": self._describe_functions,
            "script": self._run_script,
        }
        self._perturb = request["perturb"]
        self._fork(tasks[request["op"]], request["ticket"], descriptors)
        return True

    def _fork(
        self, task: Callable[[Sequence[int]], None], ticket: int, given: Sequence[int]
    ) -> None:
        child = os.fork()
        if child == 0:
            self._live(task, given)
        for descriptor in given:
            os.close(descriptor)
        watch = os.pidfd_open(child)
        self._children[child] = watch
        self._poll.register(watch, select.POLLIN)
        self._report({"forked": ticket, "pid": child})

    def _live(self, task: Callable[[Sequence[int]], None], given: Sequence[int]) -> None:
        """Be the child: run the task and leave without running what the parent's exit would."""
        code = 1
        try:
            confine.die_with_parent()
            os.setsid()
            self._control.close()
            for watch in self._children.values():
                os.close(watch)
            folder = os.path.join(self._settings["scratch"], str(os.getpid()))
            os.mkdir(folder)
            os.chdir(folder)
            link_programs(self._settings)
            confine.settle(self._settings, folder)
            task(given)
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                sys.stderr.write(stop.code + "\n")  # as the interpreter's own end would
        except BaseException:  # noqa: BLE001 - the traceback goes to the log, which the parent reads
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os._exit(code)

    def _work(self, given: Sequence[int]) -> None:
        connection, shared, log, stack = given
        if self._perturb:
            confine.perturb_memory(self._perturb)
            self._adapter.vary(self._perturb)
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrain(self._settings)
        self._start_device()
        cell = cells.Writer(shared)
        with socket.socket(fileno=connection) as stream:
            Worker(self._executor, stream, cell, log=log).run()

    def _measure(self, given: Sequence[int]) -> None:
        # What is filled to find the peak of a call takes as much again as the call.
        self._settings = {**self._settings, "memory_mib": 2 * self._settings["memory_mib"]}
        self._executor = MeasuringExecutor(self._adapter, device=self._settings["device"])
        self._work(given)

    def _describe(self, given: Sequence[int]) -> None:
        output, log, stack = given
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        confine.limit_output(_MAX_DESCRIBED_MIB)
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            lacks = lacking_dtypes(self._adapter)
            for record in self._adapter.describe():
                if lacks and "api" in record:
                    record["lacks"] = lacks
                stream.write(json.dumps(record) + "\n")

    def _models(self, given: Sequence[int]) -> None:
        sources, output, log, stack = given
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        os.lseek(sources, 0, os.SEEK_SET)
        with os.fdopen(sources, encoding="utf-8") as stream:
            asked = json.load(stream)
        if not any("folder" in source for source in asked):  # those download and keep what they got
            confine.limit_output(self._settings["output_mib"])
            if self._settings["confine"]:
                confine.restrict_calls(confine.role_of(self._settings))
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            for record in self._adapter.models(asked):
                stream.write(json.dumps(record) + "\n")

    def _describe_functions(self, given: Sequence[int]) -> None:
        sources, output, log, stack = given
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrain(self._settings)
        os.lseek(sources, 0, os.SEEK_SET)
        with os.fdopen(sources, encoding="utf-8") as stream:
            asked = json.load(stream)
        runner = runner_of(self._settings["functions"], self._adapter)
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            for source in asked:
                stream.write(json.dumps(runner.describe(source)) + "\n")

    def _run_script(self, given: Sequence[int]) -> None:
        script, log, stack = given
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrain(self._settings)
        os.lseek(script, 0, os.SEEK_SET)
        with os.fdopen(script, encoding="utf-8") as stream:
            text = stream.read()
        self._start_device()
        scope = {"__name__": "__main__", "__file__": "reproducer.py"}
        try:
            exec(compile(text, "reproducer.py", "exec"), scope)  # noqa: S102 - a reproducer of ours
            if self._on_device:
                self._adapter.synchronise()
        except Exception as error:
            if self._on_device and self._adapter.classify(error) == contract.LOST:
                cause = device_errors.cause_of_loss(str(error))
                end_without_device(cause, type(error).__name__, str(error), [])
            raise

    def _kill(self, pid: int, *, dump: bool) -> None:
        if pid not in self._children:
            return
        if dump:
            os.kill(pid, signal.SIGUSR1)
            time.sleep(_DUMP_TIME_S)  # the handler writes the stack even while native code spins
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _bury(self, watch: int) -> None:
        pid = next(child for child, own in self._children.items() if own == watch)
        _, status, usage = os.wait4(pid, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what it started and left behind
        self._poll.unregister(watch)
        os.close(watch)
        del self._children[pid]
        self._quota.forget(pid)
        # Before the folder is removed, which may take long: the parent would take that for silence.
        self._report({"died": pid, "status": status, "peak_kib": usage.ru_maxrss})
        folder = os.path.join(self._settings["scratch"], str(pid))
        remove_tree(folder, limit_s=_REMOVAL_LIMIT_S)  # the parent removes what is left at the end


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit {os.WEXITSTATUS(status)}"


def link_programs(settings: dict[str, Any]) -> None:
    """Show the user's programs in the current folder, which they may write to, unlike their own."""
    functions = settings["functions"]
    for name in functions["parts"] if functions else ():
        os.symlink(os.path.join(functions["folder"], name), name)


def prune(folder: str, most: int, most_bytes: int) -> None:
    """Empty a folder of more files or bytes than these; what is needed of them is made again."""
    files, size = usage(folder, most, most_bytes)
    if files > most or size > most_bytes:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                os.unlink(path)  # of a folder this is refused
            remove_tree(path, limit_s=_REMOVAL_LIMIT_S)


def restrain(settings: dict[str, Any]) -> None:
    """Bound what this process may use, and take system calls away from it for good."""
    confine.limit_output(settings["output_mib"])
    if settings["device"] == "cpu":  # else see `start_device`
        confine.limit_memory(settings["memory_mib"])
    if settings["confine"]:
        confine.restrict_calls(confine.role_of(settings))


def start_device(adapter: Any, settings: dict[str, Any]) -> None:
    """Start a device other than the CPU in this process, and bound the memory of cases from now on.

    Not before: a driver maps far more than it uses.

    Raises:
        Exception: whatever the library raises where the device cannot be used.
    """
    adapter.start_device(settings["memory_mib"])
    confine.limit_memory(settings["memory_mib"] + _DRIVER_MIB)


def lacking_dtypes(adapter: Any) -> list[str]:
    """Return the common names of the element types that the target can make no tensor of."""
    lacking = []
    for name in DTYPES:
        try:
            adapter.tensor(elements(["k", 0], name, [1]), name)
        except Exception:  # noqa: BLE001 - whatever the library raises, a case would meet it too
            lacking.append(name)
    return lacking


def rehearse(executor: Executor, cases: Sequence[list[Any]], repetitions: int) -> None:
    """Run harmless cases, so that each worker inherits warm code instead of warming its own.

    Python specialises a function's code after it ran a few times; names are resolved once.
    """
    for _ in range(repetitions):
        for case in cases:
            executor.execute(case)


def load_adapter(path: str) -> Any:
    """Return an instance of the adapter in the file `path`."""
    specification = importlib.util.spec_from_file_location("ciguard_adapter", path)
    if specification is None or specification.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(specification)
    sys.modules["ciguard_adapter"] = module
    specification.loader.exec_module(module)
    return module.ADAPTER()
