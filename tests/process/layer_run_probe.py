"""Runs inside a target's interpreter: runs cases of level `model`, as a worker would.

python layer_run_probe.py REPOSITORY ADAPTER < CASES > RECORDS, both lists in JSON
"""

# ruff: noqa: PLC0415 - the library is imported last

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import types
from pathlib import Path


def open_packages(root: str) -> None:
    for name in ("ciguard", "ciguard.execution", "ciguard.targets", "ciguard.domain"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(root, *name.split(".")))]
        sys.modules[name] = package


def main() -> None:
    root, library = sys.argv[1:]
    open_packages(root)
    cases = json.load(sys.stdin)
    from ciguard.execution.worker.loop import Executor

    adapter = importlib.import_module(f"ciguard.libraries.{library}.in_target.adapter").ADAPTER()
    adapter.load("cpu")
    executor = Executor(adapter)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        records = [executor.execute(case) for case in cases]
        left = [path.name for path in Path(folder).iterdir()]
        os.chdir("/")
    answer = {"records": [[status, text.decode("ascii")] for status, text in records]}
    sys.stdout.write("\n" + json.dumps({**answer, "left": left}) + "\n")


if __name__ == "__main__":
    main()
