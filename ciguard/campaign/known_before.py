"""What a run begins with: learned from outcomes before, kept so that it can begin so again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.campaign.experience import ExperienceStore, Snapshot, note_used, recall_used
from ciguard.campaign.parameters import parameters_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.campaign.group import Group
    from ciguard.campaign.state import CampaignState

EXPERIENCE = "experience"
"""Key of the parameters: which snapshots of what was learned the run began with."""


def known_before(state: CampaignState, group: Group, name: Callable[[str], str]) -> Snapshot:
    """Return what a group's level begins with: with what was learned before, if anything.

    Args:
        state: of the run.
        group: of the library.
        name: names a stream by the digest of that.

    Raises:
        OutputError: if it cannot be kept, or what the resumed run began with is gone.
    """
    config = state.config
    if config.resume:
        digest = state.past.parameters.get(EXPERIENCE, {}).get(group.library, "")
        return recall_used(config.out, group.library, digest)
    store = ExperienceStore(
        next(iter(group.running)).environment,
        baseline=state.memory.store.folder,
        is_shared=not config.is_part,
    )
    used = store.choose(lambda digest: state.memory.frontier.knows(name(digest)))
    note_used(config.out, group.library, used)
    return used


def keep_learned(state: CampaignState) -> None:
    """Keep what was learned for the next campaign; a shard knows too little to replace that."""
    for library, group in state.groups.items():
        learned = dict(state.used.get(library, Snapshot()).learned)
        for stream in state.streams.values():
            if stream.group is group:
                learned |= stream.lessons.everything()
        environment = next(iter(group.members.values())).environment
        ExperienceStore(environment, is_shared=not state.config.is_part).save(learned)


def run_parameters(state: CampaignState) -> dict[str, Any]:
    """Return the settings of a run with what it began with, as JSON."""
    used = {library: snapshot.digest for library, snapshot in state.used.items()}
    return {**parameters_of(state.config), EXPERIENCE: used}
