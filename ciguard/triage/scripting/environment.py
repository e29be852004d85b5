"""Statements that set the environment variables of a script, before it imports the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.writing import scalar

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.triage.hint import EnvironmentHint


def environment_statements(finding: Finding, hint: EnvironmentHint) -> list[str]:
    """Return the assignments to `os.environ` that a script of a finding needs.

    The statements that choose a GPU have the same effect in a worker, which sees that GPU only, as
    in a shell, where several or all may be visible.
    """
    variables = dict(hint.variables)
    if finding.loses_device:
        # Kernels run asynchronously: without it, no error occurs if nothing reads the result.
        variables["CUDA_LAUNCH_BLOCKING"] = "1"
    if hint.gpu:
        variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"  # as nvidia-smi numbers GPUs
    statements = [
        f"os.environ[{scalar(name)}] = {scalar(value)}  # read when imported"
        for name, value in variables.items()
    ]
    if hint.gpu:
        visible, number = scalar("CUDA_VISIBLE_DEVICES"), int(hint.gpu)
        statements += [
            f"visible = os.environ.get({visible}, {scalar(str(number))}).split({scalar(',')})",
            f"os.environ[{visible}] = visible[:{number + 1}][-1]  # cuda:{number} becomes cuda:0",
        ]
    return statements
