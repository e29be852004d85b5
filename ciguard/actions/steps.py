"""The steps of the action: which commands each runs, with which settings, and what it may see."""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.actions.children import run_command
from ciguard.actions.failures import keep_failure
from ciguard.actions.inputs import InputError, variable_of
from ciguard.actions.request import (
    INDEX_INPUT,
    SECURITY_TOKEN_INPUT,
    TOKEN_INPUT,
    ActionTask,
    settings_of,
)
from ciguard.actions.results import INTERRUPTED, NOT_RUN, RUN_FILE, results_of
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
_FOR_STEPS_ONLY = re.compile(
    r"INPUT_.*|ACTIONS_.*|.*TOKEN.*|GITHUB_(OUTPUT|ENV|PATH|STATE|STEP_SUMMARY)", re.IGNORECASE
)
"""What a command, and with it the parent of every fuzzed process, has no use for."""
_INCONCLUSIVE = frozenset({NOT_RUN, INTERRUPTED})
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 _.-]")
_MAX_NAME = 80
_SEPARATOR = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Does what a request asks for, part by part."""

    request: ActionRequest
    environment: Mapping[str, str]
    """Of the step."""
    kept: Path | None = None
    """File of the request, beside which the reason of a failure is kept; None keeps none."""

    @property
    def plan_file(self) -> Path:
        """Where the plan is, or would be."""
        request = self.request
        if request.task is ActionTask.FILE and "plan" not in request.inputs:
            found = sorted(request.path_of("results").rglob(PLAN_FILE))
            return found[-1] if found else request.out / PLAN_FILE
        return self.request.path_of("plan", str(self.request.config.out / PLAN_FILE))

    def plan(self) -> int:
        """Write the plan."""
        given = self.request.inputs
        words = ["plan", "--mode", self.request.mode.value, "--shards", given.get("shards", "1")]
        pull_request = self.request.event.pull_request
        if pull_request and pull_request.base:
            words += ["--against", pull_request.base, "--deepen"]
        elif self.request.mode is PlanMode.PULL_REQUEST and "wheel" in given:
            words += ["--against", "HEAD"]  # two builds are compared, whatever the history is
        words += [
            f"--{name}={self._wheel(name)}" for name in ("wheel", "base-wheel") if name in given
        ]
        for device in _words(given.get("devices", "")):
            words += ["--device", device]
        for name in ("runner", "gpu-runner"):
            for label in _words(given.get(name, "").strip("[]").replace('"', "")):
                words += [f"--{name}", label]
        for line in filter(str.strip, given.get("environment", "").splitlines()):
            words.append(f"--variable={line.strip()}")
        self.plan_file.parent.mkdir(parents=True, exist_ok=True)
        return self._run([*words, "--out", str(self.plan_file)])

    def _wheel(self, name: str) -> str:
        """Return the one file that an input means, as a path that holds in other jobs too.

        Raises:
            InputError: if it is none, or several.
        """
        text, given = self.request.inputs[name], Path(self.request.inputs[name])
        folder = (self.request.folder / given).parent
        files = [path.name for path in folder.glob(given.name or "*") if path.is_file()]
        if len(files) == 1:
            return str(given.with_name(files[0]))
        several = f"{len(files)} files match" if files else f"there is no such file in {folder}"
        msg = (
            f"input {name!r} = {visible(text, limit=80)!r}: {several}. Name the one that was built."
        )
        raise InputError(msg)

    def provision(self) -> int:
        """Build the environments, before any fuzzed call runs that could harm what is cached.

        What cannot be built is told by the run, as a target that was not run. Only here is an index
        with credentials known: no later step, and so no fuzzed process, has them.
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
        """Return every target of the jobs that this call is to run."""
        chosen = [text for job in self.jobs() for text in (*job.targets, *job.base)]
        return list(dict.fromkeys(chosen))

    def run(self) -> int:
        """Run the jobs, one after the other, and return the gravest exit code."""
        jobs = self.jobs()
        gravest = int(ExitCode.CLEAN)
        for index, job in enumerate(jobs):
            settings = {
                "CIGUARD_TARGETS": "\n".join(job.targets),
                "CIGUARD_BASE": "\n".join(job.base),
                "CIGUARD_BUDGET": f"{max(1.0, self.request.config.budget_s / len(jobs)):.0f}s",
                "CIGUARD_OUT": str(self._out_of(index)),
            }
            _forget(self._out_of(index))
            words = ["run", "--plan", str(self.plan_file), "--shard", job.shard, "--part"]
            code = self._run(words, settings, fenced=False)
            gravest = max(gravest, code)
            if code == ExitCode.INTERRUPTED:
                break
        return 0 if gravest == ExitCode.FINDINGS else gravest  # `merge` judges

    def merge(self) -> int:
        """Join what the jobs left, judge it, and write baseline and issues if this run may.

        Anybody may have left the results of a run for which nothing is filed: that they cannot be
        judged is the verdict `not-run`, and no failure of the default branch.
        """
        if self.request.task is not ActionTask.FILE or self.request.writes:
            return self._judge()
        try:
            code = self._judge()
        except CiguardError as error:
            code = int(ExitCode.INTERNAL)
            _forget(self.request.out)
            if self.kept is not None:
                keep_failure(self.kept, code, str(error))
        return code if code >= ExitCode.INTERRUPTED else ExitCode.CLEAN

    def _judge(self) -> int:
        request = self.request
        if self.is_idle or self.is_passed_over:
            return ExitCode.CLEAN
        if request.task in {ActionTask.MERGE, ActionTask.FILE}:
            given = request.path_of("results")
            # Without any, `merge` is handed the folder, and says what is missing in it.
            found = sorted(path.parent for path in given.rglob(RUN_FILE)) or [given]
        else:
            found = [self._out_of(index) for index in range(len(self.jobs()))]
        # GitHub's rules may let the baseline be written through its API only.
        settings = self._token() if request.writes else self._reading_only()
        if request.files_issues:
            settings["CIGUARD_ISSUES"] = f"github:{self.environment['GITHUB_REPOSITORY']}"
            settings |= self._token() | self._security_token()
        elif "CIGUARD_COMPARE_ONLY" not in settings:
            # The configuration may name a tracker; only the input lets anything be filed there.
            folder = settings.get("CIGUARD_TRACKER", self.request.config.tracker)
            settings["CIGUARD_ISSUES"] = f"local:{folder}"
        if request.out not in found:
            _forget(request.out)
        # Without its plan, rows that left nothing would not be missed.
        words = ["merge", *map(str, found), "--out", str(request.out)]
        words += ["--plan", str(self.plan_file)]
        code = self._run(words, settings, fenced=False)
        if request.task is ActionTask.FILE and self._is_inconclusive():
            return ExitCode.CLEAN  # the other run is red itself
        if request.writes and code in {ExitCode.CLEAN, ExitCode.FINDINGS}:
            # Nothing else removes what has long been fixed, or what another record covers.
            code = max(code, self._run(["baseline", "prune"], self._token()))
        return code

    @property
    def is_idle(self) -> bool:
        """Whether there is a plan, and nothing in it to run."""
        return self.plan_file.is_file() and not self.read_plan().jobs

    @property
    def lacks_plan_of_others(self) -> bool:
        """Whether another job or workflow was to leave the plan, and did not."""
        return (
            self.request.task in {ActionTask.MERGE, ActionTask.FILE}
            and not self.plan_file.is_file()
        )

    @property
    def is_passed_over(self) -> bool:
        """Whether the run whose results are to be filed left none: it ended before its plan."""
        if self.request.task is not ActionTask.FILE:
            return False
        left = self.request.path_of("results")
        return not any(any(left.rglob(name)) for name in (PLAN_FILE, RUN_FILE))

    def _is_inconclusive(self) -> bool:
        is_judged = (self.request.out / RUN_FILE).is_file()
        return is_judged and results_of(self.request.out).verdict in _INCONCLUSIVE

    def publish(self) -> int:
        """Tell the commit and the pull request, where that is asked for and there is one.

        A token that may not, or a server that does not answer, changes no verdict.
        """
        wanted = [name for name in ("check", "comment", "sarif") if self.request.is_on(name)]
        if self.is_passed_over or self._has_nothing_to_tell():
            return ExitCode.CLEAN
        possible, place = self._place()
        switches = [f"--{name}" for name in wanted if name in possible]
        if not switches:
            return ExitCode.CLEAN
        name = f"--name={_check_name(self.request.inputs.get('artifact', ''))}"
        words = ["publish", str(self.request.out), *switches, *place, name]
        code = self._run(words, self._token(), fenced=False)
        is_lost = not (self.request.out / RUN_FILE).is_file()
        if self.request.task is ActionTask.FILE and is_lost and code == ExitCode.INTERNAL:
            return ExitCode.CLEAN  # it was published that there are no results
        return code

    def _place(self) -> tuple[frozenset[str], list[str]]:
        """Return which kinds of results the event has a place for, and the options that name it."""
        event = self.request.event
        judged = event.pull_request
        if judged is None or not judged.head:
            if not (event.commit and event.ref):
                return frozenset(), []
            return frozenset({"sarif"}), [f"--head-sha={event.commit}", f"--ref={event.ref}"]
        words = [f"--head-sha={judged.head}"]
        if judged.number:
            words.append(f"--pull-request={judged.number}")
        elif judged.repository and judged.branch:
            words += [f"--head-repository={judged.repository}", f"--head-branch={judged.branch}"]
        else:
            return frozenset({"check"}), words
        return frozenset({"check", "comment", "sarif"}), words

    def _has_nothing_to_tell(self) -> bool:
        """Whether the plan, as for a change of documentation, has no jobs; not if it is damaged."""
        try:
            return self.is_idle
        except InputError:
            return False

    def _reading_only(self) -> dict[str, str]:
        """Return the settings of a judgement that leaves nothing behind."""
        from ciguard.baseline import open_store  # noqa: PLC0415 - one step of many needs it

        planned = self.read_plan().jobs if self.plan_file.is_file() else ()
        base = [target for job in planned for target in job.base]
        if base or open_store(self.request.config.baseline).exists():
            return {"CIGUARD_COMPARE_ONLY": "true", "CIGUARD_BASE": "\n".join(base)}
        # What is found establishes a baseline that nobody keeps; `report` says so.
        temporary = self.environment.get("RUNNER_TEMP")
        nowhere = Path(tempfile.mkdtemp(prefix="ciguard-no-baseline-", dir=temporary))
        return {
            "CIGUARD_BASELINE": str(nowhere / "baseline"),
            "CIGUARD_TRACKER": str(nowhere / "issues"),
        }

    def _token(self) -> dict[str, str]:
        return {"GITHUB_TOKEN": self.environment.get(variable_of(TOKEN_INPUT), "")}

    def _security_token(self) -> dict[str, str]:
        given = self.environment.get(variable_of(SECURITY_TOKEN_INPUT), "")
        return {"CIGUARD_SECURITY_TOKEN": given} if given else {}

    def jobs(self) -> Sequence[PlannedJob]:
        """Return the rows of the plan that this call is to run.

        Raises:
            InputError: if there is no such plan or row.
        """
        jobs = self.read_plan().jobs
        if self.request.task is not ActionTask.SHARD:
            return jobs
        wanted = self.request.inputs["job"]
        if found := [job for job in jobs if job.name == wanted]:
            return found
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
            why = visible(str(error))
            msg = f"input 'plan': {self.plan_file} cannot be read: {why}. Run the task 'plan'."
            raise InputError(msg) from error

    def _out_of(self, index: int) -> Path:
        out = self.request.out
        if self.request.task is ActionTask.SHARD:
            return out
        return out.with_name(f"{out.name}-jobs") / str(index)

    def _run(
        self,
        words: Sequence[str],
        settings: Mapping[str, str] | None = None,
        *,
        fenced: bool = True,
    ) -> int:
        environment = {
            **scrubbed(self.environment),
            **settings_of(self.request.inputs),
            **(settings or {}),
        }
        if project := project_of_action(self.environment.get("GITHUB_ACTION_PATH", "")).name:
            # What is installed does not know where it came from; issues and reports link there.
            environment.setdefault(VARIABLE, project)
        if self.request.is_on("cache"):
            # An environment is of use only as long as its interpreter is there, too.
            pythons = str(cache_folder() / "python")
            environment.setdefault("UV_PYTHON_INSTALL_DIR", pythons)
        return run_command(
            words,
            folder=self.request.folder,
            environment=environment,
            fenced=fenced,
            on_failure=None if self.kept is None else partial(keep_failure, self.kept),
        )


def _forget(out: Path) -> None:
    """Let no verdict of an earlier job, in a checkout that was not cleaned, stand for this one."""
    (out / RUN_FILE).unlink(missing_ok=True)


def _check_name(artifact: str) -> str:
    """Return the name that tells the projects of one repository apart, from that of the artifact.

    The workflow that files names its own artifact after that of the run which it files.
    """
    name = _NOT_IN_NAMES.sub("-", artifact.removesuffix("-filed"))[:_MAX_NAME]
    return name if name.startswith("ciguard") else f"ciguard ({name})" if name else "ciguard"


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without tokens, inputs and the runner's files."""
    return {n: value for n, value in environment.items() if not _FOR_STEPS_ONLY.fullmatch(n)}


def _words(text: str) -> list[str]:
    return [word for word in _SEPARATOR.split(text) if word]
