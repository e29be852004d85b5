"""The lines of `gpu.py` about single workers: start, blame, limits, agreement and modes."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_cases import CALLS
from gpu_layers import layers
from gpu_rig import Bench, device_memory_mib, spec_of

from ciguard.domain.dtypes import EVERY as DTYPES
from ciguard.domain.outcomes import Crashed, Exhausted, Hung, Passed, Rejected, Stage
from ciguard.execution import (
    Dispatcher,
    Unreadable,
    decode_outputs,
    find_sanitizer,
    run_sanitizer,
)
from ciguard.libraries import LIBRARIES
from ciguard.oracles.comparing import NO_INPUTS, outcome_difference, with_tf32
from ciguard.targets import TF32

if TYPE_CHECKING:
    from gpu_cases import Calls
    from gpu_rig import Sheet

    from ciguard.execution import WorkerSpec

MAX_START_S = 10.0
_FAULTY_OUTCOMES: dict[bool | None, tuple[type, ...]] = {
    True: (Rejected,),
    False: (Passed,),
    None: (Passed, Rejected),
}
"""What a faulty call may come to, by `Calls.is_refused`."""
MAX_FREED_S = 5.0
MAX_WAIT_S = 30.0
MAX_SANITIZED_S = 120.0
MAX_UNBUILT_POINTS = 1.0
MAX_IDLE_MIB = 2000
"""What the context, the kernels and the libraries of one worker may take."""


def workers(sheet: Sheet, library: str) -> None:
    """Check what workers do with a device: start, blame, agree with the CPU, let go."""
    target = f"current[{library}]@cuda"
    calls = CALLS[library]
    layers(sheet, library, start=calls.start, readable=spec_of(target).readable)
    idle_mib = device_memory_mib()
    with Dispatcher() as dispatcher:
        bench = started(sheet, dispatcher, target)
        if bench is None:
            return
        _check_start(sheet, bench, calls, library)
        _check_memory(sheet, bench, library, idle_mib)
        _check_blame(sheet, bench, calls, library)
        _check_limits(sheet, bench, calls, library)
        _check_sanitizer(sheet, spec_of(target), calls, library)
        host = Bench(dispatcher, spec_of(f"current[{library}]"))
        _check_agreement(sheet, bench, host, calls, library)
        _check_unbuilt(sheet, bench, host, calls, library)


def modes(sheet: Sheet, library: str) -> None:
    """Check modes on the device: TF32 in its own tolerance, and compiled kernels."""
    target = f"current[{library}]@cuda"
    calls = CALLS[library]
    with Dispatcher() as dispatcher:
        bench = started(sheet, dispatcher, target)
        if bench is None:
            return
        (plain,), _ = bench.run([calls.product])
        tf32 = [TF32] if LIBRARIES.get(library).has_tf32 else []
        for mode in (*tf32, *calls.modes):
            other = Bench(dispatcher, spec_of(f"{target} {mode}"))
            (outcome,), elapsed_s = other.run([calls.product])
            inputs = replace(NO_INPUTS, scale=1.0)
            inputs = with_tf32(inputs) if mode == TF32 else inputs
            difference = outcome_difference(plain, outcome, inputs)
            is_sound = isinstance(plain, Passed) and isinstance(outcome, Passed)
            # A product that TF32 did not round was not computed in the mode.
            is_rounded = mode != TF32 or str(plain) != str(outcome)
            sheet.add(
                f"{library}: {calls.product[0]} in mode {mode} is as without it",
                passed=is_sound and is_rounded and difference is None,
                detail=difference.text if difference else f"{elapsed_s:.1f} s, {outcome!s:.120}",
            )


def started(sheet: Sheet, dispatcher: Dispatcher, target: str) -> Bench | None:
    """Start the workers of a target, confined if that is possible; None if they cannot start."""
    for confine in (True, False):
        try:
            bench = Bench(dispatcher, spec_of(target, confine=confine))
        except Exception as error:  # noqa: BLE001 - it is what is to be shown
            sheet.add(f"{target} starts, confine={confine}", passed=False, detail=str(error)[:1500])
            continue
        held = ", ".join(bench.server.confined_by)
        sheet.add(
            f"{target} starts, confine={confine}",
            passed=confine and bench.start_s < 4 * MAX_START_S,
            detail=f"{bench.server.version} after {bench.start_s:.1f} s, held by {held}",
        )
        return bench
    return None


def _check_start(sheet: Sheet, bench: Bench, calls: Calls, library: str) -> None:
    outcomes, elapsed_s = bench.run([calls.plain], fresh=True)
    first = outcomes[0]
    cost_s = first.cost_s if isinstance(first, Passed) else 99.0
    sheet.figures[f"{library} worker start s"] = elapsed_s
    sheet.figures[f"{library} first case s"] = cost_s
    sheet.add(
        f"{library}: start-up is no part of the first case",
        passed=cost_s < calls.first_case_s and elapsed_s < MAX_START_S + calls.first_case_s,
        detail=f"worker and case {elapsed_s:.2f} s, the case {cost_s:.3f} s",
    )


def _check_memory(sheet: Sheet, bench: Bench, library: str, idle_mib: int) -> None:
    """Take note of what a worker that waits for cases holds, on the device and of the host."""
    on_device = device_memory_mib() - idle_mib
    status = Path(f"/proc/{_newest_child(bench.server.process_id)}/status").read_text("ascii")
    fields = dict(line.partition(":")[::2] for line in status.splitlines())
    on_host = int(fields["RssAnon"].split()[0]) // 1024
    sheet.figures[f"{library} worker MiB"] = {"device": on_device, "host": on_host}
    sheet.add(
        f"{library}: a waiting worker holds little memory",
        passed=on_device <= MAX_IDLE_MIB and on_host <= MAX_IDLE_MIB,
        detail=f"{on_device} MiB on the device, {on_host} MiB of its own on the host",
    )


def _check_blame(sheet: Sheet, bench: Bench, calls: Calls, library: str) -> None:
    for fresh in (False, True):
        cases = [calls.plain, calls.faulty, calls.plain, calls.plain, calls.plain]
        outcomes, elapsed_s = bench.run(cases, fresh=fresh)
        shown = [str(outcome)[:160] for outcome in outcomes]
        others = [*outcomes[:1], *outcomes[2:]]
        is_blamed = isinstance(outcomes[1], _FAULTY_OUTCOMES[calls.is_refused])
        sheet.add(
            f"{library}: a faulty call is blamed, the others pass, fresh={fresh}",
            passed=is_blamed and all(isinstance(one, Passed) for one in others),
            detail=f"{elapsed_s:.1f} s; {shown[1]}; then {[type(o).__name__ for o in others]}",
        )
    if calls.illegal is not None:
        outcomes, _ = bench.run([calls.illegal, calls.plain])
        first = outcomes[0]
        sheet.add(
            f"{library}: an illegal access is a crash, and the next call passes",
            passed=isinstance(first, Crashed)
            and first.cause == "CUDA illegal memory access"
            and isinstance(outcomes[1], Passed),
            detail=[str(outcome)[:300] for outcome in outcomes],
        )
        sheet.figures[f"{library} Xid"] = [
            line for line in getattr(first, "log", "").splitlines() if "Xid" in line
        ]
        (blamed,), _ = bench.run([calls.illegal], fresh=True, is_synchronous=True)
        stack = blamed.stack if isinstance(blamed, Crashed) else ()
        sheet.add(
            f"{library}: with synchronous kernels, the failing call raises the error",
            passed=bool(stack) and not any("synchronize" in frame.function for frame in stack),
            detail=[f"{frame.file}:{frame.function}" for frame in stack] or str(blamed)[:300],
        )


def _check_limits(sheet: Sheet, bench: Bench, calls: Calls, library: str) -> None:
    outcomes, _ = bench.run([calls.greedy, calls.plain])
    sheet.add(
        f"{library}: too large a request is exhaustion, and the next call passes",
        passed=isinstance(outcomes[0], Exhausted) and isinstance(outcomes[1], Passed),
        detail=[str(outcome)[:160] for outcome in outcomes],
    )
    if calls.endless is None:
        return
    before = device_memory_mib()
    began = time.monotonic()
    outcomes, _ = bench.run([calls.endless, calls.plain], limit_s=4.0)
    took_s = time.monotonic() - began
    sheet.add(
        f"{library}: a kernel without end hangs, and the lane goes on",
        passed=isinstance(outcomes[0], Hung) and isinstance(outcomes[1], Passed),
        detail=f"{took_s:.1f} s; {[str(outcome)[:100] for outcome in outcomes]}",
    )
    _check_kill(sheet, bench, calls, library, before)


def _check_sanitizer(sheet: Sheet, spec: WorkerSpec, calls: Calls, library: str) -> None:
    sanitizer = find_sanitizer()
    if sanitizer is None:
        sheet.figures["compute-sanitizer"] = "not installed"
        return
    for kernel, faulty in (("far", calls.illegal), ("stray", calls.stray)):
        if faulty is None:
            continue
        began = time.monotonic()
        case = json.dumps(faulty).encode()
        seen = run_sanitizer(spec, case, sanitizer=sanitizer, limit_s=MAX_SANITIZED_S)
        sheet.add(
            f"{library}: the sanitizer names the kernel {kernel}, its thread and address",
            passed=any(
                frame.function.startswith(kernel) and "thread" in frame.file and "0x" in frame.file
                for frame in seen.frames
            ),
            detail=f"{time.monotonic() - began:.1f} s; {seen.frames or seen.text[:500]!r}",
        )


def _check_kill(sheet: Sheet, bench: Bench, calls: Calls, library: str, before_mib: int) -> None:
    """Kill a worker from outside while its kernel runs."""
    freed: list[float] = []

    def kill() -> None:
        time.sleep(3.0)
        child = _newest_child(bench.server.process_id)
        os.kill(child, signal.SIGKILL)
        began = time.monotonic()
        while Path("/proc", str(child)).exists() and time.monotonic() - began < MAX_WAIT_S:
            time.sleep(0.05)
        freed.append(time.monotonic() - began)

    thread = threading.Thread(target=kill)
    thread.start()
    outcomes, elapsed_s = bench.run([calls.endless or [], calls.plain], limit_s=8.0)
    thread.join()
    after_mib = device_memory_mib()
    sheet.add(
        f"{library}: kill -9 within a kernel gives the memory back, and the lane goes on",
        passed=freed[0] < MAX_FREED_S
        and isinstance(outcomes[1], Passed)
        and after_mib < before_mib + 1500,
        detail=f"gone after {freed[0]:.2f} s, job {elapsed_s:.1f} s, "
        f"device memory {before_mib} MiB before, {after_mib} after; "
        f"{[str(outcome)[:80] for outcome in outcomes]}",
    )


def _newest_child(server: int) -> int:
    """Return the process that was forked last below a server."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    below = {server}
    for _ in range(6):
        below |= {pid for pid, parent in parents.items() if parent in below}
    return max(below)


def _check_agreement(sheet: Sheet, bench: Bench, host: Bench, calls: Calls, library: str) -> None:
    mine, _ = host.run(calls.like_cpu)
    theirs, _ = bench.run(calls.like_cpu)
    for case, one, other in zip(calls.like_cpu, mine, theirs, strict=True):
        difference = outcome_difference(one, other)
        is_sound = isinstance(one, Passed) and isinstance(other, Passed)
        sheet.add(
            f"{library}: {case[0]} is as on the CPU",
            passed=is_sound and difference is None,
            detail=difference.text if difference else "" if is_sound else str(other)[:200],
        )
    if calls.random is not None:
        outcomes, _ = bench.run([calls.random])
        drawn = outcomes[0]
        read = decode_outputs(drawn.encoded) if isinstance(drawn, Passed) else None
        sheet.add(
            f"{library}: what is drawn on the device is not compared",
            passed=isinstance(read, Unreadable),
            detail=read or drawn,
        )


def _check_unbuilt(sheet: Sheet, bench: Bench, host: Bench, calls: Calls, library: str) -> None:
    """Compare how many arguments cannot be built, over all types of elements."""
    fills: list[Any] = [["k", 0], ["u", 1, 0, 1], ["s", 1]]
    cases = [
        [calls.one, "function", [["t", dtype, shape, fill]], [], [], 1]
        for dtype in DTYPES
        for shape in ([], [3], [2, 0])
        for fill in fills
    ]
    shares = {}
    for name, one in (("cpu", host), ("device", bench)):
        outcomes, _ = one.run(cases)
        unbuilt = [o for o in outcomes if isinstance(o, Rejected) and o.stage is Stage.BUILD]
        shares[name] = 100 * len(unbuilt) / len(cases)
    sheet.figures[f"{library} unbuilt %"] = shares
    sheet.add(
        f"{library}: as many arguments can be built as on the CPU",
        passed=abs(shares["cpu"] - shares["device"]) <= MAX_UNBUILT_POINTS,
        detail=f"not built: {shares['cpu']:.1f} % on the CPU, {shares['device']:.1f} % on the GPU",
    )
