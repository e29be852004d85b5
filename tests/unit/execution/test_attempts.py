"""What counts as a refusal, of attempts at what confinement forbids."""

from __future__ import annotations

import errno
import json
import os

import pytest

from ciguard.execution.worker import attempts


def refusal_of(number: int, monkeypatch: pytest.MonkeyPatch, text: list[str]) -> str:
    def fail(_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(attempts, "ATTEMPTS", (attempts.Attempt("tried", "try", fail),))
    monkeypatch.setattr("sys.stdout.write", text.append)
    attempts.report({})
    return str(json.loads(text.pop())["tried"])


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES, errno.ENOSYS])
def test_a_refusal_by_confinement_is_reported_with_its_error(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal_of(number, monkeypatch, []) == errno.errorcode[number]


@pytest.mark.parametrize("number", [errno.ENOTSUP, errno.EOVERFLOW, errno.EBADF, errno.ENOENT])
def test_any_other_kernel_error_is_not_a_refusal(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refusal_of(number, monkeypatch, []) == ""


def test_an_operation_that_workers_may_do_is_reported_as_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text: list[str] = []
    fork = next(a for a in attempts.ATTEMPTS if a.name == "processes-start")
    monkeypatch.setattr(attempts, "ATTEMPTS", (fork,))
    monkeypatch.setattr("sys.stdout.write", text.append)

    attempts.report({"processes": True})

    assert json.loads(text.pop()) == {"processes-start": "allowed"}
