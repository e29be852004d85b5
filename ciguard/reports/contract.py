"""The protocol of reporters, and the registry that holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO, TypeAlias

from ciguard.domain.policy import Policy
from ciguard.registry import Registry

if TYPE_CHECKING:
    from ciguard.domain.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Folder and stream that reporters write to, and the settings that they need."""

    folder: Path
    """Output folder of the run; the first reporter that writes a file creates it."""
    stream: TextIO
    """Stream of the console, on which the user follows the run."""
    policy: Policy = field(default_factory=Policy)
    """Policy that decides which new findings fail the run."""
    sources: Path = Path()
    """Folder with the user's sources; each bucket is located at a line of these files."""


class Reporter(Protocol):
    """Receives a campaign's events and writes one artefact, or files that belong together.

    If a reporter raises an exception, `dispatch` reports it to the user and drops the reporter;
    the other reporters go on.
    """

    def receive(self, event: Event) -> None:
        """Handle the next event. `RunFinished` is the last event of every completed run."""

    def close(self) -> None:
        """Release all resources. `dispatch` calls this once, also after an aborted run."""


ReporterFactory: TypeAlias = Callable[[Destination], Reporter]

REPORTERS: Registry[ReporterFactory] = Registry(
    "reporter", group="ciguard.reporters", accepts=callable
)
"""Factories of reporters, by name."""

CONSOLES = frozenset({"terminal", "plain", "github"})
"""Names of the reporters that write to `Destination.stream`. A run uses exactly one of them."""
