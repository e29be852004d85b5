"""Provisioning as events: environments are built in a thread, so that its steps can be shown."""

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
    """Build or find the environment of every target.

    The thread is a daemon and its children are tied to this process: an interruption ends both.

    Returns:
        Environments by target name, in the order given.

    Raises:
        TargetSyntaxError: if a target's text cannot be read.
        ProvisioningError: if an environment cannot be built; nothing has run then.
    """
    targets = [parse_target(text) for text in texts]
    yield Provisioning(target=", ".join(unique_names(targets)), step="looking for environments")
    ready = yield from _in_thread(targets)
    failures = [error for error in ready.values() if isinstance(error, ProvisioningError)]
    if failures:
        raise ProvisioningError("\n".join(str(error) for error in failures))
    environments = {n: e for n, e in ready.items() if not isinstance(e, ProvisioningError)}
    for name, environment in environments.items():
        yield Provisioning(target=name, step=f"ready: {environment.version}", done=True)
    return environments


def _in_thread(
    targets: Sequence[Target],
) -> Generator[Event, None, dict[str, Environment | ProvisioningError]]:
    said: queue.Queue[str | dict[str, Environment | ProvisioningError] | BaseException]
    said = queue.Queue()

    def work() -> None:
        try:
            said.put(provision_all(targets, on_step=said.put))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            said.put(error)

    threading.Thread(target=work, name="provisioning", daemon=True).start()
    while True:
        news = said.get()
        if isinstance(news, BaseException):
            raise news
        if isinstance(news, dict):
            return news
        yield Provisioning(target="", step=news)
