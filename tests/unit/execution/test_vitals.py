"""When a worker must end, whatever it writes about itself."""

from __future__ import annotations

import time

from ciguard.execution import Job, Limits
from ciguard.execution.vitals import Vitals

LIMITS = Limits(case_s=1.0, program_s=60.0)
CASES = (b'["planted.double","function"]', b'["planted","program"]')


def watching() -> tuple[Vitals, float]:
    vitals = Vitals(LIMITS)
    vitals.expect(Job("planted", "test", CASES), CASES)
    return vitals, time.monotonic()


def test_a_beginning_that_is_not_written_yet_ends_no_worker() -> None:
    vitals, now = watching()

    assert not vitals.ailment(now, 1, 0)


def test_a_case_has_its_time_from_when_it_was_first_seen_however_often_it_begins() -> None:
    vitals, now = watching()

    reasons = [vitals.ailment(now + s, 1, int((now + s) * 1e9)) for s in (0.0, 0.9, 1.1)]

    assert reasons == ["", "", "time"]


def test_each_case_has_its_own_limit_and_canaries_the_usual_one() -> None:
    vitals, now = watching()

    of_program = [vitals.ailment(now + s, 2, int(now * 1e9)) for s in (0.0, 59.0)]
    of_canary = [vitals.ailment(now + s, 3, int((now + 59) * 1e9)) for s in (59.0, 61.0)]

    assert of_program == ["", ""]
    assert of_canary == ["", "time"]


def test_no_worker_goes_back_to_an_earlier_case() -> None:
    vitals, now = watching()
    vitals.ailment(now, 2, int(now * 1e9))

    assert vitals.ailment(now, 1, int(now * 1e9)) == "protocol"


def test_a_worker_between_two_cases_may_not_be_silent_for_ever() -> None:
    vitals, now = watching()

    assert [vitals.ailment(now + s, 0, 0) for s in (1.0, 59.0, 61.0)] == ["", "", "silence"]
