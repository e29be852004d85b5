"""Targets of commands for which no setting names any: those that the project requires."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.config import SettingSource, SourceKind

if TYPE_CHECKING:
    from ciguard.config import EffectiveSettings


def with_required_targets(settings: EffectiveSettings) -> EffectiveSettings:
    """Return the settings, with targets from the project's requirements instead of the defaults.

    Targets that a setting names, or a plan, are not replaced.
    """
    from ciguard.planning import required_targets_in

    is_default = settings.sources["targets"].kind is SourceKind.DEFAULT
    targets = required_targets_in(Path.cwd()) if is_default and not settings.config.plan else ()
    if not targets:
        return settings
    return replace(
        settings,
        config=replace(settings.config, targets=targets),
        sources={**settings.sources, "targets": SettingSource(SourceKind.REQUIREMENTS)},
    )
