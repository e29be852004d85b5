"""The JSON form of records. Stored records are untrusted, so reading validates all fields."""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from ciguard.baseline.record import (
    BaselineRecord,
    Decision,
    RepetitionCounts,
    Representative,
    Sighting,
    State,
    representative_to_json,
)
from ciguard.domain.case import Case, case_from_json, case_to_json
from ciguard.domain.findings import PairKind, Severity, evidence_from_json
from ciguard.domain.onset import onset_from_json, onset_to_json
from ciguard.domain.outcomes import Frame, stack_to_json
from ciguard.triage import is_fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json

T = TypeVar("T")

_encode_sorted = json.JSONEncoder(sort_keys=True).encode

_ABSENT = object()

SCHEMA = 3
"""Schema of the baseline's folder. A format that an older ciguard cannot read needs a new number.

Schemas 1 and 2 have one file with all records. Schema 1 has a file for each case, schema 2 has
sixteen files with cases. Schema 3 has one file with all records and one with all cases; a large
baseline has several files of both kinds.
"""


def record_to_line(record: BaselineRecord) -> str:
    """Return one line of JSON for a record, without its case."""
    encoded = {
        "fingerprint": record.fingerprint,
        "aliases": list(record.aliases),
        "state": record.decision.state.value,
        "because": record.decision.because,
        "changed": record.decision.changed,
        "clean_runs": record.decision.clean_runs,
        "clean_on": [_sighting_to_json(sighting) for sighting in record.decision.clean_on],
        **representative_to_json(record.representative),
        "targets": list(record.targets),
        "first_seen": _sighting_to_json(record.first_seen),
        "last_seen": _sighting_to_json(record.last_seen),
        "history": [
            {"changed": old.changed, "state": old.state.value, "because": old.because}
            for old in record.history
        ],
        "native_stack": stack_to_json(record.native_stack),
        "issue": record.issue,
        "since": onset_to_json(record.onset),
        "shown": record.flakes.shown,
        "tried": record.flakes.tried,
    }
    return _encode_sorted(encoded)


def record_from_json(encoded: Json, *, case: Case) -> BaselineRecord:
    """Rebuild a record.

    Raises:
        ValueError: if `encoded` is not the JSON form of a record; the message names the field.
    """
    fields = _typed(encoded, dict, "the line")
    return BaselineRecord(
        fingerprint=_field(fields, "fingerprint", str),
        aliases=_texts(fields, "aliases"),
        decision=_decision(
            _field(fields, "changed", str),
            State(_field(fields, "state", str)),
            _field(fields, "because", str),
            _field(fields, "clean_runs", int),
            _clean_targets(fields),
        ),
        representative=_representative(fields, case),
        targets=_texts(fields, "targets"),
        first_seen=_sighting(fields, "first_seen"),
        last_seen=_sighting(fields, "last_seen"),
        history=_history(fields),
        native_stack=_stack(fields),
        issue=_field(fields, "issue", str),
        onset=onset_from_json(fields.get("since")),
        flakes=_repetitions(fields),
    )


def _history(fields: Mapping[str, Json]) -> tuple[Decision, ...]:
    """Return the history; empty for records of the first releases, which do not have it."""
    items = [_typed(item, dict, "history") for item in _typed(fields.get("history", []), list, "")]
    return tuple(
        _decision(
            _field(item, "changed", str),
            State(_field(item, "state", str)),
            _field(item, "because", str),
        )
        for item in items
    )


@lru_cache(maxsize=1024)
def _decision(
    changed: str,
    state: State,
    because: str,
    clean_runs: int = 0,
    clean_on: tuple[Sighting, ...] = (),
) -> Decision:
    """Return one shared object for equal decisions, to save memory."""
    return Decision(
        changed=Sighting(time=changed).time,
        state=state,
        because=because,
        clean_runs=clean_runs,
        clean_on=clean_on,
    )


def _stack(fields: Mapping[str, Json]) -> tuple[Frame, ...]:
    if "native_stack" not in fields:
        return ()
    return tuple(Frame(file, function) for file, function in _pairs(fields, "native_stack"))


def _repetitions(fields: Mapping[str, Json]) -> RepetitionCounts:
    if "tried" not in fields:
        return RepetitionCounts()  # schema 1 has no counts
    return _shared_repetitions(_field(fields, "shown", int), _field(fields, "tried", int))


@lru_cache(maxsize=1024)
def _shared_repetitions(shown: int, tried: int) -> RepetitionCounts:
    """Return one shared object for equal counts, to save memory."""
    return RepetitionCounts(shown=shown, tried=tried)


def _representative(fields: Mapping[str, Json], case: Case) -> Representative:
    severity = _field(fields, "severity", str).upper()
    if severity not in Severity.__members__:
        msg = f"unknown severity {severity.lower()!r}"
        raise ValueError(msg)
    return Representative(
        level=sys.intern(_field(fields, "level", str)),
        oracle=sys.intern(_field(fields, "oracle", str)),
        kind=sys.intern(_field(fields, "kind", str)),
        severity=Severity[severity],
        library=sys.intern(_field(fields, "library", str)),
        api=sys.intern(_field(fields, "api", str)),
        pair=PairKind(_field(fields, "pair", str)),
        message=_field(fields, "message", str),
        # Records of the first releases have no evidence.
        evidence=evidence_from_json(_field({"evidence": {}, **fields}, "evidence", dict)),
        case=case,
        grouping=_pairs(fields, "grouping"),
    )


def case_to_line(fingerprint: str, case: Case) -> str:
    """Return one line of JSON for the case of a bucket."""
    return json.dumps({"fingerprint": fingerprint, "case": case_to_json(case)})


def case_from_json_object(encoded: Json) -> tuple[str, Case]:
    """Rebuild a bucket's fingerprint and its case from a line of the corpus.

    Raises:
        ValueError: if `encoded` is malformed.
    """
    fields = _typed(encoded, dict, "the line")
    try:
        return fingerprint_of(fields), case_from_json(_interned(fields.get("case")))
    except RecursionError:
        msg = "the case is nested too deeply"
        raise ValueError(msg) from None


def _interned(encoded: Json) -> Json:
    """Return JSON in which equal strings, such as names of APIs, are one object, to save memory."""
    if type(encoded) is list:
        return [_interned(item) for item in encoded]
    return sys.intern(encoded) if type(encoded) is str else encoded


def fingerprint_of(encoded: Json) -> str:
    """Return the fingerprint in an encoded record or case.

    Raises:
        ValueError: if there is no valid fingerprint.
    """
    name = encoded.get("fingerprint") if isinstance(encoded, dict) else None
    if not isinstance(name, str) or not is_fingerprint(name):
        msg = "'fingerprint' is not a fingerprint such as v1:0123456789abcdef"
        raise ValueError(msg)
    return name


def _sighting_to_json(sighting: Sighting) -> Json:
    return {
        "time": sighting.time,
        "commit": sighting.commit,
        "versions": dict(sighting.versions),
    }


def _clean_targets(fields: Mapping[str, Json]) -> tuple[Sighting, ...]:
    # Records of the first releases have no clean runs.
    stored = _typed(fields.get("clean_on", []), list, "clean_on")
    return tuple(_sighting({"clean_on": item}, "clean_on") for item in stored)


def _sighting(fields: Mapping[str, Json], name: str) -> Sighting:
    encoded = _field(fields, name, dict)
    versions = _field(encoded, "versions", dict)
    items = tuple(
        sorted((str(target), _typed(version, str, name)) for target, version in versions.items())
    )
    return _shared_sighting(_field(encoded, "time", str), _field(encoded, "commit", str), items)


@lru_cache(maxsize=1024)
def _shared_sighting(time: str, commit: str, versions: tuple[tuple[str, str], ...]) -> Sighting:
    """Return one shared object for equal sightings, to save memory."""
    return Sighting(time=time, commit=commit, versions=versions)


def _field(fields: Mapping[str, Json], name: str, kind: type[T]) -> T:
    value = fields.get(name, _ABSENT)
    if type(value) is kind:  # not `isinstance`, because `True` is an `int`
        return value
    if value is _ABSENT:
        msg = f"{name!r} is missing"
        raise ValueError(msg)
    return _typed(value, kind, name)


def _typed(value: Json, kind: type[T], name: str) -> T:
    if type(value) is not kind:
        msg = f"{name!r} is of type {type(value).__name__}, not {kind.__name__}"
        raise ValueError(msg)
    return value


def _texts(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return _shared_texts(
        tuple(sorted({_typed(item, str, name) for item in _field(fields, name, list)}))
    )


def _pairs(fields: Mapping[str, Json], name: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for item in _field(fields, name, list):
        first, second = _typed(item, list, name)
        pairs.append(_shared_pair(_typed(first, str, name), _typed(second, str, name)))
    return tuple(pairs)


@lru_cache(maxsize=4096)
def _shared_pair(first: str, second: str) -> tuple[str, str]:
    """Return one shared object for equal pairs, to save memory."""
    return sys.intern(first), sys.intern(second)


@lru_cache(maxsize=4096)
def _shared_texts(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return one shared object for equal tuples, to save memory in a large baseline."""
    return tuple(map(sys.intern, texts))
