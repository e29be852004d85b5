"""State of a run, shared by its stages."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ciguard.campaign.budget import Budget
from ciguard.campaign.finding_collector import FindingCollector
from ciguard.campaign.group import members_of, subject_of
from ciguard.campaign.investigations import Investigations
from ciguard.campaign.levels import levels_in
from ciguard.triage import Confirmer

if TYPE_CHECKING:
    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.conclude import BaselineSnapshot
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.group import Group, Member
    from ciguard.campaign.journal import Journal, ResumeState
    from ciguard.campaign.stream import Stream
    from ciguard.config import Config
    from ciguard.domain.detection import Detection
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.execution import Dispatcher


@dataclass(slots=True, kw_only=True)
class CampaignState:
    """Settings, tools and progress of one run."""

    config: Config
    """Settings of the run."""
    baseline: BaselineSnapshot
    """Baseline when the run began."""
    resume_state: ResumeState
    """State of the interrupted run that this one resumes; empty for a new run."""
    budget: Budget
    """Time budget of the run."""
    dispatcher: Dispatcher
    """Dispatcher of all jobs."""
    journal: Journal
    """Journal of the run, for resuming it."""
    groups: dict[str, Group]
    """Groups by library; empty until the targets are ready, like `streams`."""
    confirmer: Confirmer
    """Confirmer of the findings that the collector proposes."""
    collector: FindingCollector
    """Collector of findings and buckets."""
    investigations: Investigations
    """Investigators of the levels that have one."""
    streams: dict[str, Stream] = field(default_factory=dict)
    """Streams by name."""
    base: tuple[str, ...] = ()
    """Names of the base's targets."""
    used: dict[str, Snapshot] = field(default_factory=dict)
    """Experience that the run began with, by library."""
    documentation: list[DocumentationFinding] = field(default_factory=list)
    """Findings in the documentation of the libraries."""
    detection: Detection | None = None
    """Planted defects, and which of them oracles have noticed; None if none were planted."""
    explored_in_s: float
    """Budget that suffices to explore as far as the streams did, in seconds."""
    is_late: bool = False
    """True if the time for cases was over before the first case."""

    @property
    def members(self) -> dict[str, Member]:
        """Targets of all groups, by name."""
        return members_of(self.groups)

    def corpus(self, *, is_flaky: bool = False) -> list[BaselineRecord]:
        """Return this shard's part of `BaselineSnapshot.corpus`, by decreasing severity."""
        shard = self.config.shard
        corpus = self.baseline.corpus(is_flaky=is_flaky)
        return [record for record in corpus if shard.has(record.fingerprint)]


def begin(
    config: Config,
    baseline: BaselineSnapshot,
    resume_state: ResumeState,
    *,
    dispatcher: Dispatcher,
    journal: Journal,
) -> CampaignState:
    """Return the initial state of a run, whose targets are not ready yet.

    Args:
        config: settings of the run.
        baseline: baseline when the run begins.
        resume_state: state of the run to resume; empty for a new run.
        dispatcher: dispatcher of all jobs.
        journal: journal of the run.
    """
    budget = Budget(config.budget_s, spent_s=resume_state.elapsed_s)
    groups: dict[str, Group] = {}
    confirmer = Confirmer(
        dispatcher,
        repetitions=config.confirmations,
        subject_of=partial(subject_of, groups),
        time_left=lambda: budget.confirm_until - time.monotonic(),
    )
    collector = FindingCollector(
        confirmer=confirmer,
        journal=journal,
        groups=groups,
        known=baseline.fingerprints,
        policy=config.policy,
    )
    return CampaignState(
        config=config,
        baseline=baseline,
        resume_state=resume_state,
        budget=budget,
        dispatcher=dispatcher,
        journal=journal,
        groups=groups,
        confirmer=confirmer,
        collector=collector,
        investigations=Investigations(levels_in(config), dispatcher, collector),
        explored_in_s=config.budget_s,
    )
