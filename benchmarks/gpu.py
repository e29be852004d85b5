"""The way of a case over a GPU, line by line: pass or fail. For any machine that has one.

    python benchmarks/gpu.py [--seconds 120] [--only workers,…] [--json FILE] [--keep FOLDER]

It tests `current[torch]` and `current[jax]`, whichever of them the active environment holds, on the
CPU and on the first CUDA device, and installs nothing. `--seconds` is the time of each campaign;
the lines before them take about two minutes per library. It prints one line per check and exits
with 1 if any failed; with `--json` the figures are written, too, with `--keep` the campaigns'
results.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.domain.outcomes import Crashed, Exhausted, Hung, Passed, Rejected
from ciguard.execution import (
    Dispatcher,
    Job,
    ServerProcess,
    Unreadable,
    decode_outputs,
    find_sanitizer,
    run_sanitizer,
)
from ciguard.execution.worker.landlock import landlock_abi
from ciguard.oracles.comparing import outcome_difference
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import WorkerSpec

MAX_FIRST_CASE_S = 0.5
MAX_START_S = 10.0
MAX_FREED_S = 5.0
MAX_WAIT_S = 30.0
MAX_SANITIZED_S = 120.0
MIN_THROUGHPUT = 0.25
"""Of the raw loop's calls per second."""
MAX_UNBUILT_POINTS = 1.0
FALSE_SIGNS = ("get_device", "not implemented for")
MAX_LANES = 4
WHAT = ("workers", "campaigns", "throughput")

_T = ["t", "float32", [2, 3], ["u", 1, 0.0, 1.0]]
_IMAGE = ["t", "float32", [1, 3, 8, 8], ["u", 1, -1.0, 1.0]]
_FAR = ["t", "int64", [2], ["k", 10**6]]
_FAR_INT32 = ["t", "int32", [2], ["k", 10**6]]
_ILLEGAL = """
import torch
source = 'extern "C" __global__ void far(float* x) { x[1l << 36] = 1.0f; }'
kernel = torch.cuda._compile_kernel(source, "far")
kernel((1, 1, 1), (1, 1, 1), (torch.zeros(1, device="cuda"),))
"""


@dataclass(frozen=True)
class Calls:
    """What is run of one library: cases in JSON form."""

    plain: list[Any]
    faulty: list[Any]
    """An index far out of range, which a kernel notices."""
    like_cpu: list[list[Any]]
    """Calls whose values must be those of the CPU."""
    random: list[Any] | None
    """Draws numbers that no other device draws."""
    greedy: list[Any]
    """Asks for more memory than there is."""
    endless: list[Any] | None
    """Keeps the device busy for minutes."""
    illegal: list[Any] | None
    """Touches memory of the device that is not its own."""
    raw: str
    """The loop that the throughput is held against: a Python program that prints calls per s."""


_RAW_TORCH = """
import time, torch
torch.set_default_device("cuda:0")
import numpy as np
data = np.random.rand(2, 3).astype("float32")
def one():
    a = torch.from_numpy(data).to("cuda:0"); b = torch.from_numpy(data).to("cuda:0")
    torch.add(a, b).cpu().numpy()
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""
_RAW_JAX = """
import time, jax, jax.numpy as jnp, numpy as np
data = np.random.rand(2, 3).astype("float32")
def one(): np.asarray(jnp.add(jnp.asarray(data), jnp.asarray(data)))
for _ in range(200): one()
began, n = time.perf_counter(), 0
while time.perf_counter() - began < 3.0:
    one(); n += 1
print(n / (time.perf_counter() - began))
"""


def _matrix(*shape: int, seed: int = 1) -> list[Any]:
    return ["t", "float32", list(shape), ["u", seed, -1.0, 1.0]]


CALLS = {
    "torch": Calls(
        plain=["torch.add", "function", [_T, _T], [], [], 1],
        faulty=["torch.nn.functional.embedding", "function", [_FAR, _T], [], [], 1],
        like_cpu=[
            [
                "torch.nn.functional.conv2d",
                "function",
                [_IMAGE, _matrix(4, 3, 3, 3)],
                [],
                [],
                1,
            ],
            ["torch.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            ["torch.nn.Linear", "layer", [16, 8], [], [_matrix(4, 16)], 1],
            ["torch.nn.Conv2d", "layer", [3, 4, 3], [], [_IMAGE], 1],
            ["torch.nn.LSTM", "layer", [8, 8], [], [_matrix(2, 3, 8)], 1],
            [
                "torch.nn.Embedding",
                "layer",
                [8, 4],
                [],
                [["t", "int64", [3], ["u", 1, 0, 7]]],
                1,
            ],
            ["torch.linalg.inv", "function", [_matrix(3, 3, seed=5)], [], [], 1],
        ],
        random=["torch.rand", "function", [["l", [3]]], [], [], 7],
        greedy=["torch.zeros", "function", [["l", [10**12]]], [], [], 1],
        endless=["torch.cuda._sleep", "function", [10**12], [], [], 1],
        illegal=["torch", "program", {"source": _ILLEGAL, "seed": 1}],
        raw=_RAW_TORCH,
    ),
    "jax": Calls(
        plain=["jax.numpy.add", "function", [_T, _T], [], [], 1],
        faulty=["jax.numpy.take", "function", [_T, _FAR_INT32], [], [], 1],
        like_cpu=[
            ["jax.numpy.matmul", "function", [_matrix(64, 256), _matrix(256, 64)], [], [], 1],
            [
                "jax.lax.conv",
                "function",
                [_IMAGE, _matrix(4, 3, 3, 3), ["l", [1, 1]], "SAME"],
                [],
                [],
                1,
            ],
            ["jax.numpy.linalg.inv", "function", [_matrix(3, 3, seed=5)], [], [], 1],
        ],
        random=None,
        greedy=["jax.numpy.zeros", "function", [["l", [10**11]]], [], [], 1],
        endless=None,
        illegal=None,
        raw=_RAW_JAX,
    ),
}


@dataclass
class Line:
    """One check and what it came to."""

    name: str
    passed: bool
    detail: str


@dataclass
class Sheet:
    """All of them, printed as they come."""

    lines: list[Line] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, *, passed: bool, detail: object = "") -> None:
        """Take and print one line."""
        line = Line(name, passed, str(detail))
        self.lines.append(line)
        sys.stdout.write(f"{'pass' if passed else 'FAIL'}  {name}: {line.detail}\n")
        sys.stdout.flush()


class Bench:
    """One target's workers, through the real engine."""

    def __init__(self, dispatcher: Dispatcher, spec: WorkerSpec) -> None:
        began = time.monotonic()
        started = dispatcher.start([spec])[spec.name]
        if not isinstance(started, ServerProcess):
            raise started
        self.start_s = time.monotonic() - began
        self.server = started
        self._dispatcher = dispatcher
        self._name = spec.name

    def run(
        self, cases: Sequence[list[Any]], *, fresh: bool = False, limit_s: float = 0.0
    ) -> tuple[tuple[Outcome, ...], float]:
        """Return the outcomes of some cases, and the seconds that the job took."""
        encoded = tuple(json.dumps(case).encode() for case in cases)
        self._dispatcher.add(Job(self._name, "bench", encoded, fresh=fresh, limit_s=limit_s))
        while not self._dispatcher.is_idle:
            for result in self._dispatcher.wait(60.0):
                return result.outcomes, result.elapsed_s
        msg = f"{self._name}: {self._dispatcher.failure(self._name) or 'no result'}"
        raise RuntimeError(msg)


def spec_of(target: str, *, confine: bool = True) -> WorkerSpec:
    """Return how the workers of a target are run."""
    environment = provision(parse_target(target), on_step=lambda _: None)
    return replace(worker_spec(target, environment, Config()), confine=confine)


def device_memory_mib() -> int:
    """Return what all processes take of the first device."""
    argv = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()[0])


def surroundings(sheet: Sheet) -> None:
    """Take note of the machine."""
    argv = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_mode"]
    found = subprocess.run(
        [*argv, "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    sheet.figures["device"] = found.stdout.strip()
    sheet.figures["landlock"] = landlock_abi()
    sheet.add("device", passed=found.returncode == 0, detail=found.stdout.strip() or found.stderr)
    sheet.add("kernel", passed=True, detail=f"{os.uname().release}, Landlock {landlock_abi()}")


def workers(sheet: Sheet, library: str) -> None:
    """Check what workers do with a device: start, blame, agree with the CPU, let go."""
    target = f"current[{library}]@cuda"
    calls = CALLS[library]
    with Dispatcher() as dispatcher:
        bench = _started(sheet, dispatcher, target)
        if bench is None:
            return
        _check_start(sheet, bench, calls, library)
        _check_blame(sheet, bench, calls, library)
        _check_limits(sheet, bench, calls, library)
        _check_sanitizer(sheet, spec_of(target), calls, library)
        host = Bench(dispatcher, spec_of(f"current[{library}]"))
        _check_agreement(sheet, bench, host, calls, library)


def _started(sheet: Sheet, dispatcher: Dispatcher, target: str) -> Bench | None:
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
        passed=cost_s < MAX_FIRST_CASE_S and elapsed_s < MAX_START_S,
        detail=f"worker and case {elapsed_s:.2f} s, the case {cost_s:.3f} s",
    )


def _check_blame(sheet: Sheet, bench: Bench, calls: Calls, library: str) -> None:
    for fresh in (False, True):
        cases = [calls.plain, calls.faulty, calls.plain, calls.plain, calls.plain]
        outcomes, elapsed_s = bench.run(cases, fresh=fresh)
        shown = [str(outcome)[:160] for outcome in outcomes]
        others = [*outcomes[:1], *outcomes[2:]]
        is_blamed = library == "jax" or isinstance(outcomes[1], Rejected)  # JAX fills with NaN
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
    if sanitizer is None or calls.illegal is None:
        return
    began = time.monotonic()
    case = json.dumps(calls.illegal).encode()
    seen = run_sanitizer(spec, case, sanitizer=sanitizer, limit_s=MAX_SANITIZED_S)
    sheet.add(
        f"{library}: the sanitizer names the kernel of an illegal access",
        passed=any(frame.function == "far" for frame in seen.frames),
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


def throughput(sheet: Sheet, library: str) -> None:
    """Hold the engine's cases per second against a loop that makes the same call."""
    calls = CALLS[library]
    python = provision(parse_target(f"current[{library}]"), on_step=lambda _: None).python
    raw = subprocess.run([python, "-c", calls.raw], capture_output=True, text=True, check=False)
    with Dispatcher() as dispatcher:
        bench = _started(sheet, dispatcher, f"current[{library}]@cuda")
        if bench is None or raw.returncode:
            sheet.add(f"{library}: throughput", passed=False, detail=raw.stderr[-300:])
            return
        bench.run([calls.plain] * 200)
        count = 8000
        _, elapsed_s = bench.run([calls.plain] * count)
    ratio = count / elapsed_s / float(raw.stdout)
    sheet.figures[f"{library} cases per s"] = count / elapsed_s
    sheet.figures[f"{library} raw calls per s"] = float(raw.stdout)
    sheet.add(
        f"{library}: throughput beside the raw loop",
        passed=ratio >= MIN_THROUGHPUT,
        detail=f"{count / elapsed_s:.0f} cases/s, {float(raw.stdout):.0f} calls/s: {ratio:.0%}",
    )


def campaigns(sheet: Sheet, library: str, seconds: int, keep: Path | None) -> None:
    """Run whole campaigns: a device against itself, and the CPU against the device."""
    device, host = f"current[{library}]@cuda", f"current[{library}]"
    for name, targets in (("aa", [device, device]), ("cpu", [host, device])):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "out"
            before = device_memory_mib()
            buckets, run = _campaign(targets, seconds, out)
            after = device_memory_mib()
            if keep is not None:
                _keep(out, keep, f"{library}-{name}")
        _judge_campaign(sheet, f"{library} {name}", buckets, run, is_same=name == "aa")
        sheet.add(
            f"{library} {name}: device memory is given back",
            passed=after <= before + 300,
            detail=f"{before} MiB before, {after} after",
        )


def _campaign(targets: Sequence[str], seconds: int, out: Path) -> tuple[list[Any], Any]:
    words = [word for target in targets for word in ("--target", target)]
    argv = [sys.executable, "-m", "ciguard", "run", *words, "--budget", f"{seconds}s"]
    argv += ["--out", str(out), "--baseline", str(out.parent / "baseline"), "--seed", "71"]
    argv += ["--jobs", str(max(1, min(MAX_LANES, (os.cpu_count() or 2) // 3)))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout[-3000:] + done.stderr[-1500:])
    try:
        buckets = [json.loads(line) for line in (out / "buckets.jsonl").read_text().splitlines()]
        return buckets, json.loads((out / "run.json").read_text())
    except OSError as error:
        return [], {"error": str(error)}


def _judge_campaign(
    sheet: Sheet, name: str, buckets: Sequence[Any], run: Any, *, is_same: bool
) -> None:
    counts = Counter(f"{b['oracle']}/{b['kind']} {b['severity']}" for b in buckets)
    sheet.figures[f"{name} buckets"] = dict(counts)
    between = [b for b in buckets if b["oracle"] == "differential" and b["severity"] != "info"]
    if is_same:
        noisy = [b for b in buckets if b["oracle"] in {"differential", "hang", "exhaustion"}]
        sheet.add(
            f"{name}: no difference, hang or exhaustion",
            passed="error" not in run and not noisy,
            detail=[f"{b['oracle']} {b['api']}: {b['message'][:90]}" for b in noisy]
            or dict(counts),
        )
        return
    false = [b for b in between if any(sign in b["message"] + b["api"] for sign in FALSE_SIGNS)]
    sheet.add(
        f"{name}: no difference by weights, TF32, get_device or a missing kernel",
        passed="error" not in run and not false,
        detail=[f"{b['api']}: {b['message'][:90]}" for b in false] or dict(counts),
    )
    for bucket in between:
        shown = f"{bucket['severity']} {bucket['kind']} {bucket['api']}: {bucket['message'][:150]}"
        sys.stdout.write(f"      {shown}\n")


def _keep(out: Path, keep: Path, name: str) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    shutil.make_archive(str(keep / name), "gztar", out)


def main() -> int:
    """Run the lines that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=120, help="of each campaign")
    parser.add_argument("--libraries", default="torch,jax")
    parser.add_argument("--only", default=",".join(WHAT), help=", ".join(WHAT))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    sheet = Sheet()
    surroundings(sheet)
    for library in given.libraries.split(","):
        for what in given.only.split(","):
            try:
                if what == "workers":
                    workers(sheet, library)
                elif what == "throughput":
                    throughput(sheet, library)
                else:
                    campaigns(sheet, library, given.seconds, given.keep)
            except Exception as error:  # noqa: BLE001 - the other lines are run all the same
                sheet.add(
                    f"{library} {what}", passed=False, detail=f"{type(error).__name__}: {error}"
                )
    if given.json is not None:
        shown = {**sheet.figures, "lines": [asdict(line) for line in sheet.lines]}
        given.json.write_text(json.dumps(shown, indent=1, default=str) + "\n")
    failed = [line for line in sheet.lines if not line.passed]
    sys.stdout.write(f"{len(sheet.lines)} lines, {len(failed)} failed\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
