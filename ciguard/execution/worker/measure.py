"""Measurement of the time and memory of a repeated call, instead of its outputs.

A measuring worker receives pairs `[plan, case]`, where the plan is one of:

    ["time", calls, repetitions]      CPU time per call, in ns: one value per repetition
    ["peak"]                          peak memory of one call, in bytes: one value
    ["growth", calls, checkpoints]    private memory, in bytes: one value per `calls` calls

The record of a call that returns is passed, with `{"measured": …, "calls": …, "values": […]}`.
"""

from __future__ import annotations

import functools
import gc
import mmap
import time
from typing import Any, Callable

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker import planting
from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.memory import (
    KIB,
    PAGE,
    peak_and_resident_kib,
    private_bytes,
    release_freed_memory,
)
from ciguard.execution.worker.summarise import COMPACT

_WARM_UP_DIVISOR = 4
"""Divisor of the number of calls that gives the number of calls for the warm-up."""


class MeasuringExecutor(Executor):
    """Runs one case many times; the construction of arguments is not measured."""

    def __init__(self, adapter: Any, *, device: str) -> None:
        super().__init__(adapter, on_device=device != "cpu")
        # CPU time includes all threads, as libraries have their own. The time of a device is not
        # CPU time, so wall time is measured there.
        self._clock = time.process_time_ns if device == "cpu" else time.perf_counter_ns
        self._measures: dict[str, Callable[..., list[float]]] = {
            "time": self._time,
            "peak": self._peak,
            "growth": self._growth,
        }

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        (quantity, *plan), call = case
        try:
            values = self._measures[quantity](call, *plan)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)
        finally:
            gc.enable()
        calls = plan[0] if plan else 1
        record = {"measured": quantity, "calls": calls, "values": values}
        return cells.PASSED, COMPACT.encode(record).encode("ascii")

    def _prepared(self, case: list[Any]) -> Callable[[], Any]:
        """Return the call with new arguments; those of the previous call are released."""
        if case[1] == planting.PLANTED:
            defect, planted = case[2]
            with planting.planted(self._builder, self._adapter, case[0], defect):
                return self._prepared(planted)
        api, kind, arguments, keywords, inputs, seed = case[:6]
        builder = self._builder
        builder.forget()
        self._adapter.reset(seed)
        positional = builder.values(arguments)
        named = builder.keywords(keywords)
        layer_inputs = builder.values(inputs)
        name = api.rpartition(".")[2]
        function = getattr(positional.pop(0), name) if kind == "method" else builder.member(api)
        if kind == "layer" and layer_inputs:
            return lambda: self._adapter.make_layer(function, positional, named)(*layer_inputs)
        return functools.partial(function, *positional, **named)

    def _repeat(self, call: Callable[[], Any], calls: int) -> None:
        # Wait for each result: a lazy library would not compute it otherwise.
        wait = self._adapter.wait_for
        for _ in range(calls):
            wait(call())

    def _time(self, case: list[Any], calls: int, repetitions: int) -> list[float]:
        self._repeat(self._prepared(case), -(-calls // _WARM_UP_DIVISOR))
        values = []
        for _ in range(repetitions):
            call = self._prepared(case)
            gc.collect()
            gc.disable()
            self._adapter.synchronise()  # the device may still be copying the arguments
            began = self._clock()
            self._repeat(call, calls)
            values.append((self._clock() - began) / calls)
            gc.enable()
        return values

    def _peak(self, case: list[Any]) -> list[float]:
        self._repeat(self._prepared(case), 1)  # imports and caches are not part of the peak
        call = self._prepared(case)
        gc.collect()
        on_device = self._adapter.device_memory()
        if on_device is not None:
            self._repeat(call, 1)
            _, peak = self._adapter.device_memory()
            return [peak - on_device[0]]
        release_freed_memory()
        peak, resident = peak_and_resident_kib()
        # The kernel reports the peak only: memory is filled up to it, so that the call raises it.
        ballast = _filled(max(0, peak - resident) * KIB)
        start, _ = peak_and_resident_kib()
        self._repeat(call, 1)
        end, _ = peak_and_resident_kib()
        ballast.close()
        return [(end - start) * KIB]

    def _growth(self, case: list[Any], calls: int, checkpoints: int) -> list[float]:
        sizes: list[float] = []
        for _ in range(checkpoints + 1):
            self._repeat(self._prepared(case), calls)
            self._builder.forget()
            gc.collect()
            on_device = self._adapter.device_memory()
            sizes.append(private_bytes() if on_device is None else on_device[0])
        return sizes[1:]  # the first warms up


def _filled(size: int) -> mmap.mmap:
    """Return memory of at least `size` bytes, every page of it in use."""
    pages = size // PAGE + 1
    # Private memory, as workers must not map shared memory.
    memory = mmap.mmap(-1, pages * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[::PAGE] = b"\1" * pages
    return memory
