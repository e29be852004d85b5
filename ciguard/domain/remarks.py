"""Remarks at lines of the user's sources. GitHub calls them annotations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.plan import Place


class RemarkLevel(StrEnum):
    """Level of a remark, most severe first. The value is the name of the workflow command."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One remark. Title and message are printable and of limited length."""

    level: RemarkLevel
    title: str
    message: str
    place: Place | None = None
    """Line that the remark is about; None if it is about the whole run."""
