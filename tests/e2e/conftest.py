from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from action_runner import Runner
from action_scenarios import FEW
from ciguard_command import answer, buckets_of, campaign
from github_repository import WallClock
from github_server import GitHubServer
from hosted_project import this_checkout
from node_tools import Expressions
from report_browser import launched

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[object, ...]]:
    """Return the buckets of a planted campaign that nothing disturbed."""
    folder: Path = tmp_path_factory.mktemp("uninterrupted")
    done = answer(campaign("--out", "out"), folder, PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    return buckets_of(folder / "out")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as started:
        yield started


@pytest.fixture(scope="session")
def expressions() -> Iterator[Expressions]:
    with Expressions() as engine:
        yield engine


@pytest.fixture(scope="session")
def ciguard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository whose only commit is what lies in this checkout."""
    return this_checkout(tmp_path_factory.mktemp("ciguard"))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where all jobs keep one installation of ciguard, and no pull request."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def runner(tmp_path: Path, expressions: Expressions, installed: Path) -> Runner:
    return Runner(folder=tmp_path, expressions=expressions, variables=FEW, temporary=installed)


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer(clock=WallClock()) as made:
        yield made
    assert made.violations == []
