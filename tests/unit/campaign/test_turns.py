from __future__ import annotations

import os
import signal
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

if TYPE_CHECKING:
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


def test_a_batch_that_an_interruption_meets_is_counted_whole(tmp_path: Path) -> None:
    stream = OneBatch()
    executed = Executed(API, CASES, {ONE: (Crashed("SIGSEGV"),) * len(CASES)})
    with Journal(tmp_path) as journal:
        journal.start({"seed": 1})
        turns = Turns(
            Config(),
            known=(),
            dispatcher=cast("Dispatcher", object()),
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
