"""The workflows in the checkout: what init wrote, and which commit of ciguard they run.

Read as text, line by line: ciguard has no parser of YAML, and needs few lines.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, unknown, warning
from ciguard.actions.repository import PLACEHOLDERS
from ciguard.actions.scaffold_record import RECORD
from ciguard.actions.upgrading import SIDE
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
"""Labels of the runners that GitHub hosts for everybody."""
_WRITES = ("checks", "contents", "issues", "pull-requests", "security-events")
"""Permissions to write, which the two jobs of file-issues.yml share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionPin:
    """Where one line of a workflow takes ciguard from."""

    file: str
    repository: str
    workflow: str
    """Path of a reusable workflow; empty for the action itself."""
    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflows:
    """The workflows that use ciguard."""

    texts: Mapping[str, str]
    """By path below the root."""
    pins: tuple[ActionPin, ...]
    has_record: bool
    """Whether `ciguard init --upgrade` knows what init wrote."""
    unresolved: tuple[str, ...]
    """Merges of an upgrade that wait for a person."""

    @property
    def required_check(self) -> str:
        """Return the name of the check that is to be required; empty if no workflow has one."""
        for pin in self.pins:
            text = self.texts[pin.file]
            if pin.workflow == _GUARD and re.search(r"\bpull_request\b", text):
                return f"{_name_of_job(text)} / Verdict"
        return ""

    @property
    def answers_merge_queue(self) -> bool:
        """Whether the check is reported for the event of a merge queue as well."""
        return any(_MERGE_QUEUE.search(text) for text in self.texts.values())

    @property
    def nightly(self) -> str:
        """Return the path of the scheduled workflow; empty if there is none."""
        return next((path for path, text in self.texts.items() if _NIGHTLY.search(text)), "")

    @property
    def own_runners(self) -> list[frozenset[str]]:
        """Return the labels, in lower case, of each runner that GitHub does not host."""
        stated = {text for path in self.texts for text in _RUNNER.findall(self.texts[path])}
        labels = (frozenset(map(str.casefold, _labels(text))) for text in sorted(stated))
        return [wanted for wanted in labels if wanted and not any(map(_HOSTED.fullmatch, wanted))]


def _labels(text: str) -> list[str]:
    """Return the labels in the value of an input: one, or several as a JSON array in quotes."""
    value = text.strip("'") if text.startswith("'") else text.strip('"')
    if "${{" in value:
        return []  # decided when it runs
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
        except (OSError, ValueError):  # GitHub cannot read it either.
            continue
        name = path.relative_to(root).as_posix()
        found = [
            ActionPin(file=name, repository=f"{owner}/{project}", workflow=workflow, ref=ref)
            for owner, project, workflow, ref in _USES.findall(text)
            if workflow in {_GUARD, _FILING} or (project == "ciguard" and not workflow)
        ]
        if found:
            texts[name] = text
            pins += found
    sides = (path.relative_to(root).as_posix() for path in folder.glob(f"*{SIDE}"))
    return Workflows(
        texts=texts,
        pins=tuple(pins),
        has_record=(root / RECORD).is_file(),
        unresolved=tuple(sorted(sides)),
    )


def examine_workflows(workflows: Workflows, project: CiguardProject) -> Iterator[Diagnosis]:
    """Yield how the workflows are.

    Args:
        workflows: of the checkout.
        project: where this copy of ciguard comes from, which the pins are compared with.
    """
    if not workflows.pins:
        yield warning(
            "workflows",
            f"none in {FOLDER} uses ciguard",
            "`ciguard init` writes them; for other CI systems see docs/other-ci.md.",
        )
        return
    yield _written(workflows)
    yield from map(_pin, _distinct(workflows.pins))
    yield _age(workflows.pins, project)
    if not workflows.nightly:
        yield warning(
            "schedule", "no workflow runs at night", "Without one nobody keeps the baseline."
        )
    yield from _permissions(workflows)


def _written(workflows: Workflows) -> Diagnosis:
    if workflows.unresolved:
        names = ", ".join(workflows.unresolved)
        return problem(
            "workflows",
            f"an upgrade waits for conflicts to be resolved: {names}",
            "Edit the named files, then call `ciguard init --upgrade`.",
        )
    names = ", ".join(path.rpartition("/")[2] for path in workflows.texts)
    if not workflows.has_record:
        return warning(
            "workflows",
            f"{names}; {RECORD} is missing",
            "Commit it with the workflows: `ciguard init --upgrade` needs it.",
        )
    return healthy("workflows", names)


def _distinct(pins: tuple[ActionPin, ...]) -> list[ActionPin]:
    """Return one pin of each commit."""
    return list({(pin.repository, pin.ref): pin for pin in pins}.values())


def _pin(pin: ActionPin) -> Diagnosis:
    text = f"{pin.repository}@{pin.ref} in {pin.file}"
    if PLACEHOLDERS & {*pin.repository.split("/"), pin.ref} or set(pin.ref) == {"0"}:
        return problem(
            "pin",
            f"{text}: a placeholder of the documentation",
            "Write ciguard's repository and a commit of it, or call `ciguard init --upgrade`.",
        )
    if not _COMMIT.fullmatch(pin.ref):
        return warning(
            "pin",
            f"{text}: no commit, so whoever moves it decides what your workflows run",
            "Pin a commit: `ciguard init --upgrade` writes one.",
        )
    return healthy("pin", text)


def _age(pins: tuple[ActionPin, ...], project: CiguardProject) -> Diagnosis:
    """Compare the pins with each other, and with the ciguard that is running."""
    refs = {pin.ref for pin in pins}
    if len(refs) > 1:
        return warning(
            "version",
            f"the workflows run {len(refs)} different commits of ciguard",
            "`ciguard init --upgrade` writes one commit into all of them.",
        )
    if not project.commit:
        return unknown("version", "it is unknown which commit this ciguard is of")
    if refs != {project.commit}:
        name = project.tag or project.commit[:12]
        return warning(
            "version",
            f"the workflows run another commit than this ciguard ({name})",
            "`ciguard init --upgrade` writes this one into them.",
        )
    return healthy("version", "the workflows run the commit of this ciguard")


def _permissions(workflows: Workflows) -> Iterator[Diagnosis]:
    filing = [pin.file for pin in workflows.pins if pin.workflow == _FILING]
    if not filing:
        yield warning(
            "permissions",
            "no workflow calls file-issues.yml: neither baseline nor issues are written by one",
            "`ciguard init` writes ciguard-file-issues.yml.",
        )
    for name in dict.fromkeys(filing):
        text = workflows.texts[name]
        missing = [f"{what}: write" for what in _WRITES if not _grants(text, what)]
        if missing:
            yield problem(
                "permissions",
                f"{name} does not grant {', '.join(missing)}: GitHub refuses to start it",
                "Add them to the permissions of the job that calls file-issues.yml.",
            )
        else:
            yield healthy("permissions", f"{name} grants what file-issues.yml needs")


def _grants(text: str, permission: str) -> bool:
    granted = rf"^\s+{permission}:\s*write\b|^\s*permissions:\s*write-all\b"
    return re.search(granted, text, re.MULTILINE) is not None


def _name_of_job(text: str) -> str:
    for identity, described in _JOB.findall(text):
        if _GUARD in described:
            named = _JOB_NAME.search(described)
            return named[1] if named else str(identity)
    return "ciguard"
