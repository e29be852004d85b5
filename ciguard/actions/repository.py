"""What `ciguard init` finds in a repository: targets, default branch, runners with a GPU."""

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
from ciguard.project import ask_git

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.plan import Plan
    from ciguard.project import CiguardProject

_MAX_BYTES = 1024 * 1024
_GPU_LABEL = re.compile(r"runs-on:[^\n${]*?([\w.-]*gpu[\w.-]*)", re.IGNORECASE)
_BRANCH = re.compile(r"[\w][\w./-]{0,200}")
_ACTION = re.compile(r"([\w.-]+/[\w.-]+)@([\w./-]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
PLACEHOLDERS = frozenset({"OWNER", "NAME", "COMMIT", "REF", "TAG", "VERSION"})
"""What documentation writes in the place of an owner, a name or a commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSource:
    """Where workflows take the action from."""

    repository: str
    """`owner/name`."""
    ref: str
    tag: str = ""
    """Release that the commit is of; empty if it is of none, or nobody knows."""

    @property
    def is_pinned(self) -> bool:
        """Whether nobody can put other code in its place."""
        return bool(_COMMIT.fullmatch(self.ref))


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedRepository:
    """What was found, and why it means what."""

    targets: tuple[str, ...]
    are_required: bool
    """Whether a file of requirements names them: it does so in every later run, too."""
    default_branch: str
    gpu_runner: str
    """Label that a workflow of the repository uses; empty for none."""
    minute: int
    """When the nightly run starts; odd, and another one in every repository."""
    hour: int
    builds: str
    """Name of the library that it holds; empty where it is none that ciguard knows."""
    reasons: tuple[str, ...]


def action_source(text: str, *, project: CiguardProject) -> ActionSource:
    """Return where the action is: what was written, else where this copy of ciguard comes from.

    Raises:
        ConfigurationError: if it is unknown, or a placeholder of the documentation.
    """
    tag = ""
    if not text and project.repository and project.commit:
        text, tag = f"{project.repository}@{project.commit}", project.tag
    found = _ACTION.fullmatch(text)
    if found and not PLACEHOLDERS & {*found[1].split("/"), found[2]}:
        return ActionSource(repository=found[1], ref=found[2], tag=tag)
    if found:
        msg = (
            f"--action {visible(text, limit=80)!r}: a placeholder of the documentation. Write the "
            "repository and the commit of ciguard that the workflows are to use."
        )
        raise ConfigurationError(msg)
    msg = (
        f"--action {visible(text, limit=80)!r}: this does not say where the action is. Write "
        "OWNER/NAME@COMMIT of ciguard's repository, as after `uses:` in a workflow."
    )
    raise ConfigurationError(msg)


def look_at(folder: Path, *, chosen: tuple[str, ...], are_chosen: bool) -> DetectedRepository:
    """Return what is found in the checkout at `folder`.

    Args:
        folder: the root of the repository.
        chosen: the targets of the settings.
        are_chosen: False for ciguard's own defaults: what the repository requires comes first.

    Raises:
        PlanError: if it is no checkout of git.
    """
    from ciguard.planning import PlanRequest, make_plan  # noqa: PLC0415 - no step needs it

    plan = make_plan(
        PlanRequest(
            folder=folder, mode=PlanMode.BATCH, targets=chosen, targets_are_chosen=are_chosen
        )
    )
    branch, why_branch = _default_branch(folder)
    runner, why_runner = _gpu_runner(folder)
    digest = hashlib.sha256(ask_git(folder, "remote", "get-url", "origin").encode()).digest()
    targets = _targets(plan)
    builds = _own_library(folder)
    return DetectedRepository(
        targets=targets,
        are_required=not are_chosen and targets != chosen,
        default_branch=branch,
        gpu_runner=runner,
        minute=digest[0] % 30 * 2 + 1,
        hour=digest[1] % 6,
        builds=builds,
        reasons=(*plan.reasons, *_why_wheels(builds), why_branch, why_runner),
    )


def _own_library(folder: Path) -> str:
    try:
        described = tomllib.loads(read_text(folder / "pyproject.toml", most=_MAX_BYTES))
        name = canonicalize_name(described["project"]["name"])
    except (OSError, ValueError, KeyError, TypeError):  # There is none, or it names no project.
        return ""
    known = any(name in library.distributions for library in LIBRARIES.items().values())
    return name if known else ""


def _why_wheels(builds: str) -> list[str]:
    if not builds:
        return []
    sentence = (
        f"This repository builds {builds}: the workflows build wheels of it with pip, and hold a "
        "pull request's against its base's. Change the job where you build in another way."
    )
    return [sentence]


def _targets(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(target for job in plan.jobs for target in job.targets))


def _default_branch(folder: Path) -> tuple[str, str]:
    remote = ask_git(folder, "symbolic-ref", "--short", "refs/remotes/origin/HEAD")
    branch = remote.removeprefix("origin/")
    if _BRANCH.fullmatch(branch):
        return branch, f"The default branch is {branch}: runs there keep the baseline."
    here = ask_git(folder, "branch", "--show-current")
    branch = here if _BRANCH.fullmatch(here) else "main"
    return branch, f"No remote says what the default branch is; {branch} is taken for it."


def _gpu_runner(folder: Path) -> tuple[str, str]:
    for path in sorted((folder / ".github" / "workflows").glob("*.y*ml")):
        if path.name.startswith("ciguard"):
            continue
        try:
            found = _GPU_LABEL.search(read_text(path, most=_MAX_BYTES))
        except (OSError, ValueError):  # Not ours to judge; it only might have held a hint.
            continue
        if found:
            return found[1], f"{visible(path.name)} runs on {found[1]}: GPU rows run there too."
    return "", "No workflow names a runner with a GPU: everything runs on CPUs."
