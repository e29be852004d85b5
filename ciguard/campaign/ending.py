"""The end of a run: what its stages have done is concluded, also where somebody has ended it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from ciguard.baseline import histories
from ciguard.campaign.conclude import Conclusion, conclude
from ciguard.campaign.known_before import keep_learned, run_parameters
from ciguard.campaign.scripts import sites_of, try_scripts
from ciguard.campaign.setup import summary
from ciguard.campaign.sharding.own_part import part_of
from ciguard.campaign.standing import standing_of
from ciguard.domain.events import RunFinished, Warned
from ciguard.domain.parts import StreamProgress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.loop import Loop
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event


def end(
    state: CampaignState, stages: Sequence[CampaignStage], loop: Loop, *, interrupted: bool
) -> Iterator[Event]:
    """Conclude a run; the last event is `RunFinished`.

    Raises:
        OutputError: if reproducers cannot be written.
        BaselineError: if the baseline cannot be written; what it held is intact.
    """
    void = loop.finish()
    keep_learned(state)
    yield from void
    for group in state.groups.values():
        yield from (Warned(message=text) for text in group.ill_built())
    _mark_what_did_not_run(state)
    conclusion = _conclusion(state, stages, interrupted=interrupted)
    finished = yield from conclude(conclusion, state.intake.buckets())
    standing = standing_of(
        state.memory, conclusion.targets, base=conclusion.base, now=datetime.now(UTC)
    )
    members = state.members
    ended = RunFinished(
        verdict=finished.verdict,
        exit_code=finished.exit_code,
        summary=finished.summary,
        targets=conclusion.targets,
        buckets=finished.buckets,
        stages=dict(state.budget.stages),
        history=histories(state.memory.records),
        apis_exercised={name: len(member.exercised) for name, member in members.items()},
        parameters=run_parameters(state),
        baseline=standing,
    )
    part = part_of(conclusion, ended, members, documentation=state.documentation)
    yield replace(ended, parts=(part,))


def _mark_what_did_not_run(state: CampaignState) -> None:
    for member in state.members.values():
        if member.tally.total or member.not_run:
            continue
        requested = state.dispatcher.requested(member.name)
        if requested:
            member.not_run = f"none of its {requested} cases was executed in time"
        elif state.is_late:
            member.not_run = _late(state)


def _late(state: CampaignState) -> str:
    """Return why no case was run where preparing took all the time."""
    spent_s = sum(state.budget.stages.get(name, 0.0) for name in ("describe", "replay"))
    targets = len(state.members)
    started = "the target" if targets == 1 else f"{targets} targets"
    return (
        f"preparing {started} took {spent_s:.0f} s, so of the budget of "
        f"{state.config.budget_s:g} s nothing was left for cases. Raise --budget"
    )


def _conclusion(
    state: CampaignState, stages: Sequence[CampaignStage], *, interrupted: bool
) -> Conclusion:
    members = state.members
    return Conclusion(
        config=state.config,
        memory=state.memory,
        budget=state.budget,
        targets=tuple(summary(member) for member in members.values()),
        base=state.base,
        sites=sites_of(members),
        trial=partial(
            try_scripts,
            members=members,
            dispatcher=state.dispatcher,
            until=state.budget.scripts_until,
            case_limit_s=state.config.case_limit_s,
        ),
        replayed={name: on for stage in stages for name, on in stage.replayed.items()},
        shown={name for stage in stages for name in stage.shown},
        shown_on=state.intake.shown_on,
        explored={name: (far, state.explored_in_s) for name, far in _explored(state).items()},
        used=list(state.used.items()),
        interrupted=interrupted,
    )


def _explored(state: CampaignState) -> dict[str, StreamProgress]:
    """Return how far each stream got."""
    digests = {library: snapshot.digest for library, snapshot in state.used.items()}
    return {
        name: StreamProgress(batches=stream.done, learned=digests.get(stream.group.library, ""))
        for name, stream in state.streams.items()
    }
