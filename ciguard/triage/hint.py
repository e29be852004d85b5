"""The environment that a script is for."""

from __future__ import annotations

from dataclasses import dataclass

from ciguard.targets import EAGER


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentHint:
    """How a person gets the environment that a finding was made in."""

    install: tuple[str, ...]
    """Requirements for `pip install`, e.g. `("torch==2.13.0",)`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that change what the library does; set before it is imported."""
    device: str = "cpu"
    mode: str = EAGER
    module: str = ""
    """Import name of the library; empty means that it is the library's own name."""
    other_library: str = ""
    """What it is held against, for a difference between libraries."""
