"""Check of the confinement of a target's processes before its first case."""

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


def check_confinement(
    member: Member, config: Config, server: ServerProcess, dispatcher: Dispatcher
) -> None:
    """Attempt forbidden operations in the processes of a started target.

    These are workers, if the library has an API, and the processes that levels start themselves.
    `not_run` is set for a target whose processes cannot be started.
    """
    mechanisms: list[tuple[str, ...]] = []
    probes: list[Probe] = []
    try:
        if member.environment.library.has_api:
            mechanisms.append(server.confined_by)
            probes += probe_target(dispatcher, server.spec)
        for level in levels_in(config):
            probed = level.probe(member.environment)
            if probed is not None:
                mechanisms.append(probed[0])
                probes += probed[1]
    except WorkerStartError as error:
        member.not_run = str(error)
        return
    member.confined_by = tuple(
        name
        for name in dict.fromkeys(mechanisms[0] if mechanisms else ())
        if all(name in names for names in mechanisms)
    )
    member.unconfined = tuple(dict.fromkeys(probe.name for probe in probes if not probe.holds))
    member.is_probed = bool(mechanisms)


def confinement_warning(member: Member, config: Config) -> Iterable[Event]:
    """Warn if the confinement of a target's processes is incomplete.

    Raises:
        PlatformError: if it is incomplete, and the configuration requires it.
    """
    if not member.is_probed:
        return
    if config.confine == CONFINE_NEVER:
        effect = "its workers may do whatever the user of this process may"
        message = f"{member.name}: confine = {CONFINE_NEVER!r}: {effect}; see docs/confinement.md"
        yield Warned(message=message)
        return
    missing = sorted(_EXPECTED - set(member.confined_by))
    problems = [f"this machine does not support {name}" for name in missing]
    if member.unconfined:
        problems.append(f"these operations were not refused: {', '.join(member.unconfined)}")
    if not problems:
        return
    message = f"{member.name}: {'; '.join(problems)}"
    if config.confine == CONFINE_ALWAYS:
        remedy = "Run on Linux 6.7 or later, without additional restrictions of a container"
        msg = f"{message}. confine = {CONFINE_ALWAYS!r}. {remedy}, or set confine = "
        raise PlatformError(msg + f"{CONFINE_WHERE_POSSIBLE!r}.")
    yield Warned(message=f"{message}; see docs/confinement.md")
