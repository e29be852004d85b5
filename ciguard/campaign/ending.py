"""The finish_run of a run, complete or interrupted: evaluate the results of its stages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from ciguard.baseline import histories
from ciguard.campaign.announcing import announce
from ciguard.campaign.baseline_status import baseline_status
from ciguard.campaign.conclude import Conclusion, conclude
from ciguard.campaign.initial_experience import run_parameters, save_experience
from ciguard.campaign.script_checks import check_scripts
from ciguard.campaign.scripts import script_targets_of
from ciguard.campaign.setup import summary
from ciguard.campaign.sharding.own_part import part_of
from ciguard.domain.events import RunFinished, Warned
from ciguard.domain.parts import StreamProgress, functions_of
from ciguard.domain.value_table import merged_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.campaign.loop import Loop
    from ciguard.campaign.stages.stage import CampaignStage
    from ciguard.campaign.state import CampaignState
    from ciguard.domain.events import Event


def finish_run(
    state: CampaignState, stages: Sequence[CampaignStage], loop: Loop, *, interrupted: bool
) -> Iterator[Event]:
    """Conclude a run; the last event is `RunFinished`.

    Raises:
        ConfigurationError: if release notes cannot be read.
        OutputError: if reproducers cannot be written.
        BaselineError: if the baseline cannot be written; its content is unchanged then.
    """
    warnings = loop.finish()
    save_experience(state)
    yield from warnings
    for group in state.groups.values():
        yield from (Warned(message=text) for text in group.unbuilt_warnings())
    _mark_targets_without_cases(state)
    if not interrupted:
        yield from announce(state)
    conclusion = _conclusion(state, stages, interrupted=interrupted)
    result = yield from conclude(conclusion, state.collector.buckets())
    standing = baseline_status(
        state.baseline, conclusion.targets, base=conclusion.base, now=datetime.now(UTC)
    )
    members = state.members
    finished = RunFinished(
        verdict=result.verdict,
        exit_code=result.exit_code,
        summary=result.summary,
        targets=conclusion.targets,
        buckets=result.buckets,
        stages=dict(state.budget.stages),
        history=histories(state.baseline.records),
        apis_exercised={name: len(member.exercised) for name, member in members.items()},
        parameters=run_parameters(state),
        baseline=standing,
        detection=state.detection,
        values=merged_values(stream.values.table for stream in state.streams.values()),
    )
    part = part_of(conclusion, finished, members, documentation=state.documentation)
    yield replace(finished, parts=(part,))


def _mark_targets_without_cases(state: CampaignState) -> None:
    for member in state.members.values():
        if member.tally.total or member.not_run:
            continue
        requested = state.dispatcher.requested(member.name)
        if requested:
            member.not_run = f"none of its {requested} cases was executed in time"
        elif state.is_late:
            member.not_run = _late_reason(state)


def _late_reason(state: CampaignState) -> str:
    """Return the reason why no case was run when the preparation took all the time."""
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
        baseline=state.baseline,
        budget=state.budget,
        targets=tuple(summary(member) for member in members.values()),
        base=state.base,
        script_targets=script_targets_of(members),
        trial=partial(
            check_scripts,
            members=members,
            dispatcher=state.dispatcher,
            until=state.budget.scripts_until,
            case_limit_s=state.config.case_limit_s,
        ),
        replayed={name: targets for stage in stages for name, targets in stage.replayed.items()},
        shown={name for stage in stages for name in stage.shown},
        shown_on=state.collector.shown_on,
        explored={
            name: (progress, state.explored_in_s) for name, progress in _explored(state).items()
        },
        functions=functions_of(stream.called.reasons() for stream in state.streams.values()),
        used=list(state.used.items()),
        interrupted=interrupted,
        detection=state.detection,
    )


def _explored(state: CampaignState) -> dict[str, StreamProgress]:
    """Return the progress of each stream."""
    digests = {library: snapshot.digest for library, snapshot in state.used.items()}
    return {
        name: StreamProgress(
            batches=stream.batches.done,
            visits=stream.batches.visits,
            learned=digests.get(stream.group.library, ""),
        )
        for name, stream in state.streams.items()
    }
