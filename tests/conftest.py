"""What tests of several folders share: environments of real libraries."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import hypothesis
import pytest

from ciguard.targets import Environment, parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

# How long an example takes says something of the machine, and nothing of the code.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")

TARGETS = {
    "torch": "torch==2.13.0",
    "tensorflow": "tensorflow-cpu==2.12.0",
    "jittor": "jittor==1.3.11.0",
    "keras": "keras==3.15.1 + jax",
    # JAX alone would be a second environment of the same wheels.
    "jax": "keras==3.15.1 + jax",
}
"""The target that stands for each library in tests."""


@pytest.fixture(scope="session")
def environment_of() -> Callable[[str], Environment]:
    """Return the environment of a library or target, installed on first use into the usual cache.

    Processes that need the same one wait for the one that installs it.
    """

    def environment(name: str) -> Environment:
        return provision(parse_target(TARGETS.get(name, name)), on_step=log.info)

    return environment
