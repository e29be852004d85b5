"""What a provider of cognitive services offers: its clients, what they can be asked and answer.

One TOML file for each. A user names a file of their own for a provider that ciguard does not know.
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
    """What a service is asked about."""

    IMAGE = "image"
    """PNG or JPEG."""
    TEXT = "text"
    """UTF-8."""
    SOUND = "sound"
    """WAV, 16 kHz, one channel, 16 bits."""


class RecognitionTask(StrEnum):
    """What a service is asked to recognise (Keeper, Table 1)."""

    LABELS = "labels"
    """What an image shows, as a whole."""
    OBJECTS = "objects"
    """What is in an image, one by one."""
    FACES = "faces"
    TEXT = "text"
    """What is written in an image."""
    CATEGORIES = "categories"
    """What a document is about."""
    SENTIMENT = "sentiment"
    ENTITIES = "entities"
    SPEECH = "speech"
    PHRASES = "phrases"
    """What a text says, in its own words."""
    LANGUAGE = "language"
    """In which language a text is."""
    OTHER = "other"
    """Something else in an image."""


NOT_MADE = frozenset({RecognitionTask.PHRASES, RecognitionTask.LANGUAGE, RecognitionTask.OTHER})
"""Tasks that no inputs are made for."""
_OF_TEXT = frozenset({
    RecognitionTask.CATEGORIES, RecognitionTask.SENTIMENT, RecognitionTask.ENTITIES,
    RecognitionTask.PHRASES, RecognitionTask.LANGUAGE,
})  # fmt: skip


def kind_of(task: RecognitionTask) -> MediaKind:
    """Return what a service for a task is asked about."""
    if task is RecognitionTask.SPEECH:
        return MediaKind.SOUND
    return MediaKind.TEXT if task in _OF_TEXT else MediaKind.IMAGE


class Field(StrEnum):
    """What a field of an answer says."""

    KEY = "key"
    """The result itself."""
    SCORE = "score"
    """How likely it is."""
    MAGNITUDE = "magnitude"
    """How much feeling there is, of whatever kind."""
    KIND = "kind"
    """Of what kind an entity is."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a client can be asked."""

    provider: str
    client: str
    name: str
    """Of the method."""
    task: RecognitionTask
    records: str = ""
    """Path of the list of results in the answer; empty where the answer is one result, a dot where
    it is that list itself."""
    fields: Mapping[Field, str] | None = None
    """Path of each field in a result."""
    between: tuple[float, float] | None = None
    """What scores are between; None where nobody says."""
    is_by_name: bool = False
    """Whether it is asked by the name of something that was begun before, and not by content."""
    is_begun_before: bool = False
    """Whether it asks for what was begun before, and may not be done yet."""
    is_per_document: bool = False
    """Whether the client returns a list, with an answer for each text that it is given."""

    @property
    def title(self) -> str:
        """How reports call it."""
        return f"{self.provider} {self.name}"

    @property
    def way(self) -> tuple[str, ...]:
        """The steps of the path of results, none where the answer is their list."""
        return tuple(filter(None, self.records.split(".")))

    def __hash__(self) -> int:
        return hash((self.provider, self.client, self.name))


@dataclass(frozen=True, slots=True, eq=False)
class ServiceClient:
    """What an application makes to ask a service."""

    name: str
    made_by: tuple[str, ...]
    """Qualified names that make one when they are called."""
    service: str
    """Of what makes clients of several services, the argument that names this one."""
    operations: Mapping[str, Operation]
    """By name of the method."""
    about: tuple[str, int] | None = None
    """Name and place of the argument that it is made with and asked about; None where its methods
    take that."""


@dataclass(frozen=True, slots=True)
class ProviderDescription:
    """What one provider offers."""

    name: str
    packages: tuple[str, ...]
    """What an application imports of it."""
    clients: tuple[ServiceClient, ...]

    def operations(self, name: str) -> Iterator[Operation]:
        """Yield what any of its clients can be asked by that name."""
        for client in self.clients:
            if name in client.operations:
                yield client.operations[name]


def read_description(package: str) -> ProviderDescription:
    """Return what a provider offers, as `services.toml` in its package says.

    Raises:
        ConfigurationError: if that says something else than it should.
    """
    text = (files(package) / _FILE).read_text("utf-8")
    return _provider(tomllib.loads(text), f"{_FILE} of {package}")


def read_provider(file: Path) -> ProviderDescription:
    """Read the description of a provider.

    Raises:
        ConfigurationError: if the file cannot be read, or says something else than it should.
    """
    try:
        return _provider(tomllib.loads(file.read_text("utf-8")), str(file))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file}: cannot be read as a provider: {error}"
        raise ConfigurationError(msg) from error


def _provider(raw: dict[str, Any], file: str) -> ProviderDescription:
    reader = _DescriptionReader(file)
    name = reader.text(raw, "name")
    reader.only(raw, {"name", "packages", "clients"}, "")
    clients = tuple(
        _client(reader, one, name, f"clients[{at}]")
        for at, one in enumerate(reader.tables(raw, "clients", ""))
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
                reader, one, Operation(provider, name, method, RecognitionTask.OTHER), where
            )
            for method, one in operations.items()
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
        is_by_name=reader.flag(raw, "by_name", where),
        is_begun_before=reader.flag(raw, "begun_before", where),
        is_per_document=reader.flag(raw, "per_document", where),
    )


@dataclass(frozen=True, slots=True)
class _DescriptionReader:
    """Reads values of a file, and says where one is not as it should be."""

    file: str

    def wrong(self, key: str, value: object, wanted: str) -> ConfigurationError:
        return ConfigurationError(f"{self.file}: {key} = {value!r}: is to be {wanted}.")

    def only(self, raw: Mapping[str, object], known: set[str], where: str) -> None:
        for key in raw.keys() - known:
            name = f"{where}.{key}" if where else key
            raise self.wrong(name, raw[key], f"left out: known are {', '.join(sorted(known))}")

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
            case [float() | int() as least, float() | int() as most] if least < most:
                return float(least), float(most)
            case value:
                key = f"{where}.{key}"
                raise self.wrong(key, value, "two numbers, the smaller one first")

    def argument(self, raw: Mapping[str, object], key: str, where: str) -> tuple[str, int] | None:
        match raw.get(key):
            case None:
                return None
            case {"name": str(name), "at": int(at), **more} if name and at >= 0 and not more:
                return name, at
            case value:
                key = f"{where}.{key}"
                raise self.wrong(key, value, "the `name` of an argument, and where it is `at`")

    def tables(self, raw: Mapping[str, object], key: str, where: str) -> list[dict[str, Any]]:
        value = raw.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.wrong(f"{where}.{key}" if where else key, value, "a list of tables")
        return value
