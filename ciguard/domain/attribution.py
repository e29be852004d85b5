"""Whose fault a finding is: how often it shows on the head of a change, and on its base."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Calls in fresh workers on both sides of a change, and how many of them showed the defect."""

    head_shown: int = 0
    head_tried: int = 0
    base_shown: int = 0
    base_tried: int = 0

    def __post_init__(self) -> None:
        for shown, tried in (
            (self.head_shown, self.head_tried),
            (self.base_shown, self.base_tried),
        ):
            if not 0 <= shown <= tried:
                msg = f"an attribution of {shown} calls of {tried}"
                raise ValueError(msg)

    @property
    def words(self) -> str:
        """Return it as a phrase, such as `head 6 of 6, base 0 of 215`."""
        return (
            f"head {self.head_shown} of {self.head_tried}, "
            f"base {self.base_shown} of {self.base_tried}"
        )

    @property
    def is_flaky(self) -> bool:
        """Whether one side alone showed it, and not every time."""
        return (not self.base_shown and self.head_shown < self.head_tried) or (
            not self.head_shown and self.base_shown < self.base_tried
        )

    def plus(self, other: Attribution) -> Attribution:
        """Return what both have counted."""
        counts = (
            (item.name, getattr(self, item.name) + getattr(other, item.name))
            for item in fields(self)
        )
        return Attribution(**dict(counts))


def attribution_to_json(attribution: Attribution | None) -> Json:
    """Return the JSON form of an attribution; null where there is none."""
    if attribution is None:
        return None
    return {item.name: getattr(attribution, item.name) for item in fields(attribution)}


def attribution_from_json(encoded: Json) -> Attribution | None:
    """Rebuild an attribution.

    Raises:
        ValueError: if `encoded` is not the JSON form of an attribution.
    """
    if encoded is None:
        return None
    read = Untrusted(encoded, "'attribution'")
    return Attribution(**{item.name: read.count(item.name) for item in fields(Attribution)})
