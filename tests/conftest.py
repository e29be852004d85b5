"""What tests of several folders share: hermetic surroundings, environments of real libraries."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import hypothesis
import pytest
import surroundings
from ciguard_planted.measured import measure_workers

from ciguard.targets import Environment, parse_target, provision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

log = logging.getLogger(__name__)

_HOME = pytest.StashKey["Path"]()

# Every run tries the same few examples, and none that an earlier run left in the checkout; `make
# test-properties` looks for new ones. How long an example takes depends on the machine.
hypothesis.settings.register_profile(
    "exploring",
    parent=hypothesis.settings.get_profile("default"),
    database=None,
    deadline=None,
    derandomize=False,
    max_examples=300,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile(
    "repeatable",
    parent=hypothesis.settings.get_profile("exploring"),
    derandomize=True,
    max_examples=25,
)
hypothesis.settings.load_profile("repeatable")

TARGETS = {
    "torch": "torch==2.13.0",
    # The older one has no build for later interpreters.
    "tensorflow": f"tensorflow-cpu=={'2.12.0' if sys.version_info < (3, 12) else '2.21.0'}",
    "jittor": "jittor==1.3.11.0",
    "keras": "keras==3.15.1 + jax",
    # JAX alone would be a second environment of the same wheels.
    "jax": "keras==3.15.1 + jax",
}
"""The target that stands for each library in tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests: begun last, one of them keeps all other cores waiting."""
    items.sort(key=lambda item: item.get_closest_marker("lengthy") is None)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Set the environment before any test module is imported."""
    if not surroundings.PROGRAMS.is_dir():
        pytest.exit("the programs that tests start are not linked: run `make test-tools`", 2)
    config.stash[_HOME] = surroundings.enter()
    measure_workers()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the home of this process."""
    if _HOME in config.stash:
        surroundings.leave(config.stash[_HOME])


@pytest.fixture(scope="session", autouse=True)
def _empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let fixtures of a session begin in an empty folder, not in the checkout."""
    start, folder = os.getcwd(), tmp_path_factory.mktemp("empty")  # noqa: PTH109 - to return to it
    os.chdir(folder)
    yield folder
    os.chdir(start)


@pytest.fixture(autouse=True)
def _own_surroundings(_empty_folder: Path) -> Iterator[None]:
    """Let each test begin in an empty folder, and undo what it changes of the environment."""
    os.chdir(_empty_folder)
    before = dict(os.environ)
    yield
    assert not any(_empty_folder.iterdir()), "a test wrote into the folder that it was started in"
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="session")
def environment_of() -> Callable[[str], Environment]:
    """Return the environment of a library or target, installed on first use into the tests' cache.

    Processes that need the same one wait for the one that installs it.
    """

    def environment(name: str) -> Environment:
        return provision(parse_target(TARGETS.get(name, name)), on_step=log.info)

    return environment
