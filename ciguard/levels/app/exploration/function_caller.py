"""Calls of one function, in a process where its clients get stub responses."""

from __future__ import annotations

import base64
import itertools
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ciguard.execution import Answered, Host, HostSettings, ProcessEnded, TimedOut
from ciguard.levels.app.exploration.guessed_values import placeholder_value
from ciguard.levels.app.exploration.process_environment import ProcessEnvironment
from ciguard.levels.app.providers.registered import hook_of, known_providers
from ciguard.levels.app.static_analysis.summaries import QualifiedRoutine

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
_WEB_PACKAGES = ("django", "fastapi", "flask", "starlette")
"""Packages that ciguard itself uses to call a view: they cannot be stubbed."""
_PLACEHOLDER = "name"
"""Value of a required environment variable whose name suggests no value."""
CALL_LIMIT_S = 20.0
"""Timeout of one call of an application's function, in seconds."""
_FIRST_LIMIT_S = 120.0
"""Timeout of the first call in a process, in seconds: it imports the application's libraries."""
_BEHAVIOUR_BY_REPLY: dict[type, str] = {ProcessEnded: "ends its process", TimedOut: "does not end"}

AnswerCallback: TypeAlias = "Callable[[str, bytes, Json], Json]"
"""Returns or observes the reply to a call of an operation: `{"answer": …}` or `{"error": …}`.

The arguments are the operation's name, its input and the service's reply. If the reply is None, no
service was called, and the function returns a reply in its place."""


@dataclass(frozen=True, slots=True)
class CallEnded:
    """Result of a call that returned or raised."""

    outcomes: tuple[tuple[Goal, bool], ...]
    """Outcomes of sub-conditions, in the order of evaluation."""
    taken_branches: frozenset[Branch]
    """Branches whose whole condition was true."""
    operations: tuple[str, ...]
    """Names of the operations that were called."""
    exception: Json = None
    """Exception: type, message, frames, and whether a missing file or key may be its cause."""
    remarks: tuple[str, ...] = ()
    """Sentences about stubbed packages and statements that were skipped on import."""


@dataclass(frozen=True, slots=True)
class CallNotPossible:
    """Result of a call that could not be made."""

    reason: str


@dataclass(frozen=True, slots=True)
class CallDidNotReturn:
    """Result of a call that exited its process or exceeded the timeout."""

    behaviour: str
    """Behaviour instead of returning: `ends its process` or `does not end`."""


Call: TypeAlias = CallEnded | CallNotPossible | CallDidNotReturn


def host_of(  # noqa: PLR0913 - the application, and the settings of its process
    application: Application,
    functions: Sequence[ServiceFunction],
    python: str,
    *,
    is_real: bool = False,
    texts: Mapping[str, str] | None = None,
    process_environment: ProcessEnvironment | None = None,
    inputs: Path | None = None,
) -> Host:
    """Return a process for calls of an application's functions; it is not started yet.

    Args:
        application: the parsed application.
        functions: its functions that call services, whose sub-conditions are instrumented.
        python: an interpreter that has the application's libraries.
        is_real: whether the function calls the real service.
        texts: file name → source text that is used in place of the file's content.
        process_environment: the environment of the process; if None, `ProcessEnvironment()`. A
            process that calls the real service is not confined: it needs the network and a key.
        inputs: the folder with files that are passed as arguments; None if there are none.

    Raises:
        WorkerStartError: if the interpreter does not start.
    """
    effective_environment = process_environment or ProcessEnvironment()
    if is_real:
        effective_environment = replace(effective_environment, is_confined=False)
    root = application.root.resolve()
    goals = {goal for function in functions for goal in conditions(function)}
    called_providers = {
        call.answer.operation.provider for function in functions for call in function.calls
    }
    readable = [inputs] if inputs else []
    django = application.django
    hooks = {provider: hook_of(provider) for provider in providers_of(application)}
    readable += [Path(hook["file"]) for hook in hooks.values()]
    details = {
        "files": {
            str((root / module.file).resolve()): module.file for module in application.modules
        },
        "places": sorted({*map(_place, goals), *(_branch_place(goal.branch) for goal in goals)}),
        "root": str(root),
        "stubs": list(effective_environment.stubs),
        "is_lenient": effective_environment.is_lenient and not is_real,
        "kept": sorted({*_WEB_PACKAGES, *_provider_packages()}),
        "inputs": str(inputs) if inputs else "",
        "real": is_real,
        "providers": {
            provider: {**hook, "is_asked": provider in called_providers}
            for provider, hook in hooks.items()
        },
        "texts": dict(texts or {}),
        "variables": {} if is_real else _variables(application),
        "django": None if django is None else asdict(django),
    }
    # Python puts the folder of a script on its path.
    folders = {str((root / module.file).resolve().parent): None for module in application.modules}
    first = [str(root / django.folder)] if django else []
    path = list(dict.fromkeys([*first, str(root), *sorted(folders)]))
    return Host(
        HostSettings(
            python=python,
            path=path,
            entry=_ENTRY,
            details=details,
            environment=effective_environment.environment_variables(),
            held=effective_environment.file_access(python, root, readable),
        )
    )


def _provider_packages() -> set[str]:
    packages = (package for provider in known_providers() for package in provider.packages)
    return {package.partition(".")[0] for package in packages}


def _variables(application: Application) -> dict[str, str]:
    """Return made-up endpoints, regions and keys for the environment variables that are read."""
    modules = application.modules
    values = {name: placeholder_value(name) for module in modules for name in module.variables}
    needed = {name for module in modules for name in module.required_variables}
    return {
        name: value or _PLACEHOLDER for name, value in values.items() if value or name in needed
    }


def providers_of(application: Application) -> list[str]:
    """Return the providers whose packages an application imports anywhere."""
    imported = [module.names.imports for module in application.modules]
    return [
        provider.name
        for provider in known_providers()
        if any(imports(package) for imports in imported for package in provider.packages)
    ]


def conditions(function: ServiceFunction) -> list[Goal]:
    """Return the sub-conditions of a function that are instrumented."""
    return [condition.goal for condition in function.goals if condition.goal.is_condition]


def _place(goal: Goal) -> tuple[str, int, int, int, int]:
    return (goal.branch.file, *goal.place)


def _branch_place(branch: Branch) -> tuple[str, int, int, int, int]:
    return (branch.file, *branch.place)


def routines_of(application: Application) -> dict[str, tuple[ApplicationModule, Routine]]:
    """Return the module and definition of each function by its qualified name."""
    return {
        QualifiedRoutine(module, routine).qualified_name: (module, routine)
        for module in application.modules
        for routine in module.routines
    }


class FunctionCaller:
    """Call one function of an application in its process."""

    def __init__(
        self, host: Host, function: ServiceFunction, module: ApplicationModule, routine: Routine
    ) -> None:
        """Create the caller.

        Args:
            host: the process of the application.
            function: the function.
            module: the module that defines it.
            routine: its definition.
        """
        self._host = host
        self._message = {"module": module.name, "file": module.file, "function": routine.name}
        self._positional = routine.positional()
        self._goals = {_place(goal): goal for goal in conditions(function)}
        self._branches = {_branch_place(goal.branch): goal.branch for goal in conditions(function)}

    def restart(self) -> None:
        """Make the next call in a new process."""
        self._host.stop()

    def call(
        self,
        arguments: Json,
        *,
        answers: Mapping[str, Json] | None = None,
        answering: AnswerCallback | None = None,
    ) -> Call:
        """Call the function once.

        Args:
            arguments: the forms of the arguments by name; see `arguments_for`.
            answers: the reply of each operation by name; other operations reply with nothing.
            answering: computes each reply while the function runs; used instead of `answers`.
        """
        limit_s = CALL_LIMIT_S if self._host.is_running else _FIRST_LIMIT_S
        # A decorator may accept positional arguments only.
        positional = list(itertools.takewhile(arguments.__contains__, self._positional))
        message = {
            **self._message,
            "arguments": arguments,
            "positional": positional,
            "answers": answers,
        }
        reply = self._host.ask(message, limit_s=limit_s, answering=_request_handler(answering))
        if not isinstance(reply, Answered):
            return CallDidNotReturn(_BEHAVIOUR_BY_REPLY[type(reply)])
        if "problem" in reply.content:
            return CallNotPossible(reply.content["problem"])
        places = [(tuple(place), value) for *place, value in reply.content["seen"]]
        outcomes = tuple(
            (self._goals[place], value) for place, value in places if place in self._goals
        )
        taken_branches = frozenset(
            self._branches[place] for place, value in places if value and place in self._branches
        )
        return CallEnded(
            outcomes,
            taken_branches,
            tuple(reply.content["asked"]),
            reply.content["raised"],
            tuple(reply.content["remarks"]),
        )


def _request_handler(answering: AnswerCallback | None) -> Callable[[Json], Json] | None:
    if answering is None:
        return None
    return lambda request: answering(
        request["operation"], base64.b64decode(request["about"]), request.get("heard")
    )
