"""Buckets as JSON for the page's script: a short row for the list, and details to open.

The length of every text is limited, and `ROWS_LIMIT` and `DETAILS_LIMIT` limit their sum. The
page's script shows all texts as text and never as markup.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jinja2.utils import htmlsafe_json_dumps

from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Crashed, status
from ciguard.domain.policy import class_of
from ciguard.domain.text import shortened, visible, visible_lines
from ciguard.reports.html.deviations import origin_of
from ciguard.reports.html.trees import MAX_DIFF, diff_lines
from ciguard.reports.wording import (
    cause_text,
    issue_address,
    issue_text,
    message_without_api,
    outcome_text,
    publishable,
    short_fingerprint,
    stack_of,
    state,
)
from ciguard.triage import (
    derivation_diff,
    origin_rows,
    read_script,
    realism,
    tested_part,
    without_local_paths,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.events import BucketHistory
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Frame, Outcome
    from ciguard.domain.plan import Plan
    from ciguard.domain.values import Json

ROWS_LIMIT = 16 << 20
"""Maximum number of characters in all rows; the page shows the number of buckets without a row."""
DETAILS_LIMIT = 24 << 20
"""Maximum number of characters in all details; buckets beyond it have only a row."""
CHUNK = 40
"""Number of buckets whose details the page's script parses at once."""
_MAX_SCRIPT = 20_000
_MAX_LOG = 4_000
_MAX_TEXT = 2_000
_MAX_TARGETS = 24
"""Maximum number of outcomes of one bucket."""
_MAX_FRAMES = 24
_MAX_GROUPING = 24
_MAX_LINKED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketEncoder:
    """Encodes buckets in their order, up to the limits of the page."""

    folder: Path
    """Output folder of the run, which holds the reproducers."""
    history: Mapping[str, BucketHistory]
    """Fingerprint of a bucket → its history in the baseline."""
    issues: object = ""
    """Setting `issues` of the run, e.g. `github:owner/name`; it is not trusted."""
    plan: Plan | None = None
    nodes: Mapping[str, str] = field(default_factory=dict)
    """Fingerprint of a bucket → its node in a derivation tree on the page."""
    fingerprints: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Name of a cause → fingerprints of its buckets."""
    targets: dict[str, int] = field(default_factory=dict)
    """Name of a target → its index in rows and details; encoding a bucket adds its targets."""

    def rows_and_details(self, buckets: Sequence[Bucket]) -> tuple[list[str], list[str]]:
        """Return the rows and the chunks of details as JSON, both up to their limits."""
        rows: list[str] = []
        chunks: list[list[str]] = []
        rows_left, details_left = ROWS_LIMIT, DETAILS_LIMIT
        for bucket in buckets:
            row = htmlsafe_json_dumps(self.row(bucket))
            rows_left -= len(row)
            if rows_left < 0:
                break
            rows.append(row)
            if details_left < 0:
                continue
            details = htmlsafe_json_dumps(self.details(bucket))
            details_left -= len(details)
            if details_left < 0:
                continue
            if len(chunks) * CHUNK < len(rows):
                chunks.append([])
            chunks[-1].append(details)
        return rows, [f"[{','.join(chunk)}]" for chunk in _drain(chunks)]

    def row(self, bucket: Bucket) -> Json:
        """Return the fields of a bucket that the list shows, and those that filters need."""
        finding = bucket.finding
        return {
            "id": publishable(bucket.fingerprint, limit=40),
            "state": state(bucket),
            "severity": finding.severity.label,
            "class": class_of(finding).value,
            "kind": publishable(f"{finding.oracle}/{finding.kind}", limit=80),
            "part": publishable(tested_part(finding), limit=60),
            "cause": publishable(bucket.cause.name, limit=40) if bucket.cause else None,
            "api": publishable(finding.api, limit=160),
            "says": publishable(message_without_api(finding), limit=240),
            "issue": publishable(issue_text(bucket.issue), limit=100),
            "on": [self._index(name) for name in finding.targets[:_MAX_TARGETS]],
            "grid": [[self._index(name), status(outcome)] for name, outcome in _outcomes(finding)],
        }

    def details(self, bucket: Bucket) -> Json:
        """Return the fields of a bucket that appear when a user opens it."""
        finding = bucket.finding
        evidence = finding.evidence
        return {
            "message": publishable(finding.message, limit=_MAX_TEXT),
            "expected": publishable(evidence.expected, limit=_MAX_TEXT),
            "observed": publishable(evidence.observed, limit=_MAX_TEXT),
            "law": publishable(evidence.law, limit=_MAX_TEXT),
            "source": publishable(evidence.source, limit=_MAX_TEXT),
            "origin": origin_of(finding.case),
            "derivation": self._derivation(bucket),
            "facts": list(_facts(bucket)),
            "outcomes": [
                {
                    "target": self._index(name),
                    "role": _role(finding, name),
                    "status": status(outcome),
                    "text": publishable(outcome_text(outcome), limit=_MAX_TEXT),
                    "stack": _stack(stack_of(outcome)),
                    "log": _log(outcome),
                }
                for name, outcome in _outcomes(finding)
            ],
            "native": _stack(bucket.native_stack),
            **self._script(bucket),
            "command": self._command(bucket),
            "grouping": [
                [publishable(name, limit=60), publishable(text, limit=400)]
                for name, text in bucket.grouping[:_MAX_GROUPING]
            ],
            "aliases": [publishable(name, limit=40) for name in bucket.aliases[:_MAX_LINKED]],
            "cause": publishable(cause_text(bucket), limit=240),
            "realism": publishable(realism(finding).words, limit=240),
            "siblings": [publishable(name, limit=40) for name in self._siblings(bucket)],
            "issue_address": issue_address(bucket.issue, self.issues),
            "past": self._timeline(bucket),
            "uses": [
                publishable(f"{place.path}:{place.line}", limit=200)
                for place in (self.plan.uses.get(finding.api, ()) if self.plan else ())
            ][:_MAX_LINKED],
        }

    def _siblings(self, bucket: Bucket) -> list[str]:
        """Return the fingerprints of other buckets with the same cause."""
        names = self.fingerprints.get(bucket.cause.name, ()) if bucket.cause else ()
        return [name for name in names if name != bucket.fingerprint][:_MAX_LINKED]

    def history_of(self, bucket: Bucket) -> BucketHistory | None:
        """Return the baseline's history of a bucket or of an alias; None if it has neither."""
        names = (bucket.fingerprint, *bucket.aliases)
        return next((self.history[name] for name in names if name in self.history), None)

    def _index(self, target: str) -> int:
        """Return the index of a target; a new target gets the next index."""
        return self.targets.setdefault(publishable(target, limit=100), len(self.targets))

    def _derivation(self, bucket: Bucket) -> Json:
        """Return the derivation of a case as text; None without one, or if a chart shows it."""
        case = bucket.finding.case
        if origin_of(case) is not None:
            return None  # the chart shows it
        rows = origin_rows(case, lambda name: publishable(name, limit=240))
        diff = diff_lines(derivation_diff(case, most=MAX_DIFF))
        if not rows and not diff:
            return None
        return {
            "rows": rows,
            "diff": diff,
            "node": self.nodes.get(publishable(bucket.fingerprint, limit=40), ""),
        }

    def _script(self, bucket: Bucket) -> dict[str, Json]:
        """Return the reproducer, or a note why it is not on the page."""
        if not bucket.reproducer:
            return {"script": "", "script_note": ""}
        name = publishable(bucket.reproducer, limit=200)
        script = read_script(self.folder, bucket)
        if not script:
            return {"script": "", "script_note": f"{name} is not readable."}
        if len(script) > _MAX_SCRIPT:
            note = f"The script has {len(script):,} characters, too many for this page: see {name}."
            return {"script": "", "script_note": note}
        note = "Verified: run on its own, it failed in the same way." if bucket.reproduced else ""
        return {"script": visible_lines(script, limit=2 * _MAX_SCRIPT), "script_note": note}

    def _command(self, bucket: Bucket) -> str:
        """Return the command that runs the bucket's case again."""
        name = self.folder.as_posix()
        # Readers on other machines cannot use an absolute path of this one.
        is_shown = name != ".ciguard/run" and not self.folder.is_absolute()
        out = f" --out {shlex.quote(visible(name))}" if is_shown else ""
        return f"ciguard reproduce {short_fingerprint(visible(bucket.fingerprint))}{out}"

    def _timeline(self, bucket: Bucket) -> list[Json]:
        """Return time and text of each event in the bucket's history, the oldest first."""
        history = self.history_of(bucket)
        if history is None:
            return []
        entries = [
            (history.first_seen, "first seen"),
            *history.states[1:][-_MAX_LINKED:],
            (history.last_seen, "last seen before this run"),
        ]
        return [
            [
                publishable(time, limit=40).replace("T", " ").removesuffix("Z"),
                publishable(text, limit=40),
            ]
            for time, text in sorted(entries)
        ]


def _drain(chunks: list[list[str]]) -> Iterator[list[str]]:
    """Yield the chunks, and remove each from the list to release its memory."""
    chunks.reverse()
    while chunks:
        yield chunks.pop()


def _outcomes(finding: Finding) -> Sequence[tuple[str, Outcome]]:
    return list(finding.outcomes.items())[:_MAX_TARGETS]


def _role(finding: Finding, target: str) -> str:
    """Return whether a target is the reference or shows the defect; empty for neither."""
    if finding.pair is not PairKind.NONE and target == finding.targets[0]:
        return "reference"
    return "shows the defect" if target in finding.targets else ""


def _facts(bucket: Bucket) -> Iterable[tuple[str, str]]:
    """Yield label and text of further properties of a bucket."""
    finding = bucket.finding
    yield "Level", publishable(finding.case.level, limit=40)
    if finding.pair is not PairKind.NONE:
        yield "Between", f"targets that differ in {finding.pair.value}"
    if bucket.is_met:
        yield "Findings", f"{bucket.count:,} of this run"
    yield "Confirmation", bucket.confirmation.value
    if bucket.attribution:
        yield "Seen", bucket.attribution.words
    elif bucket.tried:
        yield "Reproduced", f"{bucket.shown} of {bucket.tried} times"


def _stack(frames: tuple[Frame, ...]) -> list[str]:
    return [
        publishable(f"{frame.function}  {frame.file}", limit=240) for frame in frames[:_MAX_FRAMES]
    ]


def _log(outcome: Outcome) -> str:
    """Return the shortened output of a crashed process; empty for other outcomes."""
    log = outcome.log.strip() if isinstance(outcome, Crashed) else ""
    return visible_lines(without_local_paths(shortened(log, _MAX_LOG)), limit=_MAX_LOG)
