"""Confinement of an application's process, probed before the application runs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.execution import Answered, Host, HostSettings, decode_probes, probe_objects
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from ciguard.execution import Probe
    from ciguard.levels.app.exploration.process_environment import ProcessEnvironment

_ENTRY = "ciguard.execution.worker.attempts"
_TIMEOUT_S = 30.0
"""Timeout of all probes together, in seconds."""


def confinement_of(
    python: str, process_environment: ProcessEnvironment
) -> tuple[tuple[str, ...], tuple[Probe, ...]]:
    """Try forbidden actions that do no harm in a process that is confined like an application's.

    Returns:
        The names of the active mechanisms, and the results of the probes.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("app")) as root:
        settings = HostSettings(
            python=python,
            entry=_ENTRY,
            environment=process_environment.environment_variables(),
            held=process_environment.file_access(python, Path(root), []),
        )
        with Host(settings) as host, probe_objects() as objects:
            answer = host.ask({**objects, "processes": False}, limit_s=_TIMEOUT_S)
            refusals = answer.content if isinstance(answer, Answered) else {}
            return host.confined_by, decode_probes(refusals, missing=f"no answer: {answer}")
