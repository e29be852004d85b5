"""Check the confinement: which attacks by a worker this machine blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, warning
from ciguard.errors import WorkerStartError
from ciguard.execution import probe_confinement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.actions.checkup.diagnosis import Diagnosis

_SUBJECT = "confinement"
_REMEDY = (
    "Use a kernel with Landlock and seccomp, and a container whose profile allows both "
    "(docs/confinement.md)."
)


def examine_confinement(*, is_required: bool) -> Iterator[Diagnosis]:
    """Start a confined worker that attempts harmless attacks, and yield a diagnosis for each.

    Args:
        is_required: whether the settings require confinement; if not, an attack that succeeds is
            only a warning.
    """
    try:
        probes = probe_confinement()
    except WorkerStartError as error:
        yield problem(
            _SUBJECT,
            f"no worker can be started: {error}",
            "Run `ciguard version` to check the installation.",
        )
        return
    missing = problem if is_required else warning
    for probe in probes:
        if probe.holds:
            yield healthy(
                _SUBJECT, f"{probe.name}: a worker cannot {probe.attack} ({probe.detail})"
            )
        else:
            text = f"{probe.name}: a worker can {probe.attack}"
            detail = f" ({probe.detail})" if probe.detail else ""
            yield missing(_SUBJECT, text + detail, _REMEDY)
