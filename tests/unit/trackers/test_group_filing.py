"""One issue per group: buckets with one cause, over the runs of a project."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from filing_project import RULES, TARGET, Project, Stopped, bucket, checked

from ciguard.baseline import (
    BaselineRecord,
    Sighting,
    State,
    accept,
    bucket_of,
    establish,
    records_with_issues,
)
from ciguard.domain.findings import Bucket, Comparison
from ciguard.domain.outcomes import Frame
from ciguard.errors import TrackerUnavailableError
from ciguard.trackers.contract import Report, marked_with, marker
from ciguard.trackers.tasks import Close, records_of
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.baseline import Records

KNOWN, FIXED = Comparison.KNOWN, Comparison.FIXED
GROUP = cause_of(checked("torch.a")).name


class GroupProject(Project):
    """A project whose issues are looked at by their groups."""

    def of(self, name: str = GROUP) -> str:
        """Return all that the group's issue holds."""
        issue = self.issues.find(name)
        assert issue is not None
        return (self.folder / "issues" / issue.number).read_text("utf-8")

    def history(self, name: str = GROUP) -> list[str]:
        lines = self.of(name).rpartition("### History\n")[2].splitlines()
        return [line.partition(" UTC: ")[2] for line in lines]

    def noted(self) -> dict[str, str]:
        """Return the issue that the baseline knows, by API."""
        return {r.representative.api: r.issue for r in self.store.load().values()}

    def fix(self, *apis: str) -> None:
        for _ in range(3):
            self.run(*(checked(api, FIXED) for api in apis))


@pytest.fixture
def project(tmp_path: Path) -> GroupProject:
    made = GroupProject(tmp_path)
    made.run()
    return made


def test_buckets_with_one_cause_share_a_recorded_issue(
    project: GroupProject,
) -> None:
    says = project.run(checked("torch.a"), checked("torch.b"), bucket())

    assert project.numbers() == {"torch.a": True, "torch.fold": True}
    assert says[0].endswith("torch: failed check apply.cc: dtype() == expected (2 APIs)")
    noted = project.noted()
    assert noted["torch.a"] == noted["torch.b"] != noted["torch.fold"]
    assert marked_with(project.of()) == GROUP
    for api in ("torch.a", "torch.b"):
        assert f"| `{api}` | critical, crash | seen 2026-01-02 |" in project.of()


def test_group_counts_once_for_the_cap(project: GroupProject) -> None:
    project.rules = replace(RULES, cap=2)

    project.run(*map(checked, ["torch.a", "torch.b", "torch.c"]), bucket("torch.x"))

    assert sorted(project.numbers()) == ["torch.a", "torch.x"]


def test_groups_beyond_the_cap_are_listed_with_one_line_each(project: GroupProject) -> None:
    project.rules = replace(RULES, cap=0)

    project.run(checked("torch.a"), checked("torch.b"), bucket("torch.x"))

    listing = (project.folder / "issues").glob("v1-0000000000000000*")
    text = next(listing).read_text("utf-8")
    assert "2 known findings have no issue of their own." in text
    assert "| `torch.a` and 1 more |" in text


def test_later_member_is_added_to_the_issue_with_one_comment_line(
    project: GroupProject,
) -> None:
    project.run(checked("torch.a"))

    project.run(checked("torch.a", KNOWN), checked("torch.b"))
    project.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))

    assert project.numbers() == {"torch.a": True}
    assert project.history() == ["opened", "Also shown by torch.b."]
    assert "`torch.b`" in project.of()
    assert len(set(project.noted().values())) == 1


def test_listed_member_is_part_of_the_issue_of_a_new_member(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, cap=0)
    project.run(checked("torch.a"))
    project.rules = RULES

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.numbers()["further-findings"] is False
    assert set(map(bool, project.noted().values())) == {True}
    assert "2 APIs probably have the same cause" in project.of()


def test_issue_shows_fixed_members_and_closes_with_the_last(
    project: GroupProject,
) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    whole = project.of()
    project.fix("torch.b")
    said = project.of()
    project.run(checked("torch.a", KNOWN))
    partly = project.of()
    is_open = project.numbers()["torch.a"]

    project.fix("torch.a")

    assert said.startswith(whole.rpartition("### History")[0]), "what it shows stays"
    assert "Newly fixed, 1 of 2: torch.b: 3 consecutive runs of the bucket's case" in said
    assert "| seen 2026-01-02 | ✓ fixed |" in partly
    assert partly.count("✓ fixed") == 1
    assert is_open
    assert project.numbers() == {"torch.a": False}
    assert project.history()[-1].startswith(
        "closed: All 2 buckets of this issue are fixed; the last was torch.a: 3 consecutive runs"
    )


def test_accepted_member_does_not_keep_the_issue_open(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    name = checked("torch.b").fingerprint
    records = dict(project.store.load())
    changed = replace(
        records[name].decision, state=State.ACCEPTED, changed="2026-01-02T00:00:01Z", because="ok"
    )
    project.store.save({name: replace(records[name], decision=changed)})

    project.fix("torch.a")

    assert project.numbers() == {"torch.a": False}


def test_returning_member_reopens_the_issue(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.a", "torch.b")

    project.run(checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history()[-1].startswith("reopened: Seen again on torch==2.13.0")
    assert "This defect was fixed before and has returned." in project.of()


def test_returning_member_of_an_open_group_is_one_comment_line(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.b")

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.history()[-1].startswith("Seen again on torch==2.13.0")
    assert "✓ fixed" not in project.of()
    assert "This defect was fixed before" not in project.of()


def test_new_member_of_a_fixed_group_reopens_its_issue(project: GroupProject) -> None:
    project.run(checked("torch.a"))
    project.fix("torch.a")

    project.run(checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history()[-1] == "reopened: Also shown by torch.b."


def test_new_version_is_one_comment_for_the_whole_group(project: GroupProject) -> None:
    known = [checked(f"torch.{name}", KNOWN) for name in "abc"]
    project.run(*(checked(f"torch.{name}") for name in "abc"))

    project.run(*known[:2], version="2.14.0")
    project.run(*known, version="2.14.0")

    assert project.history() == [
        "opened",
        "Also seen on torch==2.13.0 (version 2.14.0).",
    ]


def filed_one_by_one(project: GroupProject, *buckets: Bucket) -> None:
    """File each bucket under its fingerprint, as ciguard did before there were groups."""
    known = dict(establish(buckets, Sighting(time="2026-01-01T00:00:00Z")))
    issues = {}
    for made in buckets:
        text = f"{marker(made.fingerprint)}\n\nthe body"
        slug = made.finding.api
        report = Report(fingerprint=made.fingerprint, title="old", body=text, slug=slug)
        issues[made.fingerprint] = project.issues.open(report).number
    project.store.save(records_with_issues(known, issues))


def test_issue_of_an_old_version_becomes_the_groups_issue(project: GroupProject) -> None:
    filed_one_by_one(project, checked("torch.a"))

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history() == ["opened", "Also shown by torch.b."]
    assert len(set(project.noted().values())) == 1


def test_issues_of_an_old_version_are_merged_into_one(project: GroupProject) -> None:
    filed_one_by_one(project, checked("torch.a"), checked("torch.b"))

    project.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))
    project.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))

    assert sorted(project.numbers().values()) == [False, True]
    assert "opened" in project.history()
    noted = set(project.noted().values())
    assert len(noted) == 1
    assert noted.pop().startswith("g1-")
    closed = next(n for n, is_open in project.numbers().items() if not is_open)
    text = next((project.folder / "issues").glob(f"*{closed}.md")).read_text("utf-8")
    assert "closed: duplicate of g1-" in text


def test_issues_of_one_group_that_were_not_joined_are_closed_together(
    project: GroupProject,
) -> None:
    filed_one_by_one(project, checked("torch.a"), checked("torch.b"))

    project.fix("torch.a", "torch.b")

    assert project.numbers() == {"torch.a": False, "torch.b": False}


def _silent(api: str, comparison: Comparison, *frames: str) -> Bucket:
    """Return a death that says nothing, and what a debugger saw of it."""
    stack = tuple(Frame("libtorch.so", name) for name in frames)
    return replace(bucket(api, comparison), native_stack=stack)


def test_member_with_a_better_known_cause_gets_an_issue_that_links_the_first(
    project: GroupProject,
) -> None:
    frames = ("at::fold", "at::loop")
    new = Comparison.NEW
    project.run(_silent("torch.a", new, *frames), _silent("torch.b", new, *frames))
    first = project.noted()["torch.a"]
    records = project.store.load()
    name = bucket("torch.b").fingerprint
    seen_better = (Frame("libtorch.so", "at::unfold"), Frame("libtorch.so", "at::x"))
    project.store.change(
        lambda stored: {**stored, name: replace(records[name], native_stack=seen_better)}
    )

    project.run(_silent("torch.a", KNOWN), _silent("torch.b", KNOWN))
    project.run(_silent("torch.a", KNOWN), _silent("torch.b", KNOWN))

    noted = project.noted()
    assert project.numbers() == {"torch.a": True, "torch.b": True}
    assert noted["torch.a"] == first != noted["torch.b"]
    (other,) = (project.folder / "issues").glob("*torch.b.md")
    assert f"Split from `{first}`, because the cause turned out" in other.read_text("utf-8")
    assert "torch.b" not in (project.folder / "issues" / first).read_text("utf-8")


def test_a_group_whose_cause_has_another_name_by_now_keeps_its_issue(
    project: GroupProject,
) -> None:
    frames = ("at::fold", "at::loop")
    project.run(_silent("torch.a", Comparison.NEW, *frames))
    record = project.store.load()[bucket("torch.a").fingerprint]
    renamed = replace(record, native_stack=(Frame("libtorch.so", "at::unfold"),))
    project.store.change(lambda stored: {**stored, record.fingerprint: renamed})

    says = project.run(_silent("torch.a", KNOWN), version="2.14.0")

    assert project.numbers() == {"torch.a": True}
    assert not any("gone" in line for line in says)
    assert len(list((project.folder / "issues").glob("*.md"))) == 1


def test_unresponsive_trackers_group_is_filed_once(
    project: GroupProject,
) -> None:
    down = Stopped(project.issues, after=0, error=TrackerUnavailableError)

    project.run(checked("torch.a"), checked("torch.b"), tracker=down)
    project.run(checked("torch.b", KNOWN), checked("torch.c"))
    project.run(checked("torch.b", KNOWN), checked("torch.c", KNOWN))

    assert project.numbers() == {"torch.a": True}
    assert len(set(project.noted().values())) == 1
    assert project.outbox.tasks() == []
    assert "3 APIs probably have the same cause" in project.of()


def test_issue_is_adopted_for_all_members_after_a_lost_baseline(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    for path in (project.folder / "baseline").iterdir():
        path.unlink()

    project.run(checked("torch.b"), checked("torch.c"))

    assert project.numbers() == {"torch.a": True}
    assert len(set(project.noted().values())) == 1


def grave(api: str, comparison: Comparison = Comparison.NEW) -> Bucket:
    """Return a crash of the same cause that is security-relevant on another target."""
    made = checked(api, comparison)
    outcomes = {
        **made.finding.outcomes,
        "torch==2.12.0": next(iter(bucket().finding.outcomes.values())),
    }
    return replace(made, finding=replace(made.finding, outcomes=outcomes))


def test_one_withheld_member_withholds_the_whole_group(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)

    says = project.run(checked("torch.a"), grave("torch.b"))

    assert project.numbers() == {}
    assert any("1 security-relevant crash was not filed" in line for line in says)
    (text,) = (project.folder / "run" / "upstream-report").iterdir()
    assert "2 APIs probably have the same cause" in text.read_text("utf-8")


def test_withheld_member_is_not_added_to_a_public_issue(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)
    project.run(checked("torch.a"))

    project.run(checked("torch.a", KNOWN), grave("torch.b"), checked("torch.c"))

    assert "torch.b" not in project.of()
    assert "torch.c" in project.of()
    assert project.noted()["torch.b"] == ""


def unmet(project: GroupProject, bucket: Bucket, comparison: Comparison) -> Bucket:
    """Return what a run makes of a bucket that it did not meet: it has no outcomes."""
    return bucket_of(project.store.load()[bucket.fingerprint], comparison)


def test_unseen_crash_withholds_nothing_and_is_not_shown(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True, cap=0)
    project.run(checked("torch.a"))
    project.rules = replace(project.rules, cap=5)

    project.run(unmet(project, checked("torch.a"), Comparison.NOT_RUN), checked("torch.b"))
    alone = project.of()
    project.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))

    assert "torch.a" not in alone
    assert "`torch.a`" in project.of()


def test_withheld_crash_stays_withheld_if_a_run_does_not_see_it(project: GroupProject) -> None:
    project.rules = replace(RULES, withholds_security=True)
    project.run(grave("torch.b"))

    project.run(unmet(project, grave("torch.b"), Comparison.NOT_RUN))
    project.run(unmet(project, grave("torch.b"), Comparison.NOT_RUN), checked("torch.c"))
    project.run(grave("torch.b", KNOWN), checked("torch.c", KNOWN), version="2.14.0")

    shown = [path.read_text("utf-8") for path in (project.folder / "issues").iterdir()]
    assert not [text for text in shown if "torch.b" in text]
    assert project.noted()["torch.b"] == ""
    assert project.numbers()["torch.c"]


def test_adopted_issue_does_not_contain_withheld_members(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)
    project.run(checked("torch.a"))
    for path in (project.folder / "baseline").iterdir():
        path.unlink()

    project.run(checked("torch.a"), grave("torch.b"))

    assert "torch.b" not in project.of()
    assert project.noted()["torch.b"] == ""
    assert project.noted()["torch.a"]


def test_public_issue_of_a_bucket_is_adopted(project: GroupProject) -> None:
    filed_one_by_one(project, grave("torch.b"))
    for path in (project.folder / "baseline").iterdir():
        path.unlink()
    project.rules = replace(RULES, withholds_security=True)

    project.run(grave("torch.b"))

    assert project.noted()["torch.b"]


def test_upstream_report_is_named_after_a_bucket_for_any_cause_name(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)
    folder = project.folder / "run" / "upstream-report"

    project.run(_silent("torch.a", Comparison.NEW))
    project.run(_silent("torch.a", KNOWN, "at::fold", "at::loop"))

    digest = bucket("torch.a").fingerprint.replace(":", "-")
    assert [path.name for path in folder.iterdir()] == [f"torch.a-{digest}.md"]


def test_issue_of_a_split_group_is_kept_by_one_part(
    project: GroupProject,
) -> None:
    frames = ("at::fold", "at::loop")
    project.run(*(_silent(f"torch.{name}", Comparison.NEW, *frames) for name in "ab"))
    first = project.noted()["torch.a"]

    def seen_better(stored: Records) -> Records:
        frames = {f"torch.{name}": (f"at::{name}", f"at::{name}{name}") for name in "ab"}
        return {
            name: replace(
                record,
                native_stack=tuple(
                    Frame("libtorch.so", f) for f in frames[record.representative.api]
                ),
            )
            for name, record in stored.items()
        }

    project.store.change(seen_better)
    known = [_silent(f"torch.{name}", KNOWN) for name in "ab"]
    project.run(*known)
    for _ in range(3):
        project.run(_silent("torch.a", FIXED), _silent("torch.b", KNOWN))

    noted = project.noted()
    assert len(set(noted.values())) == 2
    parted = (project.folder / "issues" / noted["torch.b"]).read_text("utf-8")
    assert f"Split from `{first}`" in parted
    states = project.numbers()
    assert sorted(states.items()) == [("torch.a", False), ("torch.b", True)]


def test_silenced_issue_of_a_split_group_stays_unchanged(project: GroupProject) -> None:
    frames = ("at::fold", "at::loop")
    project.run(*(_silent(f"torch.{name}", Comparison.NEW, *frames) for name in "ab"))
    path = project.folder / "issues" / project.noted()["torch.a"]
    text = path.read_text("utf-8")
    path.write_text(text.replace("ciguard-state: open", "ciguard-state: ignored"), "utf-8")
    name = bucket("torch.b").fingerprint
    better = tuple(Frame("libtorch.so", f) for f in ("at::x", "at::y"))
    project.store.change(lambda s: {**s, name: replace(s[name], native_stack=better)})

    project.run(_silent("torch.a", KNOWN), _silent("torch.b", KNOWN))

    assert len(list((project.folder / "issues").glob("g1-*.md"))) == 1


def test_issue_is_closed_when_its_last_open_member_is_accepted(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.b")
    name = checked("torch.a").fingerprint
    project.store.change(
        lambda stored: accept(stored, name, because="so it is", time="2026-01-20T00:00:00Z")
    )

    first = project.run(checked("torch.a", Comparison.ACCEPTED))
    second = project.run(checked("torch.a", Comparison.ACCEPTED))

    assert project.numbers() == {"torch.a": False}
    assert len(first) == 1
    assert second == []


def test_records_of_a_large_baseline_are_found_without_a_scan() -> None:
    """Names of causes are in no record; each was looked for in all of them."""
    stored = establish(
        [checked(f"torch.op{number}") for number in range(50)],
        Sighting(time="2026-01-01T00:00:00Z"),
    )
    first = next(iter(stored))
    task = Close(fingerprint=GROUP, because="", aliases=(first,))

    class Counting(dict[str, BaselineRecord]):
        walks = 0

        def values(self) -> Any:
            Counting.walks += 1
            return super().values()

    assert [record.fingerprint for record in records_of(task, Counting(stored))] == [first]
    assert Counting.walks == 0


def test_group_of_one_api_is_titled_as_a_bucket(project: GroupProject) -> None:
    says = project.run(checked("torch.a"))

    assert says[0].endswith(": torch.a: SIGABRT: Check failed: dtype() == expected (3 vs. 1)")
    assert TARGET in project.of()
