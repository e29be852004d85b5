"""What a service is to recognise, and what is made so that it should."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.events import SampleInput
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence


_MEDIA = {
    ".png": "image/png", ".jpg": "image/jpeg", ".wav": "audio/wav", ".txt": "text/plain",
}  # fmt: skip
_SUFFIXES = {MediaKind.IMAGE: ".png", MediaKind.TEXT: ".txt", MediaKind.SOUND: ".wav"}


class Feeling(StrEnum):
    """What people read in a text."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What people should recognise in an input."""

    task: RecognitionTask
    key: str = ""
    """Label, text, category, entity or transcript; empty: nothing in particular."""
    kind: str = ""
    """Of an entity, such as `PERSON`."""
    feeling: Feeling | None = None
    """Of a text, for `RecognitionTask.SENTIMENT`."""


@dataclass(frozen=True, slots=True)
class ServiceInput:
    """One image, text or sound, made or chosen so that people recognise what is wanted."""

    wanted: InputSpec
    content: bytes
    origin: str
    """How it was made, or the file that it is from."""
    licence: str = ""
    """Of what it was taken from, with its maker and address; empty where ciguard has made it."""

    @property
    def kind(self) -> MediaKind:
        """What it is."""
        return kind_of(self.wanted.task)

    @property
    def suffix(self) -> str:
        """Of a file with it."""
        is_jpeg = self.content.startswith(b"\xff\xd8\xff")
        return ".jpg" if is_jpeg else _SUFFIXES[self.kind]

    def shown(self) -> SampleInput:
        """Return it as pages show it."""
        wanted = self.wanted
        what = wanted.key or wanted.kind or wanted.feeling or "nothing in particular"
        return SampleInput(
            content=self.content,
            media=_MEDIA[self.suffix],
            wanted=f"{wanted.task}: {what}",
            origin=self.origin,
            licence=self.licence,
        )

    @property
    def digest(self) -> str:
        """Names its content."""
        return digest_of(self.content)


def digest_of(content: bytes) -> str:
    """Return the name of a content."""
    return hashlib.sha256(content).hexdigest()


class Inverse(Protocol):
    """Pseudo-inverse of a service: from what it should recognise to inputs (Keeper, 3.2)."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it has inputs for that, with what is installed and configured here."""

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many inputs, all different; the same ones for the same seed."""
