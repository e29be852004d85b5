"""Security-relevant crashes are filed in private places, over real HTTP, and nowhere else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from filing_project import RULES, Project, bucket, known
from finding_examples import call, crash
from github_repository import NAME
from github_server import TOKEN, Fault, GitHubServer
from tracker_stages import GitHubStage

from ciguard.domain.findings import Comparison, Confirmation
from ciguard.domain.outcomes import Frame
from ciguard.errors import TrackerError
from ciguard.trackers import Connection, IssueDefaults, RetryBudget
from ciguard.trackers.contract import marker
from ciguard.trackers.github_private import Advisories, PrivateRepository
from ciguard.triage import Buckets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from github_server import Request

    from ciguard.domain.findings import Bucket
    from ciguard.trackers import Discloser

ISSUES = f"/repos/{NAME}/issues"
ADVISORIES = f"/repos/{NAME}/security-advisories"


def plain(api: str = "torch.unfold") -> Bucket:
    """Return a crash that corrupts no memory."""
    made = Buckets().add(crash(cause="SIGABRT", log="Check failed", case=call(api=api)))
    return replace(made, confirmation=Confirmation.CONFIRMED, comparison=Comparison.NEW)


class Guard:
    """A project that files on GitHub, and security-relevant crashes elsewhere."""

    def __init__(self, folder: Path, server: GitHubServer, kind: str) -> None:
        self.server = server
        self.kind = kind
        self.project = Project(folder)

    def discloser(self) -> Discloser | None:
        clock = self.server.clock
        to = Connection(repository=NAME, api=self.server.address(), token=TOKEN, pause_s=0)
        retry_budget = RetryBudget(100, clock=clock.monotonic, sleep=clock.sleep)
        if self.kind == "advisory":
            return Advisories(to, retry_budget=retry_budget)
        if self.kind == "private":
            return PrivateRepository(to, defaults=IssueDefaults(), retry_budget=retry_budget)
        return None

    def run(self, *compared: Bucket) -> list[str]:
        # The server has one repository: where it is the private one, other issues are files.
        is_public = self.kind != "private"
        self.project.rules = replace(
            RULES, numbered=is_public, withholds_security=True, discloser=self.discloser()
        )
        tracker = GitHubStage(self.server).tracker() if is_public else None
        return self.project.run(*compared, tracker=tracker)

    def drafts(self) -> list[str]:
        return [a["summary"] for a in self.server.advisories.advisories if a["state"] == "draft"]

    def titles(self) -> list[str]:
        return [stored.latest["title"] for stored in self.server.repository.issues.values()]


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        yield made
    assert made.violations == []


def test_a_withheld_crash_is_in_no_issue_and_in_a_text_for_upstream(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "withhold")
    guard.run()

    says = guard.run(bucket(), plain())

    (path,) = (tmp_path / "run" / "upstream-report").iterdir()
    text = path.read_text("utf-8")
    assert guard.titles() == ["torch.unfold: SIGABRT"]
    assert "as described in <https://github.com/pytorch/pytorch/security/policy>" in text
    assert "# torch.fold: SIGSEGV" in text
    assert "ciguard-fp" not in text
    assert any("1 security-relevant crash was not filed, because" in s for s in says)


def test_a_crash_becomes_one_draft_advisory_and_stays_one(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()

    says = guard.run(bucket(), plain())
    guard.run(known())

    (advisory,) = server.advisories.advisories
    assert advisory["summary"] == "torch.fold: SIGSEGV"
    assert advisory["state"] == "draft"
    assert advisory["severity"] is None
    assert advisory["vulnerabilities"][0]["package"] == {"ecosystem": "pip", "name": "torch"}
    assert advisory["vulnerabilities"][0]["vulnerable_version_range"] == "= 2.13.0"
    assert advisory["vulnerabilities"][0]["vulnerable_functions"] == ["torch.fold"]
    assert "1 security-relevant crash was filed in private: GHSA-2222-3333-0000" in says
    assert guard.titles() == ["torch.unfold: SIGABRT"]


def silent(api: str, comparison: Comparison = Comparison.NEW) -> Bucket:
    """Return a crash that corrupts memory where others do, too."""
    frames = (Frame("libtorch.so", "at::fold"), Frame("libtorch.so", "at::loop"))
    return replace(bucket(api, comparison), native_stack=frames)


@pytest.mark.parametrize("kind", ["advisory", "private"])
def test_crashes_with_one_cause_are_filed_in_private_once(
    tmp_path: Path, server: GitHubServer, kind: str
) -> None:
    server.repository.is_private = True
    guard = Guard(tmp_path, server, kind)
    guard.run()

    guard.run(silent("torch.a"), silent("torch.b"))
    guard.run(silent("torch.a", Comparison.KNOWN), silent("torch.c"))

    title = "torch: native frames at::fold ← at::loop (2 APIs)"
    assert (guard.drafts() or guard.titles()) == [title]
    texts = [path.read_text("utf-8") for path in (tmp_path / "run/upstream-report").iterdir()]
    assert all("probably have the same cause" in text for text in texts)
    if kind == "advisory":
        (advisory,) = server.advisories.advisories
        assert advisory["vulnerabilities"][0]["vulnerable_functions"] == ["torch.a", "torch.b"]
        assert "`torch.c`" in advisory["description"]


@pytest.mark.parametrize("kind", ["advisory", "private"])
def test_a_crash_whose_cause_has_another_name_by_now_is_not_filed_in_private_again(
    tmp_path: Path, server: GitHubServer, kind: str
) -> None:
    server.repository.is_private = True
    guard = Guard(tmp_path, server, kind)
    guard.run()

    guard.run(bucket("torch.a"))
    guard.run(silent("torch.a", Comparison.KNOWN))

    assert (guard.drafts() or guard.titles()) == ["torch.a: SIGSEGV"]


@pytest.mark.parametrize("decided", ["torch.a", "torch.b", "torch.c"])
def test_drafts_of_crashes_that_have_one_cause_outlive_a_decision_about_one_of_them(
    tmp_path: Path, server: GitHubServer, decided: str
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    apis = ("torch.a", "torch.b", "torch.c")
    for api in apis:
        name = bucket(api).fingerprint
        draft = {"summary": api, "description": f"{marker(name)}\n\nby hand", "vulnerabilities": []}
        server.advisories.create(draft, "")
        server.advisories.advisories[-1]["state"] = "closed" if api == decided else "draft"

    guard.run(*map(silent, apis))
    guard.run(*(silent(api, Comparison.KNOWN) for api in apis))

    found = {a["summary"]: (a["state"], a["description"]) for a in server.advisories.advisories}
    assert [found[api][0] for api in apis if api != decided] == ["draft", "draft"]
    assert found[decided][1].endswith("by hand")
    assert sum("3 APIs probably have the same cause" in text for _, text in found.values()) == 1
    assert len(found) == 3


def test_an_advisory_that_a_person_has_closed_or_published_is_left_alone(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    guard.run(bucket())
    (advisory,) = server.advisories.advisories
    advisory |= {"state": "published", "description": marker(bucket().fingerprint) + "\n\nedited"}

    guard.run(known())

    assert len(server.advisories.advisories) == 1
    assert advisory["description"].endswith("edited")


def test_advisory_submitted_by_another_user_is_not_adopted(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    forged = {"summary": "forged", "description": marker(bucket().fingerprint)}
    submitted = server.advisories.submit({**forged, "vulnerabilities": []})
    guard.run(bucket())
    submitted["state"] = "draft"  # accepted by a maintainer

    guard.run(known())

    assert guard.drafts() == ["forged", "torch.fold: SIGSEGV"]
    assert submitted["description"] == marker(bucket().fingerprint)


def test_two_jobs_that_draft_at_once_leave_one_draft(tmp_path: Path, server: GitHubServer) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    body = marker(bucket().fingerprint)
    others: list[bool] = []

    def other_job_is_faster(request: Request) -> Fault | None:
        if request.method == "POST" and request.path == ADVISORIES and not others:
            others.append(True)
            draft = {"summary": "faster", "description": body, "vulnerabilities": []}
            server.advisories.create(draft, "")
        return None

    server.gate = other_job_is_faster

    guard.run(bucket())

    assert guard.drafts() == ["faster"]
    assert [a["state"] for a in server.advisories.advisories] == ["draft", "closed"]
    assert server.advisories.advisories[1]["description"].startswith("Duplicate of GHSA-")


@pytest.mark.parametrize("fault", [Fault.LATE_RESET, Fault.LATE_BAD_GATEWAY, Fault.RESET])
def test_a_draft_whose_answer_was_lost_is_not_drafted_twice(
    tmp_path: Path, server: GitHubServer, fault: Fault
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    faults = iter([fault])

    def gate(request: Request) -> Fault | None:
        is_post = request.method == "POST" and request.path == ADVISORIES
        return next(faults, None) if is_post else None

    server.gate = gate

    guard.run(bucket())

    assert guard.drafts() == ["torch.fold: SIGSEGV"]


def test_a_token_that_may_draft_no_advisory_is_named_with_the_remedy(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    server.advisories.may_write = False

    with pytest.raises(TrackerError, match=r"security advisories: write.*SECURITY_TOKEN"):
        guard.run(bucket(), plain())

    assert guard.titles() == ["torch.unfold: SIGABRT"]


def test_two_refusals_of_one_run_are_both_reported(tmp_path: Path, server: GitHubServer) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    server.advisories.may_write = False
    server.repository.may_write = False

    with pytest.raises(TrackerError, match="issues: write"):
        guard.run(bucket(), plain())

    assert any("security advisories: write" in line for line in guard.project.says)


def test_a_crash_becomes_an_issue_of_a_private_repository(
    tmp_path: Path, server: GitHubServer
) -> None:
    server.repository.is_private = True
    guard = Guard(tmp_path, server, "private")
    guard.run()

    says = guard.run(bucket())
    guard.run(known())

    assert guard.titles() == ["torch.fold: SIGSEGV"]
    assert f"1 security-relevant crash was filed in private: {NAME}#1" in says


def test_a_repository_that_is_public_is_refused(tmp_path: Path, server: GitHubServer) -> None:
    guard = Guard(tmp_path, server, "private")
    guard.run()

    with pytest.raises(TrackerError, match="nothing was filed, because the repository is public"):
        guard.run(bucket())

    assert guard.titles() == []
    assert server.posts() == 0


def test_no_run_files_more_crashes_in_private_than_the_cap(
    tmp_path: Path, server: GitHubServer
) -> None:
    guard = Guard(tmp_path, server, "advisory")
    guard.run()
    names = [f"torch.f{number}" for number in range(RULES.cap + 2)]

    guard.run(*map(bucket, names))
    at_once = len(guard.drafts())
    guard.run(*map(known, names))

    assert at_once == RULES.cap
    assert len(guard.drafts()) == len(names)
