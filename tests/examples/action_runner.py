"""Runs a composite action's steps as the runner of GitHub Actions would.

Inputs and conditions go through GitHub's own expression engine; scripts through
`bash --noprofile --norc -e -o pipefail`; outputs and summary through their files; workflow commands
in the log are recognised as the runner recognises them. The pinned actions of others are stood in
for by copies of folders.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from action_file import ROOT, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from node_tools import Expressions

INTERRUPT_S, TERMINATE_S = 7.5, 2.5
"""How long the runner waits after SIGINT, and then after SIGTERM."""
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_STATUS = re.compile(r"\b(always|success|failure|cancelled)\s*\(\s*\)")
_COMMAND = re.compile(r"^\s*::([\w-]+)(?: [^:]*)?::(.*)$")
_OLD_COMMAND = re.compile(r"##\[[\w-]+[^\]]*\]")


@dataclass
class Step:
    """What became of one step."""

    name: str
    outcome: str = "skipped"
    outputs: dict[str, str] = field(default_factory=dict)
    log: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class Job:
    """What became of the action."""

    conclusion: str
    outputs: dict[str, str]
    steps: list[Step]
    summary: str
    artifacts: dict[str, Path]

    @property
    def log(self) -> str:
        """Everything that was printed."""
        return "".join(step.log for step in self.steps)

    def step(self, name: str) -> Step:
        """Return the step of that name."""
        return next(step for step in self.steps if step.name == name)


@dataclass
class Runner:
    """One machine with one checkout, on which jobs run one after the other."""

    folder: Path
    """Holds the workspace, the runner's temporary files, artifacts and caches."""
    expressions: Expressions
    event_name: str = "pull_request"
    event: Mapping[str, Any] = field(default_factory=dict)
    ref: str = "refs/pull/7/merge"
    token: str = "token-of-the-job"  # noqa: S105 - of nobody
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
        """Run the action, cancelled as soon as `cancel_when` holds."""
        action = parsed(ROOT / "action.yml")
        assert set(inputs) <= set(action["inputs"]), "the runner would only warn"
        contexts = self._contexts()
        contexts["inputs"] = {
            name: inputs.get(name, self._text(described.get("default", ""), contexts))
            for name, described in action["inputs"].items()
        }
        job = _Job(self, contexts, cancel_when)
        steps = [job.take(described) for described in action["runs"]["steps"]]
        outputs = {
            name: self._text(described["value"], contexts)
            for name, described in action["outputs"].items()
        }
        summary = "".join(p.read_text("utf-8") for p in sorted(job.files.glob("summary-*")))
        return Job(job.status, outputs, steps, summary, job.artifacts)

    def _contexts(self) -> dict[str, Any]:
        github = {
            "token": self.token,
            "event_name": self.event_name,
            "event": dict(self.event),
            "ref": self.ref,
            "run_attempt": "1",
            "action_path": str(ROOT),
        }
        return {"github": github, "runner": {"temp": str(self.temp)}, "steps": {}, "env": {}}

    def _text(self, template: str, contexts: dict[str, Any], status: str = "success") -> str:
        def evaluated(found: re.Match[str]) -> str:
            answer = self.expressions.evaluate(found[1].strip(), contexts, status=status)
            return str(answer["text"])

        return _EXPRESSION.sub(evaluated, template)

    def environment(self, files: Path, count: int) -> dict[str, str]:
        """Return what every step sees."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CIGUARD_", "GITHUB_", "PYTEST_", "INPUT_"))
        }
        if "CIGUARD_CACHE" in os.environ:
            kept["CIGUARD_CACHE"] = os.environ["CIGUARD_CACHE"]
        event = files / "event.json"
        event.write_text(json.dumps(self.event), "utf-8")
        return {
            **kept,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_NAME": self.event_name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_REF": self.ref,
            "GITHUB_REPOSITORY": "owner/name",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            "VIRTUAL_ENV": sys.prefix,
            "GITHUB_OUTPUT": str(files / f"output-{count:02}"),
            "GITHUB_STEP_SUMMARY": str(files / f"summary-{count:02}"),
            "GITHUB_ENV": str(files / f"env-{count:02}"),
            **self.variables,
        }


class _Job:
    """The steps so far."""

    def __init__(
        self, runner: Runner, contexts: dict[str, Any], cancel_when: Callable[[], bool] | None
    ) -> None:
        self.runner = runner
        self.contexts = contexts
        self.status = "success"
        self.artifacts: dict[str, Path] = {}
        self.files = runner.folder / f"files-{time.monotonic_ns()}"
        self.files.mkdir()
        self._variables: dict[str, str] = {}
        self._cancel_when = cancel_when
        self._count = 0

    def take(self, described: dict[str, Any]) -> Step:
        """Run one step, if its condition holds."""
        self._count += 1
        step = Step(described["name"])
        if self._holds(described.get("if", "success()")):
            began = time.monotonic()
            succeeded = (
                self._use(described, step) if "uses" in described else self._script(described, step)
            )
            step.seconds = time.monotonic() - began
            step.outcome = "success" if succeeded else "failure"
            tolerated = described.get("continue-on-error") == "true"
            if not succeeded and not tolerated and self.status == "success":
                self.status = "failure"
        if "id" in described:
            known = {"outputs": step.outputs, "outcome": step.outcome, "conclusion": step.outcome}
            self.contexts["steps"][described["id"]] = known
        return step

    def _holds(self, condition: str) -> bool:
        condition = condition.strip().removeprefix("${{").removesuffix("}}").strip()
        if not _STATUS.search(condition):
            condition = f"success() && ({condition})"
        answer = self.runner.expressions.evaluate(condition, self.contexts, status=self.status)
        return bool(answer["truthy"])

    def _texts(self, described: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self.runner._text(value, self.contexts, self.status)  # noqa: SLF001 - one module
            for name, value in described.items()
        }

    def _script(self, described: dict[str, Any], step: Step) -> bool:
        assert described["shell"] == "bash"
        path = self.files / f"script-{self._count:02}.sh"
        path.write_text(described["run"] + "\n", "utf-8")
        step.environment = {
            **self.runner.environment(self.files, self._count),
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
        match name:
            case "actions/cache/restore":
                step.outputs = self._restore(with_)
            case "actions/cache/save":
                shutil.copytree(with_["path"], self.runner.caches / with_["key"], symlinks=True)
            case "actions/upload-artifact":
                kept = self.files / "artifacts" / with_["name"]
                if Path(with_["path"]).is_dir():
                    shutil.copytree(with_["path"], kept)
                    self.artifacts[with_["name"]] = kept
            case _:
                msg = f"no stand-in for {name}"
                raise AssertionError(msg)
        return True

    def _restore(self, with_: Mapping[str, str]) -> dict[str, str]:
        kept = self.runner.caches / with_["key"]
        if not kept.is_dir():
            return {"cache-hit": ""}
        shutil.copytree(kept, with_["path"], symlinks=True, dirs_exist_ok=True)
        return {"cache-hit": "true"}


def read_outputs(path: Path) -> dict[str, str]:
    """Return what the runner reads from a file of outputs: lines, and blocks between delimiters."""
    outputs: dict[str, str] = {}
    lines = iter(path.read_text("utf-8").split("\n") if path.is_file() else [])
    for line in lines:
        name, mark, delimiter = line.partition("<<")
        if mark and "=" not in name:
            block: list[str] = []
            while (inner := next(lines)) != delimiter:
                block.append(inner)
            outputs[name] = "\n".join(block)
        elif "=" in line:
            name, _, value = line.partition("=")
            outputs[name] = value
    return outputs


def executed_commands(log: str) -> list[tuple[str, str]]:
    """Return the workflow commands that a runner executes in a log: name and text."""
    executed: list[tuple[str, str]] = []
    stopped = ""
    for line in log.splitlines():
        if stopped:
            if line.strip() == f"::{stopped}::":
                stopped = ""
            continue
        if found := _COMMAND.match(line):
            if found[1] == "stop-commands":
                stopped = found[2]
            else:
                executed.append((found[1], found[2]))
        elif _OLD_COMMAND.search(line):
            executed.append(("##", line))
    return executed
