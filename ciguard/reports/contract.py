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
    """The places that reporters write to, and what they need to know for it."""

    folder: Path
    """Output folder of the run; created by the first reporter that writes a file."""
    stream: TextIO
    """Console that the user reads while the run goes on."""
    policy: Policy = field(default_factory=Policy)
    """Rules that say which new findings fail the run."""
    sources: Path = Path()
    """Folder with the user's sources: buckets are located at lines of these files."""


class Reporter(Protocol):
    """Receives a campaign's events and writes one artefact, or files that belong together.

    `dispatch` reports an exception to the user and drops the reporter; the others go on.
    """

    def receive(self, event: Event) -> None:
        """Handle the next event. `RunFinished` is the last event of every completed run."""

    def close(self) -> None:
        """Release all resources. Called once, also after an aborted run."""


ReporterFactory: TypeAlias = Callable[[Destination], Reporter]

REPORTERS: Registry[ReporterFactory] = Registry(
    "reporter", group="ciguard.reporters", accepts=callable
)
"""Factories of reporters, by name."""

CONSOLES = frozenset({"terminal", "plain", "github"})
"""Names of the reporters that write to the stream. A run uses exactly one of them."""
