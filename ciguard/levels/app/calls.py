"""Recording and repetition of calls to applications' functions."""

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
from ciguard.levels.app.applications import reread_application
from ciguard.levels.app.dead_conditions import read_vocabulary
from ciguard.levels.app.exploration import (
    CALL_LIMIT_S,
    CallDidNotReturn,
    CallEnded,
    FunctionCaller,
    ProcessEnvironment,
    arguments_for,
    host_of,
    plain_contents,
    providers_of,
    routines_of,
)
from ciguard.levels.app.findings import TargetedApplication, condition_text
from ciguard.levels.app.settings import LABELS
from ciguard.scratch import scratch_prefix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.config import Config
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.levels.app.exploration import StubResponse
    from ciguard.levels.app.static_analysis import Application, ServiceFunction
    from ciguard.targets import Environment

_FOLDER_PLACEHOLDER = "{folder}"
"""Placeholder for the folder with the files of a call."""


class FunctionGoneError(ConfigurationError):
    """The function of a case no longer exists."""


@dataclass(frozen=True, slots=True)
class CallRecorder:
    """Record calls to a function, so that they can be repeated."""

    application: Application
    function: ServiceFunction
    form: int
    """Index of the arguments in the list that `arguments_for` returns."""

    def __call__(self, answers: Sequence[StubResponse]) -> Json:
        """Return the record of a call with stub responses; see `AppCase.call`."""
        module, routine = routines_of(self.application)[self.function.name]
        with tempfile.TemporaryDirectory(prefix=scratch_prefix("app")) as name:
            folder = Path(name)
            contents = plain_contents(b"".join(answer.text for answer in answers))
            forms = arguments_for(self.function, routine, contents, folder)
            files = {
                path.relative_to(folder).as_posix(): base64.b64encode(path.read_bytes()).decode()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            arguments = {
                name: _with_replaced_folder(argument, str(folder), _FOLDER_PLACEHOLDER)
                for name, argument in forms[min(self.form, len(forms) - 1)].items()
            }
        return {
            "module": module.name,
            "function": routine.name,
            "arguments": arguments,
            "positional": list(takewhile(arguments.__contains__, routine.positional())),
            "files": {name: data for name, data in files.items() if _is_passed(name, arguments)},
            "answers": {answer.operation.name: answer.to_json() for answer in answers},
            "providers": providers_of(self.application),
            "refused": any(answer.is_refusal for answer in answers),
        }


def _with_replaced_folder(argument: Json, old: str, new: str) -> Json:
    """Return a form of an argument with its paths moved from the folder `old` to `new`."""
    match argument:
        case dict():
            return {key: _with_replaced_folder(item, old, new) for key, item in argument.items()}
        case list():
            return [_with_replaced_folder(item, old, new) for item in argument]
        case str() if argument == old or argument.startswith(f"{old}/"):
            return new + argument.removeprefix(old)
        case _:
            return argument


def _is_passed(name: str, arguments: Mapping[str, Json]) -> bool:
    """Return whether arguments contain the path of a file, or of the folder that holds it."""
    text = str(arguments)
    return (
        f"{_FOLDER_PLACEHOLDER}/{name}" in text
        or f"{_FOLDER_PLACEHOLDER}/{name.partition('/')[0]}'" in text
    )


def run_again(case: AppCase, environment: Environment, config: Config) -> Outcome:
    """Repeat the call of a case, or check its sub-condition again.

    Returns:
        The outcome of the call. For a sub-condition: `Passed` if it is still constant, else
        `Rejected`.

    Raises:
        ConfigurationError: if the function or application does not exist, or the case has many
            inputs instead of one call.
        WorkerStartError: if the environment's interpreter does not start.
    """
    if case.aspect is Aspect.CONDITION:
        return _check_condition_again(case, config)
    if case.aspect is Aspect.INPUTS:
        msg = (
            f"{visible(case.api)}: the finding about {visible(case.condition)!r} cannot be "
            f"repeated by a single call. Run `ciguard app accuracy {visible(case.root)}`."
        )
        raise ConfigurationError(msg)
    app = reread_application(case.root)
    application = app.application
    service_function = next(
        (function for function in app.functions if app.api(function) == case.api), None
    )
    if service_function is None:
        msg = f"{visible(case.api)} no longer exists, or no longer calls a service."
        raise FunctionGoneError(msg)
    module, routine = routines_of(application)[service_function.name]
    with (
        tempfile.TemporaryDirectory(prefix=scratch_prefix("app")) as folder,
        host_of(
            application,
            [service_function],
            str(environment.python),
            process_environment=process_environment_on(environment),
            inputs=Path(folder),
        ) as host,
    ):
        _write_files(case.call["files"], Path(folder))
        arguments = {
            name: _with_replaced_folder(argument, _FOLDER_PLACEHOLDER, folder)
            for name, argument in case.call["arguments"].items()
        }
        result = FunctionCaller(host, service_function, module, routine).call(
            arguments, answers=case.call["answers"]
        )
    if isinstance(result, CallDidNotReturn):
        return Hung(CALL_LIMIT_S) if result.behaviour == "does not end" else Crashed("exit")
    if not isinstance(result, CallEnded):
        msg = f"{visible(case.api)} cannot be called: {visible(result.reason)}"
        raise ConfigurationError(msg)
    if result.exception is None:
        return Passed(b"{}", 0.0)
    frames = result.exception["frames"] or [[service_function.file, service_function.line, ""]]
    file, line, function = frames[-1]
    path = TargetedApplication(root=case.root, library="", target="").path(file)
    message = f"{path}:{line}: {result.exception['message']}"
    return Errored(result.exception["type"], message, (Frame(path, function),))


def process_environment_on(environment: Environment) -> ProcessEnvironment:
    """Return the environment of applications' processes on a target."""
    return ProcessEnvironment(
        variables=environment.variables,
        readable=environment.readable,
    )


def check_library_dependence(finding: Finding) -> None:
    """Check that a finding may depend on the version of a library: that it is about answers.

    Raises:
        ConfigurationError: if the finding is about a condition or about inputs.
    """
    case = finding.case
    if isinstance(case, AppCase) and case.aspect is not Aspect.ANSWER:
        msg = (
            f"{visible(case.api)}: the finding about {visible(case.condition)!r} does not depend "
            "on the version of a library."
        )
        raise ConfigurationError(msg)


def _check_condition_again(case: AppCase, config: Config) -> Outcome:
    app = reread_application(case.root)
    labels = read_vocabulary(Path(config[LABELS])) if config[LABELS] else None
    targeted = TargetedApplication(root=case.root, library="", target="")
    for dead in app.constant_conditions(labels):
        condition = condition_text(dead.text, dead.branch.condition)
        if (targeted.path(dead.branch.file), condition) == (case.file, case.condition):
            return Passed(json.dumps({"reason": dead.reason}).encode(), 0.0)
    return Rejected("Gone", f"{case.file} no longer contains the condition {case.condition!r}")


def _write_files(files: Mapping[str, str], folder: Path) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
