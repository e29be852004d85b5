from __future__ import annotations

import os
import signal

import pytest

from ciguard import interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_at_once_outside_a_report(number: signal.Signals) -> None:
    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_report_is_written(number: signal.Signals) -> None:
    written = []

    def report() -> None:
        with interrupts.held():
            os.kill(os.getpid(), number)
            written.append("the rest")

    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        report()

    assert written == ["the rest"]


def test_a_second_signal_does_not_wait() -> None:
    written = []

    def report() -> None:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            written.append("never")

    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        report()

    assert written == []


def test_a_held_signal_is_answered_once() -> None:
    with interrupts.raised():
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            os.kill(os.getpid(), signal.SIGTERM)
        with interrupts.held():
            pass


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with interrupts.raised():
        pass

    assert signal.getsignal(signal.SIGTERM) is before
