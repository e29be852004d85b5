"""Check the workflows in the checkout: which commit of ciguard they use, and their permissions.

Workflows are searched with regular expressions, since ciguard has no YAML parser and needs only a
few lines.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, unknown, warning
from ciguard.actions.repository import PLACEHOLDERS
from ciguard.actions.scaffold_record import RECORD
from ciguard.actions.upgrading import MERGE_SUFFIX
from ciguard.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ciguard.actions.checkup.diagnosis import Diagnosis
    from ciguard.project import CiguardProject

FOLDER = ".github/workflows"
_MAX_BYTES = 1024 * 1024
_COMMIT = re.compile(r"[0-9a-f]{40}")
_USES = re.compile(
    r"^\s*(?:-\s+)?uses:\s*[\"']?([\w.-]+)/([\w.-]+)(/\.github/workflows/[\w.-]+)?@([\w./-]+)",
    re.MULTILINE,
)
_GUARD = "/.github/workflows/guard.yml"
_FILING = "/.github/workflows/file-issues.yml"
_NIGHTLY = re.compile(r"^\s+schedule:\s*$", re.MULTILINE)
_MERGE_QUEUE = re.compile(r"^\s*merge_group:|\bmerge_group\b[^\n]*\]", re.MULTILINE)
_JOB = re.compile(r"^  ([\w-]+):\s*$((?:\n(?:    .*|\s*|#.*))*)", re.MULTILINE)
_JOB_NAME = re.compile(r"^    name:\s*[\"']?([^\n\"'#]+?)[\"']?\s*(?:#.*)?$", re.MULTILINE)
_RUNNER = re.compile(r"^ +(?:gpu-)?runner: *([^\n]+?) *(?:#.*)?$", re.MULTILINE)
_HOSTED = re.compile(r"(?:ubuntu|windows|macos)-[\w.-]+", re.IGNORECASE)
"""Labels of GitHub-hosted runners."""
_WRITES = ("checks", "contents", "issues", "pull-requests", "security-events")
"""Write permissions that the two jobs of file-issues.yml need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPin:
    """One `uses:` line of a workflow that refers to ciguard."""

    file: str
    """Path of the workflow, relative to the root of the checkout."""
    repository: str
    """Repository of ciguard, `owner/name`."""
    workflow: str
    """Path of a reusable workflow; empty for the action itself."""
    ref: str
    """Commit, tag or branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    """The workflows that use ciguard."""

    texts: Mapping[str, str]
    """Texts of the workflows, by path relative to the root of the checkout."""
    pins: tuple[ActionPin, ...]
    has_record: bool
    """True if `ciguard init` left the record that `ciguard init --upgrade` needs."""
    unresolved: tuple[str, ...]
    """Paths of files with merge conflicts that the user has to resolve."""

    @property
    def required_check(self) -> str:
        """Name of the check to require for pull requests; empty if no workflow has one."""
        for pin in self.pins:
            text = self.texts[pin.file]
            if pin.workflow == _GUARD and re.search(r"\bpull_request\b", text):
                return f"{_guard_job_name(text)} / Verdict"
        return ""

    @property
    def runs_in_merge_queue(self) -> bool:
        """True if a workflow also runs for the groups of a merge queue."""
        return any(_MERGE_QUEUE.search(text) for text in self.texts.values())

    @property
    def nightly(self) -> str:
        """Path of the scheduled workflow; empty if there is none."""
        return next((path for path, text in self.texts.items() if _NIGHTLY.search(text)), "")

    @property
    def own_runners(self) -> list[frozenset[str]]:
        """Labels of each self-hosted runner that a workflow names, in lower case."""
        values = {text for path in self.texts for text in _RUNNER.findall(self.texts[path])}
        runners = (frozenset(map(str.casefold, _labels(text))) for text in sorted(values))
        return [labels for labels in runners if labels and not any(map(_HOSTED.fullmatch, labels))]


def _labels(text: str) -> list[str]:
    """Return the labels in the value of an input: a single label, or a JSON array in quotes.

    The result is empty for an expression and for malformed JSON.
    """
    value = text.strip("'") if text.startswith("'") else text.strip('"')
    if "${{" in value:
        return []  # GitHub evaluates the expression at run time
    try:
        labels = json.loads(value) if value.startswith("[") else [value]
    except ValueError:
        return []
    return [str(label) for label in labels if label]


def read_workflows(root: Path) -> Workflows:
    """Return the workflows of a checkout that use ciguard."""
    folder = root / FOLDER
    texts: dict[str, str] = {}
    pins: list[ActionPin] = []
    for path in sorted(folder.glob("*.y*ml")):
        try:
            text = read_text(path, most=_MAX_BYTES)
        except (OSError, ValueError):  # GitHub cannot read this file either.
            continue
        name = path.relative_to(root).as_posix()
        file_pins = [
            ActionPin(file=name, repository=f"{owner}/{project}", workflow=workflow, ref=ref)
            for owner, project, workflow, ref in _USES.findall(text)
            if workflow in {_GUARD, _FILING} or (project == "ciguard" and not workflow)
        ]
        if file_pins:
            texts[name] = text
            pins += file_pins
    conflicts = (path.relative_to(root).as_posix() for path in folder.glob(f"*{MERGE_SUFFIX}"))
    return Workflows(
        texts=texts,
        pins=tuple(pins),
        has_record=(root / RECORD).is_file(),
        unresolved=tuple(sorted(conflicts)),
    )


def examine_workflows(workflows: Workflows, project: CiguardProject) -> Iterator[Diagnosis]:
    """Yield the diagnoses of the workflows.

    Args:
        workflows: the workflows of the checkout.
        project: the origin of this copy of ciguard, with which the pins are compared.
    """
    if not workflows.pins:
        yield warning(
            "workflows",
            f"no workflow in {FOLDER} uses ciguard",
            "Run `ciguard init` to write them; for other CI systems, see docs/other-ci.md.",
        )
        return
    yield _examine_files(workflows)
    yield from map(_examine_pin, _distinct_pins(workflows.pins))
    yield _examine_version(workflows.pins, project)
    if not workflows.nightly:
        yield warning(
            "schedule",
            "there is no nightly workflow",
            "Run `ciguard init` to write a nightly workflow: without nightly runs, the "
            "baseline becomes stale.",
        )
    yield from _examine_permissions(workflows)


def _examine_files(workflows: Workflows) -> Diagnosis:
    if workflows.unresolved:
        names = ", ".join(workflows.unresolved)
        return problem(
            "workflows",
            f"the last upgrade left merge conflicts: {names}",
            "Resolve the conflicts in these files, then run `ciguard init --upgrade`.",
        )
    names = ", ".join(path.rpartition("/")[2] for path in workflows.texts)
    if not workflows.has_record:
        return warning(
            "workflows",
            f"{names}: the file {RECORD}, which `ciguard init --upgrade` needs, is missing",
            "Commit the file that `ciguard init` wrote, together with the workflows.",
        )
    return healthy("workflows", names)


def _distinct_pins(pins: tuple[ActionPin, ...]) -> list[ActionPin]:
    """Return one pin for each commit of each repository."""
    return list({(pin.repository, pin.ref): pin for pin in pins}.values())


def _examine_pin(pin: ActionPin) -> Diagnosis:
    text = f"{pin.repository}@{pin.ref} in {pin.file}"
    if PLACEHOLDERS & {*pin.repository.split("/"), pin.ref} or set(pin.ref) == {"0"}:
        return problem(
            "pin",
            f"{text}: this is a placeholder from the documentation",
            "Write ciguard's repository and a commit of that repository, or run `ciguard "
            "init --upgrade`.",
        )
    if not _COMMIT.fullmatch(pin.ref):
        return warning(
            "pin",
            f"{text}: this is a branch or tag; anyone who can move it controls your workflows",
            "Pin a commit hash: `ciguard init --upgrade` writes one.",
        )
    return healthy("pin", text)


def _examine_version(pins: tuple[ActionPin, ...], project: CiguardProject) -> Diagnosis:
    """Compare the pinned commits with each other, and with the commit of this ciguard."""
    refs = {pin.ref for pin in pins}
    if len(refs) > 1:
        return warning(
            "version",
            f"the workflows use {len(refs)} different commits of ciguard",
            "`ciguard init --upgrade` writes one commit into all workflows.",
        )
    if not project.commit:
        return unknown("version", "the commit of the installed ciguard is unknown")
    if refs != {project.commit}:
        name = project.tag or project.commit[:12]
        return warning(
            "version",
            f"the workflows use another commit than the installed ciguard ({name})",
            "`ciguard init --upgrade` writes this commit into the workflows.",
        )
    return healthy("version", "the workflows use the commit of the installed ciguard")


def _examine_permissions(workflows: Workflows) -> Iterator[Diagnosis]:
    filing = [pin.file for pin in workflows.pins if pin.workflow == _FILING]
    if not filing:
        yield warning(
            "permissions",
            "no workflow calls file-issues.yml, so neither the baseline nor issues are written",
            "Run `ciguard init`, which writes ciguard-file-issues.yml.",
        )
    for name in dict.fromkeys(filing):
        text = workflows.texts[name]
        missing = [f"{scope}: write" for scope in _WRITES if not _grants(text, scope)]
        if missing:
            yield problem(
                "permissions",
                f"{name} does not grant {', '.join(missing)}: GitHub rejects the workflow",
                "Add these permissions to the job that calls file-issues.yml.",
            )
        else:
            yield healthy("permissions", f"{name} grants all permissions of file-issues.yml")


def _grants(text: str, scope: str) -> bool:
    pattern = rf"^\s+{scope}:\s*write\b|^\s*permissions:\s*write-all\b"
    return re.search(pattern, text, re.MULTILINE) is not None


def _guard_job_name(text: str) -> str:
    for job_id, body in _JOB.findall(text):
        if _GUARD in body:
            name = _JOB_NAME.search(body)
            return name[1] if name else str(job_id)
    return "ciguard"
