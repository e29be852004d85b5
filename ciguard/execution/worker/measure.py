"""Measuring: time and memory of one call, repeated, instead of its outputs.

A worker that measures takes pairs `[plan, case]`. The plan says what to measure:

    ["time", calls, repetitions]      CPU time per call, ns: one value per repetition
    ["peak"]                          memory that one call takes at its worst, bytes: one value
    ["growth", calls, checkpoints]    private memory, bytes: one value per `calls` calls

A call that returns is recorded as passed, with `{"measured": …, "calls": …, "values": […]}`.
"""

from __future__ import annotations

import functools
import gc
import mmap
import time
from typing import Any, Callable

from ciguard.execution.worker import cell as cells
from ciguard.execution.worker.loop import Executor
from ciguard.execution.worker.memory import (
    KIB,
    PAGE,
    give_back_freed,
    high_mark_and_resident_kib,
    private_bytes,
)
from ciguard.execution.worker.summarise import COMPACT

_WARM_UP = 4
"""One in so many calls comes before those that are timed."""


class MeasuringExecutor(Executor):
    """Runs one case many times; arguments are built outside of what is measured."""

    def __init__(self, adapter: Any, *, device: str) -> None:
        super().__init__(adapter, on_device=device != "cpu")
        # Of all threads, since libraries keep threads of their own. A device computes on nobody's
        # CPU time: there only the clock on the wall tells.
        self._clock = time.process_time_ns if device == "cpu" else time.perf_counter_ns
        self._measures: dict[str, Callable[..., list[float]]] = {
            "time": self._time,
            "peak": self._peak,
            "growth": self._growth,
        }

    def _execute(self, case: list[Any]) -> tuple[int, bytes]:
        (quantity, *plan), measured = case
        try:
            values = self._measures[quantity](measured, *plan)
        except BaseException as error:  # noqa: BLE001 - SystemExit included: it is the case's outcome
            return self._raised(error, unbuilt=False)
        finally:
            gc.enable()
        calls = plan[0] if plan else 1
        record = {"measured": quantity, "calls": calls, "values": values}
        return cells.PASSED, COMPACT.encode(record).encode("ascii")

    def _prepared(self, case: list[Any]) -> Callable[[], Any]:
        """Return the call with new arguments; those of the call before are let go."""
        api, kind, arguments, keywords, inputs, seed = case[:6]
        builder = self._builder
        builder.forget()
        self._adapter.reset(seed)
        built = builder.values(arguments)
        named = builder.keywords(keywords)
        fed = builder.values(inputs)
        name = api.rpartition(".")[2]
        function = getattr(built.pop(0), name) if kind == "method" else builder.member(api)
        if kind == "layer" and fed:
            return lambda: self._adapter.make_layer(function, built, named)(*fed)
        return functools.partial(function, *built, **named)

    def _repeat(self, call: Callable[[], Any], calls: int) -> None:
        # After each: a lazy library would leave out results that nobody has waited for.
        wait = self._adapter.wait_for
        for _ in range(calls):
            wait(call())

    def _time(self, case: list[Any], calls: int, repetitions: int) -> list[float]:
        self._repeat(self._prepared(case), -(-calls // _WARM_UP))
        values = []
        for _ in range(repetitions):
            call = self._prepared(case)
            gc.collect()
            gc.disable()
            began = self._clock()
            self._repeat(call, calls)
            values.append((self._clock() - began) / calls)
            gc.enable()
        return values

    def _peak(self, case: list[Any]) -> list[float]:
        self._repeat(self._prepared(case), 1)  # imports and caches are no matter of this call
        call = self._prepared(case)
        gc.collect()
        on_device = self._adapter.device_memory()
        if on_device is not None:
            self._repeat(call, 1)
            _, peak = self._adapter.device_memory()
            return [peak - on_device[0]]
        give_back_freed()
        highest, resident = high_mark_and_resident_kib()
        # The kernel tells the highest mark only: filled up to it, what comes on top is the call's.
        ballast = _filled(max(0, highest - resident) * KIB)
        before, _ = high_mark_and_resident_kib()
        self._repeat(call, 1)
        after, _ = high_mark_and_resident_kib()
        ballast.close()
        return [(after - before) * KIB]

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
    # Private: what no limit counts is refused to workers.
    memory = mmap.mmap(-1, pages * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[::PAGE] = b"\1" * pages
    return memory
