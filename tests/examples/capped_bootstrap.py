"""Entry of a target's process as on an older Landlock: see `planted_workers.landlock`.

Stands in the place of `ciguard/execution/worker/bootstrap.py`. `LANDLOCK` in its environment is the
version that the kernel is taken to have, 0 for none.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

BOOTSTRAP = Path(os.environ["BOOTSTRAP"])


def main() -> None:
    """Cap what the kernel offers, then do as the real entry does."""
    specification = importlib.util.spec_from_file_location("bootstrap", BOOTSTRAP)
    assert specification is not None
    assert specification.loader is not None
    bootstrap = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(bootstrap)
    bootstrap.open_packages(str(BOOTSTRAP.parents[3]))
    from ciguard.execution.worker import landlock  # noqa: PLC0415 - of the target's process

    cap = int(os.environ["LANDLOCK"])
    kernel = landlock.landlock_abi()
    landlock.landlock_abi = lambda: min(kernel, cap)
    bootstrap.main()


if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(__file__)]  # noqa: PTH120
    main()
