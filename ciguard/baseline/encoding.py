"""Records as JSON: the one place that reads and writes the stored form.

What is read may have been edited by hand or by a stranger, so every field is checked.
"""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from ciguard.baseline.record import (
    BaselineRecord,
    Decision,
    Exhibit,
    Flakes,
    Sighting,
    State,
    exhibit_to_json,
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

_sorted = json.JSONEncoder(sort_keys=True).encode

_ABSENT = object()

SCHEMA = 3
"""Of the whole folder; a change that an older ciguard cannot read raises it.

1 kept every case in a file of its own, 2 as lines of sixteen files; both kept all records in one
file. 3 keeps records and cases in one file each, and in parts where that would become too large.
"""


def record_to_line(record: BaselineRecord) -> str:
    """Return a record without its case as one line of JSON."""
    encoded = {
        "fingerprint": record.fingerprint,
        "aliases": list(record.aliases),
        "state": record.decision.state.value,
        "because": record.decision.because,
        "changed": record.decision.changed,
        "clean_runs": record.decision.clean_runs,
        "clean_on": [_sighting_to_json(sighting) for sighting in record.decision.clean_on],
        **exhibit_to_json(record.exhibit),
        "targets": list(record.targets),
        "first_seen": _sighting_to_json(record.first_seen),
        "last_seen": _sighting_to_json(record.last_seen),
        "history": [
            {"changed": d.changed, "state": d.state.value, "because": d.because}
            for d in record.history
        ],
        "native_stack": stack_to_json(record.native_stack),
        "issue": record.issue,
        "since": onset_to_json(record.onset),
        "shown": record.flakes.shown,
        "tried": record.flakes.tried,
    }
    return _sorted(encoded)


def record_from_json(encoded: Json, *, case: Case) -> BaselineRecord:
    """Rebuild a record.

    Raises:
        ValueError: if `encoded` is not the JSON form of a record; the message says which field.
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
            _clean_on(fields),
        ),
        exhibit=_exhibit(fields, case),
        targets=_texts(fields, "targets"),
        first_seen=_sighting(fields, "first_seen"),
        last_seen=_sighting(fields, "last_seen"),
        history=_history(fields),
        native_stack=_stack(fields),
        issue=_field(fields, "issue", str),
        onset=onset_from_json(fields.get("since")),
        flakes=_flakes(fields),
    )


def _history(fields: Mapping[str, Json]) -> tuple[Decision, ...]:
    """Read what baselines of the first releases do not hold."""
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
    """Return one object for all that one run decided."""
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


def _flakes(fields: Mapping[str, Json]) -> Flakes:
    if "tried" not in fields:
        return Flakes()  # schema 1 did not count
    return _counted(_field(fields, "shown", int), _field(fields, "tried", int))


@lru_cache(maxsize=1024)
def _counted(shown: int, tried: int) -> Flakes:
    return Flakes(shown=shown, tried=tried)


def _exhibit(fields: Mapping[str, Json], case: Case) -> Exhibit:
    severity = _field(fields, "severity", str).upper()
    if severity not in Severity.__members__:
        msg = f"severity {severity.lower()!r} is not known"
        raise ValueError(msg)
    return Exhibit(
        level=sys.intern(_field(fields, "level", str)),
        oracle=sys.intern(_field(fields, "oracle", str)),
        kind=sys.intern(_field(fields, "kind", str)),
        severity=Severity[severity],
        library=sys.intern(_field(fields, "library", str)),
        api=sys.intern(_field(fields, "api", str)),
        pair=PairKind(_field(fields, "pair", str)),
        message=_field(fields, "message", str),
        # Records of before there was evidence have none.
        evidence=evidence_from_json(_field({"evidence": {}, **fields}, "evidence", dict)),
        case=case,
        grouping=_pairs(fields, "grouping"),
    )


def case_to_line(fingerprint: str, case: Case) -> str:
    """Return the case of a bucket as one line of JSON."""
    return json.dumps({"fingerprint": fingerprint, "case": case_to_json(case)})


def case_from_json_object(encoded: Json) -> tuple[str, Case]:
    """Rebuild a bucket's fingerprint and its case from a line of the corpus.

    Raises:
        ValueError: if `encoded` is nothing of the kind.
    """
    fields = _typed(encoded, dict, "it")
    try:
        return fingerprint_of(fields), case_from_json(_interned(fields.get("case")))
    except RecursionError:
        msg = "its case is nested too deeply"
        raise ValueError(msg) from None


def _interned(encoded: Json) -> Json:
    """Return JSON with one object for equal texts: names of APIs, parameters and dtypes recur."""
    if type(encoded) is list:
        return [_interned(item) for item in encoded]
    return sys.intern(encoded) if type(encoded) is str else encoded


def fingerprint_of(encoded: Json) -> str:
    """Return the fingerprint that an encoded record or case names.

    Raises:
        ValueError: if it names none.
    """
    name = encoded.get("fingerprint") if isinstance(encoded, dict) else None
    if not isinstance(name, str) or not is_fingerprint(name):
        msg = "it names no fingerprint such as v1:0123456789abcdef"
        raise ValueError(msg)
    return name


def _sighting_to_json(sighting: Sighting) -> Json:
    return {
        "time": sighting.time,
        "commit": sighting.commit,
        "versions": dict(sighting.versions),
    }


def _clean_on(fields: Mapping[str, Json]) -> tuple[Sighting, ...]:
    # A record of before this was kept has none.
    stored = _typed(fields.get("clean_on", []), list, "clean_on")
    return tuple(_sighting({"clean_on": item}, "clean_on") for item in stored)


def _sighting(fields: Mapping[str, Json], name: str) -> Sighting:
    encoded = _field(fields, name, dict)
    versions = _field(encoded, "versions", dict)
    items = tuple(sorted((str(t), _typed(v, str, name)) for t, v in versions.items()))
    return _seen(_field(encoded, "time", str), _field(encoded, "commit", str), items)


@lru_cache(maxsize=1024)
def _seen(time: str, commit: str, versions: tuple[tuple[str, str], ...]) -> Sighting:
    """Return one object for all that was seen by one run."""
    return Sighting(time=time, commit=commit, versions=versions)


def _field(fields: Mapping[str, Json], name: str, kind: type[T]) -> T:
    value = fields.get(name, _ABSENT)
    if type(value) is kind:  # not `isinstance`: `True` is an integer to Python
        return value
    if value is _ABSENT:
        msg = f"it has no {name!r}"
        raise ValueError(msg)
    return _typed(value, kind, name)


def _typed(value: Json, kind: type[T], name: str) -> T:
    if type(value) is not kind:
        msg = f"{name!r} holds {type(value).__name__}, not {kind.__name__}"
        raise ValueError(msg)
    return value


def _texts(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return _shared(tuple(sorted({_typed(item, str, name) for item in _field(fields, name, list)})))


def _pairs(fields: Mapping[str, Json], name: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for item in _field(fields, name, list):
        first, second = _typed(item, list, name)
        pairs.append(_pair(_typed(first, str, name), _typed(second, str, name)))
    return tuple(pairs)


@lru_cache(maxsize=4096)
def _pair(first: str, second: str) -> tuple[str, str]:
    """Return one object for equal pairs, as `_shared` does."""
    return sys.intern(first), sys.intern(second)


@lru_cache(maxsize=4096)
def _shared(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return one object for equal texts: a large baseline repeats few of them very often."""
    return tuple(map(sys.intern, texts))
