"""Why a plan is as it is, in sentences for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.planning.checkout import shown_path

if TYPE_CHECKING:
    from ciguard.domain.plan import SkippedJob
    from ciguard.planning.checkout import ChangedFile
    from ciguard.planning.upgrades import FileChange, Upgrade
    from ciguard.planning.uses import Usage

_MAX_NAMES = 5
_MAX_REASONS = 60


def upgrade_sentence(upgrade: Upgrade) -> str:
    """Return why a target is held against another."""
    return (
        f"{upgrade.target} is held against {upgrade.base}, since this change moves from one to "
        "the other."
    )


def change_sentences(changed: list[ChangedFile], changes: list[FileChange]) -> list[str]:
    """Return what of the checkout differs from the base."""
    if not changed:
        return []
    sentences = [
        f"{visible(shown_path(change.path))} asks for {change.library} "
        f"{visible(str(change.base or 'not at all'))} before and "
        f"{visible(str(change.head or 'not at all'))} after."
        for change in changes
    ]
    differ = "1 file differs" if len(changed) == 1 else f"{len(changed)} files differ"
    return [*sentences, f"{differ} from the base: {_some(_paths(changed))}."]


def _paths(changed: list[ChangedFile]) -> list[str]:
    return [shown_path(change.path) for change in changed]


def focus_sentences(usage: Usage, touched: list[str], focus: tuple[str, ...]) -> list[str]:
    """Return which APIs and functions come first, and why."""
    sentences = []
    if touched:
        sentences.append(f"First come the APIs that this change touches: {_some(touched)}.")
    if usage.touched:
        sentences.append(f"Changed functions and classes: {_some(usage.touched)}.")
    if usage.annotated:
        shown = [shown_path(path) for path in usage.annotated]
        sentences.append(f"Level function begins with what the change reaches: {_some(shown)}.")
    for level, files in usage.of_levels.items():
        shown = [shown_path(path) for path in files]
        sentences.append(f"Level {level} begins with what the change reaches: {_some(shown)}.")
    tested = frozenset(focus)
    for apis, where in (
        (usage.in_changes, "in changed lines"),
        (usage.in_changed_files, "elsewhere in changed files"),
        (usage.elsewhere, "elsewhere in the repository"),
    ):
        known = [api for api in apis if api in tested]
        if known:
            sentences.append(f"{_are_used(known)} {where}: {_some(known)}.")
    left = [api for api in usage.apis if api not in tested]
    if left:
        where = "of libraries without a target"
        sentences.append(f"{_are_used(left)} {where}: {_some(left)}.")
    if not focus:
        sentences.append("The sources use no API of these targets: all APIs are tried alike.")
    return sentences


def _are_used(apis: list[str]) -> str:
    return "1 API is used" if len(apis) == 1 else f"{len(apis)} APIs are used"


def skipped_sentences(skipped: list[SkippedJob]) -> list[str]:
    """Return which jobs are not run, and why."""
    return [f"Not run: {', '.join(job.targets)} on {job.device}: {job.reason}." for job in skipped]


def _some(names: list[str] | tuple[str, ...]) -> str:
    shown = ", ".join(visible(name, limit=120) for name in names[:_MAX_NAMES])
    return f"{shown}, and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else shown


def bounded(reasons: list[str]) -> list[str]:
    """Return reasons, so many that people read them."""
    if len(reasons) <= _MAX_REASONS:
        return reasons
    more = len(reasons) - _MAX_REASONS
    return [*reasons[:_MAX_REASONS], f"{more} more notes are left out."]
