"""Attribution of a finding to a change: how often head and base show the defect."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ciguard.domain.untrusted import Untrusted

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Numbers of repetitions in fresh workers on head and base."""

    head_shown: int = 0
    """Number of repetitions on the head that showed the defect."""
    head_tried: int = 0
    """Number of repetitions on the head."""
    base_shown: int = 0
    """Number of repetitions on the base that showed the defect."""
    base_tried: int = 0
    """Number of repetitions on the base."""

    def __post_init__(self) -> None:
        for shown, tried in (
            (self.head_shown, self.head_tried),
            (self.base_shown, self.base_tried),
        ):
            if not 0 <= shown <= tried:
                msg = (
                    f"attribution: 'shown' is {shown}, which is not between 0 and 'tried' ({tried})"
                )
                raise ValueError(msg)

    @property
    def words(self) -> str:
        """The counts as a phrase, such as `head 6 of 6, base 0 of 215`."""
        return (
            f"head {self.head_shown} of {self.head_tried}, "
            f"base {self.base_shown} of {self.base_tried}"
        )

    @property
    def is_flaky(self) -> bool:
        """True if only one side showed the defect and did so in some of its repetitions."""
        return (not self.base_shown and self.head_shown < self.head_tried) or (
            not self.head_shown and self.base_shown < self.base_tried
        )

    def plus(self, other: Attribution) -> Attribution:
        """Return an attribution with the sum of this and another attribution's counts."""
        counts = (
            (count.name, getattr(self, count.name) + getattr(other, count.name))
            for count in fields(self)
        )
        return Attribution(**dict(counts))


def attribution_to_json(attribution: Attribution | None) -> Json:
    """Return the JSON form of an attribution; None for None."""
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
    reader = Untrusted(encoded, "'attribution'")
    return Attribution(**{item.name: reader.count(item.name) for item in fields(Attribution)})
