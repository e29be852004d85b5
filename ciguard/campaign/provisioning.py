"""Provisioning as events; environments are built in a thread, so that steps can be reported."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

from ciguard.domain.events import Event, Provisioning
from ciguard.errors import ProvisioningError
from ciguard.targets import parse_target, provision_all, unique_names

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ciguard.targets import Environment, Target


def provision_targets(texts: Sequence[str]) -> Generator[Event, None, dict[str, Environment]]:
    """Find or build the environment of every target.

    The thread is a daemon, and its children exit with this process, so an interruption ends both.

    Returns:
        Environments by target name, in the given order.

    Raises:
        TargetSyntaxError: if a target cannot be parsed.
        ProvisioningError: if an environment cannot be built.
    """
    targets = [parse_target(text) for text in texts]
    yield Provisioning(target=", ".join(unique_names(targets)), step="looking for environments")
    results = yield from _in_thread(targets)
    failures = [error for error in results.values() if isinstance(error, ProvisioningError)]
    if failures:
        raise ProvisioningError("\n".join(str(error) for error in failures))
    environments = {
        name: result
        for name, result in results.items()
        if not isinstance(result, ProvisioningError)
    }
    for name, environment in environments.items():
        yield Provisioning(target=name, step=f"ready: {environment.version}", done=True)
    return environments


def _in_thread(
    targets: Sequence[Target],
) -> Generator[Event, None, dict[str, Environment | ProvisioningError]]:
    messages: queue.Queue[str | dict[str, Environment | ProvisioningError] | BaseException]
    messages = queue.Queue()

    def work() -> None:
        try:
            messages.put(provision_all(targets, on_step=messages.put))
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread
            messages.put(error)

    threading.Thread(target=work, name="provisioning", daemon=True).start()
    while True:
        message = messages.get()
        if isinstance(message, BaseException):
            raise message
        if isinstance(message, dict):
            return message
        yield Provisioning(target="", step=message)
