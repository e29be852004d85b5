"""One issue per group on GitHub: members join and leave, and issues become one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from filing_project import bucket, checked
from filing_repository import Repository
from github_server import GitHubServer

from ciguard.domain.findings import Bucket, Comparison
from ciguard.domain.outcomes import Frame
from ciguard.trackers.contract import Report, marked_with, marker
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KNOWN = Comparison.KNOWN
GROUP = cause_of(checked("torch.a")).name


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        yield made
    assert made.violations == []


@pytest.fixture
def repository(tmp_path: Path, server: GitHubServer) -> Repository:
    made = Repository(tmp_path, server)
    made.run()
    return made


def body(repository: Repository, number: int) -> str:
    return str(repository.server.repository.issues[number].latest["body"])


def comments(repository: Repository, number: int) -> list[str]:
    return [comment["body"] for comment in repository.server.repository.issues[number].comments]


def at_once(repository: Repository, *compared: Bucket) -> list[str]:
    """Run without a day's pause."""
    return repository.project.run(*compared, tracker=repository.stage.tracker())


def silent(api: str, comparison: Comparison, *frames: str) -> Bucket:
    """Return a death that says nothing, and what a debugger saw of it."""
    stack = tuple(Frame("libtorch.so", name) for name in frames)
    return replace(bucket(api, comparison), native_stack=stack)


def look_again(repository: Repository, api: str, *frames: str) -> None:
    """Put another native stack into the baseline."""
    store = repository.project.store
    name = bucket(api).fingerprint
    record = replace(
        store.load()[name], native_stack=tuple(Frame("libtorch.so", frame) for frame in frames)
    )
    store.change(lambda stored: {**stored, name: record})


def filed_alone(repository: Repository, *apis: str) -> None:
    """File issues as ciguard did before there were groups, and let the baseline know them."""
    repository.run(*map(checked, apis))
    tracker = repository.stage.tracker()
    stored = dict(repository.project.store.load())
    first = repository.server.repository.issues[1]
    for number, api in enumerate(apis, start=1):
        name = checked(api).fingerprint
        text = f"{marker(name)}\n\nabout {api}"
        if number == 1:
            first.latest["body"] = text
        else:
            tracker.open(Report(fingerprint=name, title=api, body=text))
        stored[name] = replace(stored[name], issue=str(number))
    repository.project.store.change(lambda _: stored)


def test_members_added_within_a_day_share_one_comment(repository: Repository) -> None:
    repository.run(checked("torch.a"))

    repository.run(checked("torch.a", KNOWN), checked("torch.b"))
    at_once(repository, checked("torch.a", KNOWN), checked("torch.c"))
    repository.run(checked("torch.a", KNOWN), checked("torch.d"))

    assert repository.states() == {1: "open"}
    first, second = comments(repository, 1)
    assert "Also shown by torch.b.\n\nAlso shown by torch.c." in first
    assert "Also shown by torch.d." in second
    assert repository.known_issues() == {"1"}
    assert "4 APIs probably have the same cause" in body(repository, 1)


def test_issues_filed_per_bucket_are_merged_into_the_oldest(
    repository: Repository,
) -> None:
    filed_alone(repository, "torch.a", "torch.b", "torch.c")

    repository.run(checked("torch.b", KNOWN))

    assert repository.states() == {1: "open", 2: "closed", 3: "closed"}
    assert marked_with(body(repository, 1)) == GROUP
    assert body(repository, 2) == "Duplicate of #1, which has the same cause."
    assert repository.server.repository.issues[2].latest["state_reason"] == "duplicate"
    assert repository.known_issues() == {"1"}


def test_duplicates_that_a_person_closed_do_not_silence_the_group(repository: Repository) -> None:
    filed_alone(repository, "torch.a", "torch.b")
    duplicate = {"state": "closed", "state_reason": "duplicate"}
    repository.server.repository.edit_issue(1, duplicate, "")

    repository.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN), checked("torch.c"))
    repository.run(checked("torch.a", KNOWN), checked("torch.b", KNOWN))

    assert repository.states() == {1: "closed", 2: "open"}
    assert marked_with(body(repository, 2)) == GROUP
    assert repository.known_issues() == {"2"}


def test_silenced_group_stays_silent_for_a_new_member(
    repository: Repository,
) -> None:
    repository.run(checked("torch.a"))
    silenced = {"state": "closed", "state_reason": "not_planned"}
    repository.server.repository.edit_issue(1, silenced, "")

    repository.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert repository.states() == {1: "closed"}
    assert comments(repository, 1) == []


def test_a_member_with_another_cause_by_now_gets_an_issue_that_links_the_first(
    repository: Repository,
) -> None:
    new = Comparison.NEW
    repository.run(
        silent("torch.a", new, "at::x", "at::y"), silent("torch.b", new, "at::x", "at::y")
    )
    look_again(repository, "torch.b", "at::unfold", "at::z")

    repository.run(silent("torch.a", KNOWN), silent("torch.b", KNOWN))
    again = repository.run(silent("torch.a", KNOWN), silent("torch.b", KNOWN))

    assert repository.states() == {1: "open", 2: "open"}
    assert "Split from #1, because the cause turned out to be" in body(repository, 2)
    assert "torch.b" not in body(repository, 1)
    assert repository.known_issues() == {"1", "2"}
    assert again == []


def test_a_member_with_another_cause_by_now_joins_the_issue_of_that_cause(
    repository: Repository,
) -> None:
    new = Comparison.NEW
    repository.run(
        silent("torch.a", new, "at::x", "at::y"),
        silent("torch.b", new, "at::x", "at::y"),
        silent("torch.c", new, "at::unfold", "at::z"),
    )
    look_again(repository, "torch.b", "at::unfold", "at::z")

    repository.run(*(silent(f"torch.{name}", KNOWN) for name in "abc"))

    assert repository.states() == {1: "open", 2: "open"}
    assert "Also shown by torch.b." in comments(repository, 2)[0]
    assert "torch.b" not in body(repository, 1)


def test_the_only_member_with_another_cause_by_now_brings_its_issue_along(
    repository: Repository,
) -> None:
    new = Comparison.NEW
    repository.run(silent("torch.a", new, "at::x", "at::y"), silent("torch.c", new, "at::unfold"))
    look_again(repository, "torch.c", "at::x", "at::y")

    repository.run(silent("torch.a", KNOWN), silent("torch.c", KNOWN))

    assert repository.states() == {1: "open", 2: "closed"}
    assert body(repository, 2) == "Duplicate of #1, which has the same cause."
    assert repository.known_issues() == {"1"}


def test_a_stale_copy_of_the_baseline_makes_no_third_issue_of_a_split(
    repository: Repository,
) -> None:
    new = Comparison.NEW
    repository.run(
        silent("torch.a", new, "at::x", "at::y"), silent("torch.b", new, "at::x", "at::y")
    )
    look_again(repository, "torch.b", "at::unfold", "at::z")
    stale = repository.project.store.load()
    repository.run(silent("torch.a", KNOWN), silent("torch.b", KNOWN))
    repository.project.store.save(stale)

    repository.run(silent("torch.a", KNOWN), silent("torch.b", KNOWN))

    assert repository.states() == {1: "open", 2: "open"}
    assert repository.known_issues() == {"1", "2"}


def test_a_group_whose_cause_has_another_name_by_now_keeps_its_issue(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(silent("torch.a", Comparison.NEW, "at::x"))
    look_again(repository, "torch.a", "at::unfold", "at::z")

    says = repository.run(silent("torch.a", KNOWN))
    repository.fix("torch.a")
    closed = repository.states()
    server.repository.delete_label("ciguard")
    repository.run(silent("torch.a", Comparison.NEW))

    assert not any("gone" in line for line in says)
    assert closed == {1: "closed"}
    assert repository.states() == {1: "open"}


@pytest.mark.parametrize("way", ["deleted", "transferred"])
def test_group_with_a_deleted_issue_is_not_filed_again_for_a_new_member(
    repository: Repository, server: GitHubServer, way: str
) -> None:
    repository.run(checked("torch.a"))
    if way == "deleted":
        server.repository.gone.add(1)
    else:
        server.repository.transferred[1] = 7

    says = repository.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert says[0].startswith("warning: 1 known issue is missing (1)")
    assert list(server.repository.issues) == [1]


def test_locked_issue_lists_a_new_member_in_its_text(
    repository: Repository, server: GitHubServer
) -> None:
    repository.run(checked("torch.a"))
    server.repository.locked.add(1)

    repository.run(checked("torch.a", KNOWN), checked("torch.b"))

    assert comments(repository, 1) == []
    assert "Also shown by torch.b." in body(repository, 1)
