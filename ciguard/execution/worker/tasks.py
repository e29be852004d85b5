"""Tasks of a fork server's children: each child runs one task with its descriptors."""

from __future__ import annotations

import inspect
import json
import os
import socket
import warnings
from typing import Any, Callable, Sequence

from ciguard.domain.dtypes import EVERY as DTYPES
from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import confine, limits
from ciguard.execution.worker.fills import elements
from ciguard.execution.worker.loop import Worker, redirect_streams, runner_of
from ciguard.execution.worker.measure import MeasuringExecutor
from ciguard.execution.worker.messages import end_without_device
from ciguard.execution.worker.preparing import restrict_process, start_device
from ciguard.libraries.in_target import contract, device_errors, introspection

_MAX_DESCRIBED_MIB = 256
_MAX_DOCSTRING = 30_000
_DESCRIBED_METHODS = ("__init__", "forward", "call", "execute", "__call__")
_MAX_WARNINGS = 20
_MAX_WARNING = 1_000
_DEPRECATIONS = (DeprecationWarning, FutureWarning, PendingDeprecationWarning)


class Tasks:
    """All tasks of a child, which runs one of them."""

    def __init__(
        self, adapter: Any, executor: Any, settings: dict[str, Any], *, perturb: int = 0
    ) -> None:
        """Prepare the tasks.

        Args:
            adapter: adapter of the library, which is loaded.
            executor: executor of the cases.
            settings: settings of the target's process.
            perturb: byte that fills newly allocated memory; 0 leaves memory as it is.
        """
        self._adapter = adapter
        self._executor = executor
        self._settings = settings
        self._perturb = perturb

    def task(self, operation: str) -> Callable[[Sequence[int]], None]:
        """Return the task that a request names."""
        tasks: dict[str, Callable[[Sequence[int]], None]] = {
            "fork": self._work,
            "measure": self._measure,
            "describe": self._describe,
            "models": self._models,
            "functions": self._describe_functions,
            "docstrings": self._docstrings,
            "warnings": self._warnings,
            "script": self._run_script,
        }
        return tasks[operation]

    @property
    def _on_device(self) -> bool:
        return bool(self._settings["device"] != "cpu")

    def _work(self, descriptors: Sequence[int]) -> None:
        connection, shared, log, stack = descriptors
        if self._perturb:
            limits.perturb_memory(self._perturb)
            self._adapter.vary(self._perturb)
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrict_process(self._settings)
        if self._on_device:
            self._start_device()
        else:
            self._adapter.start()
        cell = cells.CellWriter(shared)
        with socket.socket(fileno=connection) as stream:
            Worker(self._executor, stream, cell, log=log).run()

    def _measure(self, descriptors: Sequence[int]) -> None:
        # Measuring the peak fills as much memory as the call uses, see `MeasuringExecutor`.
        self._settings = {**self._settings, "memory_mib": 2 * self._settings["memory_mib"]}
        self._executor = MeasuringExecutor(self._adapter, device=self._settings["device"])
        self._work(descriptors)

    def _describe(self, descriptors: Sequence[int]) -> None:
        output, log, stack = descriptors
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        limits.limit_output(_MAX_DESCRIBED_MIB)
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            lacks = lacking_dtypes(self._adapter)
            for record in self._adapter.describe():
                if lacks and "api" in record:
                    record["lacks"] = lacks
                stream.write(json.dumps(record) + "\n")

    def _models(self, descriptors: Sequence[int]) -> None:
        sources, output, log, stack = descriptors
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        requests = _read_requests(sources)
        if not any("folder" in source for source in requests):  # applications download files
            limits.limit_output(self._settings["output_mib"])
            if self._settings["confine"]:
                confine.restrict_system_calls(confine.role_of(self._settings))
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            for record in self._adapter.models(requests):
                stream.write(json.dumps(record) + "\n")

    def _describe_functions(self, descriptors: Sequence[int]) -> None:
        sources, output, log, stack = descriptors
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrict_process(self._settings)
        requests = _read_requests(sources)
        runner = runner_of(self._settings["functions"], self._adapter)
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            for source in requests:
                stream.write(json.dumps(runner.describe(source)) + "\n")

    def _docstrings(self, descriptors: Sequence[int]) -> None:
        """Write the docstring of each API in the request; none for APIs that do not exist."""
        requests, output, log, stack = descriptors
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        (request,) = _read_requests(requests)
        docstrings = {}
        for api in request["apis"]:
            try:
                value = self._adapter.resolve(api)
                docstrings[api] = _whole_docstring(value)[:_MAX_DOCSTRING]
            except Exception:  # noqa: BLE001, S112 - a public object may raise anything
                continue
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(docstrings))

    def _warnings(self, descriptors: Sequence[int]) -> None:
        """Run a case, and write the deprecation warnings that it raised."""
        requests, output, log, stack = descriptors
        redirect_streams(log, stack)
        restrict_process(self._settings)
        (request,) = _read_requests(requests)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self._executor.execute(request["case"])
        messages = [
            str(warning.message)[:_MAX_WARNING]
            for warning in caught
            if issubclass(warning.category, _DEPRECATIONS)
        ]
        with os.fdopen(output, "w", encoding="utf-8") as stream:
            stream.write(json.dumps({"warnings": messages[:_MAX_WARNINGS]}))

    def _run_script(self, descriptors: Sequence[int]) -> None:
        script, log, stack = descriptors
        redirect_streams(log, stack)
        warnings.simplefilter("ignore")
        restrict_process(self._settings)
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

    def report_device(self, descriptors: Sequence[int]) -> None:
        """Write the reason why the device cannot be used; nothing if it can."""
        (output,) = descriptors
        restrict_process(self._settings)
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


def _read_requests(descriptor: int) -> list[Any]:
    """Return the requests in a file, which is closed."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        return list(json.load(stream))


def _whole_docstring(value: Any) -> str:
    """Return the docstring of an object; for a class, also those of its initialiser and call."""
    methods = _DESCRIBED_METHODS if inspect.isclass(value) else ()
    members = [value, *(vars(value).get(name) for name in methods)]
    return "\n\n".join(filter(None, map(inspect.cleandoc, map(introspection.doc_of, members))))


def lacking_dtypes(adapter: Any) -> list[str]:
    """Return the common names of the element types that the target does not support."""
    lacking = []
    for name in DTYPES:
        try:
            adapter.tensor(elements(["k", 0], name, [1]), name)
        except Exception:  # noqa: BLE001 - whatever the library raises
            lacking.append(name)
    return lacking
