"""The first release of a library that shows a defect."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_VERSION = re.compile(r"\d[\w.+!-]{0,60}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Onset:
    """Result of a bisection over the releases of a library."""

    first_bad: str
    """First version known to show the defect."""
    last_good: str = ""
    """Last version without the defect; empty if all older testable versions show it."""
    between: tuple[str, ...] = ()
    """Versions between the two that could not be tested; any of them may be the first bad one."""

    def __post_init__(self) -> None:
        for version in (self.first_bad, *filter(None, (self.last_good, *self.between))):
            if not _VERSION.fullmatch(version):
                msg = f"{version!r:.80} is not a version such as 2.13.0"
                raise ValueError(msg)

    @property
    def words(self) -> str:
        """The onset as a phrase. Its only variable parts are versions, so it is safe to show."""
        if not self.last_good:
            return f"in all testable releases, since {self.first_bad}"
        doubt = f", or since one of {', '.join(self.between)}" if self.between else ""
        return f"since {self.first_bad}{doubt}; {self.last_good} does not show it"


def onset_to_json(onset: Onset | None) -> Json:
    """Return the JSON form of an onset; None for None."""
    if onset is None:
        return None
    return {
        "first_bad": onset.first_bad,
        "last_good": onset.last_good,
        "between": list(onset.between),
    }


def onset_from_json(encoded: Json) -> Onset | None:
    """Rebuild an onset.

    Raises:
        ValueError: if `encoded` is not the JSON form of an onset.
    """
    if encoded is None:
        return None
    reader = Untrusted(encoded, "'since'")
    return Onset(
        first_bad=reader.text("first_bad"),
        last_good=reader.text("last_good"),
        between=reader.names("between"),
    )
