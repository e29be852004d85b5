"""Functions that were never called with valid arguments, and the main reason."""

from __future__ import annotations

from ciguard.campaign.called_functions import CalledFunctions
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.outcomes import Outcome, Passed, Rejected, Stage
from ciguard.domain.parts import functions_of

NAME = "m.py:f"
PASSED = Passed(b"null", 0.1)
DISCARDED = Rejected("discarded", "x > 3", Stage.BUILD)
DOCUMENTED = Rejected("ValueError", "too large")


def note(called: CalledFunctions, *rows: tuple[Outcome, Outcome], api: str = NAME) -> None:
    case = FunctionCase(api=api, file="m.py")
    first, second = zip(*rows, strict=True)
    called.note((case,) * len(rows), {"one": first, "two": second})


def test_a_function_without_a_valid_call_is_reported_with_the_main_reason() -> None:
    called = CalledFunctions((NAME, "m.py:g", "m.py:h"), {"broken.py": "ImportError: x"})
    called.visited = {NAME, "m.py:g"}

    other = Rejected("no-instance", "KeyError: 'a'", Stage.BUILD)
    note(called, (DISCARDED, DISCARDED), (other, other), (DISCARDED, DISCARDED))

    assert called.reasons() == {
        "broken.py": "ImportError: x",
        NAME: "none of 3 calls was valid; 2 of them: x > 3",
        "m.py:g": "no arguments that its annotations allow were drawn",
        "m.py:h": "its turn did not come; raise --budget or --max-cases",
    }


def test_one_valid_call_on_one_target_suffices() -> None:
    for outcome in (PASSED, DOCUMENTED):
        called = CalledFunctions((NAME,))
        note(called, (DISCARDED, outcome))

        assert called.reasons() == {NAME: ""}


def test_the_import_of_a_program_is_no_call_of_its_functions() -> None:
    called = CalledFunctions((NAME,))

    note(called, (PASSED, PASSED), api="m.py")

    assert called.reasons()[NAME]


def test_a_resumed_run_knows_the_functions_that_were_tested() -> None:
    called, resumed = CalledFunctions((NAME,)), CalledFunctions((NAME,))
    note(called, (PASSED, PASSED))

    resumed.continue_from(called.state())

    assert resumed.reasons() == {NAME: ""}


def test_a_function_is_tested_if_it_is_tested_in_a_part() -> None:
    assert functions_of([{"a": "why", "b": "why"}, {"a": "", "b": "also"}, {"a": "late"}]) == {
        "a": "",
        "b": "why",
    }
