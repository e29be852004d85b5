"""Specifications of inputs that a service should recognise, and inputs that match them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.events import SampleInput
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, media_kind

if TYPE_CHECKING:
    from collections.abc import Sequence


_MEDIA = {
    ".png": "image/png", ".jpg": "image/jpeg", ".wav": "audio/wav", ".txt": "text/plain",
}  # fmt: skip
_SUFFIXES = {MediaKind.IMAGE: ".png", MediaKind.TEXT: ".txt", MediaKind.SOUND: ".wav"}


class Sentiment(StrEnum):
    """Sentiment of a text, as people judge it."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What people should recognise in an input."""

    task: RecognitionTask
    key: str = ""
    """Label, text, category, entity or transcript; empty for nothing in particular."""
    kind: str = ""
    """Kind of an entity, such as `PERSON`."""
    feeling: Sentiment | None = None
    """Sentiment of a text, for `RecognitionTask.SENTIMENT`."""


@dataclass(frozen=True, slots=True)
class ServiceInput:
    """An image, text or sound, made or chosen to match a specification."""

    wanted: InputSpec
    """Specification that the input matches."""
    content: bytes
    origin: str
    """Description of how the input was made, or the name of its file."""
    licence: str = ""
    """Licence of the original with its creator and URL; empty for inputs made by ciguard."""

    @property
    def kind(self) -> MediaKind:
        """Media kind of the content."""
        return media_kind(self.wanted.task)

    @property
    def suffix(self) -> str:
        """Suffix of a file with the content."""
        is_jpeg = self.content.startswith(b"\xff\xd8\xff")
        return ".jpg" if is_jpeg else _SUFFIXES[self.kind]

    def shown(self) -> SampleInput:
        """Return the input for display in reports."""
        wanted = self.wanted
        description = wanted.key or wanted.kind or wanted.feeling or "nothing in particular"
        return SampleInput(
            content=self.content,
            media=_MEDIA[self.suffix],
            wanted=f"{wanted.task}: {description}",
            origin=self.origin,
            licence=self.licence,
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest_of(self.content)


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


class Inverse(Protocol):
    """Pseudo-inverse of a service: makes inputs from what the service should recognise.

    Source: Keeper paper, section 3.2.
    """

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether inputs of a specification can be made with what is installed here."""

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return up to `count` distinct inputs; the same seed gives the same inputs."""
