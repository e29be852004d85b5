"""The contract of a provider, which is one object: `PROVIDER` in `spec.py` of its folder."""

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
    """Names of the supported clients in the description."""
    TASKS: frozenset[RecognitionTask]
    """Tasks whose results an engine can recognise or simulate."""
    KINDS: Mapping[str, str]
    """Kind of entity in the service → one of `ENTITY_KINDS`; empty if none of them matches."""

    def topic(self, text: str) -> str:
        """Return a category in the spelling of the service."""

    def label_answer(self, scored_results: Scored) -> Json:
        """Return an answer with labels, the likeliest first."""

    def object_answer(self, scored_results: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return an answer with objects, the likeliest first.

        Args:
            scored_results: the objects and their scores.
            boxes: box of each object in the answer's order, as shares of the image size.
        """

    def category_answer(self, scored_results: Scored) -> Json:
        """Return an answer with topics, the likeliest first."""

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return an answer with the text in an image.

        Args:
            lines: the words of each line; no line is empty.
            size: width and height of the image, in pixels.
        """

    def sentiment_answer(self, score: float, scored_sentences: Sequence[ScoredSentence]) -> Json:
        """Return an answer with the sentiment of a document, -1 to 1, and of its sentences."""

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield title and answer of sentiments that are just below, at and just above each number.

        Args:
            numbers: numbers with which the application compares scores.
        """

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return an answer with the entities in a text."""

    def listed_answer(self, operation: Operation, scored_results: Scored) -> Json:
        """Return an answer of any other operation, with fields at the paths of its description."""

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return the errors that the service may return for the operation."""


class FaceMessages(Protocol):
    """Writes faces in the JSON of a provider's services."""

    FACE_PROPERTIES: tuple[str, ...]
    """Properties of a face that its services return."""
    ARE_FACES_MEASURED: bool
    """True if the services return ages, and the confidence of each property as a number."""

    def face_answer(self, faces: Sequence[Face], size: Size) -> Json:
        """Return an answer with the faces in an image, whose size is in pixels."""


class SafetyMessages(Protocol):
    """Writes judgements of unsafe content in the JSON of a provider's services."""

    UNSAFE_PROPERTIES: tuple[str, ...]
    """Kinds of unsafe content that its services judge."""
    ARE_JUDGEMENTS_SCORED: bool
    """True if the services return a score for each kind, 0 to 1, and False for a likelihood."""

    def safety_answer(self, judged: Mapping[str, str | float]) -> Json:
        """Return the part of an answer that judges the content of an image.

        Args:
            judged: kind of unsafe content → one of `LIKELIHOODS`, or a score from 0 to 1 if
                `ARE_JUDGEMENTS_SCORED`; other kinds are very unlikely.
        """


class SpeechMessages(Protocol):
    """Writes transcripts in the JSON of a provider's services."""

    def speech_answer(self, scored_results: Scored) -> Json:
        """Return an answer with a transcript, whose parts have a score each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAnalysis:
    """An operation that combines the answers of several other operations about an image."""

    parts: tuple[str, ...]
    """Names of the combined operations."""
    join: Callable[[Sequence[Json]], Json]
    """Function that combines the answers of `parts`, which it gets in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrpcServer:
    """A gRPC server, which the emulator starts in an interpreter with the client libraries."""

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
    """First bytes of the files in each supported image format."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that an event reports as stored, or that a request contains."""

    name: str
    content: bytes
    text: str
    """Content as text; the address of the file if its content is not text."""

    @property
    def form(self) -> Json:
        """Form of an argument that is the file's name; the emulated storage has the file."""
        return {"stored": {"base64": b64encode(self.content).decode(), "name": self.name}}


def _no_event_fields(stored: StoredFile) -> Mapping[str, Json]:
    del stored
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingConventions:
    """Calling conventions of applications that use a provider."""

    content_field: str = "content"
    """Field of a request with the content of an image or a sound."""
    has_documents: bool = False
    """True if a request may contain a text as a document with `content` and `type`."""
    has_storage: bool = False
    """True if ciguard emulates the storage of the provider."""
    storage_scheme: str = ""
    """URL scheme of the provider's storage; only the provider's clients read such addresses."""
    endpoint: str = ""
    """Placeholder for the address of its services, at which no service exists."""
    region: str = ""
    """Placeholder for the region of its services."""
    event_fields: Callable[[StoredFile], Mapping[str, Json]] = _no_event_fields
    """Function that returns the form of each field of an event about a stored file."""
    web_event: Mapping[str, Json] = field(default_factory=dict)
    """Fields of an event about a web request, apart from body and query."""
    modules_with_numbers: frozenset[str] = frozenset()
    """Modules of older clients whose enumerations are plain numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider. Other packages register their providers under `ciguard.providers`."""

    description: ProviderDescription
    hook: str
    """Module with the `HOOK` that runs in the application; see `in_target/hooks.py`."""
    messages: Messages
    faces: FaceMessages | None = None
    """Writer of answers with faces; None if no client that detects faces is supported."""
    speech: SpeechMessages | None = None
    """Writer of answers with transcripts; None if no client that transcribes is supported."""
    safety: SafetyMessages | None = None
    """Writer of answers about unsafe content; None if no operation judges it."""
    answered: tuple[str, ...]
    """Names of the operations that engines answer."""
    limits: ServiceLimits
    services: Callable[[], Services]
    """Constructor of its HTTP services."""
    grpc: GrpcServer | None = None
    image_analysis: ImageAnalysis | None = None
    """Image analysis of the provider; None if it has none."""
    conventions: CallingConventions = CallingConventions()
    scores: frozenset[str]
    """Names of the fields of answers whose numbers are scores."""
    shares: frozenset[str] = frozenset()
    """Names of the fields of answers whose objects have scores that sum to 1."""
    secrets: str = ""
    """Regular expression for keys and accounts in its error messages; empty for none."""
    has_enumerations: bool = False
    """True if kinds and likelihoods are enumerations, and not strings."""
    is_described_as_sent: bool = False
    """True if its description has the field names of the service, False for those of clients."""

    @property
    def name(self) -> str:
        """Name of the provider in descriptions, recordings and cases."""
        return self.description.name

    @property
    def hook_file(self) -> Path:
        """File of the module that `hook` names.

        Raises:
            ModuleNotFoundError: if the module is not installed.
        """
        spec = find_spec(self.hook)
        if spec is None or spec.origin is None:
            msg = f"provider {self.name}: hook = {self.hook!r} names a module that is not installed"
            raise ModuleNotFoundError(msg)
        return Path(spec.origin)
