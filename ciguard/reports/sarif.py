"""`report.sarif`: the run as SARIF 2.1.0, for GitHub's security tab and for other viewers."""

from __future__ import annotations

import json
import re
import zlib
from itertools import chain, islice
from typing import TYPE_CHECKING
from urllib.parse import quote

import ciguard
from ciguard.domain.events import Event, RunFinished, RunStarted
from ciguard.domain.findings import INCONCLUSIVE, Comparison
from ciguard.domain.policy import class_of
from ciguard.domain.remarks import RemarkLevel
from ciguard.project import this_project
from ciguard.reports.caveats import caveats
from ciguard.reports.entries import entries
from ciguard.reports.files import write_atomically
from ciguard.reports.places import places_of
from ciguard.reports.remarks import LEVELS, is_new, targets_text
from ciguard.reports.sarif_rules import RULES, rule
from ciguard.reports.wording import cause_text, message_without_api, publishable, short_fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ciguard.domain.plan import Place, Plan
    from ciguard.domain.policy import Policy
    from ciguard.domain.values import Json
    from ciguard.reports.contract import Destination
    from ciguard.reports.entries import Entry
    from ciguard.reports.places import Places

SARIF_FILE = "report.sarif"
FINGERPRINT = "ciguard/v1"
"""Key of ciguard's fingerprint in a result's `partialFingerprints`."""
MAX_RESULTS = 25_000
"""Maximum number of results of one run; GitHub rejects a file with more."""
SHOWN_RESULTS = 5_000
"""Number of results that GitHub shows."""
MAX_BYTES = 10_000_000
"""Maximum size of the compressed file that GitHub accepts, in bytes."""
MAX_LOCATIONS = 100
"""Maximum number of locations of one result; GitHub accepts 1,000 and shows 100."""
_MAX_BUCKETS = 100
"""Maximum number of buckets that a result lists."""
CATEGORY = "ciguard"
"""Category of a run's results; see `sarif_text`."""
_GZIP = 31
"""zlib's argument `wbits` for the largest window and a gzip header."""
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_UNCHANGED = frozenset({Comparison.KNOWN, Comparison.ACCEPTED, Comparison.NOT_RUN})
"""Comparisons of known buckets that stay in the file: GitHub would close their alerts."""
_COMPARISON_TEXTS = {
    Comparison.KNOWN: "Known",
    Comparison.ACCEPTED: "Known, and accepted",
    Comparison.NOT_RUN: "Known; this run did not exercise it",
}
_LINK = re.compile(r"\](?=\()")
_PLACEHOLDER = re.compile(r"\{(\d+)\}")


class SarifReporter:
    """Writes `report.sarif`."""

    def __init__(self, destination: Destination) -> None:
        self._destination = destination
        self._plan: Plan | None = None

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        if isinstance(event, RunStarted):
            self._plan = event.plan
        if isinstance(event, RunFinished):
            places = places_of(event, self._plan, self._destination.sources)
            page = this_project().page()
            pieces = _pieces(event, places, self._destination.policy, page=page, category=CATEGORY)
            write_atomically(self._destination.folder / SARIF_FILE, pieces)

    def close(self) -> None:
        """See `Reporter`."""


def sarif_text(
    event: RunFinished, places: Places, policy: Policy, *, page: str = "", category: str = CATEGORY
) -> str:
    """Return the run as SARIF, with as many results as GitHub accepts, the most severe first.

    Args:
        event: the last event of the run.
        places: the locations of buckets in the user's sources.
        policy: the policy that decides the level of each result.
        page: the URL of ciguard itself; empty if unknown.
        category: the category that distinguishes several analyses of one commit.
    """
    return "".join(_pieces(event, places, policy, page=page, category=category))


def _pieces(
    event: RunFinished, places: Places, policy: Policy, *, page: str, category: str
) -> list[str]:
    """Return the file's text in pieces, since joining them would take twice the memory."""
    all_entries = entries(b for b in event.buckets if is_new(b) or b.comparison in _UNCHANGED)
    included = all_entries[:MAX_RESULTS]
    while True:
        # Each result is encoded immediately, as all objects together would take more memory.
        results = [_json(_result(entry, places, policy)) for entry in included]
        notes = _notes(event, places.plan, included=len(included), total=len(all_entries))
        pieces = _file(event, results, notes, page=page, category=category)
        size = _compressed(pieces)
        if size <= MAX_BYTES:
            return pieces
        included = included[: int(0.9 * len(included) * MAX_BYTES / size)]


def _file(
    event: RunFinished, results: list[str], notes: Iterable[str], *, page: str, category: str
) -> list[str]:
    """Return the text of the file in pieces, around the encoded results."""
    run = {
        "tool": {
            "driver": {
                "name": "ciguard",
                "semanticVersion": ciguard.__version__,
                **({"informationUri": page} if page else {}),
                "rules": [rule(kind) for kind in RULES],
            }
        },
        "automationDetails": {"id": f"{category}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": event.verdict not in INCONCLUSIVE,
                "exitCode": int(event.exit_code),
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": _escaped(note)}} for note in notes
                ],
            }
        ],
        "properties": {"verdict": event.verdict.value, "summary": publishable(event.summary)},
        "results": [],
    }
    log = _json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})
    end = "]}]}"
    separated = chain.from_iterable((result, ",") for result in results)
    return [log.removesuffix(end), *islice(separated, max(0, 2 * len(results) - 1)), f"{end}\n"]


def _json(content: Json) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=True)


def _compressed(pieces: Iterable[str]) -> int:
    """Return the size of the gzip-compressed text, in bytes."""
    packer = zlib.compressobj(6, wbits=_GZIP)
    return sum(len(packer.compress(piece.encode())) for piece in pieces) + len(packer.flush())


def _notes(event: RunFinished, plan: Plan | None, *, included: int, total: int) -> list[str]:
    """Return the warnings of the file: caveats, and limits that omit results."""
    notes = [publishable(caveat.text) for caveat in caveats(event, plan)]
    if included < total:
        notes.append(f"{total - included} of {total} results are omitted: GitHub accepts no more.")
    if included > SHOWN_RESULTS:
        notes.append(f"GitHub shows the first {SHOWN_RESULTS} of {included} results.")
    return notes


def _result(entry: Entry, places: Places, policy: Policy) -> dict[str, Json]:
    """Return the SARIF result of an entry."""
    bucket = entry.most_severe
    kind = class_of(bucket.finding)
    digest = entry.fingerprint.rpartition(":")[2]
    level = LEVELS[max(policy.action(member.finding) for member in entry.buckets)]
    locations = dict.fromkeys(chain.from_iterable(map(places.locate, entry.buckets)))
    result: dict[str, Json] = {
        "ruleId": kind.value,
        "ruleIndex": RULES.index(kind),
        "level": "note" if level is RemarkLevel.NOTICE else level.value,
        "message": {"text": _escaped(_message(entry))},
        "locations": [_location(place) for place in islice(locations, MAX_LOCATIONS)],
        # GitHub reads `primaryLocationLineHash` only. Without it, a line's results share one alert.
        "partialFingerprints": {FINGERPRINT: digest, "primaryLocationLineHash": f"{digest}:1"},
        "baselineState": "unchanged" if bucket.comparison in _UNCHANGED else "new",
        "properties": _properties(entry),
    }
    if bucket.comparison is Comparison.ACCEPTED:
        result["suppressions"] = [{"kind": "external", "status": "accepted"}]
    return result


def _message(entry: Entry) -> str:
    """Return the text of a result: API, message, targets, known issue and next step."""
    bucket = entry.most_severe
    finding = bucket.finding
    message = publishable(message_without_api(finding), limit=600)
    known = _COMPARISON_TEXTS.get(bucket.comparison, "")
    issue = f" (issue {publishable(bucket.issue, limit=80)})" if bucket.issue else ""
    return " ".join(
        part
        for part in (
            f"{publishable(finding.api, limit=200)}: {message}",
            f"{targets_text(finding)}.",
            f"{known}{issue}." if known else "",
            entry.others_text,
            f"Run it again: ciguard reproduce {short_fingerprint(bucket.fingerprint)}",
        )
        if part
    )


def _properties(entry: Entry) -> dict[str, Json]:
    bucket = entry.most_severe
    finding = bucket.finding
    return {
        "bucket": bucket.fingerprint,
        "buckets": [member.fingerprint for member in entry.buckets[:_MAX_BUCKETS]],
        "cause": publishable(cause_text(bucket), limit=400),
        "comparison": bucket.comparison.value,
        "severity": finding.severity.label,
        "oracle": publishable(f"{finding.oracle}/{finding.kind}", limit=100),
        "library": publishable(finding.library, limit=100),
        "api": publishable(finding.api, limit=200),
        "targets": [publishable(name, limit=100) for name in finding.targets[:10]],
        "reproducer": publishable(bucket.reproducer, limit=200),
        "issue": publishable(bucket.issue, limit=100),
    }


def _location(place: Place) -> dict[str, Json]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(place.path, safe="/"), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": place.line},
        }
    }


def _escaped(text: str) -> str:
    """Return a text in which a SARIF viewer recognises neither links nor placeholders."""
    return _PLACEHOLDER.sub(r"{{\1}}", _LINK.sub("] ", text))
