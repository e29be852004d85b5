"""A run that is killed while it files: the next one files every group once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filing_project import Project, bucket, checked

from ciguard.domain.findings import Bucket, Comparison
from ciguard.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.baseline import Records


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


class Fuse:
    """Lets a number of steps be taken, then kills whoever takes the next, before or after it."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def __call__(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def taken(*arguments: Any, **options: Any) -> Any:
            self._burn()
            answer = step(*arguments, **options)
            self._burn()
            return answer

        return taken

    def _burn(self) -> None:
        if not self._left:
            raise Killed
        self._left -= 1


class Fused:
    """An object whose named steps burn a fuse."""

    def __init__(self, inner: object, fuse: Fuse, *steps: str) -> None:
        self._inner = inner
        self._fuse = fuse
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        buckets = getattr(self._inner, name)
        return self._fuse(buckets) if name in self._steps else buckets


def killed(project: Project, steps: int, *buckets: Bucket) -> bool:
    """Let a run end after so many steps: requests and writes of files; return whether it got by."""
    fuse = Fuse(steps)
    tracker = Fused(project.issues, fuse, "open", "comment", "close", "reopen", "opened_since")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ciguard.baseline.writing.replace_file", fuse(replace_file))
        patch.setattr("ciguard.trackers.outbox.replace_file", fuse(replace_file))
        patch.setattr(Path, "unlink", fuse(Path.unlink))
        try:
            project.run(*buckets, tracker=tracker)
        except Killed:
            return True
        return False


def test_next_run_files_each_bucket_once_after_a_kill_at_any_point(tmp_path: Path) -> None:
    buckets = [bucket("torch.a"), bucket("torch.b")]
    filed_at_once = set()
    steps, goes_on = 0, True
    while goes_on:
        project = Project(tmp_path / str(steps))
        project.run()
        goes_on = killed(project, steps, *buckets)
        filed_at_once.add(len(project.numbers()))

        known = project.store.load()
        project.run(*(known_as(made, known) for made in buckets))

        assert project.numbers() == {"torch.a": True, "torch.b": True}, steps
        texts = "".join(project.text(made) for made in buckets)
        assert texts.count(": opened") == 2, steps
        assert all(record.issue for record in project.store.load().values()), steps
        assert project.outbox.tasks() == [], steps
        steps += 1

    assert filed_at_once == {0, 1, 2}
    assert steps > 10


def test_next_run_adds_to_the_group_once_after_a_kill_at_any_point(tmp_path: Path) -> None:
    members = [checked("torch.a"), checked("torch.b"), checked("torch.c")]
    steps, goes_on = 0, True
    while goes_on:
        project = Project(tmp_path / str(steps))
        project.run()
        project.run(members[0])
        goes_on = killed(project, steps, *(known_as(m, project.store.load()) for m in members))

        known = project.store.load()
        project.run(*(known_as(member, known) for member in members))

        assert project.numbers() == {"torch.a": True}, steps
        (path,) = (project.folder / "issues").glob("g1-*.md")
        assert path.read_text("utf-8").count("Also shown by torch.b and torch.c.") == 1, steps
        assert {record.issue for record in project.store.load().values()} == {path.name}, steps
        assert project.outbox.tasks() == [], steps
        steps += 1

    assert steps > 10


def known_as(made: Bucket, known: Records) -> Bucket:
    comparison = Comparison.KNOWN if made.fingerprint in known else Comparison.NEW
    return replace(made, comparison=comparison)
