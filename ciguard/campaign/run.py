"""A run: provisioning, the stages of its time box, and its end, as a generator of events."""

from __future__ import annotations

import errno
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.campaign.conclude import load_memory
from ciguard.campaign.ending import end
from ciguard.campaign.journal import Journal, Past, read_journal, set_aside
from ciguard.campaign.levels import check_levels
from ciguard.campaign.loop import Loop
from ciguard.campaign.output_lock import sole_writer
from ciguard.campaign.parameters import resumed
from ciguard.campaign.planned import is_batch, planned, row_warning
from ciguard.campaign.provisioning import provision_targets
from ciguard.campaign.sharding.own_part import forget_part
from ciguard.campaign.stages.sequence import stages_of
from ciguard.campaign.state import begin
from ciguard.domain.events import Event, RunStarted, StageFinished, Warned
from ciguard.errors import OutputError
from ciguard.execution import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.baseline import BaselineStore
    from ciguard.campaign.conclude import Intends
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config

_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Workers need temporary files, so a full disk may show itself anywhere."""


def run(
    config: Config,
    *,
    store: BaselineStore | None = None,
    intends: Intends | None = None,
    publishing: Publishing | None = None,
) -> Iterator[Event]:
    """Run a campaign.

    The last event is `RunFinished`, also after an interruption: a KeyboardInterrupt, raised here or
    thrown in, ends the run with what was found so far.

    Args:
        config: what to run.
        store: of the baseline, if it is open already.
        intends: decides what is to be done about what is found, before the baseline is written.
        publishing: what is shown of the baseline beside it.

    Raises:
        CiguardError: before anything runs, if targets, baseline or output folder are unusable;
            while it runs, if results cannot be written.
    """
    past = read_journal(config.out) if config.resume else Past()
    was_empty = config.resume and not past.parameters
    if was_empty:
        config = replace(config, resume=False)
    if config.resume:
        config = resumed(config, past.parameters)
    plan, config = planned(config)
    check_levels(config)
    memory = load_memory(config, store=store, intends=intends, publishing=publishing)
    yield RunStarted(
        targets=(*config.base, *config.targets),
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=max(1, config.jobs),
        out=str(config.out),
        resumed=config.resume,
        shard=config.shard,
        plan=plan,
    )
    if was_empty:
        yield Warned(message="The run to resume was killed before it did anything: started afresh.")
    yield from row_warning(plan, config)
    began = time.monotonic()
    # What is deviating is the head: the first target is the reference of the others.
    environments = yield from provision_targets((*config.base, *config.targets))
    yield StageFinished(stage="provision", spent_s=time.monotonic() - began)
    try:
        with ExitStack() as stack:
            stack.enter_context(sole_writer(config.out))
            if not config.resume:
                forget_part(config.out)
                set_aside(config.out)
            journal = stack.enter_context(Journal(config.out))
            dispatcher = stack.enter_context(Dispatcher(lanes=max(1, config.jobs)))
            state = begin(config, memory, past, dispatcher=dispatcher, journal=journal)
            state.base = tuple(environments)[: len(config.base)]  # provided before the head's
            dates = is_batch(plan, config) and not memory.is_first
            stages = stages_of(state, environments, dates=dates)
            yield from _concluded(state, stages, Loop(state, stages))
    except OSError as error:
        if error.errno not in _NO_SPACE:
            raise
        msg = (
            f"{error.filename or tempfile.gettempdir()}: {error.strerror}. Free some space, then "
            "go on with `ciguard run --resume`."
        )
        raise OutputError(msg) from error


def _concluded(
    state: CampaignState, stages: Sequence[CampaignStage], loop: Loop
) -> Iterator[Event]:
    interrupted = False
    try:
        yield from loop.run()
    except KeyboardInterrupt:
        interrupted = True
    yield from end(state, stages, loop, interrupted=interrupted)
