"""The part of a campaign that a run writes for `ciguard merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard import __version__
from ciguard.campaign.capacity import lanes_of
from ciguard.campaign.parameters import parameters_of
from ciguard.config import SETTINGS
from ciguard.domain.parts import PARTS_FILE, SHARED_LISTS, SHARED_NUMBERS, Part, without_run_results
from ciguard.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ciguard.campaign.conclude import Conclusion
    from ciguard.campaign.group import Member
    from ciguard.config import Config
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.events import RunFinished


def remove_part(folder: Path) -> None:
    """Remove the part of an earlier run, which could be mistaken for that of an interrupted one.

    Raises:
        OutputError: if it cannot be removed.
    """
    path = folder / PARTS_FILE
    try:
        if path.exists():
            path.unlink()
    except OSError as error:
        msg = f"{path}: cannot be removed: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error


def campaign_of(config: Config) -> dict[str, Any]:
    """Return the settings that all parts of one campaign share."""
    parameters = parameters_of(config)
    level_settings = [setting.field for setting in SETTINGS.values() if setting.decides_cases]
    return {name: parameters[name] for name in (*SHARED_NUMBERS, *SHARED_LISTS, *level_settings)}


def part_of(
    run: Conclusion,
    end: RunFinished,
    members: Mapping[str, Member],
    *,
    documentation: Iterable[DocumentationFinding],
) -> Part:
    """Return the part of a finished run."""
    config = run.config
    return Part(
        ciguard=__version__,
        campaign=campaign_of(config),
        targets=config.targets,
        base=config.base,
        shard=config.shard,
        verdict=end.verdict,
        budget_s=config.budget_s,
        explored_in_s=min((budget_s for _, budget_s in run.explored.values()), default=0.0),
        jobs=lanes_of(config),
        ran=end.targets,
        exercised={name: frozenset(member.exercised) for name, member in members.items()},
        replayed=dict(run.replayed),
        shown_on={name: frozenset(targets) for name, targets in run.shown_on.items()},
        explored={name: progress for name, (progress, _) in run.explored.items()},
        functions=dict(run.functions),
        stages=dict(end.stages),
        buckets=tuple(without_run_results(bucket) for bucket in end.buckets if bucket.is_met),
        documentation=tuple(documentation),
        detection=run.detection,
        values=end.values,
    )
