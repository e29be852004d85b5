"""The sequence of a run's stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.stages.attribute import Attribute
from ciguard.campaign.stages.confirm import Confirm, ConfirmHangs
from ciguard.campaign.stages.dating import Date
from ciguard.campaign.stages.describe import Describe
from ciguard.campaign.stages.detect import Detect
from ciguard.campaign.stages.direct import direct_stages
from ciguard.campaign.stages.explore import Explore, ExploreAgain
from ciguard.campaign.stages.instructions import CountInstructions
from ciguard.campaign.stages.libraries import CrossLibraries
from ciguard.campaign.stages.measure import Measure
from ciguard.campaign.stages.minimise import Minimise
from ciguard.campaign.stages.relatives import CrashRelatives
from ciguard.campaign.stages.replay import Replay
from ciguard.campaign.stages.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.targets import Environment


def stages_of(
    state: CampaignState, environments: Mapping[str, Environment], *, dates: bool
) -> list[CampaignStage]:
    """Return the stages of a run, in order.

    Args:
        state: state of the run.
        environments: environments of its targets, by name.
        dates: whether new buckets are bisected over releases.
    """
    libraries, measure, detect = CrossLibraries(state), Measure(state), Detect(state)
    relatives, confirm = CrashRelatives(state), Confirm(state)
    watchers = (measure.watch, libraries.watch, detect.watch, relatives.watch)
    explore = Explore(state, watchers=watchers)
    return [
        Describe(state, environments),
        Replay(state),
        *direct_stages(state),
        explore,
        relatives,
        libraries,
        measure,
        CountInstructions(state, measure),
        ExploreAgain(explore),
        confirm,
        Minimise(state),
        *([Attribute(state)] if state.config.base else []),
        detect,
        Trace(state),
        *([Date(state)] if dates else []),
        ConfirmHangs(confirm),
    ]
