"""A baseline on a branch that GitHub's rules let nobody push: real git, real HTTP."""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record, sighting
from git_examples import git, served
from github_git import PROTECTED, SIGNED, THROUGH_PULL_REQUESTS, GitDatabase
from github_repository import NAME
from github_server import TOKEN, Fault, GitHubServer

from ciguard.baseline.git_branch import GitBranchStore
from ciguard.config import GitBranch
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from github_server import Request

BRANCH = "ciguard-baseline"
ONE, OTHER = NAMES[1], NAMES[2]


@pytest.fixture
def database(tmp_path: Path) -> GitDatabase:
    made = GitDatabase(tmp_path / "served" / f"{NAME}.git")
    made.require(SIGNED)
    return made


@pytest.fixture
def server(database: GitDatabase, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        made.database = database
        monkeypatch.setenv("GITHUB_API_URL", made.address())
        monkeypatch.setenv("GITHUB_SERVER_URL", "http://127.0.0.1")
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        yield made
    assert made.violations == []


@pytest.fixture
def remote(tmp_path: Path, database: GitDatabase) -> Iterator[str]:
    assert database.repository.is_dir()
    with served(tmp_path / "served") as address:
        yield f"{address}/{NAME}.git"


def store(remote: str, *, retry_limit_s: float = 120.0) -> GitBranchStore:
    return GitBranchStore(GitBranch(remote), retry_limit_s=retry_limit_s)


def history(database: GitDatabase) -> list[list[str]]:
    listed = git(database.repository, "rev-list", "--parents", BRANCH)
    return [line.split() for line in listed.splitlines()]


def is_signed(database: GitDatabase, commit: str) -> bool:
    return "\ngpgsig " in git(database.repository, "cat-file", "commit", commit)


def moves(server: GitHubServer) -> int:
    return sum(r.method == "PATCH" or r.path.endswith("/git/refs") for r in server.requests)


def failing(fault: Fault, place: str, *, times: int = 1) -> Callable[[Request], Fault | None]:
    """Return a gate that fails the first requests to one place."""
    faults = itertools.chain(itertools.repeat(fault, times), itertools.repeat(None))
    return lambda request: next(faults) if place in request.path else None


def test_save_rejected_by_a_ruleset_commits_through_the_api_with_a_signature(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    first = store(remote)
    first.save({ONE: record(ONE)})
    first.save({OTHER: record(OTHER)})

    assert store(remote).load() == {ONE: record(ONE), OTHER: record(OTHER)}
    commits = history(database)
    assert [len(line) for line in commits] == [2, 1]
    assert all(is_signed(database, line[0]) for line in commits)
    assert git(database.repository, "log", "-1", "--format=%s", BRANCH) == "Baseline of 2 buckets"
    assert moves(server) == 2


def test_commit_through_the_api_has_the_tree_of_the_rejected_push(
    database: GitDatabase, server: GitHubServer, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ciguard.baseline.layout.MAX_BUCKETS_PER_PART", 2)
    monkeypatch.setattr("ciguard.baseline.github_branch._MAX_ENTRIES_PER_REQUEST", 7)
    monkeypatch.setattr("ciguard.baseline.github_branch._MAX_INLINE_BYTES", 900)
    known = {name: record(name) for name in NAMES}
    mine = store(remote)
    mine.save(known, beside=lambda folder: write(folder / "outbox.jsonl", "é\n" * 600))

    mine.change(lambda _: {ONE: record(ONE)}, beside=lambda f: (f / "outbox.jsonl").unlink())

    names = git(database.repository, "ls-tree", "-r", "--name-only", BRANCH).split()
    assert names == ["buckets.jsonl", "corpus.jsonl"]
    assert store(remote).load() == {ONE: record(ONE)}
    assert any(request.path.endswith("/git/blobs") for request in server.requests)
    assert sum(request.path.endswith("/git/trees") for request in server.requests) > 2


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def test_change_through_the_api_is_repeated_after_a_concurrent_change(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    mine, theirs = store(remote), store(remote)
    mine.save({ONE: record(ONE)})
    faster = iter([lambda: theirs.save({OTHER: record(OTHER)})])

    def gate(request: Request) -> None:
        if request.path.endswith("/git/commits"):
            next(faster, lambda: None)()

    server.gate = gate
    merged = mine.save({ONE: replace(record(ONE), last_seen=sighting(9))})

    assert merged == {ONE: replace(record(ONE), last_seen=sighting(9)), OTHER: record(OTHER)}
    assert store(remote).load() == merged
    assert [len(line) for line in history(database)] == [2, 2, 1]
    refused = [r for r in server.requests if r.method == "PATCH"]
    assert len(refused) == 3
    assert all(request.body["force"] is False for request in refused)


def test_two_concurrent_first_baselines_through_the_api_are_merged(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    mine, theirs = store(remote), store(remote)
    faster = iter([lambda: theirs.save({OTHER: record(OTHER)})])

    def gate(request: Request) -> None:
        if request.path.endswith("/git/refs"):
            next(faster, lambda: None)()

    server.gate = gate
    mine.save({ONE: record(ONE)})

    assert store(remote).load() == {ONE: record(ONE), OTHER: record(OTHER)}
    assert [len(line) for line in history(database)] == [2, 1]


def test_concurrent_jobs_through_the_api_lose_no_record(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    def job(number: int) -> None:
        mine = store(remote, retry_limit_s=300)
        for name in NAMES[number * 3 : number * 3 + 3]:
            mine.save({name: record(name)})

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(job, range(3)))

    assert sorted(store(remote).load()) == sorted(NAMES[:9])
    assert sorted({len(line) for line in history(database)}) == [1, 2]
    assert len(history(database)) == 9
    assert server.violations == []


@pytest.mark.parametrize("fault", [Fault.LATE_RESET, Fault.LATE_BAD_GATEWAY])
def test_lost_response_moves_the_branch_only_once(
    database: GitDatabase, server: GitHubServer, remote: str, fault: Fault
) -> None:
    server.gate = failing(fault, "/git/refs")

    store(remote).save({ONE: record(ONE)})

    assert len(history(database)) == 1
    assert moves(server) == 1


@pytest.mark.parametrize("place", ["trees", "commits", "refs"])
@pytest.mark.parametrize("fault", [Fault.BAD_GATEWAY, Fault.RESET])
def test_unavailable_github_is_retried(
    database: GitDatabase, server: GitHubServer, remote: str, fault: Fault, place: str
) -> None:
    server.gate = failing(fault, f"/git/{place}")

    store(remote).save({ONE: record(ONE)})

    assert store(remote).load() == {ONE: record(ONE)}
    assert len(history(database)) == 1


def test_rate_limit_wait_is_observed_or_reported(
    server: GitHubServer, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("ciguard.baseline.git_branch.time.sleep", slept.append)
    server.gate = failing(Fault.SECONDARY_LIMIT, "/git/commits")

    store(remote).save({ONE: record(ONE)})
    assert 7.0 in slept

    server.gate = failing(Fault.SECONDARY_LIMIT, "/git/commits", times=9)
    with pytest.raises(BaselineError, match="exceeded a secondary rate limit"):
        store(remote, retry_limit_s=5).save({OTHER: record(OTHER)})
    assert store(remote).load() == {ONE: record(ONE)}


REMEDY = "Exempt the branch ciguard-baseline in the repository's Settings, Rules, Rulesets"


@pytest.mark.parametrize(("rule", "code"), [(THROUGH_PULL_REQUESTS, "GH013"), (PROTECTED, "GH006")])
def test_rule_for_the_api_is_reported_with_advice(
    database: GitDatabase, server: GitHubServer, remote: str, rule: str, code: str
) -> None:
    database.require(rule)

    with pytest.raises(BaselineError) as caught:
        store(remote).save({ONE: record(ONE)})

    message = str(caught.value)
    assert code in message
    assert "GitHub's API cannot write the branch either: 422" in message
    assert "Changes must be made through a pull request." in message
    assert REMEDY in message
    assert TOKEN not in message
    assert moves(server) == 1
    assert not store(remote).exists()


def test_unsigned_commit_is_reported_with_advice(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    database.writer = "octocat"

    with pytest.raises(BaselineError, match=REMEDY) as caught:
        store(remote).save({ONE: record(ONE)})

    assert "422 Repository rule violations found Commits must have verified" in str(caught.value)
    assert moves(server) == 1


def test_read_only_token_is_reported(
    database: GitDatabase, server: GitHubServer, remote: str
) -> None:
    database.may_write = False

    with pytest.raises(BaselineError, match="the permission `contents: write`"):
        store(remote).save({ONE: record(ONE)})

    assert len(server.requests) == 1


def test_missing_token_is_reported_with_the_variables_to_set(
    server: GitHubServer, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")

    with pytest.raises(BaselineError, match="set GITHUB_TOKEN or GH_TOKEN") as caught:
        store(remote).save({ONE: record(ONE)})

    assert REMEDY in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize("elsewhere", ["https://github.com", "https://127.0.0.1.example"])
def test_token_is_sent_only_to_the_environments_server(
    server: GitHubServer, remote: str, monkeypatch: pytest.MonkeyPatch, elsewhere: str
) -> None:
    monkeypatch.setenv("GITHUB_SERVER_URL", elsewhere)

    words = re.escape("Commits must have verified signatures.")
    with pytest.raises(BaselineError, match=words) as caught:
        store(remote).save({ONE: record(ONE)})

    assert "exempt it from the server's protected branches" in str(caught.value)
    assert "Rulesets" not in str(caught.value)
    assert server.requests == []
