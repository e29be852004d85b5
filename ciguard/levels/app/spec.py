"""Registration of level `app` for campaigns."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ciguard.campaign import LevelDefaults
from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.case import as_kind
from ciguard.domain.function_calls import locate_failure
from ciguard.domain.outcomes import Crashed, Hung, Passed
from ciguard.domain.text import shortened
from ciguard.levels.app.applications import LEVEL as NAME
from ciguard.levels.app.calls import check_library_dependence, process_environment_on, run_again
from ciguard.levels.app.checks import check_applications
from ciguard.levels.app.exploration import confinement_of
from ciguard.levels.app.findings import APPLICATION, ApplicationOracle
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.script import app_script, still_fails_to_return
from ciguard.levels.app.stage import ApplicationStage
from ciguard.levels.function import needs_of
from ciguard.oracles import ORACLES
from ciguard.triage import PresentationDefaults

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from ciguard.campaign import Budget, Group, Stream, StreamFactory, WorkerNeeds
    from ciguard.config import Config
    from ciguard.domain.case import Case
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Probe, ScriptResult
    from ciguard.libraries import Library
    from ciguard.targets import Environment
    from ciguard.triage import EnvironmentHint

_MAX_CONDITION_LENGTH = 80
_PASSED_TEXTS = {
    Aspect.ANSWER: "returned a result",
    Aspect.CONDITION: "its source text was analysed",
    Aspect.INPUTS: "it was called with many inputs",
}


class AppSpec(LevelDefaults, PresentationDefaults[AppCase]):
    """Level `app`: functions of applications, called with stub responses in separate processes."""

    name: ClassVar[str] = NAME
    uses_catalogue: ClassVar[bool] = False

    def check(self, config: Config) -> None:
        """Check that the applications can be read and call services; see `check_applications`."""
        check_applications(config)

    def client_packages(self) -> frozenset[str]:
        """Return the top-level packages of the clients of services."""
        return frozenset(
            package.partition(".")[0]
            for provider in known_providers()
            for package in provider.packages
        )

    def needs(self, config: Config, library: Library) -> WorkerNeeds:
        """Return what a worker needs to run the script of a finding."""
        del config, library
        return needs_of({})

    def streams(self, factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
        """Return no stream, as workers do not run applications."""
        del factory
        yield from ()
        return []

    def direct(
        self, config: Config, groups: Mapping[str, Group], budget: Budget
    ) -> ApplicationStage:
        """Return the stage that tests all functions on all targets."""
        return ApplicationStage(config, groups, budget)

    def probe(self, environment: Environment) -> tuple[tuple[str, ...], Sequence[Probe]]:
        """Probe the confinement of the processes of applications."""
        return confinement_of(str(environment.python), process_environment_on(environment))

    def check_rerun(self, finding: Finding) -> None:
        """Check that a finding may depend on the version of a library."""
        check_library_dependence(finding)

    def run_again(self, case: Case, environment: Environment, config: Config) -> Outcome:
        """Repeat the call of a case, or check its sub-condition again."""
        if not isinstance(case, AppCase):
            raise TypeError(case)
        return run_again(case, environment, config)

    def script(self, finding: Finding, hint: EnvironmentHint) -> str:
        """Return a script that calls the function with the stub responses of a finding."""
        return app_script(finding, hint)

    def has_script(self, case: AppCase) -> bool:
        """Return whether the case is a call with stub responses, which a script can repeat."""
        return case.aspect is Aspect.ANSWER

    def shows(self, finding: Finding, result: ScriptResult) -> bool | None:
        """Return whether a script's call still does not return; None for other findings."""
        outcome = finding.outcomes[finding.targets[-1]]
        return (
            still_fails_to_return(outcome, result) if isinstance(outcome, Hung | Crashed) else None
        )

    def is_shown_by(self, finding: Finding, outcome: Outcome) -> bool | None:
        """Return whether a condition is still constant; None for findings about other defects."""
        case = as_kind(finding.case, AppCase)
        return isinstance(outcome, Passed) if case.aspect is Aspect.CONDITION else None

    def claim(self, finding: Finding) -> tuple[str, str] | None:
        """Return an empty title, and the message of a finding without its API as the claim."""
        return "", finding.message.removeprefix(finding.api).lstrip(": ")

    def passed_text(self, case: AppCase) -> str:
        """Return a phrase for reports that describes the passed outcome of a case."""
        return _PASSED_TEXTS[case.aspect]

    def tested_part(self, library: str) -> str:
        """Return `applications`, whichever client they use."""
        del library
        return "applications"

    def origin_rows(self, case: AppCase, named: Callable[[str], str]) -> list[tuple[str, str]]:
        """Return a row with the condition, if the case is about one."""
        return (
            [("Condition", named(shortened(case.condition, _MAX_CONDITION_LENGTH)))]
            if case.condition
            else []
        )

    def without_place(self, message: str) -> str:
        """Return a message without the file and line that raised."""
        return locate_failure(message).message


LEVEL = AppSpec()
ORACLES.register(APPLICATION, ApplicationOracle())
