"""A diagnosis: one line of `ciguard doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """The result of a check."""

    OK = "ok"
    UNKNOWN = "not checked"
    """The state could not be checked."""
    WARNING = "warning"
    """ciguard works, but not as well as it could."""
    PROBLEM = "problem"
    """ciguard does not work, or misses regressions, until this is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The result of one check. Texts are untrusted: the caller escapes them."""

    subject: str
    health: Health
    text: str
    remedy: str = ""
    """Sentence about what to change; empty if nothing needs to change."""


def healthy(subject: str, text: str) -> Diagnosis:
    """Return the diagnosis of a check without problems."""
    return Diagnosis(subject=subject, health=Health.OK, text=text)


def unknown(subject: str, why: str, remedy: str = "") -> Diagnosis:
    """Return the diagnosis of a check that was not possible, with the reason."""
    return Diagnosis(subject=subject, health=Health.UNKNOWN, text=why, remedy=remedy)


def warning(subject: str, text: str, remedy: str) -> Diagnosis:
    """Return the diagnosis of a check that found something to improve."""
    return Diagnosis(subject=subject, health=Health.WARNING, text=text, remedy=remedy)


def problem(subject: str, text: str, remedy: str) -> Diagnosis:
    """Return the diagnosis of a check that found something that must be changed."""
    return Diagnosis(subject=subject, health=Health.PROBLEM, text=text, remedy=remedy)
