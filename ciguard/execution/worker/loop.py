"""The life of one worker: take a batch of cases, run each, write what came of it."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING, Any

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import effects, models
from ciguard.execution.worker.build import Builder
from ciguard.execution.worker.messages import (
    DONE,
    FULL,
    GO_ON,
    HEADER,
    MESSAGE,
    STARTED,
    end_without_device,
)
from ciguard.execution.worker.programs import ProgramError, ProgramRunner
from ciguard.execution.worker.summarise import COMPACT, Summariser
from ciguard.libraries.in_target import contract, device_errors

if TYPE_CHECKING:
    import socket

MODEL = "model"
"""Second member of a case that runs a layer graph (`ciguard.domain.models.MODEL`)."""
PROGRAM = "program"
"""Second member of a case that runs a program (`ciguard.domain.programs.PROGRAM`)."""
ANNOTATED = "annotated"
"""Second member of a case that calls a function of the user's (`function_calls.ANNOTATED`)."""
OBSERVED, TWIN = 9, 10
"""Places in a case that is tried with a relation: what is looked at, and the other computation."""

_MAX_MESSAGE = 2000
_MAX_FRAMES = 12
_OWN_FILES = (
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(contract.__file__))),
)


def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """Return `count` bytes; fewer only when the other side is gone."""
    chunks: list[bytes] = []
    while count:
        chunk = connection.recv(min(count, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def redirect_streams(log: int, stack: int) -> None:
    """Send everything written to the standard streams, by native code too, into `log`.

    Stacks of fatal signals go to `stack`; SIGUSR1 writes one there on demand.
    """
    os.dup2(log, 1)
    os.dup2(log, 2)
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(
            descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False, buffering=1
        )
        setattr(sys, name, stream)
    faulthandler.enable(file=stack, all_threads=True)
    faulthandler.register(signal.SIGUSR1, file=stack, all_threads=True, chain=False)


class Executor:
    """Runs one case at a time with one adapter; says what came of it.

    Args:
        adapter: of the library.
        functions: setting `functions` of the target's process; None where none are tested.
        on_device: whether the adapter computes on a device, whose errors come late.
    """

    def __init__(self, adapter: Any, functions: Any = None, *, on_device: bool = False) -> None:
        self._adapter = adapter
        self._on_device = on_device
        self._functions = None if functions is None else runner_of(functions, adapter)
        self._builder = Builder(adapter)
        self._summariser = Summariser(adapter)
        self._programs = ProgramRunner(adapter)

    def execute(self, case: list[Any]) -> tuple[int, bytes]:
        """Run one case, the end of the objects that were made for it included.

        Returns:
            Status and payload of its record, see `cell`.
        """
        try:
            record = self._record(case)
            return self._after_device(record) if self._on_device else record
        finally:
            self._builder.forget()

    def _record(self, case: list[Any]) -> tuple[int, bytes]:
        if case[1] == MODEL:
            return self._execute_model(case[2])
        if case[1] == ANNOTATED:
            return self._execute_function(case[2])
        return self._execute_program(case[2]) if case[1] == PROGRAM else self._execute(case)

    def _after_device(self, record: tuple[int, bytes]) -> tuple[int, bytes]:
        """Return the case's record, or of what went wrong on the device: no other case pays."""
        try:
            self._adapter.synchronise()
        except Exception as error:  # noqa: BLE001 - whatever the library raises
            record = self._raised(error, unbuilt=False)
        if record[0] == cells.EXHAUSTED:
            self._adapter.release_memory()
        return record

    def _execute_model(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run one layer graph. `case` is the third member of an encoded `ModelCase`."""
        try:
            self._adapter.reset(case.get("seed", 0))
            run = models.prepare(case)
        except Exception as error:  # noqa: BLE001 - the case is at fault, or numpy is out of memory
            return self._raised(error, unbuilt=True)
        try:
            output = self._adapter.run_model(run)
            return cells.PASSED, models.encode(output, self._adapter)
        except contract.CannotComputeError as error:
            return self._raised(error, unbuilt=True)
        except contract.LayerError as error:
            where = f"layer {error.node!r}: "
            # Some layers need a package of their own, which only the user can miss.
            unbuilt = error.unbuilt or isinstance(error.cause, ImportError)
            return self._raised(error.cause, unbuilt=unbuilt, where=where)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            # As above, of a layer of a model that was saved and loaded.
            return self._raised(error, unbuilt=isinstance(error, ImportError))

    def _execute_program(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run one program. `case` is the third member of an encoded `ProgramCase`."""
        try:
            return cells.PASSED, self._summariser.encode(self._programs.run(case))
        except ProgramError as error:
            return self._raised(error.cause, unbuilt=error.is_own, where=error.where)
        except Exception as error:  # noqa: BLE001 - what the library raises when outputs are read
            return self._raised(error, unbuilt=False)
        finally:
            self._programs.forget()

    def _execute_function(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Call one function. `case` is the third member of an encoded `FunctionCase`."""
        if self._functions is None:
            return cells.UNBUILT, encoded_text(["Program", "no functions are tested here"])
        ended = self._functions.run(case)
        said = [ended.name, ended.message[:_MAX_MESSAGE]]
        if ended.status == "failed":
            return cells.ERRORED, encoded_text([*said, ended.frames])
        if ended.status != "passed":
            return _OF_FUNCTIONS[ended.status], encoded_text(said)
        try:
            self._adapter.synchronise()
            encoded = self._summariser.encode(ended.value)
        except Exception as error:  # noqa: BLE001 - a class of the user's, or the library's
            return self._raised(error, unbuilt=True)
        if not ended.mutated:
            return cells.PASSED, encoded
        return cells.PASSED, b'["E",%s,[],%s]' % (effects.places(ended.mutated), encoded)

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        api, kind, arguments, keywords, inputs, seed = case[:6]
        builder = self._builder
        try:
            self._adapter.reset(seed)
            built = builder.values(arguments)
            named = builder.keywords(keywords) if keywords else {}
            fed = builder.values(inputs) if inputs else ()
            received = [built.pop(0)] if kind == "method" else []
            name = api.rpartition(".")[2]
            function = getattr(received[0], name) if received else builder.member(api)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while an argument is made
            return self._raised(error, unbuilt=True)
        try:
            if kind == "layer":
                output = self._adapter.make_layer(function, built, named)
                if fed or inputs:
                    output = output(*fed)
            else:
                output = function(*built, **named)
            if len(case) > TWIN:
                if case[OBSERVED] == "arguments":
                    output = [*received, *built, *named.values(), *fed]
                twin = self._twin(case[TWIN], seed)
                return cells.PASSED, self._summariser.encode_pair(output, twin)
            return cells.PASSED, self._passed(output)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)

    def _passed(self, output: Any) -> bytes:
        encoded = self._summariser.encode(output)
        watch = self._builder.watch
        effects = watch.beginning(output) if watch.made else b""
        return b"%s%s]" % (effects, encoded) if effects else encoded

    def _twin(self, encoded: Any, seed: int) -> list[Any]:
        """Return what the case's other computation comes to: ["returned", value] or how it ends."""
        self._adapter.reset(seed)
        try:
            return ["returned", self._builder.value(encoded)]
        except Exception as error:  # noqa: BLE001 - whatever the library raises is the answer
            return ["raised", type(error).__name__, self._message(error)]

    def _message(self, error: BaseException) -> str:
        try:
            return self._told(error)[:_MAX_MESSAGE]
        except Exception:  # noqa: BLE001 - a library's __str__ may fail; the class says enough
            return "<message cannot be shown>"

    def _told(self, error: BaseException) -> str:
        return str(error)

    def _raised(self, error: BaseException, *, unbuilt: bool, where: str = "") -> tuple[int, bytes]:
        verdict = self._adapter.classify(error)
        name = type(error).__name__
        message = where + self._message(error)
        if verdict == contract.LOST and self._on_device:
            cause = device_errors.cause_of_loss(message)
            end_without_device(cause, name, message, _frames(error))
        if verdict == "exhausted":
            return cells.EXHAUSTED, encoded_text([name, message])
        if unbuilt:
            return cells.UNBUILT, encoded_text([name, message])
        if verdict == "errored" or not isinstance(error, Exception):
            return cells.ERRORED, encoded_text([name, message, _frames(error)])
        return cells.REJECTED, encoded_text([name, message])


_OF_FUNCTIONS = {"rejected": cells.REJECTED, "unbuilt": cells.UNBUILT}


def runner_of(functions: Any, adapter: Any) -> Any:
    """Return what runs the user's functions; it is of a room that the worker does not know.

    Args:
        functions: `runner`, name of its module, and what that is told besides.
        adapter: of the library.
    """
    module = importlib.import_module(functions["runner"])

    def is_exhausted(error: BaseException) -> bool:
        return bool(adapter.classify(error) == contract.EXHAUSTED)

    return module.Runner(functions, adapter.reset, is_exhausted)


class Worker:
    """Runs batches of cases until the parent hangs up."""

    def __init__(
        self, executor: Executor, connection: socket.socket, cell: cells.CellWriter, *, log: int
    ) -> None:
        self._execute = executor.execute
        self._connection = connection
        self._cell = cell
        self._log = log

    def run(self) -> None:
        """Serve batches. Returns when the connection closes."""
        self._connection.sendall(MESSAGE.pack(STARTED, 0, 0))
        while True:
            header = receive_exactly(self._connection, HEADER.size)
            if len(header) < HEADER.size:
                return
            length, token = HEADER.unpack(header)
            body = receive_exactly(self._connection, length)
            if len(body) < length:
                return
            self._run_batch(json.loads(body), token)
            self._connection.sendall(MESSAGE.pack(DONE, token, self._cell.records))

    def _run_batch(self, cases: list[Any], token: int) -> None:
        cell, execute, now = self._cell, self._execute, time.monotonic_ns
        seek, log, end = os.lseek, self._log, os.SEEK_END
        cell.begin_batch(token)
        for number, case in enumerate(cases, start=1):
            if seek(log, 0, end):
                os.ftruncate(log, 0)
            began = now()
            cell.begin_case(number, began)
            status, payload = execute(case)
            cost_us = (now() - began) // 1000
            if not cell.has_room(payload):
                if len(payload) > cells.ROOM:
                    payload = b'["O","output too large"]'
                if not cell.has_room(payload):
                    self._wait_for_reader(token)
            cell.append(status, cost_us, payload)
        cell.idle()

    def _wait_for_reader(self, token: int) -> None:
        self._cell.idle()
        self._connection.sendall(MESSAGE.pack(FULL, token, self._cell.records))
        if receive_exactly(self._connection, 1) != GO_ON:
            raise SystemExit(0)  # the parent is gone
        self._cell.begin_page()


def encoded_text(payload: list[Any]) -> bytes:
    """Return a record's payload that is text: the class of an error, its message, its frames."""
    return COMPACT.encode(payload).encode("ascii")


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Return (file, function) of the frames outside this package, innermost first."""
    frames = [
        (frame.filename, frame.name)
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(_OWN_FILES)
    ]
    return frames[::-1][:_MAX_FRAMES]
