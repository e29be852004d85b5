"""Settings of a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hypothesis.database import ExampleDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Settings of a search; None means the value of Hypothesis's profile."""

    max_examples: int | None = None
    budget_s: float = 0.0
    """Time after which no more calls are made, in seconds; 0 means unlimited."""
    home: Path | None = None
    """Folder `.hypothesis` for failures, unless the profile chooses a database."""
    database: ExampleDatabase | None = None
    """Database to use instead of the profile's; ignored if the profile has none."""
    reporter: Callable[[object], None] | None = None
    """Receives the messages of Hypothesis, such as each example in verbose mode."""
