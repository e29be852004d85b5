"""The author, which creates the tasks of a filing plan with the texts of their issues."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.baseline import State
from ciguard.project import CiguardProject
from ciguard.trackers.body import report
from ciguard.trackers.context import Context, IssueRow
from ciguard.trackers.contract import ROLL_UP
from ciguard.trackers.disclosure import crash_of
from ciguard.trackers.listing import roll_up
from ciguard.trackers.status_changes import (
    closing_reason,
    new_apis_text,
    partial_fix_text,
    regression,
    status_changes,
)
from ciguard.trackers.tasks import Close, File, PostComment, Refresh
from ciguard.trackers.template import IssueTemplate, built_in
from ciguard.triage import read_script

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from ciguard.trackers.contract import Report
    from ciguard.trackers.disclosure import SecurityCrash
    from ciguard.trackers.groups import BucketGroup, GroupedBucket
    from ciguard.trackers.policy import FilingPlan
    from ciguard.trackers.tasks import Task

_ROW_STATES = {State.FIXED: "fixed", State.ACCEPTED: "accepted"}
"""Text for a member's state in the issue's table, by the state of its record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueSources:
    """The sources of an issue's text."""

    out: Path
    """Output folder of the run, which contains the reproducers."""
    run_page: str = ""
    """URL of the workflow run; empty if there is none."""
    repository_page: str = ""
    """URL of the tested repository; empty if it is unknown."""
    project: CiguardProject = field(default_factory=CiguardProject)
    """Repository and release of the installed ciguard."""
    template: IssueTemplate | None = None
    """Template of the text; None for the built-in template."""


class Author:
    """Creates the tasks of a filing plan, with their texts."""

    def __init__(
        self, versions: Mapping[str, str], sources: IssueSources, *, announced: Collection[str] = ()
    ) -> None:
        """Store the sources of texts.

        Args:
            versions: the library's version, by target.
            sources: the sources of an issue's text.
            announced: names of buckets that a task in the outbox already reports.
        """
        self._versions = versions
        self._sources = sources
        self._announced = frozenset(announced)

    def tasks(self, plan: FilingPlan) -> list[Task]:
        """Return the tasks of a plan, the most important first."""
        filed = plan.reopened + plan.adopted + plan.opened
        tasks: list[Task] = [self._file(group) for group in filed]
        tasks += filter(None, map(self._refresh, plan.refreshed))
        tasks += map(self._comment_on_fixed, plan.partly_fixed)
        tasks += map(self._close, plan.closed)
        if plan.listed:
            listing = roll_up(plan.listed)
            tasks.append(File(report=listing, because="The list has entries again."))
        else:
            tasks.append(Close(fingerprint=ROLL_UP, because="The list is empty."))
        return tasks

    def crash(self, group: BucketGroup) -> SecurityCrash:
        """Return the crash of a group, to file in private or to send upstream.

        The crash is named after a bucket, not after the group's cause. The baseline does not record
        private issues, and the name of a cause may change once a debugger has examined the crash.
        """
        name = min(member.fingerprint for member in group.members)
        return crash_of(group, self._report(replace(group, name=name)), self._versions)

    def _file(self, group: BucketGroup) -> File:
        parts = [self._regression(group), self._new_apis(group)]
        because = " ".join(filter(None, parts)) if group.issues else ""
        return File(report=self._report(group), because=because or "Seen again.")

    def _refresh(self, group: BucketGroup) -> Refresh | None:
        known = [member.before for member in group.members if member.before]
        new_targets = status_changes(
            [member.bucket for member in group.seen_members], known, self._versions
        )
        parts = [new_targets, self._regression(group), self._new_apis(group)]
        text = " ".join(filter(None, parts))
        if not text and not _has_new_text(group):
            return None
        return Refresh(report=self._report(group), news=text)

    def _comment_on_fixed(self, group: BucketGroup) -> PostComment:
        fixed = [m.after for m in group.members if m.after and m.became_fixed]
        text = partial_fix_text(fixed, of=len(group.members))
        return PostComment(fingerprint=group.name, news=text, aliases=_other_names(group))

    def _close(self, group: BucketGroup) -> Close:
        fixed = [m.after for m in group.members if m.after and m.is_fixed]
        return Close(
            fingerprint=group.name, because=closing_reason(fixed), aliases=_other_names(group)
        )

    def _regression(self, group: BucketGroup) -> str:
        returned = [member for member in group.seen_members if member.has_returned]
        before = [member.before for member in returned if member.before]
        return regression([member.bucket for member in returned], before, self._versions)

    def _new_apis(self, group: BucketGroup) -> str:
        new = (
            m for m in group.seen_members if m.needs_issue and self._announced.isdisjoint(m.names)
        )
        return new_apis_text(member.bucket for member in new)

    def _report(self, group: BucketGroup) -> Report:
        shown = group.shown_member
        rows = tuple(self._row(member) for member in (shown, *_others(group, shown)))
        seen = [member.after.first_seen for member in group.members if member.after]
        first_seen = min(seen, default=None)
        context = Context(
            script=rows[0].script,
            run_page=self._sources.run_page,
            repository_page=self._sources.repository_page,
            project=self._sources.project,
            versions=self._versions,
            commit=first_seen.commit if first_seen else "",
            first_seen=first_seen.time if first_seen else "",
            is_regression=group.has_returned,
            name=group.name,
            aliases=_other_names(group),
            rows=rows if len(rows) > 1 else (),
            split_from=tuple(sorted({m.former_issue for m in group.members if m.former_issue})),
        )
        return report(shown.bucket, context, template=self._sources.template or built_in())

    def _row(self, member: GroupedBucket) -> IssueRow:
        record = member.after
        return IssueRow(
            bucket=member.bucket,
            script=read_script(self._sources.out, member.bucket),
            first_seen=record.first_seen.time if record else "",
            state=_ROW_STATES.get(record.state, "") if record else "",
        )


def _others(group: BucketGroup, shown: GroupedBucket) -> list[GroupedBucket]:
    others = [member for member in group.members if member is not shown]
    return sorted(others, key=lambda member: (member.bucket.finding.api, member.fingerprint))


def _other_names(group: BucketGroup) -> tuple[str, ...]:
    return tuple(sorted(set(group.names) - {group.name}))


def _has_new_text(group: BucketGroup) -> bool:
    """Return whether the issue's text may have changed although no comment is due."""
    before, after = group.shown_member.before, group.shown_member.after
    has_new_case = (
        before is not None
        and after is not None
        and before.representative.case != after.representative.case
    )
    # The run that fixed a member posts only a comment if it did not see another member.
    has_fixed = any(member.is_fixed for member in group.members)
    return has_new_case or has_fixed or bool(group.former_members) or len(group.issues) > 1
