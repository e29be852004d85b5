from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest
from campaign_examples import ONE, call, group, member

from ciguard import interrupts
from ciguard.campaign.budget import Budget
from ciguard.campaign.intake import Intake
from ciguard.campaign.journal import Journal, read_journal
from ciguard.campaign.stream import Executed, Stream
from ciguard.campaign.turns import Turns
from ciguard.config import Config
from ciguard.domain import Action, Crashed, Finding, Policy
from ciguard.execution import Job, Result
from ciguard.oracles import encode

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path

    from ciguard.execution import Dispatcher

API = "planted.fragile"
CASES = tuple(call("fragile", -1 - number) for number in range(4))


class OneBatch:
    """Stands where a stream does: its only batch has run, and is to be judged."""

    def __init__(self) -> None:
        self.group = group(member(ONE, API))
        self.judged = 0

    def mark_judged(self) -> None:
        self.judged += 1

    def state(self) -> dict[str, object]:
        return {"done": self.judged, "cases": len(CASES) * self.judged, "deaths": {}}

    def new_lessons(self) -> list[object]:
        return []


class Interrupting(Policy):
    """Interrupts the process in the middle of judging, as somebody at the keyboard may."""

    def action(self, finding: Finding) -> Action:
        if finding.case == CASES[1]:
            os.kill(os.getpid(), signal.SIGINT)
        return super().action(finding)


@dataclass
class Desk:
    """Stands where the dispatcher does: knows whose results are unproven, and void."""

    jobs: list[Job] = field(default_factory=list)
    waiting: set[tuple[str, Hashable]] = field(default_factory=set)
    void: list[Job] = field(default_factory=list)

    def unproven(self) -> set[tuple[str, Hashable]]:
        return set(self.waiting)

    def take_void(self) -> list[Job]:
        taken, self.void = self.void, []
        return taken

    def add(self, job: Job) -> None:
        self.jobs.append(job)


def turns_of(desk: Desk, journal: Journal) -> tuple[Turns, Stream]:
    stream = OneBatch()
    turns = Turns(
        Config(),
        known=(),
        dispatcher=cast("Dispatcher", desk),
        journal=journal,
        budget=Budget(60.0),
    )
    turns.groups["planted"] = stream.group
    turns.streams["planted"] = cast("Stream", stream)
    return turns, turns.streams["planted"]


EXECUTED = Executed(API, CASES, {ONE: (Crashed("SIGSEGV"),) * len(CASES)})
JOB = Job(ONE, (Stream.KEY, "planted", 0), tuple(map(encode, CASES)))


def done(folder: Path) -> int:
    return int(read_journal(folder).streams.get("planted", {"done": 0})["done"])


def test_batch_whose_results_are_unproven_is_done_again_on_resume(tmp_path: Path) -> None:
    desk = Desk(waiting={(ONE, JOB.key)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        turns, stream = turns_of(desk, journal)
        list(turns.judge(stream, EXECUTED))

        turns.note(force=True)
        unproven = done(tmp_path)
        desk.waiting.clear()
        turns.note(force=True)

    assert unproven == 0
    assert done(tmp_path) == 1


def test_void_batch_counts_as_done_once_it_was_run_again_and_proven(tmp_path: Path) -> None:
    desk = Desk(waiting={(ONE, JOB.key)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        turns, stream = turns_of(desk, journal)
        list(turns.judge(stream, EXECUTED))
        turns.note(force=True)

        desk.waiting, desk.void = set(), [JOB]
        list(turns.redoing.pump())
        turns.note(force=True)
        while_void = done(tmp_path)
        (again,) = desk.jobs
        list(turns.redoing.take(Result(again, EXECUTED.outcomes[ONE], 0.1)))
        turns.note(force=True)

    assert while_void == 0
    assert done(tmp_path) == 1


def test_a_batch_that_an_interruption_meets_is_counted_whole(tmp_path: Path) -> None:
    stream = OneBatch()
    executed = Executed(API, CASES, {ONE: (Crashed("SIGSEGV"),) * len(CASES)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        turns = Turns(
            Config(),
            known=(),
            dispatcher=cast("Dispatcher", Desk()),
            journal=journal,
            budget=Budget(60.0, spent_s=0.0),
        )
        turns.intake = Intake(
            confirmer=turns.confirmer,
            journal=journal,
            groups=turns.groups,
            known=(),
            policy=Interrupting(),
        )
        turns.groups["planted"] = stream.group
        turns.streams["planted"] = cast("Stream", stream)
        with interrupts.raised(), pytest.raises(KeyboardInterrupt):
            list(turns.judge(turns.streams["planted"], executed))

        turns.note(force=True)

    past = read_journal(tmp_path)
    assert past.streams["planted"]["done"] == 1
    assert sum(past.counts.values()) == len(CASES)
