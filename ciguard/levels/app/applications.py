"""The applications of a campaign, with their functions that call services."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions import contradictory_conditions, dead_conditions
from ciguard.levels.app.findings import TargetedApplication
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.campaign import Member
    from ciguard.levels.app.dead_conditions import DeadCondition, Vocabulary
    from ciguard.levels.app.static_analysis import Application, ServiceFunction


LEVEL = "app"


@dataclass(frozen=True, slots=True)
class AnalysedApplication:
    """A parsed application, and its functions that call services."""

    application: Application
    root: str
    """Folder of the application, relative to the current folder."""
    functions: tuple[ServiceFunction, ...]
    """Functions that call services."""

    def targeted_on(self, member: Member) -> TargetedApplication:
        """Return the application on the target of a member of the campaign."""
        library = member.environment.library.name
        return TargetedApplication(root=self.root, library=library, target=member.name)

    def api(self, function: ServiceFunction) -> str:
        """Return the name of a function in reports."""
        return TargetedApplication(root=self.root, library="", target="").api(function)

    def constant_conditions(
        self, labels: Vocabulary | None
    ) -> dict[DeadCondition, list[ServiceFunction]]:
        """Return the constant sub-conditions, each with the functions that reach it.

        Args:
            labels: the labels that services can return; if None, labels are not checked.
        """
        functions_by_condition: dict[DeadCondition, list[ServiceFunction]] = {}
        known_dead = set()
        for function in self.functions:
            for dead in dead_conditions(function, labels):
                known_dead.add((dead.branch, dead.text))
                functions_by_condition.setdefault(dead, []).append(function)
        for function in self.functions:
            for dead in contradictory_conditions(self.application, function):
                if (dead.branch, dead.text) not in known_dead:
                    functions_by_condition.setdefault(dead, []).append(function)
        return functions_by_condition


def reread_application(root: str) -> AnalysedApplication:
    """Read the application in a folder again, from the current files.

    Raises:
        ConfigurationError: if the folder does not exist or holds no application.
    """
    application = read_application(Path(root))
    return AnalysedApplication(
        application, root, find_service_functions(application, known_providers())
    )


def read_applications(paths: Iterable[str]) -> list[AnalysedApplication]:
    """Read the applications at `paths`.

    Raises:
        ConfigurationError: if an application cannot be read, or is outside the current folder.
    """
    current_folder = Path.cwd().resolve()
    applications = []
    for text in paths:
        application = read_application(Path(text))
        root = application.root.resolve()
        if not root.is_relative_to(current_folder):
            msg = (
                f"applications: {visible(text)!r} is outside {current_folder}. "
                "Run ciguard in a folder that contains the application."
            )
            raise ConfigurationError(msg)
        relative_root = root.relative_to(current_folder).as_posix()
        applications.append(
            AnalysedApplication(
                application, relative_root, find_service_functions(application, known_providers())
            )
        )
    return applications
