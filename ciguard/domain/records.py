"""Records of a library's public API, as the worker's `describe` operation brings them back."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json

RECORD_SCHEMA = 1


class ParameterKind(StrEnum):
    """How a parameter is passed; the names of `inspect.Parameter.kind`, shortened."""

    POSITIONAL_ONLY = "positional_only"
    POSITIONAL_OR_KEYWORD = "positional_or_keyword"
    KEYWORD_ONLY = "keyword_only"
    VAR_POSITIONAL = "var_positional"
    VAR_KEYWORD = "var_keyword"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRecord:
    """What the library itself says of one parameter."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL_OR_KEYWORD
    required: bool = True
    default: Json = None
    """`repr` of the default; None when there is none."""
    annotation: str = ""
    """Type hint as text."""
    schema_type: str = ""
    """Type in the library's own operator definition: torch `int[2]`, TensorFlow `list(type)`, …"""
    dtypes: tuple[str, ...] = ()
    """Allowed dtypes by operator definition, common names; empty when unrestricted or unknown."""
    same_dtype_as: str = ""
    """Another parameter whose dtype this one must share, by operator definition."""
    allowed: tuple[str, ...] = ()
    """Allowed strings by operator definition."""
    minimum: int | None = None
    """Least value, or least length of a list, by operator definition."""
    length: int | None = None
    """Exact length of a list, by operator definition."""
    doc_type: str = ""
    """Type in the docstring's parameter section."""
    doc: str = ""
    """Description in the docstring's parameter section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRecord:
    """What the library itself says of one public function, layer class or tensor method."""

    api: str
    kind: CallKind
    parameters: tuple[ParameterRecord, ...]
    inputs: tuple[ParameterRecord, ...] = ()
    """For a layer: the parameters of the object that the constructor makes."""
    doc: str = ""
    """First paragraph of the docstring."""
    source: str = ""
    """Where names and types come from: `signature`, `stub`, `schema`, `opdef`, `docstring`."""
    tags: frozenset[str] = field(default_factory=frozenset)
    """Why it may need care: `files`, `network`, `process`, `global-state`, `random`, `time`, …"""
    operator: str = ""
    """The library's own operator behind it, when known: `aten::conv2d`, `MaxPool3D`."""
    aliases: tuple[str, ...] = ()
    """Further public names of the same object."""
    strangers: tuple[str, ...] = ()
    """Names that the docstring's parameter section describes and the signature lacks."""
    lacks: tuple[str, ...] = ()
    """Element types, by common name, that the target can make no tensor of."""
    unread: tuple[str, ...] = ()
    """Lines of that section that begin with a parameter's name and are no item: no colon."""
    forms: tuple[str, ...] = ()
    """For a layer: the shapes of what it is called with, as its docstring lists them:
    `(N, C_{in}, L_{in})` and `(C_{in}, L_{in})`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something of a library that could not be described, and why."""

    name: str
    reason: str


def record_to_json(record: ApiRecord) -> dict[str, Json]:
    """Return the JSON form of a record; what it leaves at its default is left out."""
    encoded = _said(record)
    encoded["parameters"] = [_said(item) for item in record.parameters]
    if record.inputs:
        encoded["inputs"] = [_said(item) for item in record.inputs]
    return encoded


def _said(item: ApiRecord | ParameterRecord) -> dict[str, Json]:
    encoded: dict[str, Json] = {}
    for one in fields(item):
        value = getattr(item, one.name)
        default = one.default_factory() if one.default_factory is not MISSING else one.default
        if value != default:
            encoded[one.name] = sorted(value) if isinstance(value, frozenset) else value
    return {key: list(v) if isinstance(v, tuple) else v for key, v in encoded.items()}


def record_from_json(encoded: Mapping[str, Json]) -> ApiRecord:
    """Rebuild a record from what the worker's `describe` wrote; unknown keys are ignored.

    Raises:
        ValueError: if `encoded` is not the JSON form of a record.
    """
    try:
        return ApiRecord(
            api=str(encoded["api"]),
            kind=CallKind(encoded["kind"]),
            parameters=tuple(_parameter_from_json(item) for item in encoded["parameters"]),
            inputs=tuple(_parameter_from_json(item) for item in encoded.get("inputs", ())),
            doc=str(encoded.get("doc", "")),
            source=str(encoded.get("source", "")),
            tags=frozenset(str(tag) for tag in encoded.get("tags", ())),
            operator=str(encoded.get("operator", "")),
            aliases=tuple(map(str, encoded.get("aliases", ()))),
            strangers=tuple(map(str, encoded.get("strangers", ()))),
            lacks=tuple(map(str, encoded.get("lacks", ()))),
            unread=tuple(map(str, encoded.get("unread", ()))),
            forms=tuple(map(str, encoded.get("forms", ()))),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"not an API record: {error!r}"
        raise ValueError(msg) from error


def _parameter_from_json(encoded: Mapping[str, Json]) -> ParameterRecord:
    return ParameterRecord(
        name=str(encoded["name"]),
        kind=ParameterKind(encoded.get("kind", ParameterKind.POSITIONAL_OR_KEYWORD)),
        required=bool(encoded.get("required", True)),
        default=encoded.get("default"),
        annotation=str(encoded.get("annotation", "")),
        schema_type=str(encoded.get("schema_type", "")),
        dtypes=tuple(encoded.get("dtypes", ())),
        same_dtype_as=str(encoded.get("same_dtype_as", "")),
        allowed=tuple(encoded.get("allowed", ())),
        minimum=encoded.get("minimum"),
        length=encoded.get("length"),
        doc_type=str(encoded.get("doc_type", "")),
        doc=str(encoded.get("doc", "")),
    )
