"""What holds the processes of a target, tried before its first case, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.levels import levels_in
from ciguard.config import CONFINE_ALWAYS, CONFINE_NEVER, CONFINE_WHERE_POSSIBLE
from ciguard.domain.events import Warned
from ciguard.errors import PlatformError, WorkerStartError
from ciguard.execution import probe_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.campaign.group import Member
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.execution import Dispatcher, Probe, ServerProcess

_EXPECTED = {"capabilities", "landlock", "reaper", "seccomp"}


def try_confinement(
    member: Member, config: Config, server: ServerProcess, dispatcher: Dispatcher
) -> None:
    """Have the processes of a started target try what they must not do.

    These are workers where the library has an API, and what levels start themselves. A target whose
    processes cannot be started is marked `not_run`.
    """
    held: list[tuple[str, ...]] = []
    probes: list[Probe] = []
    try:
        if member.environment.library.has_api:
            held.append(server.confined_by)
            probes += probe_target(dispatcher, server.spec)
        for level in levels_in(config):
            probed = level.probe(member.environment)
            if probed is not None:
                held.append(probed[0])
                probes += probed[1]
    except WorkerStartError as error:
        member.not_run = str(error)
        return
    member.confined_by = tuple(
        name for name in dict.fromkeys(held[0] if held else ()) if all(name in one for one in held)
    )
    member.unconfined = tuple(dict.fromkeys(probe.name for probe in probes if not probe.holds))
    member.is_tried = bool(held)


def confinement_warning(member: Member, config: Config) -> Iterable[Event]:
    """Warn of what does not hold a target's processes.

    Raises:
        PlatformError: if there is something, and the configuration requires confinement.
    """
    if not member.is_tried:
        return
    if config.confine == CONFINE_NEVER:
        what = "its workers may do whatever the user of this process may"
        message = f"{member.name}: confine = {CONFINE_NEVER!r}: {what}; see docs/confinement.md"
        yield Warned(message=message)
        return
    missing = sorted(_EXPECTED - set(member.confined_by))
    lacks = [f"this machine offers no {name}" for name in missing]
    if member.unconfined:
        lacks.append(f"workers were not refused {', '.join(member.unconfined)}")
    if not lacks:
        return
    message = f"{member.name}: {'; '.join(lacks)}"
    if config.confine == CONFINE_ALWAYS:
        remedy = "Run on Linux 6.7 or later without a container's restrictions of its own"
        msg = f"{message}. confine = {CONFINE_ALWAYS!r}. {remedy}, or set confine = "
        raise PlatformError(msg + f"{CONFINE_WHERE_POSSIBLE!r}.")
    yield Warned(message=f"{message}; see docs/confinement.md")
