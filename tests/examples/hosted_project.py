"""A repository on the emulated GitHub: what happens in it starts the workflows that it holds.

Workflows are read from the repository as GitHub reads them: those of a pull request from what it
would be once merged, all others from the default branch. Their jobs call reusable workflows, which
`workflow_runner` runs; afterwards `workflow_run` starts what waits for them.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import yaml
from action_file import ROOT, parsed
from action_runner import Trigger
from action_scenarios import commit, git
from github_repository import NAME
from github_server import TOKEN
from workflow_runner import WorkflowRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from github_server import GitHubServer
    from workflow_runner import GitHub

OURS = "somebody/ciguard"
"""What the emulated GitHub calls the repository of this checkout."""
FORK = "stranger/library"
_WORKFLOWS = ".github/workflows"
_RANKS = {"none": 0, "read": 1, "write": 2}
_DONE = frozenset({"success", "skipped"})


@dataclass(frozen=True)
class PullRequest:
    """One that was opened."""

    number: int
    base: str
    """Commit that it starts from."""
    head: str
    """Its newest commit."""
    repository: str
    """That its branch is in."""
    branch: str


@dataclass
class HostedRun:
    """One run of one workflow of the repository."""

    workflow: str
    """Its name."""
    number: str
    calls: dict[str, WorkflowRun] = field(default_factory=dict)
    """What its jobs called, by the name of the job."""
    is_superseded: bool = False
    followers: list[HostedRun] = field(default_factory=list)
    """Runs that its end started."""

    @property
    def checks(self) -> dict[str, str]:
        """Conclusions by what a rule of a branch calls them."""
        return {
            f"{caller} / {name}": job.conclusion
            for caller, call in self.calls.items()
            for jobs in call.jobs.values()
            for name, job in jobs.items()
        }

    @property
    def conclusion(self) -> str:
        if self.is_superseded:
            return "cancelled"
        return "success" if set(self.checks.values()) <= _DONE else "failure"

    @property
    def outputs(self) -> dict[str, str]:
        """What the only workflow that it called answered."""
        (call,) = self.calls.values()
        return call.outputs

    @property
    def log(self) -> str:
        return "".join(call.log for call in (*self.calls.values(), *self._called_later()))

    def _called_later(self) -> Iterator[WorkflowRun]:
        for follower in self.followers:
            yield from follower.calls.values()


class HostedProject:
    """Plays what people do in a repository."""

    def __init__(
        self,
        github: GitHub,
        server: GitHubServer,
        folder: Path,
        *,
        inputs: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Host the repository in a folder, whose `main` is checked out.

        Args:
            github: knows the folder as `owner/library`.
            server: of the same repository's issues, checks and comments.
            folder: what people work in, and what the runners fetch from.
            inputs: that every call of a reusable workflow has besides or instead of those that the
                caller's file names, by the name of the file that is called.
        """
        self.server = server
        self.folder = folder
        self.github = github
        self.inputs = inputs
        self._runs = 0

    @property
    def head(self) -> str:
        """Return the newest commit of the default branch."""
        return git(self.folder, "rev-parse", "main")

    def push(self, **files: str) -> HostedRun | None:
        """Commit to the default branch; return what that started."""
        before = self.head
        return self._pushed(before, commit(self.folder, **files))

    def opened(self, *, repository: str = NAME, **files: str) -> PullRequest:
        """Open a pull request that changes files."""
        branch = f"change-{len(self.server.repository.issues) + 1}"
        git(self.folder, "checkout", "--quiet", "-b", branch)
        commit(self.folder, **files)
        git(self.folder, "checkout", "--quiet", "main")
        return self.offered(branch, repository=repository)

    def offered(self, branch: str, *, repository: str = NAME) -> PullRequest:
        """Open a pull request for a branch; it has a number among those of issues."""
        number = self.server.repository.create_issue({"title": "a pull request"}, "")["number"]
        head = git(self.folder, "rev-parse", branch)
        self.server.repository.heads[number] = head
        git(self.folder, "checkout", "--quiet", "--detach", "main")
        git(self.folder, "merge", "--quiet", "--no-ff", "--message", "merged", branch)
        git(self.folder, "update-ref", f"refs/pull/{number}/merge", "HEAD")
        git(self.folder, "update-ref", f"refs/pull/{number}/head", head)
        git(self.folder, "checkout", "--quiet", "main")
        return PullRequest(number, self.head, head, repository, branch)

    def judged(self, asked: PullRequest, *, superseded: bool = False) -> HostedRun:
        """Run what a pull request starts, and what follows.

        Args:
            asked: the pull request.
            superseded: whether a newer push cancels the jobs that fuzz.
        """
        repository = self._described()
        payload = {
            "action": "synchronize",
            "number": asked.number,
            "repository": repository,
            "pull_request": {
                "number": asked.number,
                "title": "a change",
                "base": {"ref": "main", "sha": asked.base, "repo": repository},
                "head": {
                    "ref": asked.branch,
                    "sha": asked.head,
                    "repo": {"full_name": asked.repository},
                },
            },
        }
        ref = f"refs/pull/{asked.number}/merge"
        run = self._happens(Trigger("pull_request", payload, ref, NAME), superseded=superseded)
        assert run is not None, "a pull request started nothing"
        return run

    def queued(self, asked: PullRequest) -> HostedRun:
        """Put a pull request into the merge queue, and run what that starts."""
        ref = f"refs/heads/gh-readonly-queue/main/pr-{asked.number}-{self.head}"
        merged = git(self.folder, "rev-parse", f"refs/pull/{asked.number}/merge")
        git(self.folder, "update-ref", ref, merged)
        group = {"head_sha": merged, "head_ref": ref, "base_sha": self.head, "base_ref": "main"}
        payload = {
            "action": "checks_requested",
            "repository": self._described(),
            "merge_group": group,
        }
        run = self._happens(Trigger("merge_group", payload, ref, NAME))
        git(self.folder, "update-ref", "-d", ref)
        assert run is not None, "a merge queue that requires the check would hang"
        return run

    def merged(self, asked: PullRequest) -> HostedRun | None:
        """Merge a pull request; return what the push started."""
        before = self.head
        git(self.folder, "merge", "--quiet", "--no-ff", "--message", "merged", asked.branch)
        return self._pushed(before, self.head)

    def night(self, *, event: str = "schedule") -> HostedRun:
        """Run what the schedule starts; other events that need no commit start it, too."""
        payload = {"repository": self._described()}
        run = self._happens(Trigger(event, payload, "refs/heads/main", NAME))
        assert run is not None, f"{event} started nothing"
        return run

    def _pushed(self, before: str, after: str) -> HostedRun | None:
        payload = {"before": before, "after": after, "repository": self._described()}
        return self._happens(Trigger("push", payload, "refs/heads/main", NAME))

    def _described(self) -> dict[str, Any]:
        url = f"{self.server.address()}/repos/{NAME}"
        return {"default_branch": "main", "full_name": NAME, "private": False, "url": url}

    def _happens(self, trigger: Trigger, *, superseded: bool = False) -> HostedRun | None:
        """Run the one workflow that an event starts, then those that wait for its end."""
        started = [read for read in self._workflows(trigger) if self._starts(read["on"], trigger)]
        if not started:
            return None
        (read,) = started
        run = self._run(read, trigger, superseded=superseded)
        if trigger.event_name != "workflow_run":
            self._follow(run, trigger)
        return run

    def _follow(self, run: HostedRun, trigger: Trigger) -> None:
        payload = {"repository": self._described(), "workflow_run": self._ended(run, trigger)}
        after = Trigger("workflow_run", payload, "refs/heads/main", NAME, TOKEN)
        for read in self._workflows(after):
            waits = _events(read["on"]).get("workflow_run") or {}
            if run.workflow in waits.get("workflows", []):
                run.followers.append(self._run(read, after, superseded=False))

    def _ended(self, run: HostedRun, trigger: Trigger) -> dict[str, Any]:
        """Return what GitHub says of a run that has ended; of a fork's, not which pull request."""
        asked = trigger.event.get("pull_request", {})
        group = trigger.event.get("merge_group", {})
        head = asked["head"] if asked else {"ref": "main", "sha": group.get("head_sha", self.head)}
        if group:
            head["ref"] = group["head_ref"].removeprefix("refs/heads/")
        owner = head.get("repo", {"full_name": NAME})
        is_own = bool(asked) and owner["full_name"] == NAME
        listed = [{key: asked[key] for key in ("number", "base", "head")}] if is_own else []
        return {
            "id": int(run.number),
            "name": run.workflow,
            "event": trigger.event_name,
            "status": "completed",
            "conclusion": run.conclusion,
            "run_attempt": 1,
            "head_branch": head["ref"],
            "head_sha": head["sha"],
            "head_repository": owner,
            "pull_requests": listed,
        }

    def _workflows(self, trigger: Trigger) -> list[dict[str, Any]]:
        """Return the workflows that count for an event."""
        at = trigger.ref if trigger.event_name in {"pull_request", "merge_group"} else "main"
        listed = git(self.folder, "ls-tree", "--name-only", at, f"{_WORKFLOWS}/")
        texts = (git(self.folder, "show", f"{at}:{path}") for path in listed.splitlines())
        return [yaml.load(text, Loader=yaml.BaseLoader) for text in texts]  # noqa: S506 - texts only

    def _starts(self, on: Any, trigger: Trigger) -> bool:
        events = _events(on)
        if trigger.event_name not in events or trigger.event_name == "workflow_run":
            return False
        filters = events[trigger.event_name] or {}
        if trigger.event_name != "push":
            return True
        changed = git(
            self.folder, "diff", "--name-only", trigger.event["before"], trigger.event["after"]
        ).splitlines()
        globs = filters.get("paths", ["*"])
        return "main" in filters.get("branches", ["main"]) and any(
            fnmatchcase(path, glob) for path in changed for glob in globs
        )

    def _run(self, read: dict[str, Any], trigger: Trigger, *, superseded: bool) -> HostedRun:
        self._runs += 1
        run = HostedRun(read["name"], str(self._runs), is_superseded=superseded)
        expressions = self.github.expressions
        known = {"github": trigger.context()}
        for name, job in read["jobs"].items():
            if not expressions.holds(job.get("if", "success()"), known, status="success"):
                continue
            file = self._called(job)
            with_ = job.get("with", {}).items()
            texts = {name: expressions.text(text, known) for name, text in with_}
            given = _typed(texts, parsed(file)["on"]["workflow_call"]["inputs"])
            given |= self.inputs.get(file.name, {})
            call = WorkflowRun(self.github, file, trigger, number=run.number, **given)
            call.start(lost="-cpu" if superseded else "-")
            run.calls[job.get("name", name)] = call
        return run

    def _called(self, job: dict[str, Any]) -> Path:
        """Return the file that a job calls; GitHub refuses a call that grants less than it asks."""
        address, _, at = job["uses"].partition("@")
        assert at == self.github.commit, "the workflows are pinned to what is tested"
        assert address.startswith(f"{self.github.workflows_of}/{_WORKFLOWS}/")
        path: Path = ROOT / _WORKFLOWS / address.rpartition("/")[2]
        for called in parsed(path)["jobs"].values():
            for name, level in called.get("permissions", {}).items():
                granted = job.get("permissions", {}).get(name, "none")
                assert _RANKS[granted] >= _RANKS[level], f"the caller grants {name}: {granted}"
        return path


def _typed(texts: dict[str, str], inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what YAML makes of a call's values, by the names of arguments."""
    return {
        name.replace("-", "_"): text if inputs[name]["type"] == "string" else json.loads(text)
        for name, text in texts.items()
    }


def _events(on: Any) -> dict[str, Any]:
    """Return what starts a workflow, and the filters of each."""
    if isinstance(on, str):
        return {on: None}
    return dict.fromkeys(on) if isinstance(on, list) else dict(on)


def this_checkout(folder: Path) -> Path:
    """Make a repository whose only commit is what lies in this checkout, and return it."""
    git(folder, "init", "--quiet", "--initial-branch", "main")
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in (path for path in listed if (ROOT / path).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "what is tested")
    git(folder, "gc", "--quiet")
    return folder
