"""The user's applications, as a campaign knows them: read, with what is always the same in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.levels.app.dead_conditions import contradictory_conditions, dead_conditions
from ciguard.levels.app.findings import Applied
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find, read_application

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.campaign import Member
    from ciguard.levels.app.dead_conditions import Dead, Vocabulary
    from ciguard.levels.app.static_analysis import Application, ServiceFunction


LEVEL = "app"


@dataclass(frozen=True, slots=True)
class ReadApplication:
    """An application, and which of its functions ask services."""

    application: Application
    root: str
    """Its folder, relative to the current one."""
    found: tuple[ServiceFunction, ...]

    def on(self, member: Member) -> Applied:
        """Return it on a target."""
        library = member.environment.library.name
        return Applied(root=self.root, library=library, target=member.name)

    def api(self, found: ServiceFunction) -> str:
        """Return the name by which reports call a function of it."""
        return Applied(root=self.root, library="", target="").api(found)

    def dead(self, labels: Vocabulary | None) -> dict[Dead, list[ServiceFunction]]:
        """Return the sub-conditions that are always the same, with the functions that reach each.

        Args:
            labels: that services can answer; without them, labels are not judged.
        """
        reached: dict[Dead, list[ServiceFunction]] = {}
        told = set()
        for one in self.found:
            for dead in dead_conditions(one, labels):
                told.add((dead.branch, dead.text))
                reached.setdefault(dead, []).append(one)
        for one in self.found:
            for dead in contradictory_conditions(self.application, one):
                if (dead.branch, dead.text) not in told:
                    reached.setdefault(dead, []).append(one)
        return reached


def read_again(root: str) -> ReadApplication:
    """Read the application in a folder.

    Raises:
        ConfigurationError: if there is none.
    """
    application = read_application(Path(root))
    return ReadApplication(application, root, find(application, known_providers()))


def read_applications(paths: Iterable[str]) -> list[ReadApplication]:
    """Read applications.

    Raises:
        ConfigurationError: if one cannot be read, or lies outside of the current folder.
    """
    here = Path.cwd().resolve()
    several = []
    for text in paths:
        application = read_application(Path(text))
        root = application.root.resolve()
        if not root.is_relative_to(here):
            msg = f"applications: {visible(text)!r} lies outside of {here}. Run ciguard above it."
            raise ConfigurationError(msg)
        below = root.relative_to(here).as_posix()
        several.append(ReadApplication(application, below, find(application, known_providers())))
    return several
