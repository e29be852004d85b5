"""Initial experience of a run, recorded so that the run can be repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.campaign.experience import (
    ExperienceStore,
    Snapshot,
    read_run_snapshot,
    write_run_snapshot,
)
from ciguard.campaign.observing import with_observed_operators
from ciguard.campaign.parameters import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.campaign.group import Group
    from ciguard.campaign.state import CampaignState
    from ciguard.levels import VisitedLevel

_MAX_OBSERVING_SHARE = 0.05
"""Maximum share of the budget in which operators are observed, once in each environment."""
EXPERIENCE = "experience"
"""Key of the parameters for the digests of the run's initial snapshots."""


def initial_experience(
    state: CampaignState, group: Group, level: VisitedLevel, name: Callable[[str], str]
) -> Snapshot:
    """Return the experience that a group's levels begin with.

    Args:
        state: state of the run.
        group: group of the library.
        level: first level that uses it.
        name: returns the name of a stream, given the digest of an experience.

    Raises:
        OutputError: if it cannot be written, or that of the run to resume is missing.
    """
    config = state.config
    if config.resume:
        digest = state.resume_state.parameters.get(EXPERIENCE, {}).get(group.library, "")
        return read_run_snapshot(config.out, group.library, digest)
    store = ExperienceStore(
        next(iter(group.running)).environment,
        baseline=state.baseline.store.folder,
        is_shared=not config.is_part,
    )
    knows = state.baseline.frontier.knows
    snapshot = store.choose(lambda digest: knows(name(digest)))
    if not config.has_fixed_cases and not knows(name(snapshot.digest)):
        # Otherwise the run repeats the cases of another one, or those of other machines.
        snapshot = with_observed_operators(
            snapshot,
            level,
            group,
            state.dispatcher,
            limit_s=_MAX_OBSERVING_SHARE * config.budget_s,
        )
    write_run_snapshot(config.out, group.library, snapshot)
    return snapshot


def save_experience(state: CampaignState) -> None:
    """Store the experience of a run for later campaigns; that of a shard is not stored."""
    for library, group in state.groups.items():
        learned = dict(state.used.get(library, Snapshot()).learned)
        for stream in state.streams.values():
            if stream.group is group:
                learned |= stream.learned()
        environment = next(iter(group.members.values())).environment
        ExperienceStore(environment, is_shared=not state.config.is_part).save(learned)


def run_parameters(state: CampaignState) -> dict[str, Any]:
    """Return the settings of a run and the digests of its initial experience, as JSON."""
    digests = {library: snapshot.digest for library, snapshot in state.used.items()}
    return {**parameters_of(state.config), EXPERIENCE: digests}
