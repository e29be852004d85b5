"""A baseline on a branch: real repositories, real pushes, hostile content."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest
from baseline_examples import NAMES, record, sighting
from git_examples import bare_repository, commit_files, git

from ciguard.baseline import Records, RunSummary, accept, merge, read_runs, with_run, write_runs
from ciguard.baseline.git_branch import GitBranchStore
from ciguard.baseline.git_command import Git
from ciguard.baseline.store import FolderStore
from ciguard.config import GitBranch
from ciguard.domain.findings import Verdict
from ciguard.errors import BaselineError

if TYPE_CHECKING:
    from pathlib import Path

BRANCH = "ciguard-baseline"
ONE, OTHER = NAMES[1], NAMES[2]
HEADER = '{"schema": 3, "digits": 0}\n'
PLAIN = "100644"


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare_repository(tmp_path / "remote.git")


def store(remote: Path | str, *, retry_limit_s: float = 120.0) -> GitBranchStore:
    return GitBranchStore(GitBranch(str(remote)), retry_limit_s=retry_limit_s)


def tip(remote: Path) -> str:
    return git(remote, "rev-parse", "--verify", BRANCH)


def history(remote: Path) -> list[str]:
    return git(remote, "rev-list", "--parents", BRANCH).splitlines()


def test_exists_is_false_before_the_first_push(remote: Path) -> None:
    empty = store(remote)

    assert not empty.exists()
    assert empty.load() == {}
    assert git(remote, "for-each-ref") == ""


def test_save_creates_a_branch_and_then_commits_on_top(
    remote: Path,
) -> None:
    store(remote).save({ONE: record(ONE)})
    first = history(remote)
    store(remote).save({OTHER: record(OTHER)})

    assert len(first) == 1
    assert len(first[0].split()) == 1
    assert [len(line.split()) for line in history(remote)] == [2, 1]
    assert store(remote).load() == {ONE: record(ONE), OTHER: record(OTHER)}
    assert git(remote, "ls-tree", "-r", "--name-only", BRANCH).split() == [
        "buckets.jsonl",
        "corpus.jsonl",
    ]


def test_save_without_changes_pushes_nothing(remote: Path) -> None:
    baseline_store = store(remote)
    baseline_store.save({ONE: record(ONE)})
    before = tip(remote)

    baseline_store.save({ONE: record(ONE)})
    store(remote).save({})

    assert tip(remote) == before


def test_save_merges_with_concurrent_pushes(remote: Path) -> None:
    mine, theirs = store(remote), store(remote)
    mine.save({ONE: record(ONE)})
    assert theirs.load() == {ONE: record(ONE)}

    theirs.save({ONE: replace(record(ONE), issue="7")})
    merged = mine.save({ONE: replace(record(ONE), last_seen=sighting(9))})

    assert merged == {ONE: replace(record(ONE), issue="7", last_seen=sighting(9))}
    assert theirs.load() == merged


def test_change_is_repeated_after_a_concurrent_push(remote: Path) -> None:
    slow, fast = store(remote), store(remote)
    slow.save({ONE: record(ONE)})
    tries: list[list[str]] = []

    def change(stored: Records) -> Records:
        if not tries:
            fast.save({OTHER: record(OTHER)})
        tries.append(sorted(stored))
        return accept(stored, ONE, because="by design", time=sighting(5).time)

    slow.change(change)

    assert tries == [[ONE], [ONE, OTHER]]
    stored = store(remote).load()
    assert (stored[ONE].decision.because, stored[OTHER]) == ("by design", record(OTHER))
    assert git(remote, "rev-list", "--count", "--min-parents=2", BRANCH) == "0"


def test_change_can_remove_records(remote: Path) -> None:
    store(remote).save({ONE: record(ONE), OTHER: record(OTHER)})

    store(remote).change(lambda stored: {ONE: stored[ONE]})

    assert store(remote).load() == {ONE: record(ONE)}
    assert OTHER not in git(remote, "show", f"{BRANCH}:corpus.jsonl")


def test_save_pushes_other_files_of_the_baseline(remote: Path) -> None:
    def beside(folder: Path) -> None:
        (folder / "frontier.json").write_text("{}")
        (folder / "notes.txt").write_text("mine")

    store(remote).save({}, beside=beside)
    other = store(remote)

    assert other.exists()
    assert (other.folder / "frontier.json").read_text() == "{}"
    assert not (other.folder / "notes.txt").exists()


def test_save_leaves_unrelated_files_unchanged(remote: Path) -> None:
    store(remote).save({ONE: record(ONE)})
    kept = {name: (PLAIN, git(remote, "show", f"{BRANCH}:{name}") + "\n") for name in FILES}
    commit_files(remote, BRANCH, {**kept, **dict.fromkeys(NOTES, (PLAIN, "Made by ciguard.\n"))})

    store(remote).save({OTHER: record(OTHER)})

    assert [git(remote, "show", f"{BRANCH}:{name}") for name in NOTES] == ["Made by ciguard."] * 2
    assert len(store(remote).load()) == 2


NOTES = ("README.md", "corpus/README.md")
FILES = ("buckets.jsonl", "corpus.jsonl")
HOSTILE = {
    "a link": ({"buckets.jsonl": ("120000", "/etc/passwd")}, "is a link"),
    "a linked case": (
        {"buckets.jsonl": (PLAIN, HEADER), "corpus/1.jsonl": ("120000", "../../../x")},
        "is a link",
    ),
    "a submodule": (
        {"buckets.jsonl": (PLAIN, HEADER), "sub": ("160000", "1" * 40)},
        "is a link or a submodule",
    ),
    "broken JSON": ({"buckets.jsonl": (PLAIN, HEADER + "{")}, "buckets.jsonl, line 2"),
    "a newer schema": ({"buckets.jsonl": (PLAIN, '{"schema": 99}')}, "newer version of ciguard"),
    "a huge line": (
        {"buckets.jsonl": (PLAIN, HEADER + " " * (1 << 20) + "x")},
        "the line exceeds 1048576",
    ),
    "a part that no header names": (
        {"buckets.jsonl": (PLAIN, HEADER), "buckets/1.jsonl": (PLAIN, "")},
        "buckets/1.jsonl does not match the layout",
    ),
    "a linked part": (
        {"buckets.jsonl": (PLAIN, HEADER), "buckets/1.jsonl": ("120000", "../buckets.jsonl")},
        "is a link",
    ),
    "a folder among parts": (
        {"buckets.jsonl": (PLAIN, HEADER), "buckets/1.jsonl/x": (PLAIN, "")},
        "is not a valid name of a part",
    ),
    "a part with a space in its name": (
        {"buckets.jsonl": (PLAIN, HEADER), "corpus/1 .jsonl": (PLAIN, "")},
        "is not a valid name of a part",
    ),
    "a part of another name": (
        {"buckets.jsonl": (PLAIN, HEADER), "corpus/zz.jsonl": (PLAIN, "")},
        "corpus/zz.jsonl does not match the layout",
    ),
    "a part that is missing": (
        {"buckets.jsonl": (PLAIN, '{"schema": 3, "digits": 1}\n')},
        "buckets/0.jsonl: cannot be read: No such file",
    ),
    "a default branch": ({"setup.py": (PLAIN, "import this")}, "contains no baseline"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_load_of_a_hostile_branch_raises_and_leaves_it_unchanged(remote: Path, what: str) -> None:
    files, message = HOSTILE[what]
    before = commit_files(remote, BRANCH, files)

    with pytest.raises(BaselineError, match=re.escape(message)) as caught:
        store(remote).load()
    with pytest.raises(BaselineError):
        store(remote).save({ONE: record(ONE)})

    assert f"git+{remote}#{BRANCH}" in str(caught.value)
    assert "ciguard-baseline-" not in str(caught.value)
    assert tip(remote) == before


def test_load_of_a_huge_file_raises_before_reading_it(
    remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_files(remote, BRANCH, {"buckets.jsonl": (PLAIN, HEADER + "\n" * 5_000)})
    monkeypatch.setattr("ciguard.baseline.git_branch._MAX_TOTAL_BYTES", 5_000)

    with pytest.raises(BaselineError, match="exceed 5000 bytes"):
        store(remote).load()


def test_exists_with_an_unreachable_remote_raises(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match=r"ls-remote: .*does not appear to be a git repository"):
        store(tmp_path / "nowhere").exists()


def test_save_to_a_protected_branch_raises(remote: Path) -> None:
    hook = remote / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(BaselineError, match=r"git push: .*this branch is protected"):
        store(remote).save({ONE: record(ONE)})

    assert not store(remote).exists()


def test_named_remote_is_resolved_in_the_current_repository(
    remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    git(project, "remote", "add", "origin", str(remote))
    monkeypatch.chdir(project)

    store("origin").save({ONE: record(ONE)})

    assert store(remote).load() == {ONE: record(ONE)}
    assert git(project, "for-each-ref") == ""
    with pytest.raises(BaselineError, match="No such remote 'upstream'"):
        store("upstream").load()


def test_store_runs_no_hooks_of_the_current_repository_or_templates(
    remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    project, hooks = tmp_path / "project", tmp_path / "hooks"
    project.mkdir()
    hooks.mkdir()
    for name in ("pre-push", "reference-transaction", "post-index-change", "pre-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (hooks / name).chmod(0o755)
    git(project, "init", "--quiet")
    git(project, "remote", "add", "origin", str(remote))
    for key in ("core.sshCommand", "core.fsmonitor", "credential.helper", "core.pager"):
        git(project, "config", key, f"touch {ran}")
    git(project, "config", "core.hooksPath", str(hooks))
    template = tmp_path / "template"
    (template / "hooks").mkdir(parents=True)
    (hooks / "pre-push").rename(template / "hooks" / "pre-push")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_TRACE", "1")
    monkeypatch.chdir(project)

    store("origin").save({ONE: record(ONE)})

    assert store(remote).load() == {ONE: record(ONE)}
    assert not ran.exists()


def test_store_with_a_transport_that_runs_programs_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "remote.origin.url", f"ext::touch {ran}")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(BaselineError, match="transport 'ext' not allowed"):
        store("origin").load()
    assert not ran.exists()


def test_messages_do_not_contain_credentials_of_the_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", "http://me:s3cret@127.0.0.1:1/x.git")
    git(tmp_path, "config", "http.http://127.0.0.1:1/.extraheader", "AUTHORIZATION: basic t0ken")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(BaselineError) as caught:
        store("origin").load()

    assert "127.0.0.1" in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert "t0ken" not in str(caught.value)


def test_store_uses_the_login_header_of_the_current_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "--quiet")
    included = tmp_path / "credentials"
    included.write_text('[http "https://host/"]\n\textraheader = AUTHORIZATION: basic t0ken\n')
    git(tmp_path, "config", f"includeIf.gitdir:{tmp_path}/.git.path", str(included))
    git(tmp_path, "remote", "add", "origin", "https://host/x.git")
    monkeypatch.chdir(tmp_path)
    asked: list[tuple[tuple[str, ...], str]] = []

    def record_of_the_call(self: Git, *words: str, **_: object) -> str:
        asked.append((words, dict(self._environment()).get("GIT_CONFIG_VALUE_0", "")))
        return ""

    monkeypatch.setattr(Git, "text", record_of_the_call)
    store("origin").exists()

    words, header = asked[-1]
    assert words[0] == "ls-remote"
    assert header == "AUTHORIZATION: basic t0ken"
    assert not any("t0ken" in word for word in words)


CASES_OF = {1: f"corpus/{ONE.replace(':', '-')}.json", 2: "corpus/1.jsonl"}


@pytest.mark.parametrize("schema", CASES_OF)
def test_save_migrates_a_branch_of_an_older_schema(
    remote: Path, tmp_path: Path, schema: int
) -> None:
    FolderStore(tmp_path / "new").save({ONE: record(ONE)})
    _, line = (tmp_path / "new" / "buckets.jsonl").read_text().splitlines()
    case = (tmp_path / "new" / "corpus.jsonl").read_text()
    index = f'{{"schema": {schema}}}\n{line}\n'
    commit_files(remote, BRANCH, {"buckets.jsonl": (PLAIN, index), CASES_OF[schema]: (PLAIN, case)})

    assert store(remote).load() == {ONE: record(ONE)}
    store(remote).save({OTHER: record(OTHER)})

    names = git(remote, "ls-tree", "-r", "--name-only", BRANCH).split()
    assert names == ["buckets.jsonl", "corpus.jsonl"]
    assert store(remote).load() == merge({ONE: record(ONE)}, {OTHER: record(OTHER)})


def test_save_removes_deleted_files_from_the_branch(remote: Path) -> None:
    baseline_store = store(remote)
    baseline_store.save({ONE: record(ONE)}, beside=lambda folder: write(folder / "outbox.jsonl"))

    baseline_store.save({}, beside=lambda folder: (folder / "outbox.jsonl").unlink())

    assert "outbox" not in git(remote, "ls-tree", "-r", "--name-only", BRANCH)


def write(path: Path) -> None:
    path.write_text("{}\n")


def test_concurrent_runs_are_all_in_the_history(remote: Path) -> None:
    slow, fast = store(remote), store(remote)
    slow.save({ONE: record(ONE)})
    notes = [
        RunSummary(time=sighting(day).time, verdict=Verdict.CLEAN, cases=day, new=0, states=())
        for day in (1, 2)
    ]
    faster = iter([partial(fast.save, {}, beside=partial(keep, notes[0]))])

    def beside(folder: Path) -> None:
        keep(notes[1], folder)
        next(faster, lambda: None)()

    slow.save({}, beside=beside)

    assert [run.cases for run in read_runs(slow.folder)] == [1, 2]
    assert git(remote, "show", f"{BRANCH}:runs.jsonl").count('"cases"') == 2


def keep(run: RunSummary, folder: Path) -> None:
    write_runs(folder, with_run(read_runs(folder), run))


def test_save_of_a_large_baseline_pushes_parts_and_then_only_changed_ones(
    remote: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ciguard.baseline.layout.MAX_BUCKETS_PER_PART", 2)
    known = {name: record(name) for name in NAMES}
    baseline_store = store(remote)
    baseline_store.save(known)
    before = git(remote, "ls-tree", "-r", BRANCH).splitlines()

    baseline_store.save({ONE: replace(record(ONE), issue="7")})

    after = git(remote, "ls-tree", "-r", BRANCH).splitlines()
    assert len(before) == 1 + 2 * 16
    assert [line.split("\t")[1] for line in set(after) - set(before)] == ["buckets/1.jsonl"]
    assert store(remote).load() == {**known, ONE: replace(record(ONE), issue="7")}


def test_store_leaves_nothing_in_the_temporary_folder(
    remote: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(temporary))

    store(remote).save({ONE: record(ONE)})

    assert list(temporary.iterdir()) == []
