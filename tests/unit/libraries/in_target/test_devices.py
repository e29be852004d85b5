"""Parsing and checking of devices."""

from __future__ import annotations

import pytest

from ciguard.libraries.in_target import devices


@pytest.mark.parametrize(
    ("device", "parsed"),
    [("cpu", ("cpu", "0")), ("cuda", ("cuda", "0")), ("cuda:3", ("cuda", "3"))],
)
def test_a_device_has_a_kind_and_an_index(device: str, parsed: tuple[str, str]) -> None:
    assert devices.parse(device) == parsed


def test_a_cpu_always_exists() -> None:
    devices.require("cpu", "torch")


def test_an_unknown_kind_of_device_is_rejected_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"'abacus:1' is absent.*torch"):
        devices.require("abacus:1", "torch")


@pytest.mark.parametrize(("value", "is_allowed"), [(None, True), ("0", False), ("1", True)])
def test_tf32_is_allowed_unless_the_environment_forbids_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None, *, is_allowed: bool
) -> None:
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    if value is not None:
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", value)

    assert devices.allows_tf32() is is_allowed
