"""Entry of a target's process under `make coverage`: as the real entry does, measured.

Stands in the place of `ciguard/execution/worker/bootstrap.py`, see `ciguard_planted.measured`; it
lies in folders of those names for its frames to count as ciguard's own in stacks. All that it needs
is found from this file: the real entry, coverage.py and the folder of the data. Workers cannot read
the environment of the tests, and a target has no coverage.py of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[6]
ENTRY = CHECKOUT / "ciguard" / "execution" / "worker" / "bootstrap.py"
DATA = CHECKOUT / ".cache" / "coverage"
MAX_MEASURED_FORKS = 20
"""Workers of one server that are measured: each writes a file, and most do the same."""
SAVED_EVERY_S = 1.0


def main() -> None:
    """Let the process read and write what measuring takes, then do as the real entry does."""
    settings = json.loads(sys.argv[1])
    if "coverage" not in settings:  # once confined, the process may list no folders
        sys.argv[1] = _granting(settings)
    measuring = _start(Path(settings["coverage"]))
    try:
        _loaded("bootstrap", ENTRY, None).main()
    finally:
        if measuring is not None:
            measuring.stop()
            measuring.save()


def _loaded(name: str, file: Path, folders: list[str] | None) -> Any:
    """Import a module from its file: its folder is beside the path, and need not be readable."""
    specification = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=folders
    )
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _granting(settings: dict[str, Any]) -> str:
    library = next(CHECKOUT.glob(".venv/lib/python3*/site-packages/coverage"))
    settings["coverage"] = str(library)
    settings["readable"] += [str(Path(__file__).parent), str(library)]
    settings["writable"].append(str(DATA))
    return json.dumps(settings)


def _start(library: Path) -> Any:
    """Start coverage.py; return None where it does not run in this interpreter."""
    if sys.version_info < (3, 10):  # noqa: UP036 - a target may have an older interpreter
        return None
    coverage = _loaded("coverage", library / "__init__.py", [str(library)])
    measuring = coverage.Coverage(
        data_file=str(DATA / "data"),
        data_suffix=True,
        branch=True,
        include=[f"{CHECKOUT}/ciguard/*"],
        config_file=False,
        messages=False,
    )
    measuring.set_option("run:patch", ["_exit", "execv"])
    measuring.start()
    _save_before_forks(measuring)
    return measuring


def _save_before_forks(measuring: Any) -> None:
    """Save before each fork, for a server is killed; measure its first workers only."""
    forks = 0

    def save() -> None:
        nonlocal forks
        forks += 1
        if forks <= MAX_MEASURED_FORKS:
            measuring.save()

    def bound() -> None:
        if forks > MAX_MEASURED_FORKS:
            measuring.stop()
        elif "ciguard.execution.worker.loop" in sys.modules:
            _save_after_batches(measuring)

    os.register_at_fork(before=save, after_in_child=bound)


def _save_after_batches(measuring: Any) -> None:
    """Save what this worker did now and then, for it is killed in the end."""
    worker: Any = importlib.import_module("ciguard.execution.worker.loop").Worker
    run_batch, saved = worker._run_batch, 0.0

    def run_and_save(self: Any, cases: list[Any], token: int) -> None:
        nonlocal saved
        run_batch(self, cases, token)
        if time.monotonic() - saved > SAVED_EVERY_S:
            measuring.save()
            saved = time.monotonic()

    worker._run_batch = run_and_save


if __name__ == "__main__":
    own = os.path.dirname(__file__)  # noqa: PTH120 - as Python has put it there
    sys.path[:] = [path for path in sys.path if path != own]
    main()
