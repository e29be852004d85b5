"""The environment of a script."""

from __future__ import annotations

from dataclasses import dataclass

from ciguard.targets import EAGER


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentHint:
    """Instructions to recreate the environment of a finding."""

    install: tuple[str, ...]
    """Requirements for `pip install`, e.g. `("torch==2.13.0",)`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that configure the library, set before its import."""
    device: str = "cpu"
    mode: str = EAGER
    module: str = ""
    """Import name of the library; empty if it is the library's name."""
    other_library: str = ""
    """Library that it is compared with, for a difference between libraries."""
