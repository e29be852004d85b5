"""Growth oracle: memory and time of a program that runs repeatedly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import NEW, OLD, subject
from program_examples import cycled, positive

from ciguard.domain.findings import Severity
from ciguard.domain.outcomes import Rejected
from ciguard.levels.code.growth import growth_of
from ciguard.oracles import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome

MIB = 2.0**20
REPEATED = positive(block="", cycles=15)
LEAK = [500 * MIB + 3 * n * MIB for n in range(15)]
LEVEL = [500 * MIB + min(n, 6) * 40 * MIB for n in range(15)]
SLOWING = [0.1 * 1.1**n for n in range(15)]


def findings_of(*outcomes: Outcome) -> list[Finding]:
    named = dict(zip((OLD, NEW), outcomes, strict=False))
    return judge(REPEATED, named, subject(names=tuple(named)))


def test_memory_that_grows_with_every_cycle_is_found() -> None:
    (finding,) = findings_of(cycled(memory=LEVEL), cycled(memory=LEAK))

    assert (finding.oracle, finding.kind) == ("growth", "memory-grows")
    assert finding.severity is Severity.MEDIUM
    assert finding.targets == (NEW,)
    assert finding.message == (
        "A program derived from lenet leaks 3 MiB with every run when it is built and "
        "trained repeatedly in one process"
    )
    assert finding.evidence.observed == (
        "518 MiB in the first third of 10 cycles after warm-up, 539 MiB in the last"
    )


def test_cycles_that_become_slower_are_found() -> None:
    (finding,) = findings_of(cycled(cpu=SLOWING))

    assert (finding.oracle, finding.kind) == ("growth", "slows-down")
    assert "takes 1.9 times as long after 10 more runs" in finding.message


@pytest.mark.parametrize(
    "memory",
    [
        LEVEL,
        [500 * MIB] * 15,
        [500 * MIB + 1024 * n for n in range(15)],  # a counter, a name
        [500 * MIB + (40 * MIB if n > 11 else 0) for n in range(15)],  # one step
        [500 * MIB + n * MIB if n < 10 else 510 * MIB for n in range(15)],  # a cache that fills
        [500 * MIB + (n % 2) * 9 * MIB for n in range(15)],
        LEAK[:9],  # too few
        LEAK[::-1],
    ],
)
def test_memory_that_levels_off_is_no_finding(memory: Sequence[float]) -> None:
    assert findings_of(cycled(memory=memory)) == []


@pytest.mark.parametrize(
    "cpu",
    [
        [0.1] * 15,
        [5.0, *[0.1] * 14],  # the first cycle compiles
        [0.1 + 0.0001 * n for n in range(15)],
        [0.1 if n % 3 else 0.4 for n in range(15)],  # another process had the processor
        [0.0001 * 1.1**n for n in range(15)],
    ],
)
def test_constant_times_are_no_finding(cpu: Sequence[float]) -> None:
    assert findings_of(cycled(cpu=cpu)) == []


def test_a_failed_program_is_no_growth_finding() -> None:
    assert findings_of(Rejected("ValueError", "line 3: no")) == []


@given(st.lists(st.floats(min_value=0, max_value=1e12), max_size=60))
def test_values_that_end_below_their_start_do_not_grow(values: list[float]) -> None:
    grown = growth_of(values)

    if grown is not None:
        judged = values[-grown.cycles :]
        assert judged[-1] > judged[0]
        assert grown.per_cycle <= (judged[-1] - judged[0]) / (grown.cycles - 1) + 1e-3
