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
    """Settings of a search; for None, the value of Hypothesis's profile applies."""

    max_examples: int | None = None
    """Maximum number of drawn examples."""
    budget_s: float = 0.0
    """Time budget of the search, in seconds; 0 for no limit."""
    home: Path | None = None
    """Path of the folder `.hypothesis` for failures, unless the profile chooses a database."""
    database: ExampleDatabase | None = None
    """Database to use instead of the profile's; ignored if the profile has no database."""
    reporter: Callable[[object], None] | None = None
    """Function that receives Hypothesis's messages, such as each example in verbose mode."""
