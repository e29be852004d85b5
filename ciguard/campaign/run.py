"""A run as a generator of events: provisioning, stages and conclusion."""

from __future__ import annotations

import errno
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.campaign.announcing import check_release_notes
from ciguard.campaign.capacity import lanes_of
from ciguard.campaign.conclude import load_baseline
from ciguard.campaign.ending import finish_run
from ciguard.campaign.garbage import collected_rarely
from ciguard.campaign.journal import Journal, ResumeState, archive_journal, read_journal
from ciguard.campaign.levels import check_levels
from ciguard.campaign.loop import Loop
from ciguard.campaign.output_lock import lock_output
from ciguard.campaign.parameters import resumed
from ciguard.campaign.planned import apply_plan, is_batch, row_warning
from ciguard.campaign.provisioning import provision_targets
from ciguard.campaign.sharding.own_part import remove_part
from ciguard.campaign.stages.sequence import stages_of
from ciguard.campaign.state import begin
from ciguard.domain.events import Event, RunStarted, StageFinished, Warned
from ciguard.errors import OutputError
from ciguard.execution import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.baseline import BaselineStore
    from ciguard.campaign.conclude import IssuePlanner
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Errors of a full disk, which any part of a run may raise, as workers need temporary files."""


def run(
    config: Config,
    *,
    store: BaselineStore | None = None,
    plan_issues: IssuePlanner | None = None,
    publishing: Publishing | None = None,
) -> Iterator[Event]:
    """Run a campaign.

    The last event is `RunFinished`, even after an interruption: a KeyboardInterrupt, raised here or
    thrown in, ends the run with the findings so far.

    Args:
        config: settings of the run.
        store: store of the baseline, if it is open already.
        plan_issues: plans the issues for the findings, before the baseline is written.
        publishing: files that are written next to the baseline.

    Raises:
        CiguardError: if targets, baseline or output folder are unusable, or if results cannot be
            written later.
    """
    resume_state = read_journal(config.out) if config.resume else ResumeState()
    is_journal_empty = config.resume and not resume_state.parameters
    if is_journal_empty:
        config = replace(config, resume=False)
    if config.resume:
        config = resumed(config, resume_state.parameters)
    plan, config = apply_plan(config)
    check_levels(config)
    check_release_notes(config)
    baseline = load_baseline(config, store=store, plan_issues=plan_issues, publishing=publishing)
    yield RunStarted(
        targets=(*config.base, *config.targets),
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=lanes_of(config),
        out=str(config.out),
        resumed=config.resume,
        shard=config.shard,
        plan=plan,
    )
    if is_journal_empty:
        yield Warned(message="The run to resume has no progress; starting from the beginning.")
    yield from row_warning(plan, config)
    started_at = time.monotonic()
    # The first target is the reference of the others, so that deviations are the head's.
    environments = yield from provision_targets((*config.base, *config.targets))
    yield StageFinished(stage="provision", spent_s=time.monotonic() - started_at)
    try:
        with ExitStack() as stack:
            stack.enter_context(lock_output(config.out))
            stack.enter_context(collected_rarely())
            if not config.resume:
                remove_part(config.out)
                archive_journal(config.out)
            journal = stack.enter_context(Journal(config.out))
            dispatcher = stack.enter_context(Dispatcher(lanes=lanes_of(config)))
            state = begin(config, baseline, resume_state, dispatcher=dispatcher, journal=journal)
            state.base = tuple(environments)[: len(config.base)]  # they precede those of the head
            dates = is_batch(plan, config) and not baseline.is_first
            stages = stages_of(state, environments, dates=dates)
            yield from _events(state, stages, Loop(state, stages))
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        msg = (
            f"{error.filename or tempfile.gettempdir()}: {error.strerror}. Free some space, then "
            "continue with `ciguard run --resume`."
        )
        raise OutputError(msg) from error


def _events(state: CampaignState, stages: Sequence[CampaignStage], loop: Loop) -> Iterator[Event]:
    interrupted = False
    try:
        yield from loop.run()
    except KeyboardInterrupt:
        interrupted = True
    yield from finish_run(state, stages, loop, interrupted=interrupted)
