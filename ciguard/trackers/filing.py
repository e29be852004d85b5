"""Filing: a listener that takes a finished run to a tracker."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.baseline import find_record, is_regression
from ciguard.domain import RunFinished, Verdict
from ciguard.trackers.body import Context, report
from ciguard.trackers.policy import carry_out, plan

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.baseline import BaselineRecord, BaselineStore, Records
    from ciguard.domain import Bucket, Event
    from ciguard.trackers.contract import Report, Tracker
    from ciguard.trackers.policy import FilingRules

_CONCLUSIVE = frozenset({Verdict.ESTABLISHED, Verdict.CLEAN, Verdict.NEW_FINDINGS})


class Filing:
    """Files what a run found, once the run is over and the baseline knows it."""

    def __init__(
        self, tracker: Tracker, store: BaselineStore, *, rules: FilingRules, out: Path
    ) -> None:
        """Read the baseline as it is before the run.

        Args:
            tracker: where issues go.
            store: the baseline; remembers which bucket has which issue.
            rules: what the project wants.
            out: the run's folder, which holds the reproducers.

        Raises:
            BaselineError: if the baseline cannot be read.
        """
        self._tracker = tracker
        self._store = store
        self._rules = rules
        self._out = out
        self._before: Records = store.load() if store.exists() else {}

    def receive(self, event: Event) -> None:
        """File when the run is over; an interrupted or failed run proves nothing and files nothing.

        Raises:
            CiguardError: if tracker or baseline cannot be written.
        """
        if isinstance(event, RunFinished) and event.verdict in _CONCLUSIVE:
            self._file(event)

    def _file(self, event: RunFinished) -> None:
        after = self._store.load()
        chosen = plan(
            event.buckets,
            before=self._before,
            after=after,
            rules=self._rules,
            establishes=event.verdict is Verdict.ESTABLISHED,
        )
        versions = {target.name: target.version for target in event.targets}

        def report_of(bucket: Bucket) -> Report:
            return self._report(bucket, versions, after)

        issues = carry_out(chosen, self._tracker, report_of=report_of)
        self._remember(issues, after)

    def _report(self, bucket: Bucket, versions: dict[str, str], after: Records) -> Report:
        record = find_record(after, bucket.fingerprint)
        script = self._out / bucket.reproducer if bucket.reproducer else None
        context = Context(
            script=script.read_text("utf-8") if script is not None and script.is_file() else "",
            versions=versions,
            commit="" if record is None else record.last_seen.commit,
            first_seen="" if record is None else record.first_seen.time,
            is_regression=is_regression(bucket, self._before),
        )
        return report(bucket, context)

    def _remember(self, issues: dict[str, str], after: Records) -> None:
        """Note the issues in the baseline, so that no later run files them again."""
        noted: dict[str, BaselineRecord] = dict(after)
        for fingerprint, number in issues.items():
            record = find_record(after, fingerprint)
            if record is not None and record.issue != number:
                noted[record.fingerprint] = replace(record, issue=number)
        if noted != after:
            self._store.save(noted)

    def close(self) -> None:
        """Nothing to release."""
