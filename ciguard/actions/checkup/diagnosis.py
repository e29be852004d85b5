"""One line of a checkup."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Health(StrEnum):
    """How something is."""

    OK = "ok"
    UNKNOWN = "not checked"
    """It could not be examined: nothing is known of it, good or bad."""
    WARNING = "warning"
    """The guard works, and not as well as it could."""
    PROBLEM = "problem"
    """The guard does not work, or does not guard, until this is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was examined, and how it is. Texts may hold anything: they are shown escaped."""

    subject: str
    health: Health
    text: str
    remedy: str = ""
    """What to change, as a sentence; empty if nothing."""


def healthy(subject: str, text: str) -> Diagnosis:
    """Return a diagnosis without anything to change."""
    return Diagnosis(subject=subject, health=Health.OK, text=text)


def unknown(subject: str, why: str, remedy: str = "") -> Diagnosis:
    """Return a diagnosis of what could not be examined."""
    return Diagnosis(subject=subject, health=Health.UNKNOWN, text=why, remedy=remedy)


def warning(subject: str, text: str, remedy: str) -> Diagnosis:
    """Return a diagnosis of what could be better."""
    return Diagnosis(subject=subject, health=Health.WARNING, text=text, remedy=remedy)


def problem(subject: str, text: str, remedy: str) -> Diagnosis:
    """Return a diagnosis of what must be changed."""
    return Diagnosis(subject=subject, health=Health.PROBLEM, text=text, remedy=remedy)
