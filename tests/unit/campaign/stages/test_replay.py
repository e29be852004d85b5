from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import pytest
from baseline_examples import record
from campaign_examples import ONE, TWO, group, member

from ciguard.campaign.stages.replay import Replays
from ciguard.domain.api_calls import as_call
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Exhausted, Passed, Rejected, Resource, Stage
from ciguard.domain.programs import ProgramCase
from ciguard.execution import JobResult

if TYPE_CHECKING:
    from ciguard.baseline import BaselineRecord
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Dispatcher, Job


@dataclass
class FakeDispatcher:
    """A dispatcher that stores jobs."""

    jobs: list[Job] = field(default_factory=list)

    def add(self, job: Job) -> None:
        self.jobs.append(job)


def stored(relation: str) -> BaselineRecord:
    plain = record()
    case = replace(as_call(plain.representative.case), api="planted.double", relation=relation)
    exhibit = replace(plain.representative, library="planted", api="planted.double", case=case)
    return replace(plain, representative=exhibit)


@pytest.mark.parametrize(
    ("relation", "is_run"), [("", True), ("same call twice", True), ("of another package", False)]
)
def test_a_case_whose_relation_is_not_installed_is_not_replayed(
    relation: str, *, is_run: bool
) -> None:
    dispatcher = FakeDispatcher()
    replays = Replays(
        cast("Dispatcher", dispatcher), {"planted": group(member(ONE, "planted.double"))}
    )

    replays.start([stored(relation)])

    assert bool(dispatcher.jobs) == is_run
    assert replays.is_done != is_run


@pytest.mark.parametrize(
    ("intent", "targets"), [(Intent.CONFORMING, [ONE, TWO]), (Intent.VIOLATING, [ONE])]
)
def test_only_conforming_cases_are_replayed_in_a_mode(intent: Intent, targets: list[str]) -> None:
    dispatcher = FakeDispatcher()
    traced = member(TWO, "planted.double")
    traced.identity = replace(traced.identity, mode="trace")
    tested = group(member(ONE, "planted.double"), traced)
    known = stored("")
    case = replace(as_call(known.representative.case), intent=intent)

    Replays(cast("Dispatcher", dispatcher), {"planted": tested}).start(
        [replace(known, representative=replace(known.representative, case=case))]
    )

    assert [job.target for job in dispatcher.jobs] == targets


@pytest.mark.parametrize("api", ["planted", "planted.gone", "planted.double"])
def test_a_program_is_replayed_on_all_eager_targets(api: str) -> None:
    dispatcher = FakeDispatcher()
    traced = member("ciguard-planted==3.0", "planted.double")
    traced.identity = replace(traced.identity, mode="trace")
    tested = group(member(ONE, "planted.double"), member(TWO, "planted.double"), traced)
    known = stored("")
    exhibit = replace(known.representative, api=api, case=ProgramCase(api=api, source="x = 1"))

    Replays(cast("Dispatcher", dispatcher), {"planted": tested}).start(
        [replace(known, representative=exhibit)]
    )

    assert [job.target for job in dispatcher.jobs] == [ONE, TWO]


@pytest.mark.parametrize(
    ("outcome", "is_exercised"),
    [
        (Passed(b"1", 0.1), True),
        (Rejected("ValueError", "no"), True),
        (Rejected("TypeError", "no such dtype here", Stage.BUILD), False),
        (Rejected("Unsupported", "not in this mode", Stage.MODE), False),
        (Exhausted(Resource.MEMORY), False),
    ],
)
def test_a_case_counts_as_exercised_only_on_targets_where_it_ended_well(
    outcome: Outcome, *, is_exercised: bool
) -> None:
    dispatcher = FakeDispatcher()
    tested = group(member(ONE, "planted.double"), member(TWO, "planted.double"))
    replays = Replays(cast("Dispatcher", dispatcher), {"planted": tested})
    replays.start([stored("")])
    first, last = dispatcher.jobs

    assert replays.take(JobResult(first, (Passed(b"1", 0.1),), 0.1)) is None
    complete = replays.take(JobResult(last, (outcome,), 0.1))

    assert complete is not None
    assert complete.exercised_on == ({ONE, TWO} if is_exercised else {ONE})


def test_an_invalid_result_of_a_replay_leaves_its_bucket_unexercised() -> None:
    dispatcher = FakeDispatcher()
    tested = group(member(ONE, "planted.double"))
    replays = Replays(cast("Dispatcher", dispatcher), {"planted": tested})
    replays.start([stored("")])
    complete = replays.take(JobResult(dispatcher.jobs[0], (Passed(b"1", 0.1),), 0.1))
    assert complete is not None
    replays.note_passed(complete)

    replays.invalidate(complete.fingerprints[0])
    replays.note_passed(complete)

    assert replays.passed == {}
