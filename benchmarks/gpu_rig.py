"""What the lines of `gpu.py` share: a sheet of lines, and workers on a device."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ciguard.campaign.workers import worker_spec
from ciguard.config import Config
from ciguard.execution import (
    Dispatcher,
    Job,
    ServerProcess,
)
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import WorkerSpec


@dataclass
class Line:
    """One check and what it came to."""

    name: str
    passed: bool
    detail: str


@dataclass
class Sheet:
    """All of them, printed and stored as they come, since the machine may be gone at any time."""

    path: Path | None = None
    lines: list[Line] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    earlier: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read what earlier commands have stored in the file."""
        if self.path is not None and self.path.exists():
            self.earlier = json.loads(self.path.read_text(encoding="utf-8"))

    def add(self, name: str, *, passed: bool, detail: object = "") -> None:
        """Take and print one line."""
        line = Line(name, passed, str(detail))
        self.lines.append(line)
        sys.stdout.write(f"{'pass' if passed else 'FAIL'}  {name}: {line.detail}\n")
        sys.stdout.flush()
        self.store()

    @property
    def all_lines(self) -> list[dict[str, Any]]:
        """The lines in JSON form; of earlier commands, those that were not repeated."""
        names = {line.name for line in self.lines}
        earlier = [line for line in self.earlier.get("lines", []) if line["name"] not in names]
        return [*earlier, *map(asdict, self.lines)]

    def store(self) -> None:
        """Write figures and lines; of earlier commands, those that were not repeated."""
        if self.path is None:
            return
        shown = {**self.earlier, **self.figures, "lines": self.all_lines}
        self.path.write_text(json.dumps(shown, indent=1, default=str) + "\n", encoding="utf-8")


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

    def run(self, cases: Sequence[list[Any]], **options: Any) -> tuple[tuple[Outcome, ...], float]:
        """Return the outcomes of some cases, and the seconds that the job took.

        Args:
            cases: the cases in JSON form.
            options: attributes of the job.
        """
        encoded = tuple(json.dumps(case).encode() for case in cases)
        self._dispatcher.add(Job(self._name, "bench", encoded, **options))
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


class MemoryWatch:
    """Samples the memory of the first device within a `with` block."""

    def __init__(self, interval_s: float = 2.0) -> None:
        self.samples_mib: list[int] = []
        self._interval_s = interval_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._is_over.wait(self._interval_s):
            self.samples_mib.append(device_memory_mib())

    @property
    def growth_mib(self) -> int:
        """How far the highest sample of the last third exceeds that of the third before.

        The first third, in which the workers start, does not count.
        """
        third = len(self.samples_mib) // 3
        if not third:
            return 0
        return max(self.samples_mib[-third:]) - max(self.samples_mib[-2 * third : -third])


def devices() -> list[str]:
    """Return a line of text per GPU: name, driver, memory and compute mode; none without one."""
    argv = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,compute_mode"]
    try:
        found = subprocess.run(
            [*argv, "--format=csv,noheader"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return []
    return found.stdout.strip().splitlines() if found.returncode == 0 else []
