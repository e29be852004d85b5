"""What the stages of one run share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.budget import Budget
from ciguard.campaign.group import members_of, subject_of
from ciguard.campaign.intake import Intake
from ciguard.campaign.investigations import Investigations
from ciguard.campaign.levels import levels_in
from ciguard.triage import Confirmer

if TYPE_CHECKING:
    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.conclude import Memory
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.group import Group, Member
    from ciguard.campaign.journal import Journal, Past
    from ciguard.campaign.stream import Stream
    from ciguard.config import Config
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.execution import Dispatcher


@dataclass(slots=True, kw_only=True)
class CampaignState:
    """One run: what it was asked for, what it works with, and how far it is."""

    config: Config
    memory: Memory
    past: Past
    """Of the run that this one resumes."""
    budget: Budget
    dispatcher: Dispatcher
    journal: Journal
    groups: dict[str, Group]
    """By library; empty until the targets are ready, as is `streams`."""
    confirmer: Confirmer
    """Repeats what the intake proposes."""
    intake: Intake
    investigations: Investigations
    streams: dict[str, Stream] = field(default_factory=dict)
    """By name."""
    base: tuple[str, ...] = ()
    """Names of the base's targets."""
    used: dict[str, Snapshot] = field(default_factory=dict)
    """What was known from outcomes when the run began, by library."""
    documentation: list[DocumentationFinding] = field(default_factory=list)
    explored_in_s: float
    """The budget that is enough to get as far as the streams did."""
    is_late: bool = False
    """Whether the time for cases was over before the first one."""

    @property
    def members(self) -> dict[str, Member]:
        """Every target of every group, by name."""
        return members_of(self.groups)

    def corpus(self, *, is_flaky: bool = False) -> list[BaselineRecord]:
        """Return what this shard has to replay, the gravest first; see `Memory.corpus`."""
        shard = self.config.shard
        return [r for r in self.memory.corpus(is_flaky=is_flaky) if shard.has(r.fingerprint)]


def begin(
    config: Config,
    memory: Memory,
    past: Past,
    *,
    dispatcher: Dispatcher,
    journal: Journal,
) -> CampaignState:
    """Return the state of a run whose targets are not ready yet.

    Args:
        config: of the run.
        memory: what earlier runs have left.
        past: of the run that is resumed.
        dispatcher: runs every job.
        journal: where it is noted what is found.
    """
    budget = Budget(config.budget_s, spent_s=past.elapsed_s)
    groups: dict[str, Group] = {}
    confirmer = Confirmer(
        dispatcher,
        repetitions=config.confirmations,
        subject_of=partial(subject_of, groups),
        time_left=lambda: budget.confirm_until - time.monotonic(),
    )
    intake = Intake(
        confirmer=confirmer,
        journal=journal,
        groups=groups,
        known=memory.fingerprints,
        policy=config.policy,
    )
    return CampaignState(
        config=config,
        memory=memory,
        past=past,
        budget=budget,
        dispatcher=dispatcher,
        journal=journal,
        groups=groups,
        confirmer=confirmer,
        intake=intake,
        investigations=Investigations(levels_in(config), dispatcher, intake),
        explored_in_s=config.budget_s,
    )
