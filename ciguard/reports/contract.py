"""What a reporter is, and the registry of reporters."""

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
    """Where reporters write."""

    folder: Path
    """The run's output folder; a reporter of files makes it when it first writes."""
    stream: TextIO
    """What a person reads while the run goes on."""
    policy: Policy = field(default_factory=Policy)
    """Which new findings fail the run."""
    sources: Path = Path()
    """Where the user's sources are: what is found is shown at lines of theirs."""


class Reporter(Protocol):
    """Listens to a campaign and writes one artefact, or one set of files that belong together.

    An exception is reported to the user by whoever sends the events; the reporter then gets no more
    of them, and the others go on.
    """

    def receive(self, event: Event) -> None:
        """Take the next event. `RunFinished` is the last one of every run that ends by itself."""

    def close(self) -> None:
        """Give back what the reporter holds. Called once, also when the run broke off."""


ReporterFactory: TypeAlias = Callable[[Destination], Reporter]

REPORTERS: Registry[ReporterFactory] = Registry(
    "reporter", group="ciguard.reporters", accepts=callable
)
"""How to make each reporter, by name."""

CONSOLES = frozenset({"terminal", "plain", "github"})
"""Reporters that write to the stream: a run has exactly one of them."""
