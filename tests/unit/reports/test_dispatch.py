from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from ciguard import interrupts
from ciguard.domain.events import Event, RunFinished, RunStarted, Warned
from ciguard.domain.findings import Verdict
from ciguard.errors import BaselineError, ExitCode, OutputError
from ciguard.reports import dispatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Recorder:
    def __init__(self) -> None:
        self.received: list[Event] = []
        self.closed = 0

    def receive(self, event: Event) -> None:
        self.received.append(event)

    def close(self) -> None:
        self.closed += 1


class _Failing(_Recorder):
    def __init__(self, error: Exception, on: type) -> None:
        super().__init__()
        self._error, self._on = error, on

    def receive(self, event: Event) -> None:
        super().receive(event)
        if isinstance(event, self._on):
            raise self._error


def test_every_event_reaches_every_reporter_and_the_exit_code_is_the_campaigns(
    events: list[Event],
) -> None:
    first, second = _Recorder(), _Recorder()

    ended = dispatch(iter(events), {"first": first, "second": second})

    assert first.received == second.received == events
    assert (first.closed, second.closed) == (1, 1)
    assert (ended.exit_code, ended.failures) == (1, ())


def test_a_failing_reporter_is_dropped_and_the_others_go_on(events: list[Event]) -> None:
    failing, healthy = _Failing(ZeroDivisionError("oops"), RunStarted), _Recorder()

    ended = dispatch(iter(events), {"bad": failing, "good": healthy})

    assert len(failing.received) == 1
    assert ended.exit_code == ExitCode.INTERNAL
    assert [failure.reporter for failure in ended.failures] == ["bad"]
    assert "ZeroDivisionError" in ended.failures[0].traceback
    warning = next(event for event in healthy.received if isinstance(event, Warned))
    assert "the bad report failed and was dropped" in warning.message


def test_unwritable_report_fails_the_run_without_a_traceback(
    events: list[Event],
) -> None:
    failing = _Failing(OutputError("disk full"), RunFinished)

    ended = dispatch(iter(events), {"bad": failing})

    assert ended.exit_code == ExitCode.INTERNAL
    assert (ended.failures[0].message, ended.failures[0].traceback) == ("disk full", "")


def test_reporters_after_a_failed_one_see_the_failure_in_the_end_of_the_run(
    events: list[Event],
) -> None:
    failing, healthy = _Failing(OutputError("disk full"), RunFinished), _Recorder()

    dispatch(iter(events), {"bad": failing, "good": healthy})

    last = healthy.received[-1]
    assert isinstance(last, RunFinished)
    assert last.exit_code == ExitCode.INTERNAL


def test_run_without_run_finished_is_an_internal_failure(events: list[Event]) -> None:
    assert dispatch(iter(events[:-1]), {}).exit_code == ExitCode.INTERNAL


def test_an_error_of_the_campaign_reaches_the_caller_after_reporters_are_closed() -> None:
    def campaign() -> Iterator[Event]:
        yield Warned(message="soon")
        message = "unreadable"
        raise BaselineError(message)

    recorder = _Recorder()

    with pytest.raises(BaselineError, match="unreadable"):
        dispatch(campaign(), {"recorder": recorder})

    assert recorder.closed == 1


def test_an_interruption_during_a_report_reaches_the_campaign_which_ends_in_order(
    finished: Callable[..., RunFinished],
) -> None:
    def campaign() -> Iterator[Event]:
        try:
            yield Warned(message="one")
            yield Warned(message="never")
        except KeyboardInterrupt:
            yield finished(verdict=Verdict.INTERRUPTED, exit_code=130)

    class Interrupted(_Recorder):
        def receive(self, event: Event) -> None:
            if not self.received:
                os.kill(os.getpid(), signal.SIGINT)
            super().receive(event)

    recorder = Interrupted()

    with interrupts.raised():
        ended = dispatch(campaign(), {"recorder": recorder})

    assert [type(event) for event in recorder.received] == [Warned, RunFinished]
    assert ended.exit_code == ExitCode.INTERRUPTED
