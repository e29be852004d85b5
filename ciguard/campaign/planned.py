"""The plan that a run was given: read from a file that anybody may have written."""

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
from ciguard.levels import select, unmatched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.config import Config

_MAX_BYTES = 16 * 1024 * 1024
_MAX_GLOBS = 10_000
_MAX_GLOB_LENGTH = 300
_MAX_STARS = 8
"""Wildcards in one glob: more name nothing that fewer do not, and take long to match."""
_FEW = 5
_OF_FUNCTIONS = ".py:"
"""In what names functions, and in no name of an API."""


def planned(config: Config) -> tuple[Plan | None, Config]:
    """Return the plan that the settings name, if any, and the settings with its focus.

    Raises:
        ConfigurationError: if the file is no plan.
    """
    if not config.plan:
        return None, config
    plan = read_plan(Path(config.plan))
    # What a person asks for at the desk comes before what was planned.
    focus = tuple(dict.fromkeys((*config.focus, *map(_from_here, plan.focus))))
    return plan, replace(config, focus=focus)


def is_batch(plan: Plan | None, config: Config) -> bool:
    """Return whether a run is one of the long ones of a default branch, never a pull request's."""
    is_short = config.compare_only or bool(config.base)
    return plan is not None and plan.mode is PlanMode.BATCH and not is_short


def _from_here(glob: str) -> str:
    """Return a glob over functions as it is seen from the current folder, not the repository's."""
    here = Path.cwd()
    root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    below = here.relative_to(root).as_posix()
    is_function = _OF_FUNCTIONS in glob and below != "."
    return glob.removeprefix(f"{escape(below)}/") if is_function else glob


def read_plan(path: Path) -> Plan:
    """Return the plan that a file holds.

    Raises:
        ConfigurationError: if the file is no plan.
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
    """Say that the plan means other targets: it brings what to try first, not what to run on."""
    jobs = plan.jobs if plan else ()
    rows = {(job.targets, job.base) for job in jobs}
    rows.add((_distinct(job.targets for job in jobs), _distinct(job.base for job in jobs)))
    if jobs and (config.targets, config.base) not in rows:
        names = visible(", ".join((*config.base, *config.targets)))
        yield Warned(
            message=f"--plan: no row of the plan has these targets ({names}): name those of a row "
            "with --target and --base, as `ciguard plan` prints them"
        )


def _distinct(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return what is in any of them once: one run may be of all rows."""
    return tuple(dict.fromkeys(name for names in several for name in names))


def focus_warning(groups: Mapping[str, Group], config: Config) -> Iterator[Warned]:
    """Say which globs of the focus name no API that takes part."""
    known = [
        record
        for group in groups.values()
        for record in select(group.records(), config.api, config.exclude, allow=config.allow)
    ]
    asked = [glob for glob in config.focus if _OF_FUNCTIONS not in glob]
    lost = unmatched(known, asked) if known else []
    if lost:
        shown = ", ".join(visible(glob, limit=120) for glob in lost[:_FEW])
        more = f", and {len(lost) - _FEW} more" if len(lost) > _FEW else ""
        count = f"{len(lost)} of {len(asked)}"
        yield Warned(message=f"focus: {count} match no API that is tested here: {shown}{more}")


def _check_focus(globs: tuple[str, ...]) -> None:
    if len(globs) > _MAX_GLOBS:
        msg = f"'focus' has {len(globs)} globs, more than {_MAX_GLOBS}"
        raise ValueError(msg)
    for glob in globs:
        if len(glob) > _MAX_GLOB_LENGTH or glob.count("*") > _MAX_STARS or not glob.strip():
            msg = f"'focus' holds {glob!r:.60}, which is no glob over names"
            raise ValueError(msg)
