"""The JSON Schemas of docs/schemas, against which the tests check what ciguard really writes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


def published_schema(name: str) -> dict[str, Any]:
    """Return a schema as it is published."""
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    return schema


def schema_violations(name: str, data: object) -> list[str]:
    """Return where a document breaks its schema; a field that the schema lacks is one, too."""
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message:.200}"
        for error in _validator(name).iter_errors(data)
    ]


@cache
def _validator(name: str) -> Draft202012Validator:
    schemas = {path.name: _closed(json.loads(path.read_text("utf-8"))) for path in _files()}
    resources = ((file, Resource.from_contents(schema)) for file, schema in schemas.items())
    registry: Registry[Any] = Registry().with_resources(resources)
    return Draft202012Validator(schemas[f"{name}.schema.json"], registry=registry)


def _files() -> list[Path]:
    return sorted(FOLDER.glob("*.schema.json"))


def _closed(schema: Any) -> Any:
    """Return a schema whose objects take no further fields, so that new ones must be described."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    if "properties" in closed and closed.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
