"""Reasons of a plan, in sentences for users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.planning.checkout import display_path

if TYPE_CHECKING:
    from ciguard.domain.plan import SkippedJob
    from ciguard.planning.checkout import ChangedFile
    from ciguard.planning.upgrades import FileChange, Upgrade
    from ciguard.planning.uses import Usage

_MAX_NAMES = 5
_MAX_REASONS = 60


def upgrade_sentence(upgrade: Upgrade) -> str:
    """Return a sentence on why two versions are compared."""
    return f"{upgrade.target} is compared with {upgrade.base}, the version before this change."


def change_sentences(changed_files: list[ChangedFile], changes: list[FileChange]) -> list[str]:
    """Return sentences on the requirements and files that differ from the base."""
    if not changed_files:
        return []
    sentences = [
        f"{visible(display_path(change.path))} changes its requirement of {change.library} from "
        f"{visible(str(change.base or 'none'))} to {visible(str(change.head or 'none'))}."
        for change in changes
    ]
    count = "1 file differs" if len(changed_files) == 1 else f"{len(changed_files)} files differ"
    return [*sentences, f"{count} from the base: {_shortened_list(_paths(changed_files))}."]


def _paths(changed_files: list[ChangedFile]) -> list[str]:
    return [display_path(change.path) for change in changed_files]


def focus_sentences(usage: Usage, touched_apis: list[str], focus: tuple[str, ...]) -> list[str]:
    """Return sentences on the APIs and functions that are tested first."""
    sentences = []
    if touched_apis:
        sentences.append(
            f"APIs that this change touches are tested first: {_shortened_list(touched_apis)}."
        )
    if usage.changed_definitions:
        sentences.append(
            f"Changed functions and classes: {_shortened_list(usage.changed_definitions)}."
        )
    if usage.annotated_files:
        paths = [display_path(path) for path in usage.annotated_files]
        sentences.append(
            f"Level function starts with files that the change reaches: {_shortened_list(paths)}."
        )
    for level, files in usage.paths_by_level.items():
        paths = [display_path(path) for path in files]
        sentences.append(
            f"Level {level} starts with files that the change reaches: {_shortened_list(paths)}."
        )
    focus_apis = frozenset(focus)
    for apis, place in (
        (usage.in_changes, "in changed lines"),
        (usage.in_changed_files, "elsewhere in changed files"),
        (usage.elsewhere, "elsewhere in the repository"),
    ):
        tested_apis = [api for api in apis if api in focus_apis]
        if tested_apis:
            sentences.append(f"{_are_used(tested_apis)} {place}: {_shortened_list(tested_apis)}.")
    untested_apis = [api for api in usage.apis if api not in focus_apis]
    if untested_apis:
        place = "from libraries without a target"
        sentences.append(f"{_are_used(untested_apis)} {place}: {_shortened_list(untested_apis)}.")
    if not focus:
        sentences.append(
            "The sources use no API of these targets, so all APIs have the same priority."
        )
    return sentences


def _are_used(apis: list[str]) -> str:
    return "1 API is used" if len(apis) == 1 else f"{len(apis)} APIs are used"


def skipped_sentences(skipped_jobs: list[SkippedJob]) -> list[str]:
    """Return sentences on the jobs that are skipped."""
    return [
        f"Skipped: {', '.join(job.targets)} on {job.device}: {job.reason}." for job in skipped_jobs
    ]


def _shortened_list(names: list[str] | tuple[str, ...]) -> str:
    shown_names = ", ".join(visible(name, limit=120) for name in names[:_MAX_NAMES])
    return (
        f"{shown_names}, and {len(names) - _MAX_NAMES} more"
        if len(names) > _MAX_NAMES
        else shown_names
    )


def shortened_reasons(reasons: list[str]) -> list[str]:
    """Return at most `_MAX_REASONS` reasons, then the number of omitted ones."""
    if len(reasons) <= _MAX_REASONS:
        return reasons
    omitted_count = len(reasons) - _MAX_REASONS
    return [*reasons[:_MAX_REASONS], f"{omitted_count} more reasons are omitted."]
