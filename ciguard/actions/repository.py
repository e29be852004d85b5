"""Detect the targets, the default branch and GPU runners of a repository for `ciguard init`."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ciguard.domain.plan import PlanMode
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.files import read_text
from ciguard.libraries import LIBRARIES
from ciguard.project import git_output

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.plan import Plan
    from ciguard.project import CiguardProject

_MAX_BYTES = 1024 * 1024
_MAX_NAMED = 4
_GPU_LABEL = re.compile(r"runs-on:[^\n${]*?([\w.-]*gpu[\w.-]*)", re.IGNORECASE)
_BRANCH = re.compile(r"[\w][\w./-]{0,200}")
_ACTION = re.compile(r"([\w.-]+/[\w.-]+)@([\w./-]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
PLACEHOLDERS = frozenset({"OWNER", "NAME", "COMMIT", "REF", "TAG", "VERSION"})
"""Placeholders in documentation for an owner, a name or a commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSource:
    """The repository and version of the action that workflows use."""

    repository: str
    """Repository of the action, `owner/name`."""
    ref: str
    """Commit, tag or branch."""
    tag: str = ""
    """Tag of the release at this commit; empty if there is none or it is unknown."""

    @property
    def is_pinned(self) -> bool:
        """True if `ref` is a commit hash; branches and tags can be moved."""
        return bool(_COMMIT.fullmatch(self.ref))


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedRepository:
    """The detected properties of a repository, with the reasons."""

    targets: tuple[str, ...]
    has_required_targets: bool
    """True if the targets come from the repository's requirements, which later runs read again."""
    default_branch: str
    gpu_runner: str
    """Label of a GPU runner that a workflow uses; empty if there is none."""
    minute: int
    """Start minute of the nightly run: an odd number derived from the repository's URL, so that
    repositories do not all start at once."""
    hour: int
    """Start hour of the nightly run, in UTC."""
    functions: tuple[str, ...]
    """Programs with annotated functions, which level `function` tests."""
    builds: str
    """Name of the supported library that the repository builds; empty if there is none."""
    reasons: tuple[str, ...]
    """Sentences that explain the other fields."""


def action_source(text: str, *, project: CiguardProject) -> ActionSource:
    """Return the repository and version of the action for the workflows.

    Args:
        text: `OWNER/NAME@COMMIT`; empty for the source of the installed ciguard.
        project: the installed ciguard.

    Raises:
        ConfigurationError: if the source is unknown, or a placeholder from the documentation.
    """
    tag = ""
    if not text and project.repository and project.commit:
        text, tag = f"{project.repository}@{project.commit}", project.tag
    match = _ACTION.fullmatch(text)
    if match and not PLACEHOLDERS & {*match[1].split("/"), match[2]}:
        return ActionSource(repository=match[1], ref=match[2], tag=tag)
    if match:
        msg = (
            f"--action {visible(text, limit=80)!r}: this is a placeholder from the documentation. "
            "Replace it by ciguard's repository and the commit for the workflows."
        )
        raise ConfigurationError(msg)
    problem = (
        f"--action {visible(text, limit=80)!r}: this is not a valid action"
        if text
        else "the installed ciguard does not record the commit of a repository, so the workflows "
        "cannot name one"
    )
    msg = (
        f"{problem}. Write --action OWNER/NAME@COMMIT with ciguard's repository, as after `uses:` "
        "in a workflow."
    )
    raise ConfigurationError(msg)


def detect_repository(
    folder: Path, *, configured: tuple[str, ...], is_configured: bool
) -> DetectedRepository:
    """Return the properties of the checkout at `folder`.

    Args:
        folder: the root of the repository.
        configured: the targets in the settings.
        is_configured: whether the user set the targets; if not, targets in the repository's
            requirements replace them.

    Raises:
        PlanError: if the folder is not a git checkout.
    """
    # Imported here, because only `ciguard init` needs it, and not the steps of the action.
    from ciguard.planning import PlanRequest, annotated_files, make_plan  # noqa: PLC0415

    plan = make_plan(
        PlanRequest(
            folder=folder,
            mode=PlanMode.BATCH,
            targets=configured,
            targets_are_chosen=is_configured,
            levels=("function",),  # the configuration that is written names it
        )
    )
    functions = annotated_files(folder)
    branch, branch_reason = _default_branch(folder)
    runner, runner_reason = _gpu_runner(folder)
    digest = hashlib.sha256(git_output(folder, "remote", "get-url", "origin").encode()).digest()
    targets = _targets(plan)
    builds = _own_library(folder)
    return DetectedRepository(
        targets=targets,
        has_required_targets=not is_configured and targets != configured,
        default_branch=branch,
        gpu_runner=runner,
        minute=digest[0] % 30 * 2 + 1,
        hour=digest[1] % 6,
        functions=functions,
        builds=builds,
        reasons=(
            *plan.reasons,
            *_function_reasons(functions),
            *_wheel_reasons(builds),
            branch_reason,
            runner_reason,
        ),
    )


def _own_library(folder: Path) -> str:
    """Return the supported library that the repository builds; empty if there is none."""
    try:
        document = tomllib.loads(read_text(folder / "pyproject.toml", most=_MAX_BYTES))
        name = canonicalize_name(document["project"]["name"])
    except (OSError, ValueError, KeyError, TypeError):  # No such file, or no project name in it.
        return ""
    known = any(name in library.distributions for library in LIBRARIES.items().values())
    return name if known else ""


def _function_reasons(functions: tuple[str, ...]) -> list[str]:
    if not functions:
        return []
    named = ", ".join(functions[:_MAX_NAMED])
    more = f" and {len(functions) - _MAX_NAMED} more" if len(functions) > _MAX_NAMED else ""
    return [f"Level function tests the annotated functions of {named}{more}."]


def _wheel_reasons(builds: str) -> list[str]:
    if not builds:
        return []
    sentence = (
        f"This repository builds {builds}: the workflows build wheels of a pull request and of its "
        "base with pip, and compare them. Change the job `wheels` if you build in another way."
    )
    return [sentence]


def _targets(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(target for job in plan.jobs for target in job.targets))


def _default_branch(folder: Path) -> tuple[str, str]:
    """Return the default branch, and a sentence with the reason."""
    remote = git_output(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    branch = remote.removeprefix("origin/")
    if _BRANCH.fullmatch(branch):
        return branch, f"The default branch is {branch}: its runs write the baseline."
    current = git_output(folder, "branch", "--show-current")
    branch = current if _BRANCH.fullmatch(current) else "main"
    return branch, f"No remote names the default branch; {branch} is assumed."


def _gpu_runner(folder: Path) -> tuple[str, str]:
    """Return the label of a GPU runner, or an empty string, and a sentence with the reason."""
    for path in sorted((folder / ".github" / "workflows").glob("*.y*ml")):
        if path.name.startswith("ciguard"):
            continue
        try:
            match = _GPU_LABEL.search(read_text(path, most=_MAX_BYTES))
        except (OSError, ValueError):  # GitHub cannot read this file either.
            continue
        if match:
            label = match[1]
            return label, f"{visible(path.name)} uses the runner {label}: GPU jobs also run there."
    return "", "No workflow uses a GPU runner: all jobs run on CPUs."
