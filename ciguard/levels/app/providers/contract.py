"""What makes a provider: one object, `PROVIDER` in `spec.py` of its folder."""

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
        Felt,
        Scored,
        Size,
        Word,
    )
    from ciguard.levels.app.providers.request import Services


class Messages(Protocol):
    """Writes what is recognised as a provider's services say it, in JSON."""

    CLIENTS: frozenset[str]
    """That are answered, by the names that descriptions give them."""
    TASKS: frozenset[RecognitionTask]
    """That engines can answer."""
    KINDS: Mapping[str, str]
    """What its services call a kind of entities → one of `ENTITY_KINDS`; empty if it is none."""

    def topic(self, text: str) -> str:
        """Return how a category is spelled."""

    def label_answer(self, found: Scored) -> Json:
        """Return labels, the likeliest first."""

    def object_answer(self, found: Scored, boxes: Sequence[BoundingBox]) -> Json:
        """Return objects, the likeliest first, each in a box of shares."""

    def category_answer(self, found: Scored) -> Json:
        """Return topics, the likeliest first."""

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return what is written in an image of that size; none of its lines is empty."""

    def sentiment_answer(self, score: float, felt: Sequence[Felt]) -> Json:
        """Return what is felt in a document, -1 to 1, and in each of its sentences."""

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield what may be felt, on both sides of each number: its title and the answer."""

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return what a text speaks of, what is most of it first."""

    def listed_answer(self, operation: Operation, found: Scored) -> Json:
        """Return results of any other operation whose description says where they lie."""

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return how the service may refuse."""


class FaceMessages(Protocol):
    """Writes faces as a provider's services say them."""

    SHOWN_BY_FACES: tuple[str, ...]
    """What its services tell of a face."""
    ARE_FACES_MEASURED: bool
    """Whether they tell ages, and in numbers how sure they are of what a face shows."""

    def face_answer(self, faces: Sequence[Face], size: Size) -> Json:
        """Return faces in an image of that size."""


class SpeechMessages(Protocol):
    """Writes speech as a provider's services say it."""

    def speech_answer(self, found: Scored) -> Json:
        """Return what was said, one part after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageAnalysis:
    """One answer with all of an image, put together of what other operations answer."""

    parts: tuple[str, ...]
    """Operations that are asked for the parts."""
    join: Callable[[Sequence[Json]], Json]
    """Returns the answer, from those of the parts in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grpc:
    """A service of gRPC, which the emulator starts beside the client libraries."""

    entry: str
    """Module that serves, see `providers/google/in_target/grpc_service.py`."""
    versions: Mapping[str, Sequence[str]]
    """Of each service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """What services refuse before they look at it, and how they put that."""

    no_image: str
    """Message where there is none."""
    no_text: str
    """Likewise."""
    images: tuple[bytes, ...] = (
        b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM", b"II*\0", b"MM\0*",
        b"\0\0\1\0", b"RIFF",
    )  # fmt: skip
    """What files that they read images from begin with."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What a function is told of: somebody has put it into a storage, or sends it."""

    name: str
    content: bytes
    text: str
    """It, or where it lies, as a text."""

    @property
    def form(self) -> Json:
        """The form of the name under which it lies in a storage that is answered."""
        return {"stored": {"base64": b64encode(self.content).decode(), "name": self.name}}


def _nothing_told(stored: StoredFile) -> Mapping[str, Json]:
    del stored
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallingConventions:
    """How applications that use a provider are called, and hand it what it is asked about."""

    content_field: str = "content"
    """Field of a message that holds an image or a sound."""
    has_documents: bool = False
    """Whether a text may be asked about in a message, with its `content` and `type`."""
    has_storage: bool = False
    """Whether files that an application reads from its storage are answered."""
    storage_scheme: str = ""
    """Of addresses in its storage, which nobody else would fetch."""
    endpoint: str = ""
    """An address as its clients take one; made up, nobody is there."""
    region: str = ""
    """Likewise, where its services may run."""
    event_fields: Callable[[StoredFile], Mapping[str, Json]] = _nothing_told
    """Returns the forms of what an event of its cloud says of a file, by field."""
    web_event: Mapping[str, Json] = field(default_factory=dict)
    """What an event of its cloud says of a web request, beside the body and the query."""
    modules_with_numbers: frozenset[str] = frozenset()
    """Modules of older clients, in which members of enumerations are plain numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One provider. Another package adds its own under `ciguard.providers`."""

    description: ProviderDescription
    hook: str
    """Module with the `HOOK` that runs beside the application; see `in_target/hooks.py`."""
    messages: Messages
    faces: FaceMessages | None = None
    """None where no client for faces is answered."""
    speech: SpeechMessages | None = None
    """None where no client for speech is answered."""
    answered: tuple[str, ...]
    """Operations that engines answer, or make answers up to."""
    limits: ServiceLimits
    services: Callable[[], Services]
    """Makes what answers its requests by HTTP."""
    grpc: Grpc | None = None
    image_analysis: ImageAnalysis | None = None
    """None where nothing tells all of an image at once."""
    called: CallingConventions = CallingConventions()
    scores: frozenset[str]
    """Names of the numbers in answers that say how sure or strong something is."""
    shares: frozenset[str] = frozenset()
    """Names of what holds several scores that are one in all."""
    secrets: str = ""
    """Pattern of keys and accounts, as its error messages repeat them."""
    has_enumerations: bool = False
    """Whether kinds and likelihoods are members of enumerations, and no texts."""
    is_described_as_sent: bool = False
    """Whether its description names the fields of answers as the service sends them."""

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
            msg = f"provider {self.name}: hook = {self.hook!r}: there is no such module"
            raise ModuleNotFoundError(msg)
        return Path(spec.origin)
