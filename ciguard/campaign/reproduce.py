"""Reproduction of one bucket on a given target."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ciguard.campaign.levels import level_of, rerun_settings
from ciguard.campaign.workers import worker_spec
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.execution import (
    DebuggerRun,
    Dispatcher,
    Job,
    find_debugger,
    find_sanitizer,
    run_sanitizer,
)
from ciguard.oracles.relations import encode
from ciguard.targets import parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.config import Config
    from ciguard.domain.findings import Bucket
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import NativeTrace, WorkerSpec

log = logging.getLogger(__name__)

_WAIT_S = 1.0


def reproduce(
    bucket: Bucket, target_text: str, config: Config, *, on_step: Callable[[str], None] = log.info
) -> Outcome:
    """Run a bucket's case in a fresh worker of a target.

    Args:
        bucket: bucket whose case is run.
        target_text: name of the target, e.g. `torch==2.13.0`, which is provisioned if needed.
        config: settings, with the limits of the case.
        on_step: called with a line of text for each step that takes time.

    Raises:
        TargetSyntaxError: if the target cannot be parsed.
        ProvisioningError: if it cannot be provisioned.
        WorkerStartError: if its workers cannot run.
        ConfigurationError: if the program or service under test no longer exists.
    """
    case = bucket.finding.case
    if not case.is_run_by_worker:
        environment = provision(parse_target(target_text), on_step=on_step)
        return level_of(case.level).run_again(case, environment, config)
    spec = _spec(target_text, rerun_settings(bucket.finding, config), on_step=on_step)
    with Dispatcher() as dispatcher:
        started = dispatcher.start([spec])[spec.name]
        if isinstance(started, WorkerStartError):
            raise started
        case_text, is_synchronous = encode(case), bucket.finding.loses_device
        dispatcher.add(
            Job(spec.name, "reproduce", (case_text,), fresh=True, is_synchronous=is_synchronous)
        )
        while not dispatcher.failure(spec.name):
            for result in dispatcher.wait(_WAIT_S):
                return result.outcomes[0]
        raise WorkerStartError(dispatcher.failure(spec.name))


def debug(
    bucket: Bucket, target_text: str, config: Config, *, on_step: Callable[[str], None] = log.info
) -> NativeTrace:
    """Run a bucket's case under the debugger; under the sanitizer if it loses its device.

    Args:
        bucket: bucket whose case is run.
        target_text: name of the target, which is provisioned if needed.
        config: settings, with the limits of the case.
        on_step: called with a line of text for each step that takes time.

    Returns:
        Native stack, without frames if the process did not crash, or no kernel has an error.

    Raises:
        ConfigurationError: if this machine lacks the debugger or the sanitizer.
        TargetSyntaxError: if the target cannot be parsed.
        ProvisioningError: if it cannot be provisioned.
    """
    on_device = bucket.finding.loses_device
    tool = find_sanitizer() if on_device else find_debugger()
    if tool is None:
        msg = (
            "This machine has no compute-sanitizer: install NVIDIA's CUDA toolkit."
            if on_device
            else "This machine has no debugger: install gdb, e.g. with 'apt-get install gdb'."
        )
        raise ConfigurationError(msg)
    spec = _spec(target_text, rerun_settings(bucket.finding, config), on_step=on_step)
    on_step(f"{spec.name}: running the case under {tool.name}, which takes a minute or more")
    case = encode(bucket.finding.case)
    if on_device:
        return run_sanitizer(spec, case, sanitizer=tool, limit_s=DEBUG_LIMIT_S)
    with DebuggerRun(spec, case, debugger=tool) as run:
        return run.trace(DEBUG_LIMIT_S)


DEBUG_LIMIT_S = 600.0
"""Timeout of a debugger run, in seconds; gdb needs minutes to load a library of a gigabyte."""


def _spec(target_text: str, config: Config, *, on_step: Callable[[str], None]) -> WorkerSpec:
    target = parse_target(target_text)
    return worker_spec(target.name, provision(target, on_step=on_step), config)
