"""One issue per group: buckets with one cause, over the runs of a project."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from filing_project import RULES, TARGET, Project, Stopped, bucket, checked

from ciguard.baseline import Sighting, State, establish, with_issues
from ciguard.domain import Bucket, Comparison, Frame
from ciguard.errors import TrackerUnavailableError
from ciguard.trackers import Report, marker
from ciguard.trackers.contract import marked_with
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from pathlib import Path

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
        return [line.partition(" UTC: ")[2].replace("&#58;", ":") for line in lines]

    def noted(self) -> dict[str, str]:
        """Return the issue that the baseline knows, by API."""
        return {r.exhibit.api: r.issue for r in self.store.load().values()}

    def fix(self, *apis: str) -> None:
        for _ in range(3):
            self.run(*(checked(api, FIXED) for api in apis))


@pytest.fixture
def project(tmp_path: Path) -> GroupProject:
    made = GroupProject(tmp_path)
    made.run()
    return made


def test_buckets_with_one_cause_have_one_issue_which_is_noted_for_all(
    project: GroupProject,
) -> None:
    says = project.run(checked("torch.a"), checked("torch.b"), bucket())

    assert project.numbers() == {"torch.a": True, "torch.fold": True}
    assert says[0].endswith("torch: failed check apply.cc: dtype() == expected (2 APIs)")
    noted = project.noted()
    assert noted["torch.a"] == noted["torch.b"] != noted["torch.fold"]
    assert marked_with(project.of()) == GROUP
    for api in ("torch.a", "torch.b"):
        assert f"| `{api}` | critical, crash | met 2026-01-02 |" in project.of()


def test_a_group_counts_once_for_the_cap(project: GroupProject) -> None:
    project.rules = replace(RULES, cap=2)

    project.run(*map(checked, ["torch.a", "torch.b", "torch.c"]), bucket("torch.x"))

    assert sorted(project.numbers()) == ["torch.a", "torch.x"]


def test_groups_beyond_the_cap_have_one_line_each_on_the_list(project: GroupProject) -> None:
    project.rules = replace(RULES, cap=0)

    project.run(checked("torch.a"), checked("torch.b"), bucket("torch.x"))

    listing = (project.folder / "issues").glob("v1-0000000000000000*")
    text = next(listing).read_text("utf-8")
    assert "2 known findings have no issue of their own." in text
    assert "| `torch.a` and 1 more |" in text


def test_a_member_that_comes_later_is_added_to_the_issue_with_one_line(
    project: GroupProject,
) -> None:
    project.run(checked("torch.a"))

    project.run(checked("torch.a", KNOWN), checked("torch.b"))
    project.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))

    assert project.numbers() == {"torch.a": True}
    assert project.history() == ["opened", "Also shown by torch.b."]
    assert "`torch.b`" in project.of()
    assert len(set(project.noted().values())) == 1


def test_a_member_that_was_listed_before_is_part_of_the_issue_that_a_new_one_opens(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, cap=0)
    project.run(checked("torch.a"))
    project.rules = RULES

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.numbers()["further-findings"] is False
    assert set(map(bool, project.noted().values())) == {True}
    assert "2 APIs show one fault" in project.of()


def test_the_issue_shows_which_members_are_fixed_and_closes_with_the_last(
    project: GroupProject,
) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.b")
    partly = project.of()
    project.run(checked("torch.a", KNOWN))
    is_open = project.numbers()["torch.a"]

    project.fix("torch.a")

    assert "| met 2026-01-02 | ✓ fixed |" in partly
    assert partly.count("✓ fixed") == 1
    assert is_open
    assert project.numbers() == {"torch.a": False}
    assert project.history()[-1].startswith(
        "closed: All 2 buckets of this issue are fixed; the last was torch.a: Not met in 3 runs"
    )


def test_an_accepted_member_keeps_no_issue_open(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    name = checked("torch.b").fingerprint
    records = dict(project.store.load())
    changed = replace(
        records[name].decision, state=State.ACCEPTED, changed="2026-01-02T00:00:01Z", because="ok"
    )
    project.store.save({name: replace(records[name], decision=changed)})

    project.fix("torch.a")

    assert project.numbers() == {"torch.a": False}


def test_a_member_that_comes_back_reopens_the_issue(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.a", "torch.b")

    project.run(checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history()[-1].startswith("reopened: Met again on torch==2.13.0")
    assert "This had been fixed and is back." in project.of()


def test_a_member_that_comes_back_while_others_are_open_is_one_line(project: GroupProject) -> None:
    project.run(checked("torch.a"), checked("torch.b"))
    project.fix("torch.b")

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.history()[-1].startswith("Met again on torch==2.13.0")
    assert "✓ fixed" not in project.of()
    assert "This had been fixed" not in project.of()


def test_a_new_member_of_a_fixed_group_reopens_its_issue(project: GroupProject) -> None:
    project.run(checked("torch.a"))
    project.fix("torch.a")

    project.run(checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history()[-1] == "reopened: Also shown by torch.b."


def test_news_of_a_version_is_one_line_for_the_whole_group(project: GroupProject) -> None:
    known = [checked(f"torch.{name}", KNOWN) for name in "abc"]
    project.run(*(checked(f"torch.{name}") for name in "abc"))

    project.run(*known[:2], version="2.14.0")
    project.run(*known, version="2.14.0")

    assert project.history() == [
        "opened",
        "Also met on torch==2.13.0 &#40;version 2.14.0&#41;.",
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
    project.store.save(with_issues(known, issues))


def test_an_issue_of_before_there_were_groups_is_the_group_s_issue(project: GroupProject) -> None:
    filed_one_by_one(project, checked("torch.a"))

    project.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert project.numbers() == {"torch.a": True}
    assert project.history() == ["opened", "Also shown by torch.b."]
    assert len(set(project.noted().values())) == 1


def test_issues_of_before_there_were_groups_become_one(project: GroupProject) -> None:
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
    assert "closed: duplicate of g1-" in text.replace("&#58;", ":")


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


def test_a_member_whose_cause_is_known_better_gets_an_issue_that_links_the_first(
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
    assert f"Split from `{first}`, since this has another cause" in other.read_text("utf-8")
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


def test_what_a_silent_tracker_did_not_take_of_a_group_is_filed_once(
    project: GroupProject,
) -> None:
    down = Stopped(project.issues, after=0, error=TrackerUnavailableError)

    project.run(checked("torch.a"), checked("torch.b"), tracker=down)
    project.run(checked("torch.b", KNOWN), checked("torch.c"))
    project.run(checked("torch.b", KNOWN), checked("torch.c", KNOWN))

    assert project.numbers() == {"torch.a": True}
    assert len(set(project.noted().values())) == 1
    assert project.outbox.tasks() == []
    assert "3 APIs show one fault" in project.of()


def test_a_lost_baseline_adopts_the_group_s_issue_for_all_members(project: GroupProject) -> None:
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


def test_one_member_that_must_not_be_published_withholds_the_whole_group(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)

    says = project.run(checked("torch.a"), grave("torch.b"))

    assert project.numbers() == {}
    assert any("1 security-relevant crash is in the reports" in line for line in says)
    (text,) = (project.folder / "run" / "upstream-report").iterdir()
    assert "2 APIs show one fault" in text.read_text("utf-8")


def test_a_member_that_must_not_be_published_is_not_added_to_a_public_issue(
    project: GroupProject,
) -> None:
    project.rules = replace(RULES, withholds_security=True)
    project.run(checked("torch.a"))

    project.run(checked("torch.a", KNOWN), grave("torch.b"), checked("torch.c"))

    assert "torch.b" not in project.of()
    assert "torch.c" in project.of()
    assert project.noted()["torch.b"] == ""


def test_a_failed_check_that_this_run_did_not_meet_withholds_nothing(project: GroupProject) -> None:
    project.rules = replace(RULES, withholds_security=True, cap=0)
    project.run(checked("torch.a"))
    project.rules = replace(project.rules, cap=5)

    project.run(checked("torch.a", Comparison.NOT_RUN), checked("torch.b"))

    assert "`torch.a`" in project.of()


def test_a_group_of_one_api_is_titled_as_a_bucket(project: GroupProject) -> None:
    says = project.run(checked("torch.a"))

    assert says[0].endswith(": torch.a: SIGABRT: Check failed: dtype() == expected (3 vs. 1)")
    assert TARGET in project.of()
