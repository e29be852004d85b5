"""Files of constraints: JSON Lines, one API per line in the order of names, made to be compared.

    {"schema": 2, "library": "torch", "version": "2.13.0", …, "knowledge": "5f0c…", "apis": 1915}
    {"api": "torch.abs", "kind": "function", "parameters": [{"name": "input", …,
     "constraint": {"tensor": …}, "evidence": [["doc_type", "structures", "9f2c41d0"], …]}]}
    {"skipped": "torch.broken", "reason": "ImportError: …"}

A line holds facts: the record without its sentences, and what was made of the whole, with a digest
in the place of what was read in sentences. A file of records only is what an environment keeps of
its library: it has the sentences, and its reader makes the constraints.
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
from ciguard.knowledge.references import OF_WORDS, referred, without_words
from ciguard.knowledge.understand import understand
from ciguard.knowledge.version import knowledge_version
from ciguard.values import constraint_from_json, constraint_to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Json

CONSTRAINTS_SCHEMA = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Of what a file of constraints was made, and by what."""

    library: str
    version: str
    """Of the library, as it says itself."""
    requirement: str = ""
    """The pinned requirement that was installed, e.g. `tensorflow-cpu==2.21.0`; else empty."""
    device: str = ""
    """Class of the device: `cpu`, `cuda`."""
    adapter: str = ""
    """Digest of the code that described the library."""
    knowledge: str = field(default_factory=knowledge_version)
    """`knowledge_version` of whoever made the constraints; empty where there are only records."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """An API's line, and where it stands."""

    said: Json
    file: str
    line: int


@dataclass(slots=True, kw_only=True)
class KnownApis:
    """Everything that is known of one library's API."""

    provenance: Provenance
    records: Mapping[str, ApiRecord]
    """By name, in the order of names."""
    skipped: tuple[Skipped, ...] = ()
    _encoded: dict[str, _Stored] = field(default_factory=dict)
    """Constraints as the file holds them, until they are asked for."""
    _apis: dict[str, Api] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """Return the name under which an API is listed; empty if the library has none of either.

        One object often has many public names: `torch.nn.functional.conv2d` is `torch.conv2d`.
        """
        if name in self.records:
            return name
        return next((api for api, record in self.records.items() if name in record.aliases), "")

    def api(self, name: str) -> Api:
        """Return what is known of one API.

        Raises:
            KeyError: if the library has none of this name.
        """
        if name not in self._apis:
            record = self.records[name]
            encoded = self._encoded.pop(name, None)
            self._apis[name] = (
                understand(record) if encoded is None else _api_from_json(record, encoded)
            )
        return self._apis[name]


def known_of(
    records: Iterable[ApiRecord], skipped: Iterable[Skipped], provenance: Provenance
) -> KnownApis:
    """Return what is known of an API that has just been described."""
    return KnownApis(
        provenance=provenance,
        records={record.api: record for record in sorted(records, key=lambda item: item.api)},
        skipped=tuple(sorted(set(skipped), key=lambda item: (item.name, item.reason))),
    )


# --- writing ------------------------------------------------------------------------------------


def constraint_lines(known: KnownApis, *, records_only: bool = False) -> Iterator[str]:
    """Yield the lines of a file of constraints, line ends included; ASCII only.

    Args:
        known: what to write.
        records_only: write what the library says, sentences included, and leave the constraints
            to whoever reads the file; making them takes longer than reading and writing together.
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
    encoded = record_to_json(without_words(api.record))
    for item, parameter in zip(encoded["parameters"], api.parameters, strict=True):
        item.update(_knowledge_to_json(parameter))
    if api.inputs:
        encoded["given"] = [{"name": p.name, **_knowledge_to_json(p)} for p in api.inputs]
    return encoded


def _knowledge_to_json(parameter: Parameter) -> dict[str, Json]:
    said: dict[str, Json] = {"constraint": constraint_to_json(parameter.constraint)}
    if not parameter.is_generated:
        said["generated"] = False
    if parameter.evidence:
        said["evidence"] = [_evidence_to_json(item) for item in parameter.evidence]
    return said


def _evidence_to_json(evidence: ConstraintEvidence) -> Json:
    item = referred(evidence)
    said = [item.source.name.lower(), item.aspect, item.digest or item.text]
    return [*said, item.rule] if item.rule else said


# --- reading ------------------------------------------------------------------------------------


def read_provenance(line: str, *, name: str) -> Provenance:
    """Read the first line of a file of constraints.

    Raises:
        ConstraintsFileError: if it is damaged or of a newer schema; names file, line and key.
    """
    return _provenance(_object(line, name, 1), name)[0]


def read_constraints(lines: Iterable[str], *, name: str) -> KnownApis:
    """Read a file of constraints.

    Constraints are decoded when they are first asked for, or made from the records if the file
    holds these only.

    Args:
        lines: of the file.
        name: of the file, for messages.

    Raises:
        ConstraintsFileError: if it is damaged or of a newer schema; names file, line and key.
    """
    numbered = enumerate(lines, start=1)
    number, first = next(numbered, (1, ""))
    provenance, count = _provenance(_object(first, name, number), name)
    records: dict[str, ApiRecord] = {}
    skipped: list[Skipped] = []
    encoded: dict[str, _Stored] = {}
    for number, line in numbered:
        said = _object(line, name, number)
        if "skipped" in said:
            skipped.append(Skipped(name=str(said["skipped"]), reason=str(said.get("reason", ""))))
            continue
        try:
            record = record_from_json(said)
        except ValueError as error:
            raise _damaged(name, number, str(error)) from error
        if record.api in records:
            raise _damaged(name, number, f"{record.api!r} stands there twice")
        records[record.api] = record
        if provenance.knowledge:
            encoded[record.api] = _Stored(said, name, number)
    if len(records) != count:
        raise _damaged(name, 1, f"apis = {count}, but {len(records)} follow")
    return KnownApis(
        provenance=provenance, records=records, skipped=tuple(skipped), _encoded=encoded
    )


def _object(line: str, name: str, number: int) -> dict[str, Json]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, number, f"no JSON ({error})") from error
    if not isinstance(said, dict):
        raise _damaged(name, number, "no JSON object")
    return said


def _provenance(said: dict[str, Json], name: str) -> tuple[Provenance, int]:
    schema = said.get("schema")
    if type(schema) is not int:
        raise _damaged(name, 1, "the key 'schema' is missing: no file of constraints")
    if schema != CONSTRAINTS_SCHEMA:
        msg = (
            f"{name}:1: schema = {schema}: this ciguard reads {CONSTRAINTS_SCHEMA}. Use the "
            "ciguard that wrote it, or write it anew with `ciguard api extract`."
        )
        raise ConstraintsFileError(msg)
    texts: dict[str, str] = {}
    for key in Provenance.__slots__:
        if not isinstance(said.get(key), str):
            raise _damaged(name, 1, f"the key {key!r} is missing or no text")
        texts[key] = said[key]
    if type(said.get("apis")) is not int:
        raise _damaged(name, 1, "the key 'apis' is missing or no number")
    return Provenance(**texts), said["apis"]


def _damaged(name: str, line: int, reason: str) -> ConstraintsFileError:
    return ConstraintsFileError(
        f"{name}:{line}: {visible(reason)}. Write the file anew with `ciguard api extract`."
    )


def _api_from_json(record: ApiRecord, stored: _Stored) -> Api:
    said = stored.said
    try:
        parameters = [
            _parameter_from_json(encoded, kind=item.kind, required=item.required)
            for encoded, item in zip(said["parameters"], record.parameters, strict=True)
        ]
        given = [_parameter_from_json(encoded) for encoded in said.get("given", ())]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        missing = f"the key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise _damaged(stored.file, stored.line, f"{record.api}: {missing}") from error
    return Api(record=record, parameters=tuple(parameters), inputs=tuple(given))


def _parameter_from_json(encoded: Json, **passed: Any) -> Parameter:
    return Parameter(
        name=str(encoded["name"]),
        constraint=constraint_from_json(encoded["constraint"]),
        is_generated=bool(encoded.get("generated", True)),
        evidence=tuple(_evidence_from_json(*item) for item in encoded.get("evidence", ())),
        **passed,
    )


def _evidence_from_json(
    source: Json, aspect: Json, words: Json, rule: Json = ""
) -> ConstraintEvidence:
    of = ClueSource[source.upper()]
    text, digest = ("", str(words)) if of in OF_WORDS else (str(words), "")
    return ConstraintEvidence(of, str(aspect), text, str(rule), digest)
