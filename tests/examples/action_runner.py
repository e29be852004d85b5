"""Runs steps, and the composite action's own, as the runner of GitHub Actions would.

Inputs and conditions go through GitHub's own expression engine; scripts through
`bash --noprofile --norc -e -o pipefail`; outputs and summary through their files; workflow commands
in the log are recognised as the runner recognises them. The pinned actions of others are stood in
for by `github_services`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from action_file import ROOT, parsed
from github_services import ActionFailedError, Services
from runner_protocol import read_outputs
from surroundings import programs_without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from node_tools import Expressions

INTERRUPT_S, TERMINATE_S = 7.5, 2.5
"""How long the runner waits after SIGINT, and then after SIGTERM."""


@dataclass
class Step:
    """What became of one step."""

    name: str
    outcome: str = "skipped"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_s: float = 0.0
    """Of all processes that it started and that have ended."""
    steps: list[Step] = field(default_factory=list)
    """Those of the composite action that it called."""


@dataclass
class Job:
    """What became of the steps of a job, or of the action."""

    conclusion: str
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    artifacts: dict[str, Path] = field(default_factory=dict)

    @property
    def log(self) -> str:
        """Everything that was printed."""
        return "".join(step.log for step in self.steps)

    @property
    def summary(self) -> str:
        """The summary of all steps."""
        return "".join(step.summary for step in self.steps)

    def step(self, name: str) -> Step:
        """Return the step of that name."""
        return next(step for step in self.steps if step.name == name)


@dataclass
class Trigger:
    """What started the workflow, and where."""

    event_name: str = "pull_request"
    event: Mapping[str, Any] = field(default_factory=dict)
    ref: str = "refs/pull/7/merge"
    repository: str = "owner/name"
    token: str = "token-of-the-job"

    def context(self) -> dict[str, Any]:
        """Return what expressions may know of it."""
        known = {known.name: getattr(self, known.name) for known in fields(Trigger)}
        return known | {"ref_name": self.ref.split("/", 2)[-1]}


@dataclass(kw_only=True)
class Runner(Trigger):
    """One machine with one checkout, on which jobs run one after the other."""

    folder: Path
    """Holds the workspace, the runner's temporary files, artifacts and caches."""
    expressions: Expressions
    attempt: str = "1"
    variables: Mapping[str, str] = field(default_factory=dict)
    temporary: Path | None = None
    """Where several runners may share what the action installs."""

    def __post_init__(self) -> None:
        self.workspace = self.folder / "workspace"
        self.temp = self.temporary or self.folder / "temp"
        self.caches = self.folder / "caches"
        for made in (self.workspace, self.temp, self.caches):
            made.mkdir(parents=True, exist_ok=True)

    def run(
        self, inputs: Mapping[str, str], *, cancel_when: Callable[[], bool] | None = None
    ) -> Job:
        """Run the action of this project, cancelled as soon as `cancel_when` holds."""
        artifacts = self.folder / f"artifacts-{time.monotonic_ns()}"
        artifacts.mkdir()
        services = Services(self.workspace, artifacts, self.caches)
        return self.call(ROOT, inputs, services, cancel_when=cancel_when)

    def call(
        self,
        action: Path,
        inputs: Mapping[str, str],
        services: Services,
        *,
        cancel_when: Callable[[], bool] | None = None,
    ) -> Job:
        """Run the composite action of a folder."""
        read = parsed(action / "action.yml")
        assert set(inputs) <= set(read["inputs"]), "the runner would only warn"
        contexts = self.contexts(action_path=str(action))
        contexts["inputs"] = {
            name: inputs.get(name, self.expressions.text(described.get("default", ""), contexts))
            for name, described in read["inputs"].items()
        }
        steps = Steps(self, contexts, services, cancel_when)
        return steps.job(read["runs"]["steps"], {n: o["value"] for n, o in read["outputs"].items()})

    def contexts(self, **github: str) -> dict[str, Any]:
        """Return what expressions may speak of; `github` is added to the context of that name."""
        known = {**self.context(), "run_attempt": self.attempt, **github}
        return {"github": known, "runner": {"temp": str(self.temp)}, "steps": {}, "env": {}}

    def environment(self, files: Path, count: int) -> dict[str, str]:
        """Return what every step sees."""
        kept = {n: v for n, v in os.environ.items() if not n.startswith("PYTEST_")}
        event = files / "event.json"
        event.write_text(json.dumps(self.event), "utf-8")
        return {
            **kept,
            "PATH": str(programs_without("gdb")),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REF": self.ref,
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_RUN_ATTEMPT": self.attempt,
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            "VIRTUAL_ENV": sys.prefix,
            "GITHUB_OUTPUT": str(files / f"output-{count:02}"),
            "GITHUB_STEP_SUMMARY": str(files / f"summary-{count:02}"),
            "GITHUB_ENV": str(files / f"env-{count:02}"),
            **self.variables,
        }


class Steps:
    """The steps of a job, or of a composite action, so far."""

    def __init__(
        self,
        runner: Runner,
        contexts: dict[str, Any],
        services: Services,
        cancel_when: Callable[[], bool] | None = None,
    ) -> None:
        self.runner = runner
        self.contexts = contexts
        self.services = services
        self.status = "success"
        self.files = runner.folder / f"files-{time.monotonic_ns()}"
        self.files.mkdir()
        self._variables: dict[str, str] = {}
        self._cancel_when = cancel_when
        self._count = 0

    def job(self, described: list[dict[str, Any]], outputs: Mapping[str, str]) -> Job:
        """Run all steps, and return what became of them; outputs are set also if one failed."""
        steps = [self.take(one) for one in described]
        artifacts = {path.name: path for path in self.services.artifacts.iterdir()}
        return Job(self.status, self._texts(outputs), steps, artifacts)

    def take(self, described: dict[str, Any]) -> Step:
        """Run one step, if its condition holds."""
        self._count += 1
        step = Step(described["name"])
        condition = described.get("if", "success()")
        if self.runner.expressions.holds(condition, self.contexts, status=self.status):
            began, used = time.monotonic(), _children_cpu_s()
            succeeded = (
                self._use(described, step) if "uses" in described else self._script(described, step)
            )
            step.seconds = time.monotonic() - began
            step.cpu_s = _children_cpu_s() - used
            step.outcome = "success" if succeeded else "failure"
            tolerated = self._texts({"": described.get("continue-on-error", "false")})[""]
            conclusion = "success" if tolerated == "true" else step.outcome
            if conclusion == "failure" and self.status == "success":
                self.status = "failure"
        else:
            conclusion = step.outcome
        if "id" in described:
            known = {"outputs": step.outputs, "outcome": step.outcome, "conclusion": conclusion}
            self.contexts["steps"][described["id"]] = known
        return step

    def _texts(self, described: Mapping[str, str]) -> dict[str, str]:
        text = self.runner.expressions.text
        return {n: text(t, self.contexts, status=self.status) for n, t in described.items()}

    def _script(self, described: dict[str, Any], step: Step) -> bool:
        assert described["shell"] == "bash"
        path = self.files / f"script-{self._count:02}.sh"
        path.write_text(described["run"] + "\n", "utf-8")
        step.environment = {
            **self.runner.environment(self.files, self._count),
            "GITHUB_ACTION_PATH": self.contexts["github"].get("action_path", ""),
            **self._variables,
            **self._texts(described.get("env", {})),
        }
        with subprocess.Popen(
            ["/usr/bin/env", "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(path)],
            cwd=self.runner.workspace,
            env=step.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        ) as process:
            watch = threading.Thread(target=self._watch, args=(process,), daemon=True)
            watch.start()
            assert process.stdout
            step.log = process.stdout.read()
        step.outputs = read_outputs(self.files / f"output-{self._count:02}")
        summary = self.files / f"summary-{self._count:02}"
        step.summary = summary.read_text("utf-8") if summary.is_file() else ""
        self._variables |= read_outputs(self.files / f"env-{self._count:02}")
        return process.returncode == 0

    def _watch(self, process: subprocess.Popen[str]) -> None:
        """Cancel as the runner does: it signals the process that it started, and no other."""
        if self._cancel_when is None or self.status == "cancelled":
            return
        while process.poll() is None and not self._cancel_when():
            time.sleep(0.05)
        for number, patience_s in ((signal.SIGINT, INTERRUPT_S), (signal.SIGTERM, TERMINATE_S)):
            if process.poll() is not None:
                return
            self.status = "cancelled"
            process.send_signal(number)
            try:
                process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        process.kill()

    def _use(self, described: dict[str, Any], step: Step) -> bool:
        name = described["uses"].partition("@")[0]
        with_ = self._texts(described["with"])
        if name.startswith("./"):
            inner = self.runner.call(self.runner.workspace / name, with_, self.services)
            step.outputs, step.log, step.summary = inner.outputs, inner.log, inner.summary
            step.steps = inner.steps
            return inner.conclusion == "success"
        try:
            step.outputs = self.services.use(name, with_)
        except ActionFailedError as error:
            step.log = f"::error::{error}\n"
            return False
        return True


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
