"""The main loop of a worker: receive a batch of cases, run each, and write its outcome."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from functools import partial
from json.encoder import encode_basestring_ascii as quote
from typing import TYPE_CHECKING, Any

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import effects, graphs, models, planting
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
GRAPH = "graph"
"""Second member of a case that runs a graph of calls (`ciguard.domain.graphs.GRAPH`)."""
PROGRAM = "program"
"""Second member of a case that runs a program (`ciguard.domain.programs.PROGRAM`)."""
ANNOTATED = "annotated"
"""Second member of a case that calls a user's function (`function_calls.ANNOTATED`)."""
OBSERVED, TWIN = 9, 10
"""Indices in a case of a relation: the observed values, and the related computation."""

_YOUNG_OBJECTS = 5000
"""New objects after which garbage is collected.

The decoded cases of one batch exceed Python's 700, so that it would search them in every batch."""
_MAX_MESSAGE = 2000
_MAX_FRAMES = 12
_OWN_FILES = (
    os.path.dirname(os.path.abspath(__file__)),
    os.path.dirname(os.path.dirname(os.path.abspath(contract.__file__))),
)


def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """Return `count` bytes, or fewer if the other side is gone."""
    chunks: list[bytes] = []
    while count:
        chunk = connection.recv(min(count, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        count -= len(chunk)
    return b"".join(chunks)


def redirect_streams(log: int, stack: int) -> None:
    """Redirect the standard streams, including the output of native code, into `log`.

    Fatal signals write their stack to `stack`; SIGUSR1 writes one on demand.
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
    """Runs one case at a time with one adapter, and returns its record.

    Args:
        adapter: adapter of the library.
        functions: setting `functions` of the target's process; None if no functions are tested.
        on_device: whether the adapter computes on a device, which reports errors late.
    """

    def __init__(self, adapter: Any, functions: Any = None, *, on_device: bool = False) -> None:
        self._adapter = adapter
        self._on_device = on_device
        self._scratch = os.environ.get("TMPDIR", "")
        """Folder of the process, whose random name would make messages differ between runs."""
        self._functions = None if functions is None else runner_of(functions, adapter)
        self._builder = Builder(adapter)
        self._summariser = Summariser(adapter)
        self._programs = ProgramRunner(adapter)

    def execute(self, case: list[Any]) -> tuple[int, bytes]:
        """Run one case, and release the objects that were created for it.

        Returns:
            Status and payload of the case's record, see `cell`.
        """
        try:
            record = self._record(case)
            return self._after_device(record) if self._on_device else record
        finally:
            self._builder.forget()

    def _record(self, case: list[Any]) -> tuple[int, bytes]:
        if case[1] == MODEL:
            return self._execute_model(case[2])
        if case[1] == GRAPH:
            return self._execute_graph(case[2])
        if case[1] == planting.PLANTED:
            return self._execute_planted(*case[2])
        if case[1] == ANNOTATED:
            return self._execute_function(case[2])
        return self._execute_program(case[2]) if case[1] == PROGRAM else self._execute(case)

    def _execute_planted(self, defect: list[str], case: list[Any]) -> tuple[int, bytes]:
        """Run a case with a defect in its API; see `planting`."""
        try:
            with planting.planted(self._builder, self._adapter, case[0], defect):
                return self._execute(case)
        except Exception as error:  # noqa: BLE001 - the API is absent, or the defect unfit for it
            return self._raised(error, unbuilt=True)

    def _after_device(self, record: tuple[int, bytes]) -> tuple[int, bytes]:
        """Return the record, or that of a late error of the device, which belongs to this case."""
        try:
            self._adapter.synchronise()
        except Exception as error:  # noqa: BLE001 - whatever the library raises
            record = self._raised(error, unbuilt=False)
            if record[0] != cells.EXHAUSTED:
                self._end_if_lost(error)
        if record[0] == cells.EXHAUSTED:
            self._adapter.release_memory()
        return record

    def _end_if_lost(self, error: Exception) -> None:
        """End this process if its device goes on failing after it has reported an error.

        Otherwise an error that no pattern knows would make it reject the arguments of all later
        cases.
        """
        try:
            self._adapter.synchronise()
        except Exception as repeated:  # noqa: BLE001 - whatever the library raises
            if self._adapter.classify(repeated) != contract.EXHAUSTED:
                end_without_device("", type(error).__name__, self._message(error), _frames(error))

    def _execute_model(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run one layer graph; `case` is the third member of an encoded `ModelCase`."""
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
            # Some layers need an optional package, whose absence is not a defect.
            unbuilt = error.unbuilt or isinstance(error.cause, ImportError)
            return self._raised(error.cause, unbuilt=unbuilt, where=where)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            # As above, for a layer of a model that was saved and loaded.
            return self._raised(error, unbuilt=isinstance(error, ImportError))

    def _execute_graph(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run one graph; `case` is the third member of an encoded `GraphCase`."""
        if case.get("probe"):
            return self._probe_graph(case)
        self._adapter.reset(case.get("seed", 0))
        with graphs.precision_of(case, self._adapter), graphs.division_of(case):
            return self._execute_steps(case)

    def _probe_graph(self, case: dict[str, Any]) -> tuple[int, bytes]:
        try:
            return cells.PASSED, graphs.probe(case, self._builder, self._adapter, self._summariser)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while a value is made
            return self._raised(error, unbuilt=True)

    def _execute_steps(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run a graph. If a call may change tensors in place, they are part of the result."""
        try:
            graph = graphs.Graph(case, self._builder, self._adapter)
            function = graph.function(case)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while a value is made
            return self._raised(error, unbuilt=True)
        try:
            stage, options = case.get("runs", ""), case.get("options", "")
            run = partial(self._run_graph, stage=stage, options=options)
            if case.get("gradients"):
                output = self._adapter.with_gradients(run, function, graph.tensors)
            else:
                with self._adapter.without_gradients():
                    output = self._run_sizes(case, run, function, graph.tensors)
            if graphs.changes_tensors(case):
                output = [output, graph.tensors]
            return cells.PASSED, self._summariser.encode(output)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False, where=graphs.step_of(error))

    def _run_sizes(self, case: dict[str, Any], run: Any, function: Any, tensors: list[Any]) -> Any:
        """Return the outputs of a graph, and those of its second run if it has one."""
        change = graphs.second_kind(case, self._adapter)
        if change is None:
            return run(function, tensors)
        others = [change(tensor) for tensor in tensors]
        if case.get("mapped"):
            return self._run_mapped(run, function, tensors, others)
        return self._adapter.run_grown(run, function, tensors, others)

    def _run_mapped(
        self, run: Any, function: Any, tensors: list[Any], others: list[Any]
    ) -> list[Any]:
        """Return the outputs of a graph for two examples; only compilers run both at once."""
        return [run(function, tensors), run(function, others)]

    def _run_graph(self, function: Any, tensors: list[Any], stage: str, options: str) -> Any:
        """Return the outputs of a graph; only compilers have stages and options."""
        del stage, options
        return function(*tensors)

    def _execute_program(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Run one program; `case` is the third member of an encoded `ProgramCase`."""
        try:
            return cells.PASSED, self._summariser.encode(self._programs.run(case))
        except ProgramError as error:
            return self._raised(error.cause, unbuilt=error.is_program_error, where=error.where)
        except Exception as error:  # noqa: BLE001 - what the library raises when outputs are read
            return self._raised(error, unbuilt=False)
        finally:
            self._programs.forget()

    def _execute_function(self, case: dict[str, Any]) -> tuple[int, bytes]:
        """Call one function; `case` is the third member of an encoded `FunctionCase`."""
        if self._functions is None:
            return cells.UNBUILT, encoded_text(["Program", "no functions are tested here"])
        result = self._functions.run(case)
        error_text = [result.name, result.message[:_MAX_MESSAGE]]
        if result.status == "failed":
            return cells.ERRORED, encoded_text([*error_text, result.frames])
        if result.status != "passed":
            return _STATUS_OF_FUNCTION[result.status], encoded_text(error_text)
        try:
            self._adapter.synchronise()
            encoded = self._summariser.encode(result.value)
        except Exception as error:  # noqa: BLE001 - code of the user's class or of the library
            return self._raised(error, unbuilt=True)
        if not result.mutated:
            return cells.PASSED, encoded
        return cells.PASSED, b'["E",%s,[],%s]' % (effects.indices(result.mutated), encoded)

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        api, kind, arguments, keywords, inputs, seed = case[:6]
        builder = self._builder
        try:
            self._adapter.reset(seed)
            positional = builder.values(arguments)
            named = builder.keywords(keywords) if keywords else {}
            layer_inputs = builder.values(inputs) if inputs else ()
            receiver = [positional.pop(0)] if kind == "method" else []
            if receiver:
                function = getattr(receiver[0], api.rpartition(".")[2])
            else:
                function = builder.member(api)
        except Exception as error:  # noqa: BLE001 - whatever a library raises while an argument is made
            return self._raised(error, unbuilt=True)
        try:
            if kind == "layer":
                output = self._adapter.make_layer(function, positional, named)
                if inputs:
                    output = output(*layer_inputs)
            else:
                output = function(*positional, **named)
            if len(case) > TWIN:
                if case[OBSERVED] == "arguments":
                    output = [*receiver, *positional, *named.values(), *layer_inputs]
                twin = self._twin(case[TWIN], seed)
                return cells.PASSED, self._summariser.encode_pair(output, twin)
            return cells.PASSED, self._passed(output)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)

    def _passed(self, output: Any) -> bytes:
        encoded = self._summariser.encode(output)
        watch = self._builder.watch
        prefix = watch.record_prefix(output) if watch.objects else b""
        return b"%s%s]" % (prefix, encoded) if prefix else encoded

    def _twin(self, encoded: Any, seed: int) -> list[Any]:
        """Return the related computation's result: `["returned", value]` or `["raised", …]`."""
        self._adapter.reset(seed)
        try:
            return ["returned", self._builder.value(encoded)]
        except Exception as error:  # noqa: BLE001 - whatever the library raises is the answer
            return ["raised", type(error).__name__, self._message(error)]

    def _message(self, error: BaseException) -> str:
        try:
            text = self._error_text(error)
            if self._scratch:
                text = text.replace(self._scratch, "/tmp")  # noqa: S108 - no file is opened
            return text[:_MAX_MESSAGE]
        except Exception:  # noqa: BLE001 - a library's __str__ may fail; the class suffices
            return "<message cannot be shown>"

    def _error_text(self, error: BaseException) -> str:
        return str(error)

    def _raised(self, error: BaseException, *, unbuilt: bool, where: str = "") -> tuple[int, bytes]:
        verdict = self._adapter.classify(error)
        name = type(error).__name__
        message = where + self._message(error)
        if verdict == contract.LOST and self._on_device:
            cause = device_errors.cause_of_loss(message)
            end_without_device(cause, name, message, _frames(error))
        if verdict == "exhausted":
            return cells.EXHAUSTED, _error_record(name, message)
        if unbuilt:
            return cells.UNBUILT, _error_record(name, message)
        if verdict == "errored" or not isinstance(error, Exception):
            return cells.ERRORED, encoded_text([name, message, _frames(error)])
        return cells.REJECTED, _error_record(name, message)


_STATUS_OF_FUNCTION = {"rejected": cells.REJECTED, "unbuilt": cells.UNBUILT}


def runner_of(functions: Any, adapter: Any) -> Any:
    """Return the runner of the user's functions, which belongs to another package.

    Args:
        functions: settings of the functions: `runner` names the runner's module.
        adapter: adapter of the library.
    """
    module = importlib.import_module(functions["runner"])

    def is_exhausted(error: BaseException) -> bool:
        return bool(adapter.classify(error) == contract.EXHAUSTED)

    return module.Runner(functions, adapter.reset, is_exhausted)


class Worker:
    """Runs batches of cases until the parent closes the connection."""

    def __init__(
        self, executor: Executor, connection: socket.socket, cell: cells.CellWriter, *, log: int
    ) -> None:
        self._execute = executor.execute
        self._connection = connection
        self._cell = cell
        self._log = log

    def run(self) -> None:
        """Run batches until the connection is closed."""
        gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])
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
    """Return the payload of an error's record: its class, its message and possibly its frames."""
    return COMPACT.encode(payload).encode("ascii")


def _error_record(name: str, message: str) -> bytes:
    """Return the same as `encoded_text([name, message])`, in a tenth of the time."""
    return f"[{quote(name)},{quote(message)}]".encode("ascii")


def _frames(error: BaseException) -> list[tuple[str, str]]:
    """Return file and function of each frame outside this package, innermost first."""
    # `traceback.extract_tb` would read the source of every frame.
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    frames = [
        (code.co_filename, code.co_name)
        for code in codes
        if not code.co_filename.startswith(_OWN_FILES)
    ]
    return frames[::-1][:_MAX_FRAMES]
