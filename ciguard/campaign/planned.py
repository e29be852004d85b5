"""The plan of a run, read from an untrusted file."""

from __future__ import annotations

from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.domain.events import Warned
from ciguard.domain.plan import Plan, PlanMode, plan_from_json
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError
from ciguard.files import parse_json, read_text
from ciguard.levels import globs_without_match, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.config import Config

_MAX_BYTES = 16 * 1024 * 1024
_MAX_GLOBS = 10_000
_MAX_GLOB_LENGTH = 300
_MAX_STARS = 8
"""Maximum number of wildcards in one glob, as matching many of them is slow."""
_MAX_LISTED = 5
_FUNCTION_MARK = ".py:"
"""Text that occurs in the names of functions, but not in those of APIs."""


def apply_plan(config: Config) -> tuple[Plan | None, Config]:
    """Return the plan that the settings name, if any, and the settings with its focus.

    Raises:
        ConfigurationError: if the file is not a plan.
    """
    if not config.plan:
        return None, config
    plan = read_plan(Path(config.plan))
    # The user's own focus precedes that of the plan.
    focus = tuple(dict.fromkeys((*config.focus, *map(_relative_to_folder, plan.focus))))
    return plan, replace(config, focus=focus)


def is_batch(plan: Plan | None, config: Config) -> bool:
    """Return whether a run is a long one of a default branch, not that of a pull request."""
    is_short = config.compare_only or bool(config.base)
    return plan is not None and plan.mode is PlanMode.BATCH and not is_short


def _relative_to_folder(glob: str) -> str:
    """Return a glob over functions relative to the current folder instead of the repository's."""
    current = Path.cwd()
    folders = (current, *current.parents)
    root = next((folder for folder in folders if (folder / ".git").exists()), current)
    below = current.relative_to(root).as_posix()
    is_function = _FUNCTION_MARK in glob and below != "."
    return glob.removeprefix(f"{escape(below)}/") if is_function else glob


def read_plan(path: Path) -> Plan:
    """Read a plan.

    Raises:
        ConfigurationError: if the file is not a plan.
    """
    place = f"--plan {visible(path.as_posix())}"
    try:
        plan = plan_from_json(parse_json(read_text(path, most=_MAX_BYTES)))
        _check_focus(plan.focus)
    except OSError as error:
        msg = f"{place}: cannot be read: {error.strerror}. Write one with `ciguard plan`."
        raise ConfigurationError(msg) from error
    except (ValueError, RecursionError) as error:
        reason = visible(str(error)) if isinstance(error, ValueError) else "nested too deeply"
        msg = f"{place}: not a plan: {reason}. Write one with `ciguard plan`."
        raise ConfigurationError(msg) from error
    return plan


def row_warning(plan: Plan | None, config: Config) -> Iterator[Warned]:
    """Warn if the targets of the run are those of no row of the plan."""
    jobs = plan.jobs if plan else ()
    rows = {(job.targets, job.base) for job in jobs}
    rows.add((_distinct(job.targets for job in jobs), _distinct(job.base for job in jobs)))
    if jobs and (config.targets, config.base) not in rows:
        names = visible(", ".join((*config.base, *config.targets)))
        yield Warned(
            message=f"--plan: no row of the plan has the targets {names}. Set --target and --base "
            "to those of one row, as `ciguard plan` prints them."
        )


def _distinct(rows: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the distinct names of all rows, as one run may cover all of them."""
    return tuple(dict.fromkeys(name for names in rows for name in names))


def focus_warning(groups: Mapping[str, Group], config: Config) -> Iterator[Warned]:
    """Warn of globs of the focus that match no tested API."""
    known = [
        record
        for group in groups.values()
        for record in select(group.records(), config.api, config.exclude, allow=config.allow)
    ]
    globs = [glob for glob in config.focus if _FUNCTION_MARK not in glob]
    unmatched_globs = globs_without_match(known, globs) if known else []
    if unmatched_globs:
        shown = ", ".join(visible(glob, limit=120) for glob in unmatched_globs[:_MAX_LISTED])
        rest = len(unmatched_globs) - _MAX_LISTED
        more = f", and {rest} more" if rest > 0 else ""
        count = f"{len(unmatched_globs)} of {len(globs)}"
        yield Warned(message=f"focus: {count} globs match no tested API: {shown}{more}")


def _check_focus(globs: tuple[str, ...]) -> None:
    if len(globs) > _MAX_GLOBS:
        msg = f"'focus' has {len(globs)} globs, more than {_MAX_GLOBS}"
        raise ValueError(msg)
    for glob in globs:
        if len(glob) > _MAX_GLOB_LENGTH or glob.count("*") > _MAX_STARS or not glob.strip():
            msg = f"'focus' contains {glob!r:.60}, which is not a valid glob"
            raise ValueError(msg)
