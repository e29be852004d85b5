"""How long, and how, each function is tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hypothesis.database import ExampleDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """What a search is told; what is None follows Hypothesis's profile."""

    max_examples: int | None = None
    budget_s: float = 0.0
    """Seconds after which no more calls are made; 0: there is no such limit."""
    home: Path | None = None
    """Folder `.hypothesis`, where failures are kept if the profile does not say otherwise."""
    database: ExampleDatabase | None = None
    """Where failures are kept instead; only used if the profile has a database."""
    reporter: Callable[[object], None] | None = None
    """Hears what Hypothesis says, such as each example in verbose mode."""
