"""Succession of targets."""

from __future__ import annotations

import pytest

from ciguard.targets import succeeds


@pytest.mark.parametrize(
    ("later", "former"),
    [
        ("torch==2.13.0", "torch==2.12.1"),
        ("torch==2.13.0@cuda", "torch==2.9.0@cuda"),
        ("keras==3.15.1 + jax==0.10.2", "keras==3.15.1 + jax==0.9.0"),
        ("library-of-a-plugin==2.0.1", "library-of-a-plugin==2.0"),
    ],
)
def test_a_target_with_newer_packages_succeeds_the_former(later: str, former: str) -> None:
    assert succeeds(later, former)
    assert not succeeds(former, later)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("torch==2.13.0", "torch==2.13.0"),
        ("torch==2.13.0@cuda", "torch==2.12.0"),
        ("torch==2.13.0", "tensorflow-cpu==2.20.0"),
        ("torch==2.13.0", "torch"),
        ("keras==3.15.1 + jax==0.9.0", "keras==3.15.0 + jax==0.10.2"),
        ("current", "torch==2.13.0"),
        ("torch==2.13.0 A=1", "torch==2.12.0 A=2"),
        ("", "torch==2.12.0"),
    ],
)
def test_targets_with_other_differences_do_not_succeed_each_other(first: str, second: str) -> None:
    assert not succeeds(first, second)
    assert not succeeds(second, first)
