"""The author: writes the tasks that a plan asks for, with the texts of their issues."""

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
from ciguard.trackers.news import joined, mended, news, part_mended, regression
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

_STANDINGS = {State.FIXED: "fixed", State.ACCEPTED: "accepted"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueSources:
    """Where the text of an issue comes from."""

    out: Path
    """The run's folder, which holds the reproducers."""
    run_page: str = ""
    """Address of the run; empty where it has none."""
    repository_page: str = ""
    """Address of the repository that was tested; empty where it is unknown."""
    project: CiguardProject = field(default_factory=CiguardProject)
    """Where this copy of ciguard comes from."""
    template: IssueTemplate | None = None


class Author:
    """Writes what a plan wants to say."""

    def __init__(
        self, versions: Mapping[str, str], sources: IssueSources, *, announced: Collection[str] = ()
    ) -> None:
        """Take up what texts are made of.

        Args:
            versions: of the library, by target.
            sources: where texts come from.
            announced: names of buckets of which a waiting task reports already.
        """
        self._versions = versions
        self._sources = sources
        self._announced = frozenset(announced)

    def tasks(self, chosen: FilingPlan) -> list[Task]:
        """Return what is to be done, what matters most first."""
        filed = chosen.reopened + chosen.adopted + chosen.opened
        written: list[Task] = [self._file(group) for group in filed]
        written += filter(None, map(self._refresh, chosen.refreshed))
        written += map(self._tick, chosen.ticked)
        written += map(self._close, chosen.closed)
        if chosen.listed:
            listing = roll_up(chosen.listed)
            written.append(File(report=listing, because="The list has entries again."))
        else:
            written.append(Close(fingerprint=ROLL_UP, because="Nothing is left on the list."))
        return written

    def crash(self, group: BucketGroup) -> SecurityCrash:
        """Return what is to be filed in private or sent upstream of a group.

        It is named by a bucket. The baseline keeps nothing of what is filed in private, and a cause
        may have another name as soon as a debugger has looked at a crash.
        """
        name = min(member.fingerprint for member in group.members)
        return crash_of(group, self._report(replace(group, name=name)), self._versions)

    def _file(self, group: BucketGroup) -> File:
        parts = [self._regression(group), self._joined(group)]
        because = " ".join(filter(None, parts)) if group.issues else ""
        return File(report=self._report(group), because=because or "Met again.")

    def _refresh(self, group: BucketGroup) -> Refresh | None:
        known = [member.before for member in group.members if member.before]
        places = news([member.bucket for member in group.met], known, self._versions)
        parts = [places, self._regression(group), self._joined(group)]
        says = " ".join(filter(None, parts))
        if not says and not _looks_different(group):
            return None
        return Refresh(report=self._report(group), news=says)

    def _tick(self, group: BucketGroup) -> PostComment:
        fixed = [m.after for m in group.members if m.after and m.became_fixed]
        says = part_mended(fixed, of=len(group.members))
        return PostComment(fingerprint=group.name, news=says, aliases=_other_names(group))

    def _close(self, group: BucketGroup) -> Close:
        fixed = [m.after for m in group.members if m.after and m.is_fixed]
        return Close(fingerprint=group.name, because=mended(fixed), aliases=_other_names(group))

    def _regression(self, group: BucketGroup) -> str:
        back = [member for member in group.met if member.is_back]
        before = [member.before for member in back if member.before]
        return regression([member.bucket for member in back], before, self._versions)

    def _joined(self, group: BucketGroup) -> str:
        new = (m for m in group.met if m.has_joined and self._announced.isdisjoint(m.names))
        return joined(member.bucket for member in new)

    def _report(self, group: BucketGroup) -> Report:
        shown = group.shown
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
            is_regression=group.is_back,
            name=group.name,
            aliases=_other_names(group),
            rows=rows if len(rows) > 1 else (),
            split_from=tuple(sorted({m.left for m in group.members if m.left})),
        )
        return report(shown.bucket, context, template=self._sources.template or built_in())

    def _row(self, member: GroupedBucket) -> IssueRow:
        record = member.after
        return IssueRow(
            bucket=member.bucket,
            script=read_script(self._sources.out, member.bucket),
            first_seen=record.first_seen.time if record else "",
            standing=_STANDINGS.get(record.state, "") if record else "",
        )


def _others(group: BucketGroup, shown: GroupedBucket) -> list[GroupedBucket]:
    others = [member for member in group.members if member is not shown]
    return sorted(others, key=lambda member: (member.bucket.finding.api, member.fingerprint))


def _other_names(group: BucketGroup) -> tuple[str, ...]:
    return tuple(sorted(set(group.names) - {group.name}))


def _looks_different(group: BucketGroup) -> bool:
    """Return whether the issue's text has changed without anything that is worth a comment."""
    before, after = group.shown.before, group.shown.after
    has_case = (
        before is not None and after is not None and before.exhibit.case != after.exhibit.case
    )
    # The run that made it fixed may have met none of the others, and had no text to show it in.
    has_fixed = any(member.is_fixed for member in group.members)
    return has_case or has_fixed or bool(group.lost) or len(group.issues) > 1
