"""Records of a library's public API, as returned by the worker's `describe` operation."""

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
    """Way to pass a parameter. The values are the kinds of `inspect.Parameter` in lower case."""

    POSITIONAL_ONLY = "positional_only"
    POSITIONAL_OR_KEYWORD = "positional_or_keyword"
    KEYWORD_ONLY = "keyword_only"
    VAR_POSITIONAL = "var_positional"
    VAR_KEYWORD = "var_keyword"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRecord:
    """Description of one parameter by the library itself."""

    name: str
    kind: ParameterKind = ParameterKind.POSITIONAL_OR_KEYWORD
    required: bool = True
    default: Json = None
    """`repr` of the default value; None if the parameter has no default."""
    annotation: str = ""
    """Type hint as text."""
    schema_type: str = ""
    """Type in the library's operator definition: torch `int[2]`, TensorFlow `list(type)`, …"""
    dtypes: tuple[str, ...] = ()
    """Allowed dtypes in the operator definition; empty if unrestricted or unknown."""
    same_dtype_as: str = ""
    """Name of another parameter that must have the same dtype, from the operator definition."""
    same_length_as: str = ""
    """Name of another list that must be as long, from the operator definition."""
    allowed: tuple[str, ...] = ()
    """Allowed strings in the operator definition."""
    minimum: int | None = None
    """Minimum value, or minimum length if the parameter is a list, in the operator definition."""
    length: int | None = None
    """Exact length of a list in the operator definition."""
    doc_type: str = ""
    """Type in the docstring's parameter section."""
    doc: str = ""
    """Description in the docstring's parameter section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRecord:
    """Description of one public function, layer class or tensor method by the library itself."""

    api: str
    kind: CallKind
    parameters: tuple[ParameterRecord, ...]
    inputs: tuple[ParameterRecord, ...] = ()
    """Parameters of a layer object's call; empty for functions and methods."""
    doc: str = ""
    """First paragraph of the docstring."""
    source: str = ""
    """Source of the parameters' names and types: `signature`, `stub`, `schema`, `opdef` or
    `docstring`."""
    tags: frozenset[str] = field(default_factory=frozenset)
    """Side effects: `files`, `network`, `process`, `global-state`, `random`, `time`, …"""
    on_devices: frozenset[str] = field(default_factory=frozenset)
    """Notes on results on devices: `open-values`, `open-indices`, `nondeterministic`,
    `no-kernel`."""
    operator: str = ""
    """Name of the library's underlying operator, if known: `aten::conv2d`, `MaxPool3D`."""
    aliases: tuple[str, ...] = ()
    """Other public names of the same object."""
    undeclared_parameters: tuple[str, ...] = ()
    """Names of undeclared parameters: described in the docstring but not in the signature."""
    lacks: tuple[str, ...] = ()
    """Dtypes for which the target cannot create a tensor."""
    unread: tuple[str, ...] = ()
    """Lines of the docstring's parameter section that start with a parameter's name without a
    colon after it, so that they cannot be parsed."""
    forms: tuple[str, ...] = ()
    """Input shapes that a layer's docstring lists: `(N, C_{in}, L_{in})`, `(C_{in}, L_{in})`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A member of a library that could not be described, with the reason."""

    name: str
    reason: str


def record_to_json(record: ApiRecord) -> dict[str, Json]:
    """Return the JSON form of a record, without the fields that have their default value."""
    encoded = _changed_fields(record)
    encoded["parameters"] = [_changed_fields(item) for item in record.parameters]
    if record.inputs:
        encoded["inputs"] = [_changed_fields(item) for item in record.inputs]
    return encoded


def _changed_fields(item: ApiRecord | ParameterRecord) -> dict[str, Json]:
    """Return the fields that differ from their default, by their keys in JSON."""
    encoded: dict[str, Json] = {}
    for spec in fields(item):
        value = getattr(item, spec.name)
        default = spec.default_factory() if spec.default_factory is not MISSING else spec.default
        if value != default:
            key = _KEYS.get(spec.name, spec.name)
            encoded[key] = sorted(value) if isinstance(value, frozenset) else value
    return {key: list(v) if isinstance(v, tuple) else v for key, v in encoded.items()}


_KEYS = {"undeclared_parameters": "strangers"}
"""Keys in JSON that differ from the names of the fields."""


def record_from_json(encoded: Mapping[str, Json]) -> ApiRecord:
    """Rebuild a record from the JSON of the worker's `describe`; unknown keys are ignored.

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
            on_devices=frozenset(map(str, encoded.get("on_devices", ()))),
            operator=str(encoded.get("operator", "")),
            aliases=tuple(map(str, encoded.get("aliases", ()))),
            undeclared_parameters=tuple(map(str, encoded.get("strangers", ()))),
            lacks=tuple(map(str, encoded.get("lacks", ()))),
            unread=tuple(map(str, encoded.get("unread", ()))),
            forms=tuple(map(str, encoded.get("forms", ()))),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"malformed API record: {error!r}"
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
        same_length_as=str(encoded.get("same_length_as", "")),
        allowed=tuple(encoded.get("allowed", ())),
        minimum=encoded.get("minimum"),
        length=encoded.get("length"),
        doc_type=str(encoded.get("doc_type", "")),
        doc=str(encoded.get("doc", "")),
    )
