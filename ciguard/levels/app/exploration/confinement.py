"""What holds an application's process, tried in one before the application runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.execution import Answered, Host, HostSettings, decode_probes, probe_objects

if TYPE_CHECKING:
    from ciguard.execution import Probe
    from ciguard.levels.app.exploration.surroundings import Surroundings

_ENTRY = "ciguard.execution.worker.attempts"
_LIMIT_S = 30.0


def confinement_of(
    python: str, surroundings: Surroundings
) -> tuple[tuple[str, ...], tuple[Probe, ...]]:
    """Try what an application must not do, harmlessly, in a process as it gets one.

    Returns:
        Names of what holds the process, and what was tried.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-app-") as root:
        settings = HostSettings(
            python=python,
            entry=_ENTRY,
            environment=surroundings.environment(),
            held=surroundings.held(python, Path(root), []),
        )
        with Host(settings) as host, probe_objects() as offered:
            answer = host.ask({**offered, "processes": False}, limit_s=_LIMIT_S)
            refusals = answer.content if isinstance(answer, Answered) else {}
            return host.confined_by, decode_probes(refusals, missing=f"no answer: {answer}")
