"""The server of a target that runs under callgrind: it forks a process per call to count.

Requests and reports travel as JSON datagrams, one after the other:

    request   {"case": [["instructions", repetitions], case], "shift": 0, "limit_s": 1.0}
    report    {"ready": {…}} | {"failed": "why"}
              {"status": status of the record, "record": payload} | {"lost": "why"}

Callgrind knows neither Landlock nor seccomp, so the processes that run calls are confined as the
server is: by the limits that it got before it was started under callgrind.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import time
import traceback
from typing import TYPE_CHECKING, Any

from ciguard.execution.worker import limits, privileges
from ciguard.execution.worker.callgrind import InstructionCounter
from ciguard.execution.worker.measure import MeasuringExecutor
from ciguard.execution.worker.preparing import load_adapter, rehearse

if TYPE_CHECKING:
    import socket

MAX_MESSAGE = 65536
_MAX_TEXT = 1200
_REHEARSED = 5
"""Number of cases to run before the first fork; a library's whole warm-up takes too long here."""
_MAX_COUNTED = 4_000_000
"""Number of instructions of one count that decides on the number of calls."""
_MAX_SINGLE = 10_000_000
"""Maximum number of instructions of a call, which takes Valgrind about 0.3 s."""
_NUMBERS_OF_CALLS = (20, 10, 5, 2)
"""Numbers of calls; Python specialises the code of a function after about ten."""
_SHIFT = 4112
"""Size of the memory by which a process shifts its heap, in bytes; no multiple of a page."""
_SHIFTED_SIZES = range(16, 512, 16)


class CountingExecutor(MeasuringExecutor):
    """Counts the instructions of a case's call; its arguments are made beforehand."""

    def __init__(self, adapter: Any, counter: InstructionCounter) -> None:
        super().__init__(adapter, device="cpu")
        self._counter = counter
        self._measures = {"instructions": self._instructions}

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        (quantity, *plan), call = case
        try:
            calls = self._number_of_calls(call)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)
        return super()._execute([[quantity, calls, *plan], call])

    def _number_of_calls(self, case: list[Any]) -> int:
        """Return how often a case is called in each count.

        Raises:
            ValueError: if one call executes too many instructions.
        """
        self._repeat(self._prepared(case), 1)
        count = self._count(self._prepared(case), 1)
        if count > _MAX_SINGLE:
            message = f"a call executes {count:,} instructions"
            raise ValueError(message)
        fitting = (calls for calls in _NUMBERS_OF_CALLS if calls * count <= _MAX_COUNTED)
        return next(fitting, 1)

    def _instructions(self, case: list[Any], calls: int, repetitions: int) -> list[float]:
        if calls > 1:
            self._repeat(self._prepared(case), 2 * calls)
        values = []
        for _ in range(repetitions):
            call = self._prepared(case)
            gc.collect()
            gc.disable()
            overhead = self._count(call, 0)
            values.append((self._count(call, calls) - overhead) / calls)
            gc.enable()
        return values

    def _count(self, call: Any, calls: int) -> int:
        self._counter.begin()
        self._repeat(call, calls)
        return self._counter.end()


class CountingServer:
    """Answers the requests of its parent until the parent closes the connection."""

    def __init__(
        self, settings: dict[str, Any], control: socket.socket, confined_by: list[str]
    ) -> None:
        self._settings = settings
        self._control = control
        self._confined_by = confined_by
        self._executor: Any = None

    def serve(self) -> None:
        """Load the library, report its version, and answer requests until the parent is gone."""
        limits.keep_freed_memory()
        try:
            adapter = load_adapter(self._settings["adapter"])
            adapter.load("cpu")
            version = adapter.version()
            counter = InstructionCounter(files_in(self._settings["scratch"]))
            self._executor = CountingExecutor(adapter, counter)
            gc.collect()
            gc.freeze()  # objects of the import are never garbage; searching them is slow here
            counter.start()
            if self._settings["warm_up"]:  # processes inherit the code that Valgrind translated
                plan = ["instructions", 1]
                cases = adapter.rehearsal()[:_REHEARSED]
                rehearse(self._executor, [[plan, case] for case in cases], 1)
        except Exception as error:  # noqa: BLE001 - anything may go wrong in a foreign import
            frames = traceback.format_exception(type(error), error, error.__traceback__)
            reason = f"{type(error).__name__}: {error}"[:_MAX_TEXT]
            self._report({"failed": reason, "log": [text[-_MAX_TEXT:] for text in frames[-3:]]})
            return
        self._report({"ready": {"version": version, "confined_by": self._confined_by}})
        while True:
            message = self._control.recv(MAX_MESSAGE)
            if not message:
                return
            self._report(self._answer(json.loads(message)))

    def _report(self, message: dict[str, Any]) -> None:
        self._control.send(json.dumps(message).encode("ascii"))

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            self._run_child(request, writing)
        os.close(writing)
        answer = _read(reading, time.monotonic() + request["limit_s"])
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if answer is None:
            return {"lost": f"no count within {request['limit_s']:g} s"}
        return dict(json.loads(answer)) if answer else {"lost": "the process crashed"}

    def _run_child(self, request: dict[str, Any], writing: int) -> None:
        """Run the case as the child, and wait for the end without writing a profile."""
        try:
            privileges.exit_with_parent()
            os.setsid()
            self._control.close()
            limits.limit_output(self._settings["output_mib"])
            shifted = shift_heap(request["shift"])
            status, payload = self._executor.execute(request["case"])
            answer = {"status": status, "record": payload.decode("ascii"), "kept": len(shifted)}
            os.write(writing, json.dumps(answer).encode("ascii"))
        finally:
            os.kill(os.getpid(), signal.SIGKILL)


def files_in(scratch: str) -> str:
    """Return the prefix of callgrind's files in a folder."""
    return os.path.join(scratch, "callgrind")


def shift_heap(steps: int) -> list[bytearray]:
    """Return blocks of memory that move later blocks, as another layout of the memory would."""
    sizes = [_SHIFT, *_SHIFTED_SIZES]
    return [bytearray(size + step) for step in range(steps) for size in sizes]


def _read(descriptor: int, until: float) -> bytes | None:
    """Return all that a process writes until it ends or closes; None if it takes too long."""
    chunks: list[bytes] = []
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(descriptor, MAX_MESSAGE)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
