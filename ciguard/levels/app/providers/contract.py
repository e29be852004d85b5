"""The contract of a provider: one object, `PROVIDER` in `spec.py` of its folder."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.codes import Refusal
    from ciguard.levels.app.providers.description import (
        Operation,
        ProviderDescription,
        RecognitionTask,
    )
    from ciguard.levels.app.providers.recognised import (
        BoundingBox,
        Entity,
        Face,
        Scored,
        ScoredSentence,
        Size,
        Word,
    )
    from ciguard.levels.app.providers.request import Services


class Messages(Protocol):
    """Writes recognised content in the JSON of a provider's services."""

    CLIENTS: frozenset[str]
    """Supported clients, by their names in the description."""
    TASKS: frozenset[RecognitionTask]
    """Tasks that engines can answer."""
    KINDS: Mapping[str, str]
    """Kinds of entities of the service → one of `ENTITY_KINDS`; empty for none."""

    def topic(self, text: str) -> str:
        """Return a category in the spelling of the service."""

    def label_answer(self, found: Scored) -> Json:
        """Return labels, the likeliest first."""

    def object_answer(self, found: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return objects, the likeliest first, each with a box in shares of the image size."""

    def category_answer(self, found: Scored) -> Json:
        """Return topics, the likeliest first."""

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return the text in an image of a size; no line is empty."""

    def sentiment_answer(self, score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
        """Return the sentiment of a document, -1 to 1, and of each of its sentences."""

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield titles and answers with sentiments around each number."""

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return the entities in a text, the most salient first."""

    def listed_answer(self, operation: Operation, found: Scored) -> Json:
        """Return results of another operation, whose description has the paths of their fields."""

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return the refusals of the service."""


class FaceMessages(Protocol):
    """Writes faces in the JSON of a provider's services."""

    SHOWN_BY_FACES: tuple[str, ...]
    """Properties of a face that its services return."""
    ARE_FACES_MEASURED: bool
    """True if the services return ages, and numeric confidences of the properties."""

    def face_answer(self, faces: Sequence[Face], size: Size) -> Json:
        """Return faces in an image of a size."""


class SpeechMessages(Protocol):
    """Writes transcripts in the JSON of a provider's services."""

    def speech_answer(self, found: Scored) -> Json:
        """Return a transcript in parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAnalysis:
    """An image analysis, which combines the answers of other operations."""

    parts: tuple[str, ...]
    """Operations of the parts."""
    join: Callable[[Sequence[Json]], Json]
    """Function that combines the answers of the parts, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grpc:
    """A gRPC server, which the emulator starts beside the client libraries."""

    entry: str
    """Module of the server; see `providers/google/in_target/grpc_service.py`."""
    versions: Mapping[str, Sequence[str]]
    """Supported versions by service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """Limits of the services, and their error messages."""

    no_image: str
    """Error message for a missing image."""
    no_text: str
    """Error message for a missing text."""
    images: tuple[bytes, ...] = (
        b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*",
        b"\0\0\1\0", b"RIFF",
    )  # fmt: skip
    """Prefixes of the supported image formats."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that an event reports as stored, or that a request contains."""

    name: str
    content: bytes
    text: str
    """Content as text, or address of the file."""

    @property
    def form(self) -> Json:
        """Form of the name of the file in an emulated storage."""
        return {"stored": {"base64": b64encode(self.content).decode(), "name": self.name}}


def _no_event_fields(stored: StoredFile) -> Mapping[str, Json]:
    del stored
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingConventions:
    """Calling conventions of applications that use a provider."""

    content_field: str = "content"
    """Field of a message with the content of an image or a sound."""
    has_documents: bool = False
    """True if a message may contain a text as a document with `content` and `type`."""
    has_storage: bool = False
    """True if ciguard emulates the storage of the provider."""
    storage_scheme: str = ""
    """URL scheme of its storage; only its own clients read such addresses."""
    endpoint: str = ""
    """Placeholder of an endpoint, which does not exist."""
    region: str = ""
    """Placeholder of a region of its services."""
    event_fields: Callable[[StoredFile], Mapping[str, Json]] = _no_event_fields
    """Function that returns the fields of an event about a file."""
    web_event: Mapping[str, Json] = field(default_factory=dict)
    """Fields of an event about a web request, beside body and query."""
    modules_with_numbers: frozenset[str] = frozenset()
    """Modules of older clients whose enumerations are plain numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider. Other packages register theirs under `ciguard.providers`."""

    description: ProviderDescription
    hook: str
    """Module with the `HOOK` that runs in the application; see `in_target/hooks.py`."""
    messages: Messages
    faces: FaceMessages | None = None
    """Writer of faces; None if no such client is supported."""
    speech: SpeechMessages | None = None
    """Writer of transcripts; None if no such client is supported."""
    answered: tuple[str, ...]
    """Operations that engines recognise or simulate."""
    limits: ServiceLimits
    services: Callable[[], Services]
    """Constructor of its HTTP services."""
    grpc: Grpc | None = None
    image_analysis: ImageAnalysis | None = None
    """Image analysis of the provider; None if it has none."""
    called: CallingConventions = CallingConventions()
    scores: frozenset[str]
    """Names of the numbers in answers that are scores."""
    shares: frozenset[str] = frozenset()
    """Names of objects in answers whose scores sum to 1."""
    secrets: str = ""
    """Pattern of keys and accounts in its error messages."""
    has_enumerations: bool = False
    """True if kinds and likelihoods are enumerations, and not strings."""
    is_described_as_sent: bool = False
    """True if its description has the field names of the service, not of its clients."""

    @property
    def name(self) -> str:
        """Name in descriptions, recordings and cases."""
        return self.description.name

    @property
    def hook_file(self) -> Path:
        """File of the module of the hook.

        Raises:
            ModuleNotFoundError: if the module is not installed.
        """
        spec = find_spec(self.hook)
        if spec is None or spec.origin is None:
            msg = f"provider {self.name}: hook = {self.hook!r}: no such module"
            raise ModuleNotFoundError(msg)
        return Path(spec.origin)
