"""Where a worker's time goes: ciguard's own executor runs encoded cases under a clock per stage.

Runs in the target: `python keras_stages.py REPOSITORY CASES WARM-UP`. Prints as JSON the CPU
seconds of each stage, without those of the stages inside it, over all but the first WARM-UP cases.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import types
from collections import Counter
from pathlib import Path
from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

PACKAGES = ("ciguard", "ciguard.execution", "ciguard.targets", "ciguard.domain")
STAGES = (
    ("ciguard.execution.worker.models", "prepare", "data"),
    ("ciguard.libraries.keras.in_target.networks", "Network._layer", "making layers"),
    ("ciguard.execution.worker.layer_weights", "arrays", "weights"),
    ("ciguard.libraries.keras.in_target.networks", "Network.call", "computing layers"),
    ("ciguard.libraries.keras.in_target.models", "digest", "digests"),
    ("ciguard.libraries.keras.in_target.training", "digest", "digests"),
    ("ciguard.execution.worker.models", "encode", "encoding"),
)
"""Module, function and name; a function inside another's time has its own."""


class Stages:
    """Clocks that stop while another one runs."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()
        self._running: list[str] = []
        self._since = time.process_time()

    def clear(self) -> None:
        """Forget what was spent so far."""
        self.spent.clear()
        self._since = time.process_time()

    def settle(self) -> None:
        """Give the time since the last change to the stage that runs."""
        now = time.process_time()
        self.spent[self._running[-1] if self._running else "the rest"] += now - self._since  # type: ignore[assignment]
        self._since = now

    def watch(self, module: str, path: str, stage: str) -> None:
        """Have a function's time counted."""
        owner = importlib.import_module(module)
        *outer, name = path.split(".")
        for each in outer:
            owner = getattr(owner, each)
        setattr(owner, name, self._watched(getattr(owner, name), stage))

    def _watched(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            self.settle()
            self._running.append(stage)
            try:
                return function(*args, **kwargs)
            finally:
                self.settle()
                self._running.pop()

        return watched


def open_packages(root: str) -> None:
    """Make the worker importable without the doors of its packages."""
    for name in PACKAGES:
        package = types.ModuleType(name)
        package.__path__ = [str(Path(root, *name.split(".")))]
        sys.modules[name] = package


def main() -> None:
    """Print seconds by stage."""
    root, file, warm_up = sys.argv[1:4]
    open_packages(root)
    keras = importlib.import_module("ciguard.libraries.keras.in_target.adapter")
    loop = importlib.import_module("ciguard.execution.worker.loop")
    adapter = keras.ADAPTER()
    adapter.load("cpu")
    stages = Stages()
    for stage in STAGES:
        stages.watch(*stage)
    executor = loop.Executor(adapter)
    cases = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    for case in cases[: int(warm_up)]:
        executor.execute(case)
    stages.clear()
    for case in cases[int(warm_up) :]:
        executor.execute(case)
    stages.settle()
    print(json.dumps(stages.spent))


if __name__ == "__main__":
    main()
