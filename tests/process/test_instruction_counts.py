"""Counts of instructions with the real Valgrind, of calls of the planted library."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import planted
import pytest
from ciguard_planted import adapter as planted_adapter
from surroundings import programs_without

from ciguard.campaign import run
from ciguard.config import Config
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.events import RunFinished, Warned
from ciguard.domain.findings import Bucket, Comparison, Confirmation
from ciguard.domain.values import LiteralValue
from ciguard.errors import WorkerStartError
from ciguard.execution import Limits, Measurement, Quantity, WorkerSpec
from ciguard.execution.counting import CountingProcess, find_valgrind, instructions_request
from ciguard.oracles import CountChange
from ciguard.oracles.relations import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ciguard.domain.events import Event

PLAIN, BURDENED, CREEPING = (
    "current[planted]",
    "current[planted] PLANTED_BURDEN=1",
    "current[planted] PLANTED_CREEP=300",
)
START_S = 120.0
LIMIT_S = 30.0


def spec(**variables: str) -> WorkerSpec:
    folders = {Path(planted.__file__).parent.parent, Path(planted_adapter.__file__).parent}
    return WorkerSpec(
        name="planted",
        python=Path(sys.executable),
        adapter=Path(planted_adapter.__file__),
        readable=(Path(sys.prefix), Path(sys.base_prefix), *folders),
        variables=variables,
        limits=Limits(case_s=5.0, memory_mib=256),
    )


def started(folder: Path, **variables: str) -> CountingProcess:
    valgrind = find_valgrind()
    assert valgrind is not None, "Valgrind is missing: run `make test-tools`"
    return CountingProcess(spec(**variables), valgrind=valgrind, scratch=folder)


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, CountingProcess]]:
    folder = tmp_path_factory.mktemp("counting")
    made = {
        "plain": started(folder),
        "again": started(folder),
        "burdened": started(folder, PLANTED_BURDEN="1"),
        "creeping": started(folder, PLANTED_CREEP="300"),
    }
    for process in made.values():
        process.wait_ready(time.monotonic() + START_S)
    yield made
    for process in made.values():
        process.close()
    assert not any(folder.iterdir())


def call(function: str, *arguments: float) -> ApiCall:
    values = tuple(map(LiteralValue, arguments))
    return ApiCall(api=f"planted.{function}", kind=CallKind.FUNCTION, arguments=values)


def count(
    process: CountingProcess, case: ApiCall, *, limit_s: float = LIMIT_S
) -> Measurement | None:
    values: list[float] = []
    for layout in range(3):
        request = instructions_request(encode(case), repetitions=2)
        assert process.send(request, shift=layout, limit_s=limit_s)
        measured = process.receive()
        if measured is None:
            return None
        values += measured.values
    return Measurement(quantity=Quantity.INSTRUCTIONS, values=tuple(values), calls=5)


def change(processes: dict[str, CountingProcess], other: str, case: ApiCall) -> CountChange:
    measured = [count(processes[name], case) for name in ("plain", other)]
    first, second = measured
    assert first is not None
    assert second is not None
    return CountChange.between(first, second)


def test_equal_targets_execute_equally_many_instructions(
    processes: dict[str, CountingProcess],
) -> None:
    for function in ("heavy.labour", "heavy.steady", "heavy.swell", "cube"):
        equal = change(processes, "again", call(function, 3))

        assert equal.ratio == pytest.approx(1.0, abs=0.005)
        assert not equal.is_slower


def test_a_call_that_does_more_executes_more_instructions(
    processes: dict[str, CountingProcess],
) -> None:
    labour = change(processes, "burdened", call("heavy.labour", 3))
    creeping = change(processes, "creeping", call("heavy.steady", 3))

    assert labour.ratio == pytest.approx(3.0, rel=0.05)
    assert labour.is_slower
    assert creeping.ratio == pytest.approx(1.075, abs=0.01)
    assert creeping.is_slower


def test_a_call_that_fails_is_not_counted_and_the_next_one_is(
    processes: dict[str, CountingProcess],
) -> None:
    asleep = ApiCall(api="time.sleep", kind=CallKind.FUNCTION, arguments=(LiteralValue(60.0),))

    for failing in (call("leak", 0), call("fragile", -1), call("no.such", 1)):
        assert count(processes["plain"], failing) is None
    assert count(processes["plain"], asleep, limit_s=1.0) is None
    assert count(processes["plain"], call("cube", 3)) is not None


def test_a_request_beyond_the_size_of_a_message_is_refused(
    processes: dict[str, CountingProcess],
) -> None:
    values = tuple(LiteralValue(number) for number in range(40_000))
    large = ApiCall(api="planted.cube", kind=CallKind.FUNCTION, arguments=values)

    request = instructions_request(encode(large), repetitions=1)

    assert not processes["plain"].send(request, shift=0, limit_s=LIMIT_S)
    assert count(processes["plain"], call("cube", 3)) is not None


def test_the_process_is_confined_from_outside(processes: dict[str, CountingProcess]) -> None:
    outside = ApiCall(api="os.listdir", kind=CallKind.FUNCTION, arguments=(LiteralValue("/home"),))

    assert {"landlock", "seccomp", "reaper"} <= set(processes["plain"].confined_by)
    assert count(processes["plain"], outside) is None


def test_a_library_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    broken = started(tmp_path, PLANTED_BROKEN="1")

    with pytest.raises(WorkerStartError, match=r"planted: .*under Valgrind"):
        broken.wait_ready(time.monotonic() + 0.001)
    broken.close()


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Event]]:
    """Run a campaign on two costly functions; all share one baseline."""
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))

    def ran(*targets: str, **changes: Any) -> list[Event]:
        settings: dict[str, Any] = {
            "targets": targets,
            "api": ("planted.heavy.labour", "planted.heavy.steady"),
            "allow": ("debug",),
            "budget_s": 300.0,
            "max_cases": 64,
            "instructions": "on",
            "out": tmp_path / "run",
            "baseline": tmp_path / "baseline",
            **changes,
        }
        return list(run(Config(**settings)))

    return ran


def buckets(events: list[Event]) -> dict[tuple[str, str], Bucket]:
    last = events[-1]
    assert isinstance(last, RunFinished)
    return {
        (bucket.finding.api.rpartition(".")[2], bucket.finding.kind): bucket
        for bucket in last.buckets
        if bucket.finding.oracle == "performance" and bucket.confirmation is Confirmation.CONFIRMED
    }


@pytest.mark.slow
def test_a_small_slowdown_is_found_and_known_the_next_time(
    campaign: Callable[..., list[Event]], tmp_path: Path
) -> None:
    key = ("steady", "more instructions")

    first = buckets(campaign(PLAIN, CREEPING))
    script = (tmp_path / "run" / first[key].reproducer).read_text("utf-8")
    again = buckets(campaign(PLAIN, CREEPING))
    equal = buckets(campaign(PLAIN, PLAIN))

    assert set(first) == {key}
    assert again[key].comparison is Comparison.KNOWN
    assert again[key].fingerprint == first[key].fingerprint
    assert equal[key].comparison not in {Comparison.NEW, Comparison.KNOWN}
    path = tmp_path / "script.py"
    path.write_text(script, "utf-8")
    counted = subprocess.run(
        [sys.executable, str(path)], check=True, capture_output=True, text=True
    )
    assert "measured: " in counted.stdout
    assert counted.stdout.strip().endswith("instructions per call")


@pytest.mark.slow
def test_evidence_of_a_time_states_the_instructions_of_both_targets(
    campaign: Callable[..., list[Event]],
) -> None:
    slower = buckets(campaign(PLAIN, BURDENED))["labour", "slower"]

    assert slower.finding.evidence.expected.endswith(" instructions")
    assert slower.finding.evidence.observed.endswith(" instructions")
    assert "counts of callgrind agree" in slower.finding.evidence.source


def test_without_valgrind_one_line_says_so(
    campaign: Callable[..., list[Event]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(programs_without("valgrind")))

    events = campaign(PLAIN, CREEPING)

    warnings = [event.message for event in events if isinstance(event, Warned)]
    (line,) = [text for text in warnings if "Valgrind" in text]
    assert "not installed" in line
    assert buckets(events) == {}


def test_instructions_are_not_counted_unasked_in_short_runs(
    campaign: Callable[..., list[Event]],
) -> None:
    assert buckets(campaign(PLAIN, CREEPING, instructions="auto")) == {}
