"""Descriptions of providers: their clients, and the operations with their answers.

Each provider has one TOML file. Users write such a file for a provider that ciguard lacks.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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
    """Task of a service (the Keeper paper, Table 1)."""

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
    MODERATION = "moderation"
    """Harmful and sensitive topics of a text; an answer has a score for each."""
    SAFETY = "safety"
    """Likelihood that an image is unsafe, for each kind of unsafe content."""
    WEB = "web"
    """Entities, best guesses and pages of the web that match an image."""
    COLORS = "colors"
    """Dominant colours of an image; a result is named by its hexadecimal code, `#ff0000`."""
    CROPS = "crops"
    """Parts to which an image may be cropped; they have no names."""
    OTHER = "other"
    """Any other property of an image."""


TASKS_WITHOUT_INPUTS = frozenset({
    RecognitionTask.PHRASES, RecognitionTask.LANGUAGE, RecognitionTask.SAFETY, RecognitionTask.WEB,
    RecognitionTask.COLORS, RecognitionTask.CROPS, RecognitionTask.MODERATION,
    RecognitionTask.OTHER,
})  # fmt: skip
"""Tasks for which `input_synthesis` makes no inputs."""
_TEXT_TASKS = frozenset({
    RecognitionTask.CATEGORIES, RecognitionTask.SENTIMENT, RecognitionTask.ENTITIES,
    RecognitionTask.PHRASES, RecognitionTask.LANGUAGE, RecognitionTask.MODERATION,
})  # fmt: skip


def media_kind(task: RecognitionTask) -> MediaKind:
    """Return the kind of content that requests for a task have."""
    if task is RecognitionTask.SPEECH:
        return MediaKind.SOUND
    return MediaKind.TEXT if task in _TEXT_TASKS else MediaKind.IMAGE


class Field(StrEnum):
    """Meaning of a field of an answer."""

    KEY = "key"
    """Label or text that a result names."""
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
    """Path of the list of results in the answer, with dots between its steps. It is empty if the
    answer is one result, and a single dot if the answer is the list itself.
    """
    fields: Mapping[Field, str] | None = None
    """Path of each field in a result, with dots between its steps."""
    between: tuple[float, float] | None = None
    """Minimum and maximum score; None if undocumented."""
    is_by_job_name: bool = False
    """True if a request has no content, but the name of a job that was started before."""
    returns_job_result: bool = False
    """True if the operation returns the result of a job, which may not be done yet."""
    is_per_document: bool = False
    """True if the client returns a list, with an answer for each text of the request."""
    judges_safety: bool = False
    """True if the answer also judges how likely the content of an image is unsafe."""
    feature: str = ""
    """Name by which a request for several operations selects this one; empty if none can."""
    fills: tuple[str, ...] = ()
    """Fields of an answer to several operations that have the results of this one."""
    parts: tuple[Operation, ...] = field(default=(), compare=False)
    """Operations that a request may select; empty if the operation is a single one."""
    fields_of_others: frozenset[str] = field(default=frozenset(), compare=False)
    """Fields of an answer to several operations that have the results of the others."""

    @property
    def title(self) -> str:
        """Name of the operation in reports: provider and method."""
        return f"{self.provider} {self.name}"

    @property
    def results_path(self) -> tuple[str, ...]:
        """Steps of the path `records`; empty if the answer is a result or a list of results."""
        return tuple(filter(None, self.records.split(".")))

    def __hash__(self) -> int:
        return hash((self.provider, self.client, self.name))


@dataclass(frozen=True, slots=True, eq=False)
class ServiceClient:
    """A client class of the provider."""

    name: str
    factories: tuple[str, ...]
    """Qualified names of the functions and classes that create the client."""
    service: str
    """Value of the constructor argument that selects the service, such as `rekognition`; empty if
    the constructor creates only this client.
    """
    operations: Mapping[str, Operation]
    """Operations by the name of the method."""
    input_parameter: tuple[str, int] | None = None
    """Name and position of the constructor parameter for the content of requests; None if the
    methods take the content.
    """


@dataclass(frozen=True, slots=True)
class ProviderDescription:
    """Description of one provider."""

    name: str
    packages: tuple[str, ...]
    """Packages that applications import."""
    clients: tuple[ServiceClient, ...]

    def operations(self, name: str) -> Iterator[Operation]:
        """Yield the operation with a name of each client that has one."""
        for client in self.clients:
            if name in client.operations:
                yield client.operations[name]


def read_description(package: str) -> ProviderDescription:
    """Return the description in the `services.toml` of a package.

    Raises:
        ConfigurationError: if the file is invalid.
    """
    text = (files(package) / _FILE).read_text("utf-8")
    return _provider(tomllib.loads(text), f"{_FILE} of {package}")


def read_provider(file: Path) -> ProviderDescription:
    """Return the description of a provider in a TOML file.

    Raises:
        ConfigurationError: if the file cannot be read or is invalid.
    """
    try:
        return _provider(tomllib.loads(file.read_text("utf-8")), str(file))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{file} cannot be read as a provider's description in TOML: {error}"
        raise ConfigurationError(msg) from error


def _provider(raw: dict[str, Any], file: str) -> ProviderDescription:
    reader = _DescriptionReader(file)
    name = reader.text(raw, "name")
    reader.refuse_unknown_keys(raw, {"name", "packages", "clients"}, "")
    clients = tuple(
        _client(reader, table, name, f"clients[{index}]")
        for index, table in enumerate(reader.tables(raw, "clients", ""))
    )
    return ProviderDescription(name, reader.texts(raw, "packages", ""), clients)


def _client(
    reader: _DescriptionReader, raw: dict[str, Any], provider: str, where: str
) -> ServiceClient:
    reader.refuse_unknown_keys(raw, {"name", "made_by", "service", "about", "operations"}, where)
    name = reader.text(raw, "name", where)
    tables = raw.get("operations")
    if not isinstance(tables, dict) or not tables:
        key = f"{where}.operations"
        raise reader.invalid_value(key, tables, "a table with a key for each operation")
    operations = {
        method: _operation(
            reader, table, Operation(provider, name, method, RecognitionTask.OTHER), where
        )
        for method, table in tables.items()
    }
    parts = _parts_of(operations.values())
    return ServiceClient(
        name=name,
        factories=reader.texts(raw, "made_by", where),
        service=reader.text(raw, "service", where, default=""),
        operations={
            method: replace(operation, parts=parts)
            if reader.flag(tables[method], "by_feature", f"{where}.operations.{method}")
            else operation
            for method, operation in operations.items()
        },
        input_parameter=reader.argument(raw, "about", where),
    )


def _parts_of(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return the operations that one request may select by their features."""
    parts = [operation for operation in operations if operation.feature]
    fields = {name for part in parts for name in part.fills}
    return tuple(
        replace(part, fields_of_others=frozenset(fields.difference(part.fills))) for part in parts
    )


_OPERATION_KEYS = frozenset({
    "task", "records", "between", "per_document", "by_name", "begun_before", "judges_safety",
    "feature", "fills", "by_feature",
})  # fmt: skip


def _operation(reader: _DescriptionReader, raw: object, blank: Operation, where: str) -> Operation:
    where = f"{where}.operations.{blank.name}"
    if not isinstance(raw, dict):
        raise reader.invalid_value(where, raw, "a table")
    reader.refuse_unknown_keys(raw, {*_OPERATION_KEYS, *Field}, where)
    task = reader.text(raw, "task", where)
    if task not in set(RecognitionTask):
        key, wanted = f"{where}.task", f"one of {', '.join(RecognitionTask)}"
        raise reader.invalid_value(key, task, wanted)
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
        judges_safety=reader.flag(raw, "judges_safety", where),
        feature=reader.text(raw, "feature", where, default=""),
        fills=reader.texts(raw, "fills", where) if "fills" in raw else (),
    )


@dataclass(frozen=True, slots=True)
class _DescriptionReader:
    """Reads values of a file; each error names the file, the key and the value.

    Parameter `where` of its methods is the path of the table that has the key; empty for the top.
    """

    file: str

    def invalid_value(self, key: str, value: object, wanted: str) -> ConfigurationError:
        problem = (
            f"{key} is missing. Set it to {wanted}"
            if value is None
            else f"{key} has to be {wanted}, not {value!r}"
        )
        return ConfigurationError(f"{self.file}: {problem}.")

    def unknown_key(self, key: str, known: set[str]) -> ConfigurationError:
        return ConfigurationError(
            f"{self.file}: the key {key} is unknown. Known keys: {', '.join(sorted(known))}."
        )

    def refuse_unknown_keys(self, raw: Mapping[str, object], known: set[str], where: str) -> None:
        for key in raw.keys() - known:
            raise self.unknown_key(f"{where}.{key}" if where else key, known)

    def text(
        self, raw: Mapping[str, object], key: str, where: str = "", default: str | None = None
    ) -> str:
        value = raw.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            raise self.invalid_value(f"{where}.{key}" if where else key, value, "a text")
        return value

    def flag(self, raw: Mapping[str, object], key: str, where: str) -> bool:
        value = raw.get(key, False)
        if not isinstance(value, bool):
            name = f"{where}.{key}"
            raise self.invalid_value(name, value, "true or false")
        return value

    def texts(self, raw: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
        value = raw.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, str) for v in value):
            raise self.invalid_value(f"{where}.{key}" if where else key, value, "a list of texts")
        return tuple(value)

    def range(self, raw: Mapping[str, object], key: str, where: str) -> tuple[float, float] | None:
        match raw.get(key):
            case None:
                return None
            case [float() | int() as lower, float() | int() as upper] if lower < upper:
                return float(lower), float(upper)
            case value:
                key = f"{where}.{key}"
                raise self.invalid_value(key, value, "a list of two numbers, the smaller first")

    def argument(self, raw: Mapping[str, object], key: str, where: str) -> tuple[str, int] | None:
        match raw.get(key):
            case None:
                return None
            case {"name": str(name), "at": int(at), **more} if name and at >= 0 and not more:
                return name, at
            case value:
                key = f"{where}.{key}"
                wanted = "a table of an argument's name and position, {name = 'image', at = 0}"
                raise self.invalid_value(key, value, wanted)

    def tables(self, raw: Mapping[str, object], key: str, where: str) -> list[dict[str, Any]]:
        value = raw.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.invalid_value(f"{where}.{key}" if where else key, value, "a list of tables")
        return value
