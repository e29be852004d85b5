"""The applications of a campaign: parsed, with the functions that call services."""

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
class ReadApplication:
    """A parsed application, and its functions that call services."""

    application: Application
    root: str
    """Folder of the application, relative to the current folder."""
    functions: tuple[ServiceFunction, ...]
    """Functions that call services."""

    def on(self, member: Member) -> TargetedApplication:
        """Return the application on the target of a member."""
        library = member.environment.library.name
        return TargetedApplication(root=self.root, library=library, target=member.name)

    def api(self, function: ServiceFunction) -> str:
        """Return the name of a function in reports."""
        return TargetedApplication(root=self.root, library="", target="").api(function)

    def dead(self, labels: Vocabulary | None) -> dict[DeadCondition, list[ServiceFunction]]:
        """Return the constant sub-conditions, with the functions that reach each.

        Args:
            labels: the labels that services can answer; None: labels are not judged.
        """
        reached: dict[DeadCondition, list[ServiceFunction]] = {}
        reported = set()
        for function in self.functions:
            for dead in dead_conditions(function, labels):
                reported.add((dead.branch, dead.text))
                reached.setdefault(dead, []).append(function)
        for function in self.functions:
            for dead in contradictory_conditions(self.application, function):
                if (dead.branch, dead.text) not in reported:
                    reached.setdefault(dead, []).append(function)
        return reached


def read_again(root: str) -> ReadApplication:
    """Read the application in a folder.

    Raises:
        ConfigurationError: if the folder does not exist or holds no application.
    """
    application = read_application(Path(root))
    return ReadApplication(
        application, root, find_service_functions(application, known_providers())
    )


def read_applications(paths: Iterable[str]) -> list[ReadApplication]:
    """Read applications.

    Raises:
        ConfigurationError: if one cannot be read, or is outside the current folder.
    """
    current_folder = Path.cwd().resolve()
    applications = []
    for text in paths:
        application = read_application(Path(text))
        root = application.root.resolve()
        if not root.is_relative_to(current_folder):
            msg = (
                f"applications: {visible(text)!r} is outside {current_folder}. "
                "Run ciguard in a parent folder."
            )
            raise ConfigurationError(msg)
        relative_root = root.relative_to(current_folder).as_posix()
        applications.append(
            ReadApplication(
                application, relative_root, find_service_functions(application, known_providers())
            )
        )
    return applications
