"""Files of constraints: JSON Lines, one API per line, sorted by name so that diffs are readable.

    {"schema": 2, "library": "torch", "version": "2.13.0", …, "knowledge": "5f0c…", "apis": 1915}
    {"api": "torch.abs", "kind": "function", "parameters": [{"name": "input", …,
     "constraint": {"tensor": …}, "evidence": [["doc_type", "structures", "9f2c41d0"], …]}]}
    {"skipped": "torch.broken", "reason": "ImportError: …"}

A line stores facts: the record without its prose, and the constraints, with digests in place of the
prose from which they were read. The cache of an environment has another form: it stores only the
records, with their prose, and the reader makes the constraints from them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.records import Skipped, record_from_json, record_to_json
from ciguard.domain.text import visible
from ciguard.errors import ConstraintsFileError
from ciguard.knowledge.api import Api, ConstraintEvidence, Parameter
from ciguard.knowledge.clues import ClueSource
from ciguard.knowledge.references import DOCUMENTATION_SOURCES, with_digest, without_prose
from ciguard.knowledge.understand import understand
from ciguard.knowledge.version import knowledge_version
from ciguard.values import constraint_from_json, constraint_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json

CONSTRAINTS_SCHEMA = 2
"""Version of the file format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Origin of a file of constraints: the library, and the versions of the code that wrote it."""

    library: str
    """Name of the library."""
    version: str
    """Version that the library reports."""
    requirement: str = ""
    """Pinned requirement that was installed, such as `tensorflow-cpu==2.21.0`; may be empty."""
    device: str = ""
    """Class of the device: `cpu`, `cuda`."""
    adapter: str = ""
    """Digest of the code that described the library."""
    knowledge: str = field(default_factory=knowledge_version)
    """`knowledge_version` of the code that made the constraints; empty if the file has none."""


@dataclass(frozen=True, slots=True)
class _StoredLine:
    """Decoded line of one API: the JSON object, the file's name and the line's number."""

    entry: Json
    file: str
    line: int


@dataclass(slots=True, kw_only=True)
class KnownApis:
    """APIs of one library with the constraints on their parameters."""

    provenance: Provenance
    """Origin of the knowledge."""
    records: Mapping[str, ApiRecord]
    """Records by the name of the API, sorted by name."""
    skipped: tuple[Skipped, ...] = ()
    """APIs that the library's adapter could not describe."""
    _encoded: dict[str, _StoredLine] = field(default_factory=dict)
    """Constraints as stored in the file, until they are first requested."""
    _apis: dict[str, Api] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """Return the name under which an API is listed; empty if the library lacks the API.

        One object often has many public names: `torch.nn.functional.conv2d` is `torch.conv2d`.
        """
        if name in self.records:
            return name
        return next((api for api, record in self.records.items() if name in record.aliases), "")

    def api(self, name: str) -> Api:
        """Return one API with the constraints on its parameters.

        Raises:
            KeyError: if the library has no API of this name.
        """
        if name not in self._apis:
            record = self.records[name]
            encoded = self._encoded.pop(name, None)
            self._apis[name] = (
                understand(record) if encoded is None else _api_from_json(record, encoded)
            )
        return self._apis[name]


def known_apis(
    records: Iterable[ApiRecord], skipped: Iterable[Skipped], provenance: Provenance
) -> KnownApis:
    """Return the APIs that a library has just described, sorted by name."""
    return KnownApis(
        provenance=provenance,
        records={record.api: record for record in sorted(records, key=lambda item: item.api)},
        skipped=tuple(sorted(set(skipped), key=lambda item: (item.name, item.reason))),
    )


# --- writing ------------------------------------------------------------------------------------


def constraint_lines(known: KnownApis, *, records_only: bool = False) -> Iterator[str]:
    """Yield the lines of a file of constraints, line ends included; ASCII only.

    Args:
        known: the APIs to write.
        records_only: True to write the records with their prose, but no constraints. The reader
            then makes the constraints of the APIs that it uses.
    """
    knowledge = "" if records_only else known.provenance.knowledge or knowledge_version()
    origin = replace(known.provenance, knowledge=knowledge)
    header = {name: getattr(origin, name) for name in Provenance.__slots__}
    yield _line({"schema": CONSTRAINTS_SCHEMA, **header, "apis": len(known.records)})
    for name, record in known.records.items():
        yield _line(record_to_json(record) if records_only else _api_to_json(known.api(name)))
    for item in known.skipped:
        yield _line({"skipped": item.name, "reason": item.reason})


def _line(encoded: Json) -> str:
    return json.dumps(encoded, separators=(",", ":"), allow_nan=False) + "\n"


def _api_to_json(api: Api) -> Json:
    encoded = record_to_json(without_prose(api.record))
    for item, parameter in zip(encoded["parameters"], api.parameters, strict=True):
        item.update(_knowledge_to_json(parameter))
    if api.inputs:
        encoded["given"] = [{"name": p.name, **_knowledge_to_json(p)} for p in api.inputs]
    return encoded


def _knowledge_to_json(parameter: Parameter) -> dict[str, Json]:
    encoded: dict[str, Json] = {"constraint": constraint_to_json(parameter.constraint)}
    if not parameter.is_generated:
        encoded["generated"] = False
    if parameter.evidence:
        encoded["evidence"] = [_evidence_to_json(item) for item in parameter.evidence]
    return encoded


def _evidence_to_json(evidence: ConstraintEvidence) -> Json:
    item = with_digest(evidence)
    encoded = [item.source.name.lower(), item.aspect, item.digest or item.text]
    return [*encoded, item.rule] if item.rule else encoded


# --- reading ------------------------------------------------------------------------------------


def read_provenance(line: str, *, name: str) -> Provenance:
    """Parse the provenance from the first line of a constraints file.

    Raises:
        ConstraintsFileError: if the line is damaged or has another schema. The message names file,
            line and key.
    """
    return _provenance(_decoded_object(line, name, 1), name)[0]


def read_constraints(lines: Iterable[str], *, name: str) -> KnownApis:
    """Return the APIs in a file of constraints.

    Constraints are decoded on first use, or made from the records if the file has records only.

    Args:
        lines: the lines of the file.
        name: the name of the file for error messages.

    Raises:
        ConstraintsFileError: if the file is damaged or has another schema. The message names file,
            line and key.
    """
    numbered_lines = enumerate(lines, start=1)
    number, first = next(numbered_lines, (1, ""))
    provenance, count = _provenance(_decoded_object(first, name, number), name)
    records: dict[str, ApiRecord] = {}
    skipped: list[Skipped] = []
    encoded: dict[str, _StoredLine] = {}
    for number, line in numbered_lines:
        entry = _decoded_object(line, name, number)
        if "skipped" in entry:
            skipped.append(Skipped(name=str(entry["skipped"]), reason=str(entry.get("reason", ""))))
            continue
        try:
            record = record_from_json(entry)
        except ValueError as error:
            raise _damaged_file_error(name, number, str(error)) from error
        if record.api in records:
            raise _damaged_file_error(name, number, f"{record.api!r} appears twice")
        records[record.api] = record
        if provenance.knowledge:
            encoded[record.api] = _StoredLine(entry, name, number)
    if len(records) != count:
        raise _damaged_file_error(name, 1, f"apis = {count}, but the file has {len(records)} APIs")
    return KnownApis(
        provenance=provenance, records=records, skipped=tuple(skipped), _encoded=encoded
    )


def _decoded_object(line: str, name: str, number: int) -> dict[str, Json]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged_file_error(name, number, f"the line is not JSON ({error})") from error
    if not isinstance(entry, dict):
        raise _damaged_file_error(name, number, "the line is not a JSON object")
    return entry


def _provenance(header: dict[str, Json], name: str) -> tuple[Provenance, int]:
    """Return the origin in a decoded header, and the number of APIs that the header states."""
    schema = header.get("schema")
    if type(schema) is not int:
        raise _damaged_file_error(
            name, 1, "the key 'schema' is missing, so this is not a file of constraints"
        )
    if schema != CONSTRAINTS_SCHEMA:
        msg = (
            f"{name}:1: schema = {schema}: this version of ciguard reads {CONSTRAINTS_SCHEMA}. Use "
            "the version of ciguard that wrote the file, or regenerate the file with "
            "`ciguard api extract`."
        )
        raise ConstraintsFileError(msg)
    texts: dict[str, str] = {}
    for key in Provenance.__slots__:
        if not isinstance(header.get(key), str):
            raise _damaged_file_error(name, 1, f"the key {key!r} is missing or not a string")
        texts[key] = header[key]
    if type(header.get("apis")) is not int:
        raise _damaged_file_error(name, 1, "the key 'apis' is missing or not an integer")
    return Provenance(**texts), header["apis"]


def _damaged_file_error(name: str, line: int, reason: str) -> ConstraintsFileError:
    return ConstraintsFileError(
        f"{name}:{line}: {visible(reason)}. Regenerate the file with `ciguard api extract`."
    )


def _api_from_json(record: ApiRecord, stored: _StoredLine) -> Api:
    """Return the API with the constraints of a stored line."""
    entry = stored.entry
    try:
        parameters = [
            _parameter_from_json(encoded, kind=item.kind, required=item.required)
            for encoded, item in zip(entry["parameters"], record.parameters, strict=True)
        ]
        inputs = [_parameter_from_json(encoded) for encoded in entry.get("given", ())]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise _damaged_file_error(stored.file, stored.line, f"{record.api}: {reason}") from error
    return Api(record=record, parameters=tuple(parameters), inputs=tuple(inputs))


def _parameter_from_json(encoded: Json, **signature: Any) -> Parameter:
    return Parameter(
        name=str(encoded["name"]),
        constraint=constraint_from_json(encoded["constraint"]),
        is_generated=bool(encoded.get("generated", True)),
        evidence=tuple(_evidence_from_json(*item) for item in encoded.get("evidence", ())),
        **signature,
    )


def _evidence_from_json(
    source: Json, aspect: Json, words: Json, rule: Json = ""
) -> ConstraintEvidence:
    clue_source = ClueSource[source.upper()]
    text, digest = ("", str(words)) if clue_source in DOCUMENTATION_SOURCES else (str(words), "")
    return ConstraintEvidence(clue_source, str(aspect), text, str(rule), digest)
