from __future__ import annotations

import os
import signal

import pytest

from ciguard.cli.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_at_once_outside_a_report(number: signal.Signals) -> None:
    with Interrupts(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_until_a_report_is_written(number: signal.Signals) -> None:
    written = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            os.kill(os.getpid(), number)
            written.append("the rest")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)

    assert written == ["the rest"]


def test_a_second_signal_does_not_wait() -> None:
    written = []

    def report(interrupts: Interrupts) -> None:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            written.append("never")

    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        report(interrupts)

    assert written == []


def test_a_held_signal_is_answered_once() -> None:
    with Interrupts() as interrupts:
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            os.kill(os.getpid(), signal.SIGTERM)
        with interrupts.held():
            pass


def test_the_handlers_of_before_are_back_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with Interrupts():
        pass

    assert signal.getsignal(signal.SIGTERM) is before
