"""Calls of applications, written down so that they can be made again, and made again."""

from __future__ import annotations

import base64
import json
import tempfile
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.outcomes import Crashed, Errored, Frame, Hung, Passed, Rejected
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.exploration import (
    CALL_LIMIT_S,
    CallEnded,
    Endless,
    FunctionCaller,
    Surroundings,
    arguments_for,
    host_of,
    plain_contents,
    providers_of,
    routines_of,
)
from ciguard.levels.app.findings import Applied, condition_words
from ciguard.levels.app.reading import read_again
from ciguard.levels.app.settings import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.config import Config
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration import StubResponse
    from ciguard.levels.app.static_analysis import Application, ServiceFunction
    from ciguard.targets import Environment

_HERE = "{folder}"
"""Stands for the folder that the files of a call are in."""


class GoneError(ConfigurationError):
    """There is no such function any more, or it cannot be called."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """Writes down all that it takes to call a function again."""

    application: Application
    found: ServiceFunction
    form: int

    def __call__(self, answers: Sequence[StubResponse]) -> Json:
        """Return a call with these answers; see `AppCase.call`."""
        module, routine = routines_of(self.application)[self.found.name]
        with tempfile.TemporaryDirectory(prefix="ciguard-app-") as name:
            folder = Path(name)
            contents = plain_contents(b"".join(one.text for one in answers))
            forms = arguments_for(self.found, routine, contents, folder)
            files = {
                path.relative_to(folder).as_posix(): base64.b64encode(path.read_bytes()).decode()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            arguments = {
                name: _moved(given, str(folder), _HERE)
                for name, given in forms[min(self.form, len(forms) - 1)].items()
            }
        return {
            "module": module.name,
            "function": routine.name,
            "arguments": arguments,
            "positional": list(takewhile(arguments.__contains__, routine.positional())),
            "files": {name: data for name, data in files.items() if _is_used(name, arguments)},
            "answers": {one.operation.name: one.to_json() for one in answers},
            "providers": providers_of(self.application),
            "refused": any(one.is_refusal for one in answers),
        }


def _moved(given: Json, old: str, new: str) -> Json:
    """Return an argument whose paths begin elsewhere."""
    match given:
        case dict():
            return {key: _moved(one, old, new) for key, one in given.items()}
        case list():
            return [_moved(one, old, new) for one in given]
        case str() if given == old or given.startswith(f"{old}/"):
            return new + given.removeprefix(old)
        case _:
            return given


def _is_used(name: str, arguments: Mapping[str, Json]) -> bool:
    said = str(arguments)
    return f"{_HERE}/{name}" in said or f"{_HERE}/{name.partition('/')[0]}'" in said


def run_again(case: AppCase, environment: Environment, config: Config) -> Outcome:
    """Call a function again as a case says, or read its sub-condition again.

    Returns:
        Of a sub-condition `Passed` if it is as it was, `Rejected` if not.

    Raises:
        ConfigurationError: if there is no such function or application, or the case is about many
            inputs together.
        WorkerStartError: if the environment's interpreter does not start.
    """
    if case.aspect is Aspect.CONDITION:
        return _read_again(case, config)
    if case.aspect is Aspect.INPUTS:
        msg = (
            f"{visible(case.api)}: found with inputs that are made anew, for "
            f"{visible(case.condition)!r}. Run: ciguard app accuracy {visible(case.root)}"
        )
        raise ConfigurationError(msg)
    read = read_again(case.root)
    application = read.application
    found = next((one for one in read.found if read.api(one) == case.api), None)
    if found is None:
        msg = f"{visible(case.api)}: there is no such function that asks a service any more."
        raise GoneError(msg)
    module, routine = routines_of(application)[found.name]
    with (
        tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder,
        host_of(
            application,
            [found],
            str(environment.python),
            surroundings=surroundings_on(environment),
            inputs=Path(folder),
        ) as host,
    ):
        _write_files(case.call["files"], Path(folder))
        arguments = {
            name: _moved(given, _HERE, folder) for name, given in case.call["arguments"].items()
        }
        called = FunctionCaller(host, found, module, routine).call(
            arguments, answers=case.call["answers"]
        )
    if isinstance(called, Endless):
        return Hung(CALL_LIMIT_S) if called.instead == "does not end" else Crashed("exit")
    if not isinstance(called, CallEnded):
        msg = f"{visible(case.api)}: cannot be called: {visible(called.reason)}"
        raise ConfigurationError(msg)
    if called.raised is None:
        return Passed(b"{}", 0.0)
    frames = called.raised["frames"] or [[found.file, found.line, ""]]
    file, line, function = frames[-1]
    path = Applied(root=case.root, library="", target="").path(file)
    message = f"{path}:{line}: {called.raised['message']}"
    return Errored(called.raised["type"], message, (Frame(path, function),))


def surroundings_on(environment: Environment) -> Surroundings:
    """Return what applications have around them on a target."""
    return Surroundings(
        variables=environment.variables,
        readable=environment.readable,
    )


def refuse_read(finding: Finding) -> None:
    """Refuse a finding about a sub-condition, where it takes a call that versions may change.

    Raises:
        ConfigurationError: if it is about one.
    """
    case = finding.case
    if isinstance(case, AppCase) and case.aspect is not Aspect.ANSWER:
        msg = (
            f"{visible(case.api)}: about {visible(case.condition)!r} as the application has it, "
            "whatever version of a library is there."
        )
        raise ConfigurationError(msg)


def _read_again(case: AppCase, config: Config) -> Outcome:
    read = read_again(case.root)
    labels = read_vocabulary(Path(config[LABELS])) if config[LABELS] else None
    at = Applied(root=case.root, library="", target="")
    for dead in read.dead(labels):
        written = condition_words(dead.text, dead.branch.condition)
        if (at.path(dead.branch.file), written) == (case.file, case.condition):
            return Passed(json.dumps({"reason": dead.reason}).encode(), 0.0)
    return Rejected("Gone", f"{case.file} has no such condition any more")


def _write_files(files: Mapping[str, str], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
