"""The steps of the action: the commands that each step runs, with settings and environment."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.actions.children import run_command
from ciguard.actions.failures import store_failure
from ciguard.actions.inputs import InputError, variable_of
from ciguard.actions.request import (
    INDEX_INPUT,
    SECURITY_TOKEN_INPUT,
    TOKEN_INPUT,
    ActionTask,
    settings_of,
)
from ciguard.actions.results import INTERRUPTED, NOT_RUN, NOT_TESTED, RUN_FILE, results_of
from ciguard.domain.plan import PlanMode, plan_from_json
from ciguard.domain.text import visible
from ciguard.errors import CiguardError, ExitCode, suggestion
from ciguard.files import read_text
from ciguard.project import VARIABLE, project_of_action
from ciguard.targets import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.actions.request import ActionRequest
    from ciguard.domain.plan import Plan, PlannedJob

PLAN_FILE = "plan.json"
_MAX_PLAN_BYTES = 32 * 1024 * 1024
_STEP_VARIABLE = re.compile(
    r"INPUT_.*|ACTIONS_.*|.*TOKEN.*|GITHUB_(OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)", re.IGNORECASE
)
"""Matches environment variables of a step that must not reach the processes of fuzzed calls."""
_INCONCLUSIVE = frozenset({NOT_RUN, NOT_TESTED, INTERRUPTED})
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 _.-]")
_MAX_NAME = 80
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The steps of one call of the action."""

    request: ActionRequest
    environment: Mapping[str, str]
    """Environment variables of the step."""
    request_file: Path | None = None
    """Path of the request file, beside which failures are stored; None to store no failures."""

    @property
    def plan_file(self) -> Path:
        """Path of the plan, which need not exist."""
        request = self.request
        if request.task is ActionTask.FILE_ISSUES and "plan" not in request.inputs:
            plans = sorted(request.path_of("results").rglob(PLAN_FILE))
            return plans[-1] if plans else request.out / PLAN_FILE
        return self.request.path_of("plan", str(self.request.config.out / PLAN_FILE))

    def plan(self) -> int:
        """Write the plan and return the exit code."""
        inputs = self.request.inputs
        words = ["plan", "--mode", self.request.mode.value, "--shards", inputs.get("shards", "1")]
        pull_request = self.request.event.pull_request
        if pull_request and pull_request.base:
            words += ["--against", pull_request.base, "--deepen"]
        elif self.request.mode is PlanMode.PULL_REQUEST and "wheel" in inputs:
            # Two wheels are compared, so the history of the sources does not matter.
            words += ["--against", "HEAD"]
        words += [
            f"--{name}={self._wheel(name)}" for name in ("wheel", "base-wheel") if name in inputs
        ]
        for device in _words(inputs.get("devices", "")):
            words += ["--device", device]
        for name in ("runner", "gpu-runner"):
            for label in _words(inputs.get(name, "").strip("[]").replace('"', "")):
                words += [f"--{name}", label]
        for line in filter(str.strip, inputs.get("environment", "").splitlines()):
            words.append(f"--variable={line.strip()}")
        self.plan_file.parent.mkdir(parents=True, exist_ok=True)
        return self._run([*words, "--out", str(self.plan_file)])

    def _wheel(self, name: str) -> str:
        """Return the path of the single file that a glob in an input matches.

        The path is relative to the working folder, so that it is valid in other jobs.

        Raises:
            InputError: if the glob matches no file, or several.
        """
        text, pattern = self.request.inputs[name], Path(self.request.inputs[name])
        folder = (self.request.folder / pattern).parent
        files = [path.name for path in folder.glob(pattern.name or "*") if path.is_file()]
        if len(files) == 1:
            return str(pattern.with_name(files[0]))
        reason = f"{len(files)} files match" if files else f"there is no such file in {folder}"
        msg = f"input {name!r} = {visible(text, limit=80)!r}: {reason}. Name exactly one wheel."
        raise InputError(msg)

    def provision(self) -> int:
        """Build the environments before any fuzzed call could tamper with the cache.

        If an environment cannot be built, the step `run` reports its target as not run. Only this
        step has the credentials of a package index, so that no fuzzed process can read them.
        """
        if self.is_idle:
            return ExitCode.CLEAN
        settings = {"CIGUARD_TARGETS": "\n".join(self.targets())}
        if index := self.environment.get(variable_of(INDEX_INPUT), "").strip():
            settings["UV_INDEX"] = " ".join(
                filter(None, (index, self.environment.get("UV_INDEX", "")))
            )
        return self._run(["targets", "sync"], settings)

    def targets(self) -> list[str]:
        """Return all targets of this call's jobs."""
        targets = [text for job in self.jobs() for text in (*job.targets, *job.base)]
        return list(dict.fromkeys(targets))

    def run(self) -> int:
        """Run the jobs one after the other, and return the highest exit code."""
        jobs = self.jobs()
        highest = int(ExitCode.CLEAN)
        for index, job in enumerate(jobs):
            settings = {
                "CIGUARD_TARGETS": "\n".join(job.targets),
                "CIGUARD_BASE": "\n".join(job.base),
                "CIGUARD_BUDGET": f"{max(1.0, self.request.config.budget_s / len(jobs)):.0f}s",
                "CIGUARD_OUT": str(self._job_folder(index)),
            }
            _remove_results(self._job_folder(index))
            words = ["run", "--plan", str(self.plan_file), "--shard", job.shard, "--part"]
            code = self._run(words, settings, stops_commands=False)
            highest = max(highest, code)
            if code == ExitCode.INTERRUPTED:
                break
        # The step `merge` decides whether findings fail the action.
        return 0 if highest == ExitCode.FINDINGS else highest

    def merge(self) -> int:
        """Merge the results of the jobs, and write baseline and issues if this run may do so.

        The task `file` also publishes results of pull requests, which are untrusted. If they cannot
        be merged, the verdict is `not-run`, and the workflow of the default branch does not fail.
        """
        if self.request.task is not ActionTask.FILE_ISSUES or self.request.writes:
            return self._merge()
        try:
            code = self._merge()
        except CiguardError as error:
            code = int(ExitCode.INTERNAL)
            _remove_results(self.request.out)
            if self.request_file is not None:
                store_failure(self.request_file, code, str(error))
        return code if code >= ExitCode.INTERRUPTED else ExitCode.CLEAN

    def _merge(self) -> int:
        request = self.request
        if self.is_idle or self.has_nothing_to_file:
            return ExitCode.CLEAN
        if request.task in {ActionTask.MERGE, ActionTask.FILE_ISSUES}:
            results = request.path_of("results")
            # Without results, `ciguard merge` gets the folder itself, and reports it as missing.
            folders = sorted(path.parent for path in results.rglob(RUN_FILE)) or [results]
        else:
            folders = [self._job_folder(index) for index in range(len(self.jobs()))]
        # A rule of the repository may allow writing the baseline only through GitHub's API.
        settings = self._token() if request.writes else self._read_only_settings()
        if request.files_issues:
            settings["CIGUARD_ISSUES"] = f"github:{self.environment['GITHUB_REPOSITORY']}"
            settings |= self._token() | self._security_token()
        elif "CIGUARD_COMPARE_ONLY" not in settings:
            # The configuration may name a tracker, but only an input of the action enables it.
            folder = settings.get("CIGUARD_TRACKER", self.request.config.tracker)
            settings["CIGUARD_ISSUES"] = f"local:{folder}"
        if request.out not in folders:
            _remove_results(request.out)
        # Without the plan, rows without results would go unnoticed.
        words = ["merge", *map(str, folders), "--out", str(request.out)]
        words += ["--plan", str(self.plan_file)]
        code = self._run(words, settings, stops_commands=False)
        if request.task is ActionTask.FILE_ISSUES and self._is_inconclusive():
            return ExitCode.CLEAN  # the tested workflow run has already failed
        if request.writes and code in {ExitCode.CLEAN, ExitCode.FINDINGS}:
            # Only this step removes old and redundant records.
            code = max(code, self._run(["baseline", "prune"], self._token()))
        return code

    @property
    def is_idle(self) -> bool:
        """True if there is a plan without jobs."""
        return self.plan_file.is_file() and not self.read_plan().jobs

    @property
    def lacks_plan_of_others(self) -> bool:
        """True if the plan of another job or workflow is missing."""
        return (
            self.request.task in {ActionTask.MERGE, ActionTask.FILE_ISSUES}
            and not self.plan_file.is_file()
        )

    @property
    def has_nothing_to_file(self) -> bool:
        """True for the task `file` if the tested workflow run left neither a plan nor results."""
        if self.request.task is not ActionTask.FILE_ISSUES:
            return False
        results = self.request.path_of("results")
        return not any(any(results.rglob(name)) for name in (PLAN_FILE, RUN_FILE))

    def _is_inconclusive(self) -> bool:
        has_results = (self.request.out / RUN_FILE).is_file()
        return has_results and results_of(self.request.out).verdict in _INCONCLUSIVE

    def publish(self) -> int:
        """Publish the results on the commit and the pull request, if requested.

        A missing permission or a server that does not respond does not change the verdict.
        """
        requested = [name for name in ("check", "comment", "sarif") if self.request.is_on(name)]
        if self.has_nothing_to_file or self._has_nothing_to_publish():
            return ExitCode.CLEAN
        possible, place_options = self._publishing_place()
        switches = [f"--{name}" for name in requested if name in possible]
        if not switches:
            return ExitCode.CLEAN
        name = f"--name={_check_name(self.request.inputs.get('artifact', ''))}"
        words = ["publish", str(self.request.out), *switches, *place_options, name]
        code = self._run(words, self._token(), stops_commands=False)
        is_lost = not (self.request.out / RUN_FILE).is_file()
        if self.request.task is ActionTask.FILE_ISSUES and is_lost and code == ExitCode.INTERNAL:
            return ExitCode.CLEAN  # the published status reports the missing results
        return code

    def _publishing_place(self) -> tuple[frozenset[str], list[str]]:
        """Return what can be published for the event, and options that name commit and place."""
        event = self.request.event
        pull_request = event.pull_request
        if pull_request is None or not pull_request.head:
            if not (event.commit and event.ref):
                return frozenset(), []
            return frozenset({"sarif"}), [f"--head-sha={event.commit}", f"--ref={event.ref}"]
        words = [f"--head-sha={pull_request.head}"]
        if pull_request.number:
            words.append(f"--pull-request={pull_request.number}")
        elif pull_request.repository and pull_request.branch:
            words += [
                f"--head-repository={pull_request.repository}",
                f"--head-branch={pull_request.branch}",
            ]
        else:
            return frozenset({"check"}), words
        return frozenset({"check", "comment", "sarif"}), words

    def _has_nothing_to_publish(self) -> bool:
        """Return whether the plan has no jobs; False if it is damaged."""
        try:
            return self.is_idle
        except InputError:
            return False

    def _read_only_settings(self) -> dict[str, str]:
        """Return the settings of a merge that writes neither baseline nor issues."""
        # Imported here, because the other steps do not need it.
        from ciguard.baseline import open_store  # noqa: PLC0415

        planned = self.read_plan().jobs if self.plan_file.is_file() else ()
        base = [target for job in planned for target in job.base]
        if base or open_store(self.request.config.baseline).exists():
            return {"CIGUARD_COMPARE_ONLY": "true", "CIGUARD_BASE": "\n".join(base)}
        # The merge establishes a temporary baseline; the step `report` reports `no-baseline`.
        temporary = self.environment.get("RUNNER_TEMP")
        folder = Path(tempfile.mkdtemp(prefix="ciguard-no-baseline-", dir=temporary))
        return {
            "CIGUARD_BASELINE": str(folder / "baseline"),
            "CIGUARD_TRACKER": str(folder / "issues"),
        }

    def _token(self) -> dict[str, str]:
        return {"GITHUB_TOKEN": self.environment.get(variable_of(TOKEN_INPUT), "")}

    def _security_token(self) -> dict[str, str]:
        token = self.environment.get(variable_of(SECURITY_TOKEN_INPUT), "")
        return {"CIGUARD_SECURITY_TOKEN": token} if token else {}

    def jobs(self) -> Sequence[PlannedJob]:
        """Return the jobs of the plan that this call runs.

        Raises:
            InputError: if the plan or the job does not exist.
        """
        jobs = self.read_plan().jobs
        if self.request.task is not ActionTask.SHARD:
            return jobs
        wanted = self.request.inputs["job"]
        if selected := [job for job in jobs if job.name == wanted]:
            return selected
        names = (job.name for job in jobs)
        msg = f"input 'job' = {wanted!r}: not in the plan.{suggestion(wanted, names)}"
        raise InputError(msg)

    def read_plan(self) -> Plan:
        """Return the plan.

        Raises:
            InputError: if it is missing or damaged.
        """
        try:
            text = read_text(self.plan_file, most=_MAX_PLAN_BYTES)
            return plan_from_json(json.loads(text))
        except (OSError, ValueError, RecursionError) as error:
            reason = visible(str(error))
            msg = f"input 'plan': {self.plan_file} cannot be read: {reason}. Run the task 'plan'."
            raise InputError(msg) from error

    def _job_folder(self, index: int) -> Path:
        """Return the folder for the results of the job with an index."""
        out = self.request.out
        if self.request.task is ActionTask.SHARD:
            return out
        return out.with_name(f"{out.name}-jobs") / str(index)

    def _run(
        self,
        words: Sequence[str],
        settings: Mapping[str, str] | None = None,
        *,
        stops_commands: bool = True,
    ) -> int:
        environment = {
            **scrubbed(self.environment),
            **settings_of(self.request.inputs),
            **(settings or {}),
        }
        if project := project_of_action(self.environment.get("GITHUB_ACTION_PATH", "")).name:
            # Issues and reports link to ciguard's repository, which an installed package lacks.
            environment.setdefault(VARIABLE, project)
        if self.request.is_on("cache"):
            # A cached environment also needs its interpreter, which is cached in this folder.
            pythons = str(cache_folder() / "python")
            environment.setdefault("UV_PYTHON_INSTALL_DIR", pythons)
        return run_command(
            words,
            folder=self.request.folder,
            environment=environment,
            stops_commands=stops_commands,
            on_failure=None
            if self.request_file is None
            else partial(store_failure, self.request_file),
        )


def _remove_results(out: Path) -> None:
    """Remove results that an earlier job left; self-hosted runners may not clean the checkout."""
    (out / RUN_FILE).unlink(missing_ok=True)


def _check_name(artifact: str) -> str:
    """Return the name of the check, which distinguishes several projects of one repository.

    Args:
        artifact: the name of the artifact, to which file-issues.yml appends `-filed`.
    """
    name = _NOT_IN_NAMES.sub("-", artifact.removesuffix("-filed"))[:_MAX_NAME]
    return name if name.startswith("ciguard") else f"ciguard ({name})" if name else "ciguard"


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables without tokens, inputs and paths of the runner's files."""
    return {n: value for n, value in environment.items() if not _STEP_VARIABLE.fullmatch(n)}


def _words(text: str) -> list[str]:
    return [word for word in _SEPARATOR.split(text) if word]
