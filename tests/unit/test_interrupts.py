from __future__ import annotations

import os
import signal

import pytest

from ciguard import interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_outside_held_raises_at_once(number: signal.Signals) -> None:
    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_within_held_raises_when_it_is_left(number: signal.Signals) -> None:
    written = []

    def report() -> None:
        with interrupts.held():
            os.kill(os.getpid(), number)
            written.append("the rest")

    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        report()

    assert written == ["the rest"]


def test_second_signal_within_held_raises_at_once() -> None:
    written = []

    def report() -> None:
        with interrupts.held():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
            written.append("never")

    with interrupts.raised(), pytest.raises(KeyboardInterrupt):
        report()

    assert written == []


def test_delayed_signal_raises_only_once() -> None:
    with interrupts.raised():
        with pytest.raises(KeyboardInterrupt), interrupts.held():
            os.kill(os.getpid(), signal.SIGTERM)
        with interrupts.held():
            pass


def test_raised_restores_the_previous_handlers() -> None:
    before = signal.getsignal(signal.SIGTERM)

    with interrupts.raised():
        pass

    assert signal.getsignal(signal.SIGTERM) is before
