"""The environment in which a script reproduces a finding."""

from __future__ import annotations

from dataclasses import dataclass

from ciguard.targets import EAGER


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentHint:
    """Properties of a finding's environment that its script needs."""

    install: tuple[str, ...]
    """Requirements for `pip install`, such as `torch==2.13.0`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Name and value of environment variables to set before the library is imported."""
    device: str = "cpu"
    """Device as the script names it: `cpu`, or `cuda:0` for the only GPU that it sees."""
    gpu: int = 0
    """Position of the GPU among those that the job sees, e.g. 1 for a finding on `cuda:1`."""
    mode: str = EAGER
    module: str = ""
    """Name with which the library is imported; empty if it is the library's name."""
    other_library: str = ""
    """For a difference between libraries, the name of the other library; otherwise empty."""
