"""Descriptions of providers: their clients, and the operations with their answers.

One TOML file for each. Users write such a file for a provider that ciguard does not support.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_FILE = "services.toml"


class MediaKind(StrEnum):
    """Kind of content in a request."""

    IMAGE = "image"
    """PNG or JPEG."""
    TEXT = "text"
    """UTF-8."""
    SOUND = "sound"
    """WAV, 16 kHz, one channel, 16 bits."""


class RecognitionTask(StrEnum):
    """Task of a service (Keeper, Table 1)."""

    LABELS = "labels"
    """Labels of a whole image."""
    OBJECTS = "objects"
    """Objects in an image, with their boxes."""
    FACES = "faces"
    TEXT = "text"
    """Text in an image."""
    CATEGORIES = "categories"
    """Topics of a document."""
    SENTIMENT = "sentiment"
    ENTITIES = "entities"
    SPEECH = "speech"
    PHRASES = "phrases"
    """Key phrases of a text."""
    LANGUAGE = "language"
    """Language of a text."""
    OTHER = "other"
    """Anything else in an image."""


TASKS_WITHOUT_INPUTS = frozenset(
    {RecognitionTask.PHRASES, RecognitionTask.LANGUAGE, RecognitionTask.OTHER}
)
"""Tasks that no inputs are synthesised for."""
_OF_TEXT = frozenset({
    RecognitionTask.CATEGORIES, RecognitionTask.SENTIMENT, RecognitionTask.ENTITIES,
    RecognitionTask.PHRASES, RecognitionTask.LANGUAGE,
})  # fmt: skip


def kind_of(task: RecognitionTask) -> MediaKind:
    """Return the kind of content of a task."""
    if task is RecognitionTask.SPEECH:
        return MediaKind.SOUND
    return MediaKind.TEXT if task in _OF_TEXT else MediaKind.IMAGE


class Field(StrEnum):
    """Meaning of a field of an answer."""

    KEY = "key"
    """Label or text of a result."""
    SCORE = "score"
    """Score of a result."""
    MAGNITUDE = "magnitude"
    """Strength of the sentiment, positive or negative."""
    KIND = "kind"
    """Kind of an entity."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a client."""

    provider: str
    client: str
    name: str
    """Name of the method."""
    task: RecognitionTask
    records: str = ""
    """Path of the list of results in the answer. It is empty if the answer is one result, and a dot
    if the answer is the list itself.
    """
    fields: Mapping[Field, str] | None = None
    """Path of each field in a result."""
    between: tuple[float, float] | None = None
    """Range of scores; None if undocumented."""
    is_by_job_name: bool = False
    """True if a request names a job that was started before, and has no content."""
    returns_job_result: bool = False
    """True if the operation returns the result of a job, which may not be done yet."""
    is_per_document: bool = False
    """True if the client returns a list, with an answer for each text of the request."""

    @property
    def title(self) -> str:
        """Name in reports."""
        return f"{self.provider} {self.name}"

    @property
    def way(self) -> tuple[str, ...]:
        """Steps of the path of results; none if the answer is the list itself."""
        return tuple(filter(None, self.records.split(".")))

    def __hash__(self) -> int:
        return hash((self.provider, self.client, self.name))


@dataclass(frozen=True, slots=True, eq=False)
class ServiceClient:
    """A client class of the provider."""

    name: str
    made_by: tuple[str, ...]
    """Qualified names of functions and classes that create it."""
    service: str
    """Constructor argument that selects this service among several; empty for none."""
    operations: Mapping[str, Operation]
    """Operations by the name of the method."""
    about: tuple[str, int] | None = None
    """Name and position of the constructor argument with the content; None if methods take the
    content.
    """


@dataclass(frozen=True, slots=True)
class ProviderDescription:
    """Description of one provider."""

    name: str
    packages: tuple[str, ...]
    """Packages that applications import."""
    clients: tuple[ServiceClient, ...]

    def operations(self, name: str) -> Iterator[Operation]:
        """Yield the operations of a name of all its clients."""
        for client in self.clients:
            if name in client.operations:
                yield client.operations[name]


def read_description(package: str) -> ProviderDescription:
    """Return the description in `services.toml` of a package.

    Raises:
        ConfigurationError: if the file is invalid.
    """
    text = (files(package) / _FILE).read_text("utf-8")
    return _provider(tomllib.loads(text), f"{_FILE} of {package}")


def read_provider(file: Path) -> ProviderDescription:
    """Read the description of a provider.

    Raises:
        ConfigurationError: if the file cannot be read or is invalid.
    """
    try:
        return _provider(tomllib.loads(file.read_text("utf-8")), str(file))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file}: cannot be read as the description of a provider: {error}"
        raise ConfigurationError(msg) from error


def _provider(raw: dict[str, Any], file: str) -> ProviderDescription:
    reader = _DescriptionReader(file)
    name = reader.text(raw, "name")
    reader.only(raw, {"name", "packages", "clients"}, "")
    clients = tuple(
        _client(reader, table, name, f"clients[{index}]")
        for index, table in enumerate(reader.tables(raw, "clients", ""))
    )
    return ProviderDescription(name, reader.texts(raw, "packages", ""), clients)


def _client(
    reader: _DescriptionReader, raw: dict[str, Any], provider: str, where: str
) -> ServiceClient:
    reader.only(raw, {"name", "made_by", "service", "about", "operations"}, where)
    name = reader.text(raw, "name", where)
    operations = raw.get("operations")
    if not isinstance(operations, dict) or not operations:
        key = f"{where}.operations"
        raise reader.wrong(key, operations, "a table of operations by name")
    return ServiceClient(
        name=name,
        made_by=reader.texts(raw, "made_by", where),
        service=reader.text(raw, "service", where, default=""),
        operations={
            method: _operation(
                reader, table, Operation(provider, name, method, RecognitionTask.OTHER), where
            )
            for method, table in operations.items()
        },
        about=reader.argument(raw, "about", where),
    )


def _operation(reader: _DescriptionReader, raw: object, blank: Operation, where: str) -> Operation:
    where = f"{where}.operations.{blank.name}"
    if not isinstance(raw, dict):
        raise reader.wrong(where, raw, "a table")
    reader.only(
        raw,
        {"task", "records", "between", "per_document", "by_name", "begun_before", *Field},
        where,
    )
    task = reader.text(raw, "task", where)
    if task not in set(RecognitionTask):
        key, wanted = f"{where}.task", f"one of {', '.join(RecognitionTask)}"
        raise reader.wrong(key, task, wanted)
    fields = {field: reader.text(raw, field, where) for field in Field if field in raw}
    return Operation(
        blank.provider,
        blank.client,
        blank.name,
        RecognitionTask(task),
        reader.text(raw, "records", where, default=""),
        fields,
        reader.range(raw, "between", where),
        is_by_job_name=reader.flag(raw, "by_name", where),
        returns_job_result=reader.flag(raw, "begun_before", where),
        is_per_document=reader.flag(raw, "per_document", where),
    )


@dataclass(frozen=True, slots=True)
class _DescriptionReader:
    """Reads values of a file; each error names its place."""

    file: str

    def wrong(self, key: str, value: object, wanted: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file}: {key} = {value!r}: has to be {wanted}.")

    def only(self, raw: Mapping[str, object], known: set[str], where: str) -> None:
        for key in raw.keys() - known:
            name = f"{where}.{key}" if where else key
            raise self.wrong(name, raw[key], f"removed; known keys: {', '.join(sorted(known))}")

    def text(
        self, raw: Mapping[str, object], key: str, where: str = "", default: str | None = None
    ) -> str:
        value = raw.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise self.wrong(f"{where}.{key}" if where else key, value, "a text")
        return value

    def flag(self, raw: Mapping[str, object], key: str, where: str) -> bool:
        value = raw.get(key, False)
        if not isinstance(value, bool):
            name = f"{where}.{key}"
            raise self.wrong(name, value, "true or false")
        return value

    def texts(self, raw: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
        value = raw.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self.wrong(f"{where}.{key}" if where else key, value, "a list of texts")
        return tuple(value)

    def range(self, raw: Mapping[str, object], key: str, where: str) -> tuple[float, float] | None:
        match raw.get(key):
            case None:
                return None
            case [float() | int() as lower, float() | int() as upper] if lower < upper:
                return float(lower), float(upper)
            case value:
                key = f"{where}.{key}"
                raise self.wrong(key, value, "two numbers, the smaller first")

    def argument(self, raw: Mapping[str, object], key: str, where: str) -> tuple[str, int] | None:
        match raw.get(key):
            case None:
                return None
            case {"name": str(name), "at": int(at), **more} if name and at >= 0 and not more:
                return name, at
            case value:
                key = f"{where}.{key}"
                raise self.wrong(key, value, "the `name` and the position `at` of an argument")

    def tables(self, raw: Mapping[str, object], key: str, where: str) -> list[dict[str, Any]]:
        value = raw.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.wrong(f"{where}.{key}" if where else key, value, "a list of tables")
        return value
