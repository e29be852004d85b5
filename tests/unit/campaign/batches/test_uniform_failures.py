"""Functions that fail in one way for every input need few calls; others keep all theirs."""

from __future__ import annotations

import json

import pytest
from campaign_examples import call

from ciguard.campaign.batches.uniform_failures import UniformFailures
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Errored, Frame, Outcome, Passed, Rejected, Stage

F = "app.py:f"
FAILED = Errored("ValueError", "3 and 4", (Frame("app.py", "f", "x + y"),))
ELSEWHERE = Errored("ValueError", "3 and 4", (Frame("app.py", "g", "x + y"),))
INVALID = Rejected("ValueError", "n < 1", Stage.BUILD)
DOCUMENTED = Rejected("ValueError", "too large")


def after(*batches: tuple[Outcome, ...], api: str = F) -> UniformFailures:
    failures = UniformFailures()
    for index, outcomes in enumerate(batches):
        cases = [FunctionCase(api=api, file="app.py", call=n) for n in range(len(outcomes))]
        failures.note(index, cases, {"one": outcomes})
    return failures


@pytest.mark.parametrize(
    ("batches", "suffices"),
    [
        ([(FAILED,) * 4] * 5, True),
        ([(FAILED,) * 4] * 4 + [(FAILED,) * 3], False),
        ([(Errored("ValueError", str(n), FAILED.stack),) * 4 for n in range(5)], True),
        ([(FAILED,) * 4] * 5 + [(Passed(b"", 0.0),)], False),
        ([(FAILED,) * 4] * 5 + [(DOCUMENTED,)], False),
        ([(FAILED,) * 4] * 5 + [(INVALID,)], True),
        ([(INVALID,) * 4] * 9, False),
        ([(FAILED, ELSEWHERE)] * 20, False),
        ([(Passed(b"", 0.0),) * 4] * 9, False),
        ([(Passed(b"", 0.0),), *[(FAILED,) * 4] * 9], False),
    ],
    ids=[
        *("all", "19", "messages differ", "one passed", "one documented", "one invalid"),
        *("all invalid", "two ways", "all passed", "first passed"),
    ],
)
def test_only_functions_that_fail_in_one_way_need_no_more_calls(
    batches: list[tuple[Outcome, ...]], *, suffices: bool
) -> None:
    failures = after(*batches)
    resumed = UniformFailures()
    resumed.restore(json.loads(json.dumps(failures.state())))

    for known in (failures, resumed):
        assert known.suffice(F, until=99, tolerated=0) is suffices
        assert not known.suffice("app.py:other", until=99, tolerated=0)


def test_decision_depends_only_on_the_batches_that_count() -> None:
    failures = after(*[(FAILED,) * 4] * 6, (Passed(b"", 0.0),))

    assert not failures.suffice(F, until=3, tolerated=0)
    assert failures.suffice(F, until=4, tolerated=0)
    assert not failures.suffice(F, until=4, tolerated=1)
    assert failures.suffice(F, until=5, tolerated=1)
    assert not failures.suffice(F, until=6, tolerated=0)


def test_targets_with_different_outcomes_and_calls_of_libraries_do_not_count() -> None:
    failures = UniformFailures()
    case = FunctionCase(api=F, file="app.py")
    library = call("f")
    for index in range(30):
        failures.note(index, [case], {"one": (FAILED,), "two": (Passed(b"", 0.0),)})
        failures.note(index, [library], {"one": (FAILED,)})

    assert not failures.suffice(F, until=99, tolerated=0)
    assert not failures.suffice("planted.f", until=99, tolerated=0)
