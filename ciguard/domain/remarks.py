"""Remarks: what a report has to say at a line of the user's sources. GitHub: annotations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.plan import Place


class RemarkLevel(StrEnum):
    """How loud it is, the loudest first. The value is the workflow command's name."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One remark. Its texts are printable and bounded."""

    level: RemarkLevel
    title: str
    message: str
    place: Place | None = None
    """None: it concerns the whole run."""
