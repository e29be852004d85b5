"""Records as JSON: the one place that reads and writes the stored form.

What is read may have been edited by hand or by a stranger, so every field is checked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from ciguard.baseline.record import (
    BaselineRecord,
    Decision,
    Exhibit,
    Sighting,
    State,
    exhibit_to_json,
)
from ciguard.domain import (
    Case,
    Frame,
    PairKind,
    Severity,
    case_from_json,
    evidence_from_json,
    stack_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain import Json

T = TypeVar("T")

SCHEMA = 1
"""Of the whole folder; a change that an older ciguard cannot read raises it."""


def record_to_line(record: BaselineRecord) -> str:
    """Return a record without its case as one line of JSON."""
    exhibit = exhibit_to_json(record.exhibit)
    del exhibit["case"]
    encoded = {
        "fingerprint": record.fingerprint,
        "aliases": list(record.aliases),
        "state": record.decision.state.value,
        "because": record.decision.because,
        "changed": record.decision.changed,
        "clean_runs": record.decision.clean_runs,
        "clean_on": [_sighting_to_json(sighting) for sighting in record.decision.clean_on],
        **exhibit,
        "targets": list(record.targets),
        "first_seen": _sighting_to_json(record.first_seen),
        "last_seen": _sighting_to_json(record.last_seen),
        "history": [
            {"changed": d.changed, "state": d.state.value, "because": d.because}
            for d in record.history
        ],
        "native_stack": stack_to_json(record.native_stack),
        "issue": record.issue,
    }
    return json.dumps(encoded, sort_keys=True)


def record_from_json(encoded: Json, *, case: Case) -> BaselineRecord:
    """Rebuild a record.

    Raises:
        ValueError: if `encoded` is not the JSON form of a record; the message says which field.
    """
    fields = _typed(encoded, dict, "the line")
    return BaselineRecord(
        fingerprint=_field(fields, "fingerprint", str),
        aliases=_texts(fields, "aliases"),
        decision=Decision(
            changed=Sighting(time=_field(fields, "changed", str)).time,
            state=State(_field(fields, "state", str)),
            because=_field(fields, "because", str),
            clean_runs=_field(fields, "clean_runs", int),
            clean_on=_clean_on(fields),
        ),
        exhibit=_exhibit(fields, case),
        targets=_texts(fields, "targets"),
        first_seen=_sighting(fields, "first_seen"),
        last_seen=_sighting(fields, "last_seen"),
        history=_history(fields),
        native_stack=_stack(fields),
        issue=_field(fields, "issue", str),
    )


def _history(fields: Mapping[str, Json]) -> tuple[Decision, ...]:
    """Read what baselines of the first releases do not hold."""
    items = [_typed(item, dict, "history") for item in _typed(fields.get("history", []), list, "")]
    return tuple(
        Decision(
            changed=Sighting(time=_field(item, "changed", str)).time,
            state=State(_field(item, "state", str)),
            because=_field(item, "because", str),
        )
        for item in items
    )


def _stack(fields: Mapping[str, Json]) -> tuple[Frame, ...]:
    if "native_stack" not in fields:
        return ()
    return tuple(Frame(file, function) for file, function in _pairs(fields, "native_stack"))


def _exhibit(fields: Mapping[str, Json], case: Case) -> Exhibit:
    severity = _field(fields, "severity", str).upper()
    if severity not in Severity.__members__:
        msg = f"severity {severity.lower()!r} is not known"
        raise ValueError(msg)
    return Exhibit(
        level=_field(fields, "level", str),
        oracle=_field(fields, "oracle", str),
        kind=_field(fields, "kind", str),
        severity=Severity[severity],
        library=_field(fields, "library", str),
        api=_field(fields, "api", str),
        pair=PairKind(_field(fields, "pair", str)),
        message=_field(fields, "message", str),
        # Records of before there was evidence have none.
        evidence=evidence_from_json(_field({"evidence": {}, **fields}, "evidence", dict)),
        case=case,
        grouping=_pairs(fields, "grouping"),
    )


def case_to_text(fingerprint: str, case: Json) -> str:
    """Return the content of a file of the corpus."""
    encoded = {"schema": SCHEMA, "fingerprint": fingerprint, "case": case}
    return json.dumps(encoded, indent=1) + "\n"


def case_from_text(text: str, *, fingerprint: str) -> Case:
    """Rebuild the case of a file of the corpus.

    Raises:
        ValueError: if the file holds no case, or that of another bucket.
    """
    fields = _typed(parse(text), dict, "the file")
    if _field(fields, "fingerprint", str) != fingerprint:
        msg = f"it holds the case of {fields['fingerprint']!r}"
        raise ValueError(msg)
    return case_from_json(fields.get("case"))


def parse(text: str) -> Json:
    """Parse JSON; nesting too deep for the parser is an error like any other.

    Raises:
        ValueError: if `text` is not JSON.
    """
    try:
        return json.loads(text)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None


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
    return Sighting(
        time=_field(encoded, "time", str),
        commit=_field(encoded, "commit", str),
        versions=tuple(sorted((str(t), _typed(v, str, name)) for t, v in versions.items())),
    )


def _field(fields: Mapping[str, Json], name: str, kind: type[T]) -> T:
    if name not in fields:
        msg = f"it has no {name!r}"
        raise ValueError(msg)
    return _typed(fields[name], kind, repr(name))


def _typed(value: Json, kind: type[T], name: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        msg = f"{name} holds {type(value).__name__}, not {kind.__name__}"
        raise ValueError(msg)  # noqa: TRY004 - a defect of the stored text, not of a caller
    return value


def _texts(fields: Mapping[str, Json], name: str) -> tuple[str, ...]:
    return tuple(sorted({_typed(item, str, name) for item in _field(fields, name, list)}))


def _pairs(fields: Mapping[str, Json], name: str) -> tuple[tuple[str, str], ...]:
    pairs = []
    for item in _field(fields, name, list):
        first, second = _typed(item, list, name)
        pairs.append((_typed(first, str, name), _typed(second, str, name)))
    return tuple(pairs)
