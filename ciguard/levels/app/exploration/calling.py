"""Calls one function in the process where its clients are answered."""

from __future__ import annotations

import base64
import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import Answered, Host, HostSettings, ProcessEnded, TimedOut
from ciguard.levels.app.exploration.by_name import made_up
from ciguard.levels.app.exploration.surroundings import Surroundings
from ciguard.levels.app.providers.registered import hook_of, known_providers
from ciguard.levels.app.static_analysis.summaries import Placed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.static_analysis.application import (
        Application,
        ApplicationModule,
        Routine,
    )
    from ciguard.levels.app.static_analysis.conditions import Branch, Goal
    from ciguard.levels.app.static_analysis.findings import ServiceFunction

_ENTRY = "ciguard.levels.app.in_target.explorer"
_NEEDED = "name"
"""Value of a variable of the environment that has to be there."""
CALL_LIMIT_S = 20.0
"""Of one call of an application's function."""
_FIRST_LIMIT_S = 120.0
"""The first call in a process imports what the application needs."""
_WITHOUT_REPLY: dict[type, str] = {ProcessEnded: "ends its process", TimedOut: "does not end"}

Answering: TypeAlias = "Callable[[str, bytes, Json], Json]"
"""Takes an operation, what it is asked about, and what the service has said: `{"answer": …}` or
`{"error": …}`. If that is None, no service is asked, and it returns what is said in its place."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call has returned or raised."""

    seen: tuple[tuple[Goal, bool], ...]
    """How sub-conditions turned out, in this order."""
    taken: frozenset[Branch]
    """Whose conditions turned out true, as a whole."""
    asked: tuple[str, ...]
    """Operations that services were asked."""
    raised: Json = None
    """The exception: its type, message, frames, and whether it may lie in the surroundings."""


@dataclass(frozen=True, slots=True)
class Impossible:
    """The call could not be made."""

    reason: str


@dataclass(frozen=True, slots=True)
class Endless:
    """The call has ended its process, or has not ended."""

    instead: str
    """What it did, in words."""


Call: TypeAlias = CallEnded | Impossible | Endless


def host_of(  # noqa: PLR0913 - whose process, and how it is
    application: Application,
    found: Sequence[ServiceFunction],
    python: str,
    *,
    is_real: bool = False,
    texts: Mapping[str, str] | None = None,
    surroundings: Surroundings | None = None,
    inputs: Path | None = None,
) -> Host:
    """Return the process in which an application's functions can be called; it is not started.

    Args:
        application: as read.
        found: its functions that ask services, whose sub-conditions report.
        python: interpreter that has what the application imports.
        is_real: whether the service itself is asked.
        texts: of files that are run as if they were these, by their names.
        surroundings: what it has around it; None: as `Surroundings()`. It is not confined where the
            service itself is asked, which takes the network and a key.
        inputs: folder with files that functions are called with.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    around = surroundings or Surroundings()
    if is_real:
        around = replace(around, is_confined=False)
    root = application.root.resolve()
    goals = {goal for one in found for goal in conditions(one)}
    asked = {call.answer.operation.provider for one in found for call in one.calls}
    read = [inputs] if inputs else []
    hooks = {one: hook_of(one) for one in providers_of(application)}
    read += [Path(hook["file"]) for hook in hooks.values()]
    details = {
        "files": {str((root / one.file).resolve()): one.file for one in application.modules},
        "places": sorted({*map(_place, goals), *(_whole(goal.branch) for goal in goals)}),
        "root": str(root),
        "real": is_real,
        "providers": {one: {**hook, "is_asked": one in asked} for one, hook in hooks.items()},
        "texts": dict(texts or {}),
        "variables": {} if is_real else _variables(application),
    }
    # A script's own folder is on its path.
    beside = {str((root / one.file).resolve().parent): None for one in application.modules}
    path = list(dict.fromkeys([str(root), *sorted(beside)]))
    return Host(
        HostSettings(
            python=python,
            path=path,
            entry=_ENTRY,
            details=details,
            environment=around.environment(),
            held=around.held(python, root, read),
        )
    )


def _variables(application: Application) -> dict[str, str]:
    """Return values for variables that say where a service is, and who asks it."""
    modules = application.modules
    found = {name: made_up(name) for module in modules for name in module.variables}
    needed = {name for module in modules for name in module.needed}
    return {name: value or _NEEDED for name, value in found.items() if value or name in needed}


def providers_of(application: Application) -> list[str]:
    """Return the providers whose packages an application imports, wherever it does."""
    imported = [one.names.imports for one in application.modules]
    return [
        provider.name
        for provider in known_providers()
        if any(imports(package) for imports in imported for package in provider.packages)
    ]


def conditions(found: ServiceFunction) -> list[Goal]:
    """Return the sub-conditions that report."""
    return [one.goal for one in found.goals if one.goal.is_condition]


def _place(goal: Goal) -> tuple[str, int, int, int, int]:
    return (goal.branch.file, *goal.place)


def _whole(branch: Branch) -> tuple[str, int, int, int, int]:
    return (branch.file, *branch.place)


def routines_of(application: Application) -> dict[str, tuple[ApplicationModule, Routine]]:
    """Return the module and definition of each function by its qualified name."""
    return {
        Placed(module, routine).qualified: (module, routine)
        for module in application.modules
        for routine in module.routines
    }


class FunctionCaller:
    """Calls one function."""

    def __init__(
        self, host: Host, found: ServiceFunction, module: ApplicationModule, routine: Routine
    ) -> None:
        """Prepare it.

        Args:
            host: the process.
            found: the function.
            module: that it is defined in.
            routine: its definition.
        """
        self._host = host
        self._message = {"module": module.name, "file": module.file, "function": routine.name}
        self._positional = routine.positional()
        self._goals = {_place(goal): goal for goal in conditions(found)}
        self._branches = {_whole(goal.branch): goal.branch for goal in conditions(found)}

    def restart(self) -> None:
        """Make the next call in a new process."""
        self._host.stop()

    def call(
        self,
        arguments: Json,
        *,
        answers: Mapping[str, Json] | None = None,
        answering: Answering | None = None,
    ) -> Call:
        """Call it once.

        Args:
            arguments: by name, as `in_target` takes them.
            answers: to each operation; what is not among them is answered with nothing.
            answering: is asked instead, while the function runs.
        """
        limit_s = CALL_LIMIT_S if self._host.is_running else _FIRST_LIMIT_S
        # What decorates it may take no arguments by their names.
        positional = list(itertools.takewhile(arguments.__contains__, self._positional))
        message = {
            **self._message,
            "arguments": arguments,
            "positional": positional,
            "answers": answers,
        }
        reply = self._host.ask(message, limit_s=limit_s, answering=_asked(answering))
        if not isinstance(reply, Answered):
            return Endless(_WITHOUT_REPLY[type(reply)])
        if "problem" in reply.content:
            return Impossible(reply.content["problem"])
        places = [(tuple(place), value) for *place, value in reply.content["seen"]]
        seen = tuple((self._goals[at], value) for at, value in places if at in self._goals)
        taken = frozenset(
            self._branches[at] for at, value in places if value and at in self._branches
        )
        return CallEnded(seen, taken, tuple(reply.content["asked"]), reply.content["raised"])


def _asked(answering: Answering | None) -> Callable[[Json], Json] | None:
    if answering is None:
        return None
    return lambda wish: answering(
        wish["operation"], base64.b64decode(wish["about"]), wish.get("heard")
    )
