"""Runs the jobs of a reusable workflow as GitHub would.

Jobs run one after the other, each on a new machine with an empty workspace; what they share goes
through outputs and artifacts. A machine may be lost, and failed jobs may be run again. The first
job installs ciguard; to save time, others with the same plugins find it installed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from action_file import parsed
from action_runner import Job, Runner, Steps
from github_services import Services

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from action_runner import Trigger
    from node_tools import Expressions

Described = dict[str, Any]
"""A part of the file, as YAML has it."""
_TYPES: dict[str, tuple[type, Any]] = {
    "string": (str, ""),
    "number": (int, 0),
    "boolean": (bool, False),
}
"""Of inputs: what Python makes of each, and what it is where nobody says."""
INSTALLED = "ciguard-environment"
"""Where the action installs ciguard, in the folder for temporary files."""
_NOT_IN_FOLDERS = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class GitHub:
    """What is there before any run."""

    folder: Path
    """For the machines and the artifacts of all runs."""
    expressions: Expressions
    repositories: Mapping[str, Path]
    """By `owner/name`."""
    workflows_of: str
    """The repository that holds the reusable workflows."""
    commit: str
    """Of it, that callers name."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of the environment of every step."""
    keeps_installed: bool = True
    """Whether ciguard is installed only once, not by each job."""

    def machine(self, name: str) -> Path:
        """Return the folder of a new machine, which is at the same place on every machine."""
        folder, place = self.folder / name, self.folder / "machine"
        folder.mkdir(parents=True)
        place.unlink(missing_ok=True)
        place.symlink_to(folder)
        return place

    def artifacts(self, number: str) -> Path:
        """Return the folder that holds the artifacts of a run."""
        folder = self.folder / number / "artifacts"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


class WorkflowRun:
    """One run of a workflow, started by an event or called."""

    def __init__(
        self, github: GitHub, workflow: Path, trigger: Trigger, *, number: str, **given: Any
    ) -> None:
        """Call or trigger a workflow; `given` are its inputs, with `_` for `-`. Nothing has run."""
        self.artifacts = github.artifacts(number)
        self.jobs: dict[str, dict[str, Job]] = {}
        """What became of each job; those of a matrix by their names."""
        self._github = github
        self._trigger = trigger
        self._number = number
        self._attempt = 0
        read = parsed(workflow)
        self._folder = workflow.parents[2]
        self._call: Described = read["on"].get("workflow_call", {})
        self._described: dict[str, Described] = read["jobs"]
        self._inputs = _inputs(
            self._call.get("inputs", {}),
            {name.replace("_", "-"): value for name, value in given.items()},
        )

    def keep_only(self, jobs: Sequence[str]) -> None:
        """Forget the other jobs of the file."""
        self._described = {name: self._described[name] for name in jobs}

    def alone(self, job: str, needs: Described) -> Job:
        """Run one job as if those that it needs had ended so."""
        described = self._described[job]
        known: Described = {"github": self._trigger.context(), "needs": needs, "inputs": {}}
        self._attempt += 1
        return self._run(job, described, known)

    def start(self, *, lost: str = "-") -> None:
        """Run all jobs; or once more those that did not succeed, and what needs them.

        The machine of a job whose name ends in `lost` never answers.
        """
        self._attempt += 1
        fresh: set[str] = set()
        for job in self._ordered():
            known = {} if fresh & set(self._needs(job)) else self.jobs.get(job, {})
            kept = {name: one for name, one in known.items() if one.conclusion == "success"}
            self.jobs[job] = self._machines(job, kept, lost)
            if not self.jobs[job].keys() <= kept.keys():
                fresh.add(job)

    def result(self, job: str) -> str:
        """Return success, failure, cancelled or skipped."""
        found = {one.conclusion for one in self.jobs[job].values()}
        return next(r for r in ("failure", "cancelled", "success", "skipped") if r in found)

    def only(self, job: str) -> Job:
        """Return what became of a job without a matrix."""
        (one,) = self.jobs[job].values()
        return one

    @property
    def outputs(self) -> dict[str, str]:
        """What the workflow answers to the one that called it."""
        jobs = {job: self._answer(job) for job in self.jobs}
        described = self._call.get("outputs", {})
        text = self._github.expressions.text
        return {name: text(one["value"], {"jobs": jobs}) for name, one in described.items()}

    @property
    def log(self) -> str:
        """Everything that was printed."""
        return "".join(one.log for jobs in self.jobs.values() for one in jobs.values())

    def _ordered(self) -> Iterator[str]:
        """Yield the jobs, each after those that it needs."""
        left = list(self._described)
        while left:
            ready = next(job for job in left if not set(self._needs(job)) & set(left))
            left.remove(ready)
            yield ready

    def _needs(self, job: str) -> list[str]:
        needs: str | list[str] = self._described[job].get("needs", [])
        return [needs] if isinstance(needs, str) else needs

    def _answer(self, job: str) -> Described:
        """Return what others see of a job: of a matrix, each output as it was set last."""
        outputs: dict[str, str] = {}
        for one in self.jobs[job].values():
            outputs |= {name: value for name, value in one.outputs.items() if value}
        return {"result": self.result(job), "outputs": outputs}

    def _status(self, job: str) -> str:
        """Return what `success()` and `failure()` in a job's `if` go by: all that is before it."""
        results: set[str] = set()
        pending = self._needs(job)
        while pending:
            one, *rest = pending
            results.add(self.result(one))
            pending = [*rest, *self._needs(one)]
        if results <= {"success"}:
            return "success"
        return "failure" if "failure" in results else "skipped"

    def _machines(self, job: str, kept: Mapping[str, Job], lost: str) -> dict[str, Job]:
        """Run a job on as many machines as its matrix asks for; what is kept does not run again."""
        described, expressions = self._described[job], self._github.expressions
        contexts: Described = {
            "github": self._trigger.context(),
            "needs": {needed: self._answer(needed) for needed in self._needs(job)},
            "inputs": self._inputs,
            "secrets": {},
        }
        condition = described.get("if", "success()")
        if not expressions.holds(condition, contexts, status=self._status(job)):
            return {job: Job("skipped")}
        jobs: dict[str, Job] = {}
        is_fast = described.get("strategy", {}).get("fail-fast", "true") == "true"
        for row in self._rows(described, contexts):
            known = contexts | {"matrix": row}
            name = expressions.text(described.get("name", job), known)
            is_stopped = is_fast and any(one.conclusion == "failure" for one in jobs.values())
            if name in kept:
                jobs[name] = kept[name]
            elif is_stopped or name.endswith(lost):
                jobs[name] = Job("cancelled")
            else:
                jobs[name] = self._run(name, described, known)
        return jobs

    def _rows(self, described: Described, contexts: Described) -> list[Described]:
        if "strategy" not in described:
            return [{}]
        matrix = self._github.expressions.value(described["strategy"]["matrix"], contexts)
        assert matrix.keys() == {"include"}, "all that our plans use"
        rows: list[Described] = matrix["include"]
        assert rows, "GitHub refuses an empty matrix"
        return rows

    def _called(self, described: Described, known: Described) -> Job:
        """Run the jobs of another workflow of the same commit, as one job of this one."""
        workflow = self._folder / described["uses"]
        declared = parsed(workflow)["on"]["workflow_call"]["inputs"]
        given = {
            name: _typed(declared[name], self._github.expressions.text(text, known))
            for name, text in described.get("with", {}).items()
        }
        names = {name.replace("-", "_"): value for name, value in given.items()}
        run = WorkflowRun(self._github, workflow, self._trigger, number=self._number, **names)
        run.start()
        results = [run.result(job) for job in run.jobs]
        worst = next(r for r in ("failure", "cancelled", "success", "skipped") if r in results)
        steps = [step for jobs in run.jobs.values() for one in jobs.values() for step in one.steps]
        return Job(worst, run.outputs, steps)

    def _run(self, name: str, described: Described, known: Described) -> Job:
        if "uses" in described:
            return self._called(described, known)
        github, expressions = self._github, self._github.expressions
        assert expressions.value(described["runs-on"], known), "no runner has this label"
        assert int(expressions.text(described["timeout-minutes"], known)) > 0
        machine = f"{_NOT_IN_FOLDERS.sub('-', name)}-{self._attempt}"
        runner = Runner(
            **vars(self._trigger),
            folder=github.machine(f"{self._number}/{machine}"),
            expressions=expressions,
            attempt=str(self._attempt),
            variables=github.variables,
        )
        asked = (step.get("with", {}).get("plugins", "") for step in described["steps"])
        plugins = expressions.text("".join(asked), known)
        kept = github.folder / f"installed-{_NOT_IN_FOLDERS.sub('-', plugins)}"
        if kept.is_dir() and github.keeps_installed:
            (runner.temp / INSTALLED).symlink_to(kept)
        services = Services(
            workspace=runner.workspace,
            artifacts=self.artifacts,
            caches=runner.caches,
            repositories=github.repositories,
            repository=runner.repository,
            ref=runner.ref,
            is_private=runner.event["repository"].get("private", False),
            other_runs={path.parent.name: path for path in github.folder.glob("*/artifacts")},
        )
        job = {"workflow_repository": github.workflows_of, "workflow_sha": github.commit}
        contexts = {**known, **runner.contexts(), "job": job}
        done = Steps(runner, contexts, services).job(
            described["steps"], described.get("outputs", {})
        )
        if (runner.temp / INSTALLED / ".complete").is_file() and not kept.is_dir():
            (runner.temp / INSTALLED).rename(kept)
        return done


def _typed(declared: Described, text: str) -> Any:
    return text if declared["type"] == "string" else json.loads(text)


def _inputs(described: Described, given: Mapping[str, Any]) -> Described:
    """Return every input of a workflow with its type."""
    assert set(given) <= set(described), "GitHub refuses an unknown input"
    inputs: Described = {}
    for name, one in described.items():
        kind, nothing = _TYPES[one["type"]]
        assert name in given or one.get("required") != "true", f"{name} is required"
        default = one.get("default", nothing)
        if kind is not str and isinstance(default, str):
            default = json.loads(default)
        inputs[name] = given.get(name, default)
        assert type(inputs[name]) is kind, f"{name} is no {kind.__name__}"
    return inputs
